"""What a fold changed: rows, endings, and how high the best value stands.

Knows the numbers of a tree before and after. Looks at the rows that can have changed and at no others.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mctsr.kernels.highest import highest, highest_above
from mctsr.kernels.node import NONE, Floats, Ids
from mctsr.tree import Tree


class Row(NamedTuple):
    """A node's numbers after a fold."""

    id: int
    visits: int
    value: float


class Before:
    """How things stood before a fold."""

    def __init__(self, tree: Tree, node: int, *, wide: bool) -> None:
        """Note the rows that may change.

        Args:
            tree: The tree.
            node: The asked node, NONE for the opening; only nodes on its path and new ones will change.
            wide: Whether any other row may change as well.
        """
        self._node, self._wide = node, wide
        self._size, self._ended = len(tree), len(tree.ended)
        self._ids: Ids = np.arange(len(tree)) if wide else np.array(tree.line(node), dtype=np.int64)
        self._visits, self._values = self._numbers(tree)

    def _numbers(self, tree: Tree, ids: Ids | None = None) -> tuple[NDArray[np.int32], Floats]:
        ids = self._ids if ids is None else ids
        return tree.nodes["visits"][ids], tree.nodes["value"][ids]

    def ended(self, tree: Tree) -> tuple[int, ...]:
        """Return the ids of the nodes that can no longer grow from here on."""
        return tuple(tree.ended[self._ended :])

    def changed(self, tree: Tree) -> tuple[Row, ...]:
        """Return the rows that are new or differ."""
        visits, values = self._numbers(tree)
        same = (values == self._values) | (np.isnan(values) & np.isnan(self._values))
        same &= visits == self._visits
        ids = np.concatenate((self._ids[~same], np.arange(self._size, len(tree))))
        return tuple(map(Row, ids.tolist(), *(column.tolist() for column in self._numbers(tree, ids))))

    def best(self, tree: Tree, so_far: float) -> float:
        """Return the largest value of a scored, unplanted node, -inf without one; it was `so_far` before."""
        if not self._wide:
            here = max(
                _height(tree, highest_above(tree.nodes, self._node)),
                _height(tree, highest(tree.nodes, self._size, len(tree))),
            )
            if here >= so_far or so_far not in self._values.tolist():
                return max(here, so_far)
        return _height(tree, highest(tree.nodes, 0, len(tree)))


def _height(tree: Tree, node: int) -> float:
    value = math.nan if node == NONE else tree.value(node)
    return -math.inf if math.isnan(value) else value
