"""One node with everything that is known of it.

Reads records of a run folder; knows no colours, no widths and no terminal. Texts are left as the model wrote them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from mctsr.runs.records import GradeRecord, NodeRecord, SampleRecord, TreeRecord
from mctsr.runs.verdict import Word, word_of

from .completions import Vote, told, vote_of
from .steps import AHEAD, TIMES, digits, on_the_way, said_by, solution
from .tree import flags_of
from .words import number

_FULL_MARKS = 95.0
"""From here on a judge may count less than the model said: nobody is to be certain."""


class Moment(NamedTuple):
    """A node's numbers after the fold of an ask."""

    ask: int
    visits: int
    value: float | None


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node with its history.

    Attributes:
        node: Its record.
        solution: All steps down to it; of a whole answer its text.
        verdict: As in `Line`.
        why: How the grader came to it, with the gold answer; "" when it said nothing of this answer.
        selected: Whether the recipe took its answer.
        children: Ids of its children.
        chosen_by: Numbers of the asks in which the selector chose it.
        judged_by: Number of the ask that brought each of its samples.
        unscored_by: The same for each reason why there was none.
        ended_by: Number of the ask after which it could grow no more; None while it can.
        moments: Its numbers each time they changed.
        vote: What stood for right where a judge completes steps and no answer is known; None for other judges.
    """

    node: NodeRecord
    solution: str
    verdict: Word
    why: str
    selected: bool
    children: list[int]
    chosen_by: list[int]
    judged_by: list[int]
    unscored_by: list[int]
    ended_by: int | None
    moments: list[Moment]
    vote: Vote | None

    @classmethod
    def of(cls, tree: TreeRecord, number: int, grade: GradeRecord | None) -> "NodeView":
        """Gather what a recorded tree says of one node.

        Raises:
            IndexError: The tree has no node of that number.
        """
        if not 0 <= number < len(tree["nodes"]):
            raise IndexError(number)
        node = tree["nodes"][number]
        asks = [event for event in tree["events"] if event["event"] == "asked"]
        folds = [event for event in tree["events"] if event["event"] == "folded"]
        return cls(
            node=node,
            solution=solution(tree["nodes"], number),
            verdict=word_of(node["answer"], grade),
            why=_why(node["answer"], grade),
            selected=number == tree["selected"],
            children=[other["id"] for other in tree["nodes"] if other["parent"] == number],
            chosen_by=[ask["ask"] for ask in asks if ask["node"] == number],
            judged_by=[fold["ask"] for fold in folds for id in fold["judged"] if id == number],
            unscored_by=[fold["ask"] for fold in folds for id in fold["unscored"] if id == number],
            ended_by=next((fold["ask"] for fold in folds if number in fold["ended"]), None),
            moments=[
                Moment(fold["ask"], visits, value)
                for fold in folds
                for id, visits, value in fold["changed"]
                if id == number
            ],
            vote=vote_of(tree["nodes"], number),
        )

    @property
    def flags(self) -> list[str]:
        """What is special about the node, in words."""
        return flags_of(self.node, selected=self.selected)

    @property
    def place(self) -> str:
        """Where it stands and what made it, in words."""
        parent, drafts = self.node["parent"], said_by(self.node)
        above = f"below node {parent}"
        if parent is None:
            above = "the beginning, before any step" if self.node.get("step") else "a root"
        words = [above, f"depth {self.node['depth']}", f"made {_in([self.node['ask']])}"]
        if drafts:
            words.append(drafts)
        if self.children:
            words.append(
                f"{'child: node' if len(self.children) == 1 else 'children: nodes'} {_listed(self.children)}"
            )
        return " · ".join(words)

    @property
    def on_the_way(self) -> bool:
        """Whether it is a step of which no answer is to be expected, as its solution goes on."""
        return on_the_way(self.node)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """What the model wrote, each under its heading: a step is shown alone, and in its solution."""
        node = self.node
        if not node.get("step"):
            return [*node["work"].items(), ("answer in full", node["text"])]
        found = [(name, text) for name, text in node["work"].items() if name != TIMES]
        if node["parent"] is None and not node["text"]:
            return found
        found.append(("step", node["text"].rstrip()))
        if self.solution != node["text"]:
            heading = "solution so far" if node["answer"] is None else "solution in full"
            found.append((heading, self.solution.rstrip()))
        return found

    @property
    def fate(self) -> str:
        """How often it was chosen, and what ended it, in words."""
        chosen = f"chosen {_in(self.chosen_by)}" if self.chosen_by else "never chosen"
        if not self.node["ended"]:
            return chosen
        when = "" if self.ended_by is None else f" {_in([self.ended_by])}"
        return f"{chosen} · ended{when}: {self.node['ended']}"

    @property
    def rewards(self) -> list[str]:
        """What each sample counts, by which ask, and what the judge said when that is not the same."""
        samples = zip(self.node["samples"], self.judged_by, strict=True)
        return [f"reward {n}, {_by(ask)}: {self._said(sample)}" for n, (sample, ask) in enumerate(samples, 1)]

    def _said(self, sample: SampleRecord) -> str:
        if not self.node.get("step"):
            return _reward(sample)
        completed = told(sample, self.node, self.vote)
        return _step_reward(sample) + (f" ({completed})" if completed else "")

    def value(self, value: float | None) -> str:
        """Write a value of this node, or one that it had."""
        return number(value, digits(self.node))

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON."""
        vote = self.vote and self.vote._asdict()
        return {**asdict(self), "moments": [moment._asdict() for moment in self.moments], "vote": vote}


def _reward(sample: SampleRecord) -> str:
    said, counts = number(sample["raw"]), number(sample["value"])
    if said == counts:
        return counts
    reduced = "full marks are reduced: " if sample["raw"] >= _FULL_MARKS else ""
    return f"{counts} ({reduced}said {said}, counts {counts})"


def _step_reward(sample: SampleRecord) -> str:
    """Tell a step's own score apart from what counts, which may be made of the whole solution so far."""
    own, counts = number(sample["raw"], 2), number(sample["value"], 2)
    if sample["text"].startswith(AHEAD):
        return f"{counts} (the step itself {own}, the best of what lies ahead {counts})"
    return counts if own == counts else f"{counts} (the step itself {own}, with the steps before it {counts})"


def _by(ask: int) -> str:
    return f"ask {ask}" if ask else "the opening"


def _in(asks: Sequence[int]) -> str:
    if list(asks) == [0]:
        return "in the opening"
    return f"in {'ask' if len(asks) == 1 else 'asks'} {_listed(asks)}"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _why(answer: str | None, grade: GradeRecord | None) -> str:
    said = grade["verdicts"].get(answer) if grade and answer is not None else None
    return f"{said['method']}, {said['reason']} (gold {grade['gold']})" if grade and said else ""
