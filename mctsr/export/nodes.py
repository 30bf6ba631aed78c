"""The format "nodes": one row a node, flat, for tables, training sets and viewers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mctsr.runs.records import GradeRecord, NodeRecord, TreeRecord

from .rows import Row, correct, extras, packed, real, scored, typed_first
from .steps import prefixes

if TYPE_CHECKING:
    from mctsr.runs.folder import Run


def node_rows(run: "Run") -> Iterator[Row]:
    """Yield every node of every tree, with the same keys and types in each row.

    `step` says that a text is one step; then `prefix` is the text of the steps before it, so that both together are
    the partial solution; it is "" for whole answers. `parent_id` is -1 for a root, `answer` "" for none, `value` null
    for a node without one (a step that no judge saw may have that of its completions), `samples` every sampled
    evaluation as it counts, `correct` "yes", "no" or "unknown". `meta` is JSON: ask, prior, raw scores with the
    judge's replies, critique and the like, token ids and the like, reasons, gold answer, verdict. Nodes of a tree are
    in order of creation, except that the very first row is one with a score: loaders take types from the first rows.
    A run without any score has `value` null throughout; load it behind one that has scores.

    Raises:
        RunError: A tree cannot be read.
    """
    grades = run.grades()
    for number, tree in enumerate(typed_first(run)):
        grade = grades.get(tree["problem_id"])
        lead = scored(tree) if number == 0 else None
        nodes = sorted(tree["nodes"], key=lambda node: (node["id"] != lead, node["id"]))
        before = prefixes(tree)
        yield from (_row(node, before[node["id"]], tree, grade) for node in nodes)


def _row(node: NodeRecord, prefix: str, tree: TreeRecord, grade: GradeRecord | None) -> Row:
    return {
        "problem_id": tree["problem_id"],
        "problem": tree["problem"],
        "node_id": node["id"],
        "parent_id": -1 if node["parent"] is None else node["parent"],
        "depth": node["depth"],
        "prefix": prefix,
        "text": node["text"],
        "answer": node["answer"] or "",
        "value": real(node["value"]),
        "visits": node["visits"],
        "samples": [float(sample["value"]) for sample in node["samples"]],
        "planted": node["planted"],
        "truncated": node["truncated"],
        "step": node.get("step", False),
        "selected": node["id"] == tree["selected"],
        "correct": correct(node["answer"], grade),
        "meta": packed(_meta(node, tree, grade)),
    }


def _meta(node: NodeRecord, tree: TreeRecord, grade: GradeRecord | None) -> Row:
    answer = node["answer"]
    return {
        "recipe": tree["recipe"],
        "ask": node["ask"],
        "prior": node["prior"],
        "raw": [sample["raw"] for sample in node["samples"]],
        "judge": [sample["text"] for sample in node["samples"]],
        "work": node["work"],
        "unscored": node["unscored"],
        "twin": node["twin"],
        "ended": node["ended"],
        **extras(node),
        "gold": None if grade is None else grade["gold"],
        "verdict": None if grade is None or answer is None else grade["verdicts"].get(answer),
    }
