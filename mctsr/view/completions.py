"""What the completions behind a step's value said, and what stood for right among them.

Reads records of a run folder; knows how such a judge keeps its answers. Whether the run compared with known answers,
the record of a tree does not tell, so neither does this.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from mctsr.grading import normal_form
from mctsr.judge.mc_estimate import remembered
from mctsr.runs.records import NodeRecord, SampleRecord
from mctsr.tree import Sample


class Vote(NamedTuple):
    """The answer that stands for right where none is known: that of most completions behind `node`."""

    answer: str
    node: int


def vote_of(nodes: Sequence[NodeRecord], number: int) -> Vote | None:
    """Return the vote of the first node on the path to `number` whose completions came to an answer; None without."""
    path, at = [nodes[number]], nodes[number]
    while at["parent"] is not None:
        at = nodes[at["parent"]]
        path.append(at)
    for node in reversed(path):
        answers = [one for sample in node["samples"] for one in answers_of(sample)]
        counted = [(said, n) for said, n in _counted(answers) if said is not None]
        if counted:
            return Vote(max(counted, key=lambda pair: pair[1])[0], node["id"])
    return None


def answers_of(sample: SampleRecord) -> Sequence[str | None]:
    """Return the answers of the completions behind a sample, None where one had none; empty for other judges."""
    return remembered([Sample(sample["value"], sample["raw"], sample["text"])])


def told(sample: SampleRecord, node: NodeRecord, vote: Vote | None) -> str:
    """Say in words what makes up a sample of completions; "" for other judges."""
    answers = answers_of(sample)
    if not answers:
        return ""
    right = sample["value"] * len(answers)
    if node["answer"] is not None and len(answers) == 1:
        words = f"its answer {answers[0]} counts as {'right' if right else 'wrong'}"
    else:
        share = f"{round(right)} of " if abs(right - round(right)) < 1e-6 else ""
        said = ", ".join(f"{one or 'no answer'} x{n}" for one, n in _counted(answers))
        counts = " count as right" if share else ""
        words = f"{share}{len(answers)} completions{counts}; they said {said}"
    if vote is None:
        return words
    return f"{words}; without a known answer right is {vote.answer}, of most completions of node {vote.node}"


def _counted(answers: Sequence[str | None]) -> list[tuple[str | None, int]]:
    """Count equal answers under their first spelling, in order of appearance; those without an answer come last."""
    spelling, times = dict[Hashable, str | None](), dict[Hashable, int]()
    for answer in answers:
        form = normal_form(answer)
        spelling.setdefault(form, None if form is None else answer)
        times[form] = times.get(form, 0) + 1
    return sorted(((spelling[form], n) for form, n in times.items()), key=lambda pair: pair[0] is None)
