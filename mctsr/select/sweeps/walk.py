"""From where another selector begins on to an end, always by the best newborn."""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, PLANTED
from mctsr.parts import Ask, Selector
from mctsr.tree import Tree


@dataclass(frozen=True, slots=True)
class Walk:
    """Let the inner selector say where a walk begins; grow its best newborn, and that one's, until the best is an end.

    The best is the one with the highest value, the first created on ties. A walk is over, too, when none of the newborn
    has a value; what brought nothing is asked again as long as it can grow. With several asks in flight there are as
    many walks, and each goes on to its end.
    Source: RAP, arXiv:2305.14992, algorithm 1: selection, expansion, and simulation by the highest reward.

    Attributes:
        inner: Says where a walk begins; it must not be a barrier.
        n: Drafts an ask.

    Raises:
        RecipeError: `inner` is a barrier, or `n` is below 1.
    """

    inner: Selector
    n: int = 4
    barrier: bool = False

    def __post_init__(self) -> None:
        if self.inner.barrier:
            raise RecipeError(
                f"{type(self.inner).__name__} waits for whole generations; give one that does not"
            )
        if self.n < 1:
            raise RecipeError(f"n is {self.n}; it is the number of children, at least 1")

    @property
    def roots(self) -> int:
        """How many drafts the opening asks for."""
        return self.inner.roots

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out where the walks stand, or where a new one begins."""
        on = [node for node in _walks(tree) if not tree.has(node, DONE) and not tree.nodes["in_flight"][node]]
        return [Ask(node, self.n) for node in on[:room]] or self.inner.ask(tree, rng, room)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Go on to the best of the newborn, or end the walk."""
        self.inner.tell(tree, rng, born)
        above = tree.parent(born[0]) if born else None
        if above is None:
            return
        walks = _walks(tree)
        walks[:] = [node for node in walks if node != above]
        fit = [node for node in born if tree.scored(node) and not tree.has(node, PLANTED)]
        if fit:
            walks.append(max(fit, key=tree.value))


def _walks(tree: Tree) -> list[int]:
    """Return where the walks stand that are not over."""
    return tree.keep("walks", list[int])
