"""From the root down, the best child at every level, to a leaf."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels import descent
from mctsr.kernels.node import DONE, NONE, PLANTED, SPENT, UNSCORED, Floats, Ids
from mctsr.parts import Ask, Rule, not_numbers
from mctsr.tree import Tree

from .scores import KernelRule


@dataclass(frozen=True, slots=True)
class Widening:
    """A node with N visits may have ceil(factor * N ** exponent) children, at least one.

    Source: progressive widening, Coulom 2007; in this form Couetoux et al. 2011, "Continuous upper confidence trees".
    """

    factor: float = 1.0
    exponent: float = 0.5

    def __post_init__(self) -> None:
        if self.factor <= 0 or not 0 <= self.exponent <= 1:
            raise RecipeError(
                f"widening is {self.factor} * N ** {self.exponent}; the factor must be above 0, the exponent in [0, 1]"
            )


@dataclass(frozen=True, slots=True)
class RootNoise:
    """Priors of the root's children become (1 - weight) p + weight * Dirichlet(alpha).

    Source: AlphaZero, Silver et al. 2018 (alpha 0.3 for chess); TS-LLM, arXiv:2309.17179, has the same figures.
    """

    alpha: float = 0.3
    weight: float = 0.25

    def __post_init__(self) -> None:
        if self.alpha <= 0 or not 0 <= self.weight <= 1:
            raise RecipeError(
                f"root noise has alpha {self.alpha}, weight {self.weight}; alpha must be above 0, weight in [0, 1]"
            )


@dataclass(frozen=True, slots=True)
class Descent:
    """Follow the best child from the root and ask for `n` children of the leaf where that ends.

    Children that are finished, unscored or spent (nothing below them can grow) are passed over, and leaves that
    are being grown; the first created wins ties. When the way ends at work in flight, the selector waits.
    Source: Kocsis and Szepesvári 2006, "Bandit based Monte-Carlo planning"; Coulom 2006 for growing leaf by leaf.

    Attributes:
        score: Maps (tree, ids) to f8 of the same length; one of `mctsr.select.scores` or your own function.
        n: Drafts an ask.
        widening: When given, a node that has room for one more child is asked before its children are entered.
        noise: Exploration noise on the root's priors.
        again: Whether the leaf is judged once more while it grows.
        roots: Drafts that the opening asks for; the first that can still grow is where descents begin.
    """

    score: Rule
    n: int = 1
    widening: Widening | None = None
    noise: RootNoise | None = None
    again: bool = False
    roots: int = 1
    barrier: bool = False

    def __post_init__(self) -> None:
        if self.n < 1:
            raise RecipeError(f"n is {self.n}; it is the number of children of a leaf, at least 1")
        if self.noise is not None and (self.n == 1 or self.widening is not None):
            raise RecipeError(
                "root noise is shared among children born together: it needs n above 1, no widening"
            )

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one leaf, or nothing when there is none.

        Raises:
            RecipeError: The score is not one number an id.
        """
        for root in range(min(self.roots, len(tree))):
            leaf = self._leaf(tree, root)
            if leaf != NONE:
                return (Ask(leaf, self.n, self.again),)
        return ()

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Put noise on the priors of the root's children when they are born."""
        below = [node for node in born if tree.nodes["depth"][node] == 1]
        if self.noise is not None and below:
            drawn = rng.dirichlet(np.full(len(below), self.noise.alpha))
            kept = (1.0 - self.noise.weight) * tree.nodes["prior"][below]
            tree.nodes["prior"][below] = kept + self.noise.weight * drawn

    def _leaf(self, tree: Tree, root: int) -> int:
        if not isinstance(self.score, KernelRule):
            return self._by_function(tree, root)
        code, k = self.score.code, self.score.k
        if self.widening is None:
            return descent.descend(tree.nodes, root, code, k, tree.low)
        room = (self.widening.factor, self.widening.exponent)
        return descent.descend_widening(tree.nodes, root, code, k, tree.low, room)

    def _by_function(self, tree: Tree, root: int) -> int:
        """Descend by a function of the user's, as the kernels do by a rule."""
        node = NONE if tree.has(root, UNSCORED | PLANTED) or self._dead(tree, root) else root
        while node != NONE and not self._stops(tree, node):
            ids = self._open(tree, node)
            if not len(ids):
                waits = self.widening is None or tree.has(node, DONE) or tree.nodes["in_flight"][node] > 0
                return NONE if waits else node
            node = int(ids[int(np.argmax(self._scored(tree, ids)))])
        growing = node == root and self.widening is None and tree.nodes["in_flight"][root] > 0
        return NONE if growing else node

    def _dead(self, tree: Tree, node: int) -> bool:
        """Say whether nothing can be asked at `node` and below; a spent node may still widen."""
        if self.widening is None or tree.has(node, DONE):
            return descent.closed(tree.nodes, node)
        return False

    def _stops(self, tree: Tree, node: int) -> bool:
        if self.widening is None:
            return bool(tree.nodes["first"][node] == NONE)
        room = (self.widening.factor, self.widening.exponent)
        return not tree.has(node, DONE) and descent.may_widen(tree.nodes, node, *room)

    def _open(self, tree: Tree, node: int) -> Ids:
        ids = np.array(tree.children(node), dtype=np.int64)
        flags, leaf = tree.nodes["flags"][ids], tree.nodes["first"][ids] == NONE
        shut = (flags & (UNSCORED if self.widening else descent.CLOSED)) != 0
        shut |= leaf & (tree.nodes["in_flight"][ids] > 0)
        shut |= (flags & DONE != 0) & (leaf | (flags & SPENT != 0))
        return np.asarray(ids[~shut])

    def _scored(self, tree: Tree, ids: Ids) -> Floats:
        values = np.asarray(self.score(tree, ids), dtype=np.float64)
        if values.shape != ids.shape or np.isnan(values).all():
            raise not_numbers("the score of Descent", values, ids)
        return np.where(np.isnan(values), -np.inf, values)
