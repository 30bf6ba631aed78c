"""The scripts that the README names: each does what its first lines say, on something small."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support.served import served

ROOT = Path(__file__).parents[1]


def ran(name: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a script with the Python that runs the tests."""
    command = [sys.executable, str(ROOT / "scripts" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)


def test_the_arena_plays_prints_intervals_and_goes_on_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "arena.jsonl"
    small = ("--games", "4", "--playouts", "40", "--only", "hex7", "mcps(", "uct", "--out", str(out))
    first = ran("arena", *small)
    assert first.returncode == 0, first.stderr
    games = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(games) == 4
    assert {game["number"] for game in games} == {0, 1, 2, 3}
    (row,) = [line for line in first.stdout.splitlines() if line.startswith("| hex7")]
    wins = sum(game["won"] for game in games)
    assert f"| 4 | {25 * wins:.1f} % |" in row
    again = ran("arena", *small)
    assert "0 to play" in again.stdout
    assert row in again.stdout.splitlines()
    assert len(out.read_text().splitlines()) == 4


def test_the_core_benchmark_measures_a_step_and_a_call() -> None:
    done = ran("bench_core", "python")
    assert done.returncode in (0, 1), done.stderr
    (step,) = [
        line.split() for line in done.stdout.splitlines() if line.startswith("select + add + back up ")
    ]
    assert 0.0 < float(step[-2]) < float(step[-1])
    shares = [line for line in done.stdout.splitlines() if line.startswith("engine: ")]
    assert len(shares) == 4
    assert all(" us of CPU a call" in line for line in shares)
    # Targets are told, not tested: they depend on the machine.
    assert ("targets missed" in done.stdout) == (done.returncode == 1)


def test_the_benchmark_of_labels_compares_what_is_exported_with_the_truth() -> None:
    done = ran("bench_labels", "--problems", "3", "--only", "agentprm")
    assert done.returncode == 0, done.stderr
    known, without = [line.split() for line in done.stdout.splitlines() if line.startswith("agentprm ")]
    assert (known[1], without[1]) == ("known", "not")
    assert float(known[2]) < float(without[2]), "without known answers a judge is asked for each end"
    assert 0.5 < float(known[7]) <= 1.0
    assert known[3:7] != without[3:7] or known[7] != without[7]


def test_the_benchmark_of_labels_leaves_an_interval_open_where_all_steps_are_right() -> None:
    done = ran("bench_labels", "--problems", "1", "--only", "grounded-prm-code")
    assert (done.returncode, done.stderr) == (0, "")
    assert "[nan, nan]" in done.stdout


def test_all_recipes_are_tried_on_a_server_and_what_does_not_do_its_work_is_named() -> None:
    # The reply holds no score, so that the recipe which needs one has nothing to choose by.
    with served() as server:
        done = ran(
            "all_recipes", "--base-url", server.url, "--only", "self-consistency", "best-of-n", "nonsense"
        )
    rows = {words[0]: words for line in done.stdout.splitlines()[1:4] if (words := line.split())}
    assert rows["self-consistency"][1:8] == ["none", "4", rows["self-consistency"][3], "4", "0", "0", "4"]
    assert done.returncode == 1
    assert "best-of-n: nothing was scored" in done.stdout
    assert "nonsense: error: no recipe 'nonsense'" in done.stdout
    assert "1 of 3 recipes did their work" in done.stdout
