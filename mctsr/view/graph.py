"""The shape of a drawn tree: in which order nodes come, and which lines join them.

Knows ids and parents only. Every child hangs below its parent by an elbow and one step further to the right. What
lies deeper than a picture may be is drawn as a piece of its own, that begins at the left again.
"""

from collections import deque
from collections.abc import Collection, Sequence
from typing import NamedTuple


class Glyphs(NamedTuple):
    """What a drawing is made of. `fork`, `last`, `pipe` and `gap` are two cells wide, the marks one."""

    chosen: str
    other: str
    fork: str
    last: str
    pipe: str
    more: str
    gap: str = "  "


UNICODE = Glyphs(chosen="●", other="○", fork="├─", last="╰─", pipe="│ ", more="…")
ASCII = Glyphs(chosen="*", other="o", fork="|-", last="`-", pipe="| ", more="...")


class Joint(NamedTuple):
    """One node's place in a drawing.

    Attributes:
        id: The node.
        graph: What stands before it on its own line, its mark included.
        below: What goes on below the graph, on further lines about the node.
        heads: Whether a new piece begins with it: the children of its parent, drawn at the left again.
    """

    id: int
    graph: str
    below: str
    heads: bool = False


def draw(
    parents: Sequence[int | None],
    chosen: Collection[int],
    glyphs: Glyphs = UNICODE,
    *,
    most: int | None = None,
) -> list[Joint]:
    """Lay out a forest, each node once, parents before children, children in order of creation.

    Roots stand at the left, without a line between them. A node that has children and no room for them ends in
    `glyphs.more`; they head a later piece, in which the first elbows belong to them.

    Args:
        parents: Parent of each node, None for a root; a parent comes before its children.
        chosen: Ids on the path to the selected node.
        glyphs: What to draw with.
        most: How many steps to the right a piece may go, at least 1; None sets no limit.

    Raises:
        ValueError: `most` is below 1.
    """
    if most is not None and most < 1:
        raise ValueError(f"most is {most}; a picture needs at least one step to the right")
    children, roots = _children(parents)
    joints: list[Joint] = []
    todo = [(root, "", "", 0) for root in reversed(roots)]
    pieces: deque[list[int]] = deque()
    while todo or pieces:
        heads = not todo
        if heads:
            todo = _hung(pieces.popleft(), "", 1, glyphs)
        node, before, column, steps = todo.pop()
        mark, below = glyphs.chosen if node in chosen else glyphs.other, children[node]
        cut = bool(below) and steps == most
        inside = glyphs.pipe[0] if below and not cut else glyphs.gap[0]
        joints.append(Joint(node, before + mark + glyphs.more * cut, column + inside, heads))
        if cut:
            pieces.append(below)
        else:
            todo += _hung(below, column, steps + 1, glyphs)
    return joints


def fitting(room: int, nodes: int) -> int:
    """Return how many steps to the right a drawing of `nodes` numbered nodes may go in `room` cells, at least 3."""
    return max((room - len(str(nodes)) - 3) // 2, 3)


def _hung(nodes: Sequence[int], column: str, steps: int, glyphs: Glyphs) -> list[tuple[int, str, str, int]]:
    """Return siblings with what stands before and below each, the last one first: a stack."""
    return [
        (node, column + glyphs.fork, column + glyphs.pipe, steps)
        if i
        else (node, column + glyphs.last, column + glyphs.gap, steps)
        for i, node in enumerate(reversed(nodes))
    ]


def _children(parents: Sequence[int | None]) -> tuple[list[list[int]], list[int]]:
    """Return the children of each node, and the roots."""
    children: list[list[int]] = [[] for _ in parents]
    roots = []
    for node, parent in enumerate(parents):
        if parent is None:
            roots.append(node)
        else:
            children[parent].append(node)
    return children, roots
