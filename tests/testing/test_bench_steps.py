"""The benchmark of searches over steps runs, and prints what it promises."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench_steps"


def table(*options: str) -> str:
    done = subprocess.run(
        [sys.executable, str(BENCH), "--problems", "4", "--budgets", "1,4", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def printed() -> str:
    return table()


def test_there_is_a_row_for_each_recipe_budget_and_judge_at_matched_tokens(printed: str) -> None:
    assert os.access(BENCH, os.X_OK)
    interval = r"\d+\.\d \[ *\d+\.\d, *\d+\.\d\]"
    rows = re.findall(
        rf"^([a-z3 -]+?) +(\d+) +(?:{interval} *){{3}} +(\d+\.\d\d) +(\d+\.\d\d) +\d+$", printed, re.M
    )
    assert len(rows) == 3 * 18 * 2
    assert all(0.7 < float(written) < 1.3 for _, g, written, _ in rows if g == "4")
    assert all(float(everything) >= 1 for *_, everything in rows)


def test_it_says_who_does_not_beat_self_consistency_and_which_directions_hold(printed: str) -> None:
    assert len(re.findall(r"^do not beat self-consistency at 4: \S", printed, re.M)) == 3
    found = re.findall(
        r"(particle-filter above beam|dvts above \S+ weighted) +4 .*  (?:holds|does not hold)", printed
    )
    assert len(found) == 3 * 2 * 3
    assert len(re.findall(r"^beam +(?:selected|best|weighted) .* (?:-|\d+ %)$", printed, re.M)) == 2 * 3
    assert re.search(r"^wall time \d+ s$", printed, re.M)


def test_over_http_a_table_is_the_same(printed: str) -> None:
    def rows(text: str) -> list[str]:
        return [line for line in text.splitlines() if "wall time" not in line]

    http = rows(table("--http", "--only", "noisy"))
    assert len(http) > 30
    assert set(http) <= set(rows(printed))
