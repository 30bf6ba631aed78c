"""The benchmark of the prefix cache runs, prints what it promises, and the order of the calls is worth something."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mctsr.prompting import Prompts
from mctsr.testing.prefix_cache import BLOCK

BENCH = Path(__file__).parents[2] / "scripts" / "bench_prefix"


@pytest.fixture(scope="module")
def printed() -> str:
    done = subprocess.run(
        [
            *(sys.executable, str(BENCH), "--problems", "4", "--concurrency", "8", "--words", "20"),
            *("--only", "beam", "mctsr"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def ratios(printed: str) -> list[tuple[float, ...]]:
    """Return share, ours, shuffled and in turn of every row."""
    rows = re.findall(r" (\d\.\d\d) +[\d,]+ +(\d+\.\d\d) +(\d+\.\d\d) +(\d+\.\d\d) +\d+ %$", printed, re.M)
    return [tuple(map(float, row)) for row in rows]


def test_there_is_a_row_for_each_recipe_and_capacity(printed: str) -> None:
    assert os.access(BENCH, os.X_OK)
    rows = ratios(printed)
    assert [share for share, *_ in rows] == [1.0, 0.25, 0.1, 0.05, 0.02] * 2
    assert all(ratio >= 1.0 for _, *row in rows for ratio in row), "nothing beats the distinct tokens"


def test_a_tree_costs_close_to_its_distinct_tokens_in_our_order_alone(printed: str) -> None:
    beam = {share: row for share, *row in ratios(printed)[:5]}
    ours, shuffled, _ = beam[0.25]
    assert ours < 1.1 * beam[1.0][0], "a cache of a quarter is enough"
    assert shuffled > 1.2 * ours
    ours, _, in_turn = beam[0.1]
    assert in_turn > 1.1 * ours


def test_a_verdict_costs_little_more_than_its_question_and_the_runs_tell_their_hits(printed: str) -> None:
    ((calls, sent, computed, _),) = re.findall(
        r"^beam +(\d+) +(\d+\.\d) +(\d+\.\d) +(\d+\.\d)$", printed, re.M
    )
    assert int(calls) > 0
    question = len(Prompts()["judge_label"].sections[0][1].split())
    assert float(computed) < question + 2 * BLOCK < float(sent) / 2
    assert len(re.findall(r"^(?:beam|mctsr) +prefix cache \d+ % of prompt tokens", printed, re.M)) == 2
