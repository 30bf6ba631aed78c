"""A walk: always from the last state to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator

from mctsr.kernels.node import DONE, PLANTED, UNSCORED
from mctsr.parts import Ask
from mctsr.tree import Tree


@dataclass(frozen=True, slots=True)
class Chain:
    """Ask for one child of the current state; the child becomes the state.

    Source: Self-Refine, arXiv:2303.17651, section 2.

    Attributes:
        again: Whether the state is judged once more while it grows.
    """

    again: bool = False
    roots: int = 1
    barrier: bool = True

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out the current state, or nothing when it is finished."""
        if not tree.front or tree.has(tree.front[-1], DONE):
            return ()
        return (Ask(tree.front[-1], again=self.again),)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Move to the newborn; one that is empty, unscored or planted leaves the state, as a failed ask does."""
        fit = [
            node for node in born if not tree.has(node, UNSCORED | PLANTED) and tree.states[node].text.strip()
        ]
        if fit:
            tree.front = [fit[-1]]
