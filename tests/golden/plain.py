"""Both MCTSr loops once more as plain Python over lists, written from the paper's and the code's rules."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

#: Score of a place: number of the ask, and the draft (-1: the asked node itself).
Scores = Callable[[int, int], float]


@dataclass
class Node:
    """One answer."""

    parent: int | None
    rewards: list[float] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    ucb: float = 0.0
    shown: float = 0.0

    @property
    def own(self) -> float:
        return 0.5 * (min(self.rewards) + sum(self.rewards) / len(self.rewards))


@dataclass
class Grown:
    """What a loop leaves behind."""

    asked: list[int]
    parents: list[int | None]
    values: list[float]
    best: int


def paper(scores: Scores, rollouts: int, max_children: int, c: float) -> Grown:
    """Grow a tree by the paper's rules."""

    def counted(score: float) -> float:
        return score - 50 if score > 95 else score

    def q(i: int) -> float:
        below = [q(child) for child in nodes[i].children]
        return 0.5 * (nodes[i].own + max(below)) if below else nodes[i].own

    def is_open(i: int) -> bool:
        children = nodes[i].children
        return len(children) < max_children or all(q(child) <= q(i) for child in children)

    def uct(i: int) -> float:
        above = nodes[i].parent
        if above is None:
            return q(i)
        seen = len(nodes[above].rewards)
        return q(i) + c * math.sqrt((math.log(seen) + 1) / (len(nodes[i].rewards) + 1e-5))

    nodes = [Node(None, [counted(scores(0, 0))]), Node(None, [counted(scores(0, 1))])]
    asked = []
    for ask in range(1, rollouts + 1):
        chosen = max((i for i in range(len(nodes)) if is_open(i)), key=uct)
        asked.append(chosen)
        nodes[chosen].rewards.append(counted(scores(ask, -1)))
        nodes[chosen].children.append(len(nodes))
        nodes.append(Node(chosen, [counted(scores(ask, 0))]))
    values = [q(i) for i in range(len(nodes))]
    best = max((i for i in range(len(nodes)) if i != 1), key=values.__getitem__)
    return Grown(asked, [node.parent for node in nodes], values, best)


def code(scores: Scores, rollouts: int, max_children: int, c: float) -> Grown:
    """Grow a tree by the released code's rules, stale scores and all."""

    def counted(score: float) -> float:
        return 50 if score >= 95 else score

    def show(node: Node, value: float) -> None:
        seen = 0 if node.parent is None else len(nodes[node.parent].rewards)
        node.shown = value
        node.ucb = value + c * math.sqrt(math.log(seen + 1) / (len(node.rewards) + 1e-5))

    def update() -> None:
        leaves = [node for node in nodes if not node.children]
        for leaf in leaves:
            show(leaf, leaf.own)
        for above in {leaf.parent for leaf in leaves if leaf.parent is not None}:
            node = nodes[above]
            show(node, 0.5 * (node.own + max(nodes[child].own for child in node.children)))

    def is_open(node: Node) -> bool:
        few = len(node.children) < max_children
        return few or max(nodes[child].own for child in node.children) < node.own

    nodes = [Node(None, [counted(scores(0, 0))]), Node(None, [counted(scores(0, 1))])]
    update()
    asked = []
    for ask in range(1, rollouts + 1):
        chosen = max((i for i, node in enumerate(nodes) if is_open(node)), key=lambda i: nodes[i].ucb)
        asked.append(chosen)
        nodes[chosen].rewards.append(counted(scores(ask, -1)))
        nodes[chosen].children.append(len(nodes))
        nodes.append(Node(chosen, [counted(scores(ask, 0))]))
        update()
    values = [node.shown for node in nodes]
    best = max((i for i in range(len(nodes)) if i != 1), key=values.__getitem__)
    return Grown(asked, [node.parent for node in nodes], values, best)
