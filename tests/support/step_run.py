"""A run over steps made by hand: trees whose nodes are steps under one empty root, as recipes over steps leave them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mctsr.runs.records import NodeRecord, TreeRecord
from mctsr.runs.writer import RunWriter
from tests.support.sample_run import node, result, run_record, sample, tree

CODE = "Check it:\n\n```python\nassert 3 * 4 == 12\n\nprint(2 + 12)\n```\n\n"
LATEX = "\\begin{align}\n2 + 12 &= 14\n\\end{align}\nThe answer is \\boxed{14}."


def root() -> NodeRecord:
    """Make the empty root that is opened without a call."""
    return node(0, text="", visits=4, value=0.6, step=True)


def step(number: int, parent: int, text: str, value: float | None, **more: object) -> NodeRecord:
    """Make a step that was judged once, unless `value` is None; any field can be given."""
    judged: dict[str, object] = {"samples": [sample(value)], "visits": 1, "value": value} if value else {}
    if value is None:
        judged = {"unscored": ["no score in the reply"]}
    made: Any = {**judged, **more}
    return node(number, parent, text=text, work={}, step=True, **made)


def sum_nodes() -> list[NodeRecord]:
    """Make a tree: 0 > (1 > (2 > 3, 4), 5 > 6, 7), values from 0 to 1.

    3 is finished and all good; 4 is bad; 5 has no value, so that 6 has no label either; 7 was visited twice.
    """
    sampled = {"ids": [5, 6], "logprob": -0.25, "tokens": 2}
    return [
        root(),
        step(1, 0, "Multiply first: 3*4 = 12.\n\n", 0.9, visits=3, **sampled),
        step(2, 1, CODE, 0.75, depth=2, visits=2),
        step(3, 2, LATEX, 1.0, depth=3, answer="14", ended="finished"),
        step(4, 1, "Step 2: 2+12 = 15.\nThe answer is 15.", 0.25, depth=2, answer="15", ended="finished"),
        step(5, 0, "Add first.\n\n", None),
        step(6, 5, "5*4 = 20.", 0.5, depth=2, answer="20", ended="finished"),
        step(7, 0, "Hmm.\n\n", 0.5, visits=2),
    ]


def step_tree(
    id: str, nodes: Sequence[NodeRecord], selected: int | None = None, text: str = "2+3*4?"
) -> TreeRecord:
    """Make a tree of steps."""
    return {**tree(id, nodes, selected, text), "recipe": "beam"}


def make_step_run(folder: Path, trees: Sequence[TreeRecord] | None = None, **more: object) -> Path:
    """Write a finished run over steps; any field of run.json can be given, also those of later versions."""
    given = [step_tree("sum", sum_nodes(), 3)] if trees is None else trees
    facts: dict[str, object] = {
        "recipe": "beam",
        "recipe_arguments": {"n": 4},
        "gold_sha256": None,
        "scale": [0.0, 1.0],
        "settings": {"policy": {"model": None}, "judge": None, "recipe": "beam", "seed": 7},
        "data": "/data/gsm8k.jsonl",
    }
    record = run_record([grown["problem_id"] for grown in given], **{**facts, **more})
    with RunWriter.create(folder, record) as writer:
        for grown in given:
            writer.commit(grown, result(grown["problem_id"], grown))
    return folder
