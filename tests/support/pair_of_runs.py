"""Two runs over the same problems made by hand, in which each problem goes as a test says."""

from collections.abc import Mapping
from pathlib import Path

from mctsr.exchange import Problem
from mctsr.problems import problem_hash
from mctsr.runs.writer import RunWriter
from tests.support.sample_run import grade, node, result, run_record, sample, tree

GOLD = "72"
WAYS: Mapping[str, tuple[tuple[str, float], ...]] = {
    "right": (("70", 10.0), ("72", 90.0)),
    "wrong": (("70", 90.0), ("72", 10.0)),
    "lost": (("72", 10.0), ("70", 90.0)),
    "never": (("70", 10.0), ("71", 90.0)),
    "at once": (("72", 90.0), ("71", 10.0)),
}
"""Answers and values of the nodes in order; a fold costs 100 tokens, and the best value is selected.

"lost" is right at first and wrong in the end; "failed" has no tree.
"""


def text_of(id: str) -> str:
    """Return what a problem asks."""
    return f"How many {id}?"


def make_side(folder: Path, ways: Mapping[str, str], /, **more: object) -> Path:
    """Write a run in which each problem goes one of the `WAYS`, or "failed", "late" or "ungraded".

    A late one is not finished; any field of run.json can be given.
    """
    hashes = [problem_hash(Problem(id, text_of(id))) for id in ways]
    with RunWriter.create(folder, run_record(list(ways), **{"problem_hashes": hashes, **more})) as writer:
        for id, way in ways.items():
            if way == "late":
                continue
            if way == "failed":
                writer.commit(None, result(id, None))
                continue
            pairs = WAYS[way if way in WAYS else "right"]
            nodes = [
                node(number, None, answer, samples=[sample(value)], visits=1, value=value)
                for number, (answer, value) in enumerate(pairs)
            ]
            best = max(range(len(pairs)), key=lambda number: pairs[number][1])
            grown = tree(id, nodes, best, text_of(id))
            writer.commit(grown, result(id, grown))
            if way != "ungraded" and more.get("gold_sha256", "feed"):
                writer.grade(grade(id, GOLD, {answer: answer == GOLD for answer, _ in pairs}))
    return folder
