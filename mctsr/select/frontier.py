"""A generation: the population that the opening makes, all of it awaited."""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import PLANTED, UNSCORED
from mctsr.parts import Ask
from mctsr.tree import Tree


@dataclass(frozen=True, slots=True)
class Frontier:
    """Open `n` drafts and keep them as the front; whole answers have no second generation.

    Attributes:
        n: Size of the population.
    """

    n: int
    barrier: bool = True

    def __post_init__(self) -> None:
        if self.n < 1:
            raise RecipeError(f"n is {self.n}; it is the number of answers, at least 1")

    @property
    def roots(self) -> int:
        """The whole population is opened at once."""
        return self.n

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out nothing: the opening was the only generation."""
        return ()

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Make the newborn the population; an unscored one is dropped."""
        tree.front = [node for node in born if not tree.has(node, UNSCORED | PLANTED)]
