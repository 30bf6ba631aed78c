"""What the formats share: verdicts as words, JSON in strings, and which tree comes first."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from mctsr.runs.files import dumps
from mctsr.runs.records import GradeRecord, NodeRecord, TreeRecord
from mctsr.runs.verdict import Word, word_of

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

Row = dict[str, object]
Correct = Literal["yes", "no", "unknown"]


_EVERYWHERE = {
    *("id", "parent", "depth", "ask", "text", "answer", "work", "samples", "visits", "value", "prior"),
    *("unscored", "planted", "truncated", "twin", "ended", "step"),
}
"""What has a place of its own in every row of a node."""

_CERTAIN: Mapping[Word, Correct] = {"right": "yes", "wrong": "no"}


def correct(answer: str | None, grade: GradeRecord | None) -> Correct:
    """Say whether an answer is the gold one; without an answer, a grade or a certain verdict it is unknown."""
    return _CERTAIN.get(word_of(answer, grade), "unknown")


def packed(value: object) -> str:
    """Write a value as JSON in a string."""
    return dumps(value).decode()


def real(value: float | None) -> float | None:
    """Return a number that is written with a decimal point."""
    return None if value is None else float(value)


def extras(node: NodeRecord) -> Row:
    """Return what only some nodes have: token ids and the like."""
    return {key: value for key, value in node.items() if key not in _EVERYWHERE}


def scored(tree: TreeRecord) -> int | None:
    """Return the first node with an evaluation that counts."""
    return next((n["id"] for n in tree["nodes"] if n["samples"] and n["value"] is not None), None)


def typed_first(run: "Run") -> Iterator[TreeRecord]:
    """Yield all trees in the order in which they were finished, but one with scores before all others."""
    lead = next((tree for tree in run.trees() if scored(tree) is not None), None)
    if lead is not None:
        yield lead
    for tree in run.trees():
        if lead is None or tree["problem_id"] != lead["problem_id"]:
            yield tree
