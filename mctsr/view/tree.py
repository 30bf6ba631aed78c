"""One problem's tree as lines to read.

Reads records of a run folder; knows no colours, no widths and no terminal. Texts are left as the model wrote them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from mctsr.runs.records import GradeRecord, NodeRecord, TreeRecord
from mctsr.runs.verdict import Word, word_of

from .graph import UNICODE, Glyphs, draw
from .steps import news_of, on_the_way, said_by, solution
from .words import counted, number


@dataclass(frozen=True, slots=True)
class Line:
    """One node of a drawn tree.

    Attributes:
        node: Its record.
        graph: Lines and mark that place it.
        below: What goes on below the graph, on further lines about it.
        heads: Whether a new piece of the drawing begins with it.
        on_path: Whether it leads to the selected answer.
        selected: Whether the recipe took its answer.
        verdict: Its answer against the gold answer, in a word.
        news: What its text adds to those above it.
    """

    node: NodeRecord
    graph: str
    below: str
    heads: bool
    on_path: bool
    selected: bool
    verdict: Word
    news: str

    @property
    def rewards(self) -> list[float]:
        """All sampled evaluations, oldest first, as they count."""
        return [sample["value"] for sample in self.node["samples"]]

    @property
    def flags(self) -> list[str]:
        """What is special about the node, in words."""
        drafts = said_by(self.node)
        return [*flags_of(self.node, selected=self.selected), *([drafts] if drafts else [])]

    @property
    def on_the_way(self) -> bool:
        """Whether the node is a step of which no answer is to be expected, as its solution goes on."""
        return on_the_way(self.node)

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
        selected: The node whose answer the recipe took.
        stepwise: Whether the nodes are steps.
        unfinished: Whether they are, and no solution came to an answer.
        solution: All steps of the selected solution; "" where nodes are whole answers or none was selected.
        passed_over: Nodes of a larger value than the selected one that give no final answer, the largest first.
        lines: The nodes, parents before children.
        faults: Drafts that never came to be: number of the ask, and why.
    """

    problem_id: str
    problem: str
    recipe: str
    selected: int | None
    stepwise: bool
    unfinished: bool
    solution: str
    passed_over: list[NodeRecord]
    lines: list[Line]
    faults: list[tuple[int, str]]

    @classmethod
    def of(
        cls,
        tree: TreeRecord,
        grade: GradeRecord | None,
        glyphs: Glyphs = UNICODE,
        *,
        most: int | None = None,
    ) -> "TreeView":
        """Lay out a recorded tree; `grade` None leaves it ungraded, `most` is that of `graph.draw`."""
        nodes, chosen = tree["nodes"], tree["selected"]
        path, stepwise = frozenset(path_to(nodes, chosen)), any(node.get("step") for node in nodes)
        lines = [
            Line(
                node=nodes[joint.id],
                graph=joint.graph,
                below=joint.below,
                heads=joint.heads,
                on_path=joint.id in path,
                selected=joint.id == chosen,
                verdict=word_of(nodes[joint.id]["answer"], grade),
                news=news_of(nodes, joint.id),
            )
            for joint in draw([node["parent"] for node in nodes], path, glyphs, most=most)
        ]
        return cls(
            problem_id=tree["problem_id"],
            problem=tree["problem"],
            recipe=tree["recipe"],
            selected=chosen,
            stepwise=stepwise,
            unfinished=stepwise and chosen is None and all(node["answer"] is None for node in nodes),
            solution="" if chosen is None or not nodes[chosen].get("step") else solution(nodes, chosen),
            passed_over=_passed_over(nodes, chosen),
            lines=lines,
            faults=[(e["ask"], f) for e in tree["events"] if e["event"] == "folded" for f in e["faults"]],
        )

    def choice(self, by: str) -> str:
        """Say which node was selected `by` what, and which others had to stand back for want of an answer."""
        if self.unfinished:
            return "no solution was finished with an answer"
        if by == "best value" and self.passed_over:
            first, *more = self.passed_over
            others = f" and {counted(len(more), 'other')} have" if more else " has"
            by = (
                f"best value among nodes with an answer; node {first['id']} with Q {number(first['value'])}"
                f"{others} none"
            )
        return by if self.selected is None else f"node {self.selected}, {by}"


def flags_of(node: NodeRecord, *, selected: bool) -> list[str]:
    """Return what is special about a node, in words."""
    twin = node["twin"]
    named = {
        "selected": selected,
        "planted": node["planted"],
        "truncated": node["truncated"],
        f"same text as {twin}": twin is not None,
    }
    return [name for name, holds in named.items() if holds]


def path_to(nodes: Sequence[NodeRecord], node: int | None) -> list[int]:
    """Return the ids from the root to `node`; none for None."""
    path = []
    while node is not None:
        path.append(node)
        node = nodes[node]["parent"]
    return path[::-1]


def _passed_over(nodes: Sequence[NodeRecord], selected: int | None) -> list[NodeRecord]:
    best = None if selected is None or nodes[selected]["answer"] is None else nodes[selected]["value"]
    if best is None:
        return []
    # Of steps nobody expects an answer but at the end.
    silent = [
        node
        for node in nodes
        if node["answer"] is None and not node["planted"] and node["samples"] and not node.get("step")
    ]
    above = [(node["value"], node) for node in silent if node["value"] is not None and node["value"] > best]
    return [node for _, node in sorted(above, key=lambda pair: -pair[0])]


def _tallied(reasons: Sequence[str]) -> list[tuple[str, str]]:
    """Return each different reason once, with how often it occurred when that is more than once."""
    return [
        (reason, f" (x{n})" if (n := reasons.count(reason)) > 1 else "") for reason in dict.fromkeys(reasons)
    ]
