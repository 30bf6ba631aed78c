"""On to the best newborn until a search path ends, then to the best leaf of the whole tree: DeepSearch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, NONE, PLANTED, UNSCORED, Ids
from mctsr.parts import Ask, Rule, not_numbers
from mctsr.tree import Tree

from .pools import FrontierDeepSearch
from .scores import uct_deepsearch

ROOT = 0
_LOCAL: Rule = uct_deepsearch()
_FRONTIER: Rule = FrontierDeepSearch()


@dataclass(frozen=True, slots=True)
class DeepSearchJump:
    """Grow the newborn with the best local score; when one of them has ended, the leaf with the best global score.

    The newborn are the children that came last. As long as none of them is finished the search goes on at the best
    one by `local`. Once one is, or none can be grown, it jumps to the best node by `frontier`, wherever that is: one
    without children, neither finished nor unscored, above `max_depth`, not the root. The root is grown once, first.
    The first created wins ties; without a node to go to there is no ask.
    The newborn are read from the tree, so nothing is remembered. With several asks in flight, nodes that are being
    grown are passed over, by the next best newborn or else by the frontier; the family that came last is the current
    one. The published order of steps is that of one ask at a time.
    Source: DeepSearch, arXiv:2509.25454, with its released code (smiles724/DeepSearch). Other than here, the code
    lets a node with fewer children than `n` be grown again. Which of the finished newborn is backed up is for the
    backup: `OneEnd`.

    Attributes:
        local: Scores the newborn; maps (tree, ids) to f8 of the same length.
        frontier: Scores the leaves, likewise.
        n: Drafts an ask.
        max_depth: Depth of nodes that get no children; the root has depth 0.
    """

    local: Rule = _LOCAL
    frontier: Rule = _FRONTIER
    n: int = 8
    max_depth: int = 64
    roots: int = 1
    barrier: bool = False

    def __post_init__(self) -> None:
        if min(self.n, self.max_depth) < 1:
            raise RecipeError(f"n is {self.n}, max_depth is {self.max_depth}; both must be at least 1")

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one ask, or none when there is no node to go to.

        Raises:
            RecipeError: A score is not one number an id.
        """
        if not len(tree):
            return ()
        if tree.nodes["first"][ROOT] == NONE:
            shut = tree.has(ROOT, DONE | UNSCORED | PLANTED) or tree.nodes["in_flight"][ROOT] > 0
            return () if shut else (Ask(ROOT, self.n),)
        leaves = self._leaves(tree)
        newborn = _newborn(tree)
        ended = (tree.nodes["flags"][newborn] & DONE).any()
        near = leaves[:0] if ended else newborn[np.isin(newborn, leaves)]
        if len(near):
            return (Ask(_best(tree, near, self.local), self.n),)
        return (Ask(_best(tree, leaves, self.frontier), self.n),) if len(leaves) else ()

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Nothing to remember: everything is in the tree."""

    def _leaves(self, tree: Tree) -> Ids:
        """Return the ids that may be grown, ascending; a root is none of them."""
        used = tree.nodes[: len(tree)]
        fit = (used["first"] == NONE) & (used["in_flight"] == 0) & (used["parent"] != NONE)
        fit &= (used["flags"] & (DONE | UNSCORED) == 0) & (used["depth"] < self.max_depth)
        return np.flatnonzero(fit)


def _newborn(tree: Tree) -> Ids:
    """Return the youngest node and its siblings, ascending; of a root, nothing."""
    parents = tree.nodes["parent"][: len(tree)]
    return np.flatnonzero(parents == parents[-1]) if parents[-1] != NONE else np.empty(0, dtype=np.int64)


def _best(tree: Tree, ids: Ids, rule: Rule) -> int:
    values = np.asarray(rule(tree, ids), dtype=np.float64)
    if values.shape != ids.shape or np.isnan(values).all():
        raise not_numbers("a score of DeepSearchJump", values, ids)
    known = ~np.isnan(values)
    return int(ids[known][np.argmax(values[known])])
