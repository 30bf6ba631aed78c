"""Any node of the tree: the best-scoring one among those that may still grow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels import walk
from mctsr.kernels.node import Floats, Ids
from mctsr.parts import Ask, Rule, not_numbers
from mctsr.tree import Tree


class Choose(Protocol):
    """Pick one of n candidates by their scores."""

    def __call__(self, scores: Floats, rng: Generator, *, pi: Floats | None = None) -> int:
        """Return an index below n; `scores` and `pi` are f8 of shape [n]."""


_CONDITIONS = {"better": walk.BETTER, "as good": walk.AS_GOOD, "number": walk.NUMBER, "either": walk.EITHER}


def greedy(scores: Floats, rng: Generator, *, pi: Floats | None = None) -> int:
    """Return the index of the largest score, or of the largest score + pi; the first wins ties."""
    return int(np.argmax(scores if pi is None else scores + pi))


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Ask for `n` children of the candidate with the largest score; the first created wins ties.

    Every candidate is looked at for every ask, since the score of any of them may have changed: about 1 µs for 50.

    Candidates are scored, unfinished nodes that are not fully expanded. A node is fully expanded when it has
    `open_below` children (asks in flight count) and one of them is as good as `closed_by` says.
    Source: MCTSr, arXiv:2406.07394, section 3.2.

    Attributes:
        score: Maps (tree, ids) to f8 of the same length; a built-in rule or your own function.
        open_below: Children a node may have before it can close; None never closes a node.
        closed_by: "better": a child's value is larger (paper). "as good": a child's own value is at least as
            large (released code); needs a backup that keeps the side array "own", as those of `mctsr.backup` do.
            "number": the number of children alone, so that 1 leaves the leaves. "either": the number, or a child
            with a larger value (MC-NEST's released code).
        choose: Picks one candidate by its score: `greedy`, or one of `mctsr.select.sampled`.
        strategy: How likely each candidate is for its own sake, as `pi` for `choose`; MC-NEST has `pools.nash`.
        n: Drafts an ask.
        again: Whether the chosen node is judged once more while it grows.
        roots: Drafts that the opening asks for.
    """

    score: Rule
    open_below: int | None = 2
    closed_by: Literal["better", "as good", "number", "either"] = "better"
    choose: Choose = greedy
    strategy: Rule | None = None
    n: int = 1
    again: bool = True
    roots: int = 1
    barrier: bool = False

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one ask, or none when no candidate is left; an id whose score is NaN is passed over.

        Only a score that says so itself (`OmegaPrm`: a pool) may find nobody fit.

        Raises:
            RecipeError: The score is not one number an id.
        """
        ids = self.candidates(tree)
        if not len(ids):
            return ()
        values = np.asarray(self.score(tree, ids), dtype=np.float64)
        unknown = np.isnan(values)
        if unknown.all() and getattr(self.score, "partial", False):
            return ()
        if values.shape != ids.shape or unknown.all():
            raise not_numbers("the score of Anywhere", values, ids)
        if unknown.any():
            ids, values = ids[~unknown], values[~unknown]
        pi = None if self.strategy is None else self.strategy(tree, ids)
        return (Ask(int(ids[self.choose(values, rng, pi=pi)]), self.n, self.again),)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Nothing to remember: everything is in the tree."""

    def candidates(self, tree: Tree) -> Ids:
        """Return the ids that may be chosen, ascending."""
        closed_by = _CONDITIONS[self.closed_by]
        measure = tree.own_array("own") if closed_by == walk.AS_GOOD else tree.nodes["value"]
        limit = -1 if self.open_below is None else self.open_below
        out = np.empty(len(tree), dtype=np.int64)
        count = walk.candidates(tree.nodes, len(tree), measure, limit, closed_by, out)
        if count and closed_by == walk.AS_GOOD and np.isnan(measure[out[:count]]).all():
            raise RecipeError('closed_by="as good" needs a backup that keeps own values, as MctsrCode does')
        return out[:count]
