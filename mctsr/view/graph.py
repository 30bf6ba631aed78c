"""The shape of a drawn tree: in which order nodes come, and which lines join them.

Knows ids and parents only. A node's chosen child (its trunk) stands straight below it, all other children branch
off to the right, so that a drawing grows wider with forks and never with depth.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple


class Glyphs(NamedTuple):
    """What a drawing is made of. `fork`, `last`, `pipe` and `gap` are two cells wide, the marks one."""

    chosen: str
    other: str
    fork: str
    last: str
    pipe: str
    gap: str = "  "


UNICODE = Glyphs(chosen="●", other="○", fork="├─", last="╰─", pipe="│ ")
ASCII = Glyphs(chosen="*", other="o", fork="|-", last="`-", pipe="| ")


class Joint(NamedTuple):
    """One node's place in a drawing.

    Attributes:
        id: The node.
        graph: What stands before it on its own line, its mark included.
        below: What stands at the same width on further lines about it.
    """

    id: int
    graph: str
    below: str


def draw(parents: Sequence[int | None], chosen: Collection[int], glyphs: Glyphs = UNICODE) -> list[Joint]:
    """Lay out a forest, each node once, parents before children.

    Roots hang side by side in order of creation. Below a node its side branches come first, in order of
    creation, then the trunk: the child in `chosen`, else the one with the largest subtree. Away from the
    chosen path a drawing of n nodes is thus at most log2(n) branches wide.

    Args:
        parents: Parent of each node, None for a root; a parent comes before its children.
        chosen: Ids on the path to the selected node.
        glyphs: What to draw with.
    """
    children, roots = _children(parents)
    trunks = _trunks(parents, children, chosen)
    joints: list[Joint] = []
    todo = [
        (root, glyphs.fork, glyphs.pipe) if root != roots[-1] else (root, glyphs.last, glyphs.gap)
        for root in reversed(roots)
    ]
    while todo:
        node, before, column = todo.pop()
        mark = glyphs.chosen if node in chosen else glyphs.other
        inside = glyphs.pipe[0] if children[node] else glyphs.gap[0]
        joints.append(Joint(node, before + mark, column + inside))
        if children[node]:
            trunk = trunks[node]
            sides = [child for child in children[node] if child != trunk]
            todo.append((trunk, column, column))
            todo += [(side, column + glyphs.fork, column + glyphs.pipe) for side in reversed(sides)]
    return joints


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


def _trunks(
    parents: Sequence[int | None], children: Sequence[Sequence[int]], chosen: Collection[int]
) -> dict[int, int]:
    """Return which child of each inner node stands straight below it; the first created wins ties."""
    sizes = [1] * len(parents)
    for node in range(len(parents) - 1, -1, -1):
        parent = parents[node]
        if parent is not None:
            sizes[parent] += sizes[node]
    return {
        node: max(below, key=lambda child: (child in chosen, sizes[child]))
        for node, below in enumerate(children)
        if below
    }
