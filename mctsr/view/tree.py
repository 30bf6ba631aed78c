"""One problem's tree as lines to read, and one node with everything that is known of it.

Reads records of a run folder; knows no colours, no widths and no terminal. Texts are left as the model wrote them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from mctsr.runs.records import EventRecord, GradeRecord, NodeRecord, TreeRecord
from mctsr.runs.verdict import Word, word_of

from .graph import UNICODE, Glyphs, draw


@dataclass(frozen=True, slots=True)
class Line:
    """One node of a drawn tree.

    Attributes:
        node: Its record.
        graph: Lines and mark that place it.
        below: The same for further lines about it.
        on_path: Whether it leads to the selected answer.
        selected: Whether the recipe took its answer.
        verdict: Its answer against the gold answer, in a word.
    """

    node: NodeRecord
    graph: str
    below: str
    on_path: bool
    selected: bool
    verdict: Word

    @property
    def rewards(self) -> list[float]:
        """All sampled evaluations, oldest first, as they count."""
        return [sample["value"] for sample in self.node["samples"]]

    @property
    def flags(self) -> list[str]:
        """What is special about the node, in words."""
        return _flags(self.node, self.selected)

    @property
    def remarks(self) -> list[str]:
        """Why evaluations gave no number, and why the node can never grow again."""
        remarks = [f"unscored: {reason}{times}" for reason, times in _tallied(self.node["unscored"])]
        return [*remarks, *([f"ended: {self.node['ended']}"] if self.node["ended"] else [])]


@dataclass(frozen=True, slots=True)
class TreeView:
    """A tree in the order in which it is read.

    Attributes:
        problem_id: Which problem.
        problem: Its text.
        recipe: What grew the tree.
        stopped: Why the search ended, "" when the record does not say.
        lines: The nodes, parents before children.
        faults: Drafts that never came to be: number of the ask, and why.
    """

    problem_id: str
    problem: str
    recipe: str
    stopped: str
    lines: list[Line]
    faults: list[tuple[int, str]]

    @classmethod
    def of(cls, tree: TreeRecord, grade: GradeRecord | None, glyphs: Glyphs = UNICODE) -> "TreeView":
        """Lay out a recorded tree; `grade` None leaves it ungraded."""
        nodes, path = tree["nodes"], frozenset(path_to(tree["nodes"], tree["selected"]))
        lines = [
            Line(
                node=nodes[joint.id],
                graph=joint.graph,
                below=joint.below,
                on_path=joint.id in path,
                selected=joint.id == tree["selected"],
                verdict=word_of(nodes[joint.id]["answer"], grade),
            )
            for joint in draw([node["parent"] for node in nodes], path, glyphs)
        ]
        return cls(
            problem_id=tree["problem_id"],
            problem=tree["problem"],
            recipe=tree["recipe"],
            stopped=_stopped(tree["events"]),
            lines=lines,
            faults=[(e["ask"], f) for e in tree["events"] if e["event"] == "folded" for f in e["faults"]],
        )


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
        verdict: As in `Line`.
        selected: Whether the recipe took its answer.
        children: Ids of its children.
        chosen_by: Numbers of the asks in which the selector chose it.
        judged_by: Number of the ask that brought each of its samples.
        unscored_by: The same for each reason why there was none.
        ended_by: Number of the ask after which it could grow no more; None while it can.
        moments: Its numbers each time they changed.
    """

    node: NodeRecord
    verdict: Word
    selected: bool
    children: list[int]
    chosen_by: list[int]
    judged_by: list[int]
    unscored_by: list[int]
    ended_by: int | None
    moments: list[Moment]

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
            verdict=word_of(node["answer"], grade),
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
        )

    @property
    def flags(self) -> list[str]:
        """What is special about the node, in words."""
        return _flags(self.node, self.selected)

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON."""
        return {**asdict(self), "moments": [moment._asdict() for moment in self.moments]}


def _flags(node: NodeRecord, selected: bool) -> list[str]:
    twin = node["twin"]
    named = {
        "selected": selected,
        "planted": node["planted"],
        "truncated": node["truncated"],
        f"twin of {twin}": twin is not None,
    }
    return [name for name, holds in named.items() if holds]


def path_to(nodes: Sequence[NodeRecord], node: int | None) -> list[int]:
    """Return the ids from the root to `node`; none for None."""
    path = []
    while node is not None:
        path.append(node)
        node = nodes[node]["parent"]
    return path[::-1]


def _stopped(events: Sequence[EventRecord]) -> str:
    return next((event["reason"] for event in reversed(events) if event["event"] == "stopped"), "")


def _tallied(reasons: Sequence[str]) -> list[tuple[str, str]]:
    """Return each different reason once, with how often it occurred when that is more than once."""
    return [
        (reason, f" (x{n})" if (n := reasons.count(reason)) > 1 else "") for reason in dict.fromkeys(reasons)
    ]
