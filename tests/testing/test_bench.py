"""The benchmark of all recipes runs, and prints what it promises."""

import os
import re
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "scripts" / "bench_recipes"


def test_the_quick_benchmark_prints_a_row_for_each_recipe_and_budget_and_the_slopes() -> None:
    assert os.access(BENCH, os.X_OK)
    done = subprocess.run(
        [sys.executable, str(BENCH), "--quick"], capture_output=True, text=True, check=False, timeout=110
    )
    assert (done.returncode, done.stderr) == (0, "")
    interval = r"\d+\.\d \[ *\d+\.\d, *\d+\.\d\]"
    rows = re.findall(
        rf"^([a-z-]+) +(.*?)  +(?:{interval} *){{3}} +(\d+\.\d) +(\d+\.\d\d)$", done.stdout, re.M
    )
    assert len(rows) == 2 * (1 + 6 * 2)
    calls = {(name, budget.strip()): float(calls) for name, budget, calls, _ in rows}
    assert calls["mctsr", "1 rollouts"] == 7
    assert calls["mctsr", "4 rollouts"] == 19
    ratios = [float(ratio) for name, _, _, ratio in rows if "best" in name or "consistency" in name]
    assert all(0.7 < ratio < 1.4 for ratio in ratios)
    assert (
        len(re.findall(r"^AUC 0\.7?5 +[+-]\d+\.\d\d \[[+-]\d+\.\d\d, [+-]\d+\.\d\d\]", done.stdout, re.M))
        == 2
    )
    assert re.search(r"^wall time \d+ s$", done.stdout, re.M)
