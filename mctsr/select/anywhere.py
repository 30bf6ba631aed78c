"""Any node of the tree: the best-scoring one among those that may still grow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels import rules, walk
from mctsr.kernels.node import Floats, Ids
from mctsr.parts import Ask, Rule
from mctsr.tree import Tree


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Ask for one child of the candidate with the largest score; the first created wins ties.

    Candidates are scored, unfinished nodes that are not fully expanded. A node is fully expanded when it has
    `open_below` children (asks in flight count) and one of them is `closed_by` the node.
    Source: MCTSr, arXiv:2406.07394, section 3.2.

    Attributes:
        score: Maps (tree, ids) to f8 of the same length; a built-in rule or your own function.
        open_below: Children a node may have before it can close; None never closes a node.
        closed_by: "better": a child's value is larger (paper). "as good": a child's own value is at least as
            large (released code); needs a backup that keeps the side array "own", as those of `mctsr.backup` do.
        again: Whether the chosen node is judged once more while it grows.
        roots: Drafts that the opening asks for.
    """

    score: Rule
    open_below: int | None = 2
    closed_by: Literal["better", "as good"] = "better"
    again: bool = True
    roots: int = 1
    barrier: bool = False

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one ask, or none when no candidate is left; an id whose score is NaN is passed over.

        Raises:
            RecipeError: The score is not one number an id.
        """
        ids = self.candidates(tree)
        if not len(ids):
            return ()
        values = np.asarray(self.score(tree, ids), dtype=np.float64)
        if values.shape != ids.shape or np.isnan(values).all():
            raise RecipeError(
                f"the score of Anywhere returned {values.tolist()} for {len(ids)} ids; it must return one number "
                "for each, not all of them NaN"
            )
        known = np.flatnonzero(~np.isnan(values))
        return (Ask(int(ids[known[np.argmax(values[known])]]), again=self.again),)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Nothing to remember: everything is in the tree."""

    def candidates(self, tree: Tree) -> Ids:
        """Return the ids that may be chosen, ascending."""
        as_good = self.closed_by == "as good"
        measure = tree.own_array("own") if as_good else tree.nodes["value"]
        limit = -1 if self.open_below is None else self.open_below
        out = np.empty(len(tree), dtype=np.int64)
        count = walk.candidates(tree.nodes, len(tree), measure, limit, as_good, out)
        return out[:count]


@dataclass(frozen=True, slots=True)
class KernelRule:
    """A built-in score, computed by the kernel `rules.scores`.

    Attributes:
        code: Which rule.
        c: Exploration constant, on the scale of the values.
        eps: Added to the visits of the node.
    """

    code: int
    c: float = 0.0
    eps: float = 0.0

    def __call__(self, tree: Tree, ids: Ids) -> Floats:
        """Score `ids`; f8 of the same length."""
        out = np.empty(len(ids))
        rules.scores(tree.nodes, ids, self.code, (self.c, self.eps, tree.low), out)
        return out


def uct_mctsr(c: float = 1.4, eps: float = 1e-5) -> KernelRule:
    """Q + c * sqrt((ln N(parent) + 1) / (N + eps)); no bonus for a root. arXiv:2406.07394, section 3.4."""
    return KernelRule(rules.UCT_MCTSR, c, eps)


def uct_mctsr_code(c: float = 1.4, eps: float = 1e-5) -> KernelRule:
    """Q + c * sqrt(ln(N(parent) + 1) / (N + eps)), N(no parent) = 0: MCTSr's released code, without staleness."""
    return KernelRule(rules.UCT_MCTSR_CODE, c, eps)


def by_value() -> KernelRule:
    """Q alone: greedy."""
    return KernelRule(rules.VALUE)


@dataclass(frozen=True, slots=True)
class Stored:
    """A score that the backup keeps in the side array `name`; nodes not refreshed keep a stale one."""

    name: str

    def __call__(self, tree: Tree, ids: Ids) -> Floats:
        """Read the scores of `ids`, f8 of the same length; work in flight counts as rewards of `tree.low`."""
        n, waiting = tree.nodes["visits"][ids], tree.nodes["in_flight"][ids]
        scores: Floats = (tree.own_array(self.name)[ids] * n + tree.low * waiting) / (n + waiting)
        return scores
