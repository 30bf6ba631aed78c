"""The format "tree": one row a problem, the records of trees.jsonl in types that every loader reads."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mctsr.runs.records import GradeRecord, NodeRecord, TreeRecord

from .rows import Row, correct, extras, packed, real, typed_first

if TYPE_CHECKING:
    from mctsr.runs.folder import Run


def tree_rows(run: "Run") -> Iterator[Row]:
    """Yield every tree, with the same keys and types in each row.

    The keys are those of trees.jsonl, and `correct` at each node. `parent`, `twin` and `selected` are -1 for
    none, `answer` is "" for none; `front`, `events`, and a node's `work` and `unscored` are JSON in a string, and so
    is `more`: what only some nodes have, such as token ids. A step's `text` is that step alone.
    Trees are in the order in which they were finished, except that the first is one with scores.

    Raises:
        RunError: A tree cannot be read.
    """
    grades = run.grades()
    for tree in typed_first(run):
        yield _row(tree, grades.get(tree["problem_id"]))


def _row(tree: TreeRecord, grade: GradeRecord | None) -> Row:
    return {
        "schema": tree["schema"],
        "problem_id": tree["problem_id"],
        "problem": tree["problem"],
        "recipe": tree["recipe"],
        "selected": -1 if tree["selected"] is None else tree["selected"],
        "gold": "" if grade is None else grade["gold"],
        "front": packed(tree["front"]),
        "nodes": [_node(node, grade) for node in tree["nodes"]],
        "events": packed(tree["events"]),
    }


def _node(node: NodeRecord, grade: GradeRecord | None) -> Row:
    return {
        "id": node["id"],
        "parent": -1 if node["parent"] is None else node["parent"],
        "depth": node["depth"],
        "ask": node["ask"],
        "text": node["text"],
        "answer": node["answer"] or "",
        "work": packed(node["work"]),
        "samples": [
            {"value": float(s["value"]), "raw": float(s["raw"]), "text": s["text"]} for s in node["samples"]
        ],
        "visits": node["visits"],
        "value": real(node["value"]),
        "prior": float(node["prior"]),
        "unscored": packed(node["unscored"]),
        "planted": node["planted"],
        "truncated": node["truncated"],
        "step": node.get("step", False),
        "twin": -1 if node["twin"] is None else node["twin"],
        "ended": node["ended"],
        "more": packed(extras(node)),
        "correct": correct(node["answer"], grade),
    }
