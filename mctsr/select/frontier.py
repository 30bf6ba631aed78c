"""Generations: the whole population is asked, all of it is awaited, and a rule says who goes on."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, PLANTED, UNSCORED
from mctsr.parts import Ask
from mctsr.tree import Tree

from .population import Survivors

#: Members of a population that goes on: each is a place in a list, and a call in every generation.
MOST = 100_000


@dataclass(frozen=True, slots=True)
class Frontier:
    """Keep a front of `n` members; ask each living one for a draft, and let the newborn and the finished compete.

    A node that is in the front several times (copies of a particle or beam) is asked once, for as many drafts. A
    member whose ask brought nothing is gone, as is a newborn without score; finished members stay and take part. An
    empty front, or one of finished members, ends the search. Without `survive` the opening is the only generation.
    Source: best-of-n, Cobbe et al. 2021, arXiv:2110.14168, for one generation; for more see the survivor rules.

    Attributes:
        n: Size of the population.
        survive: Who goes on: `Beams`, `Subtrees`, `Particles` or a function of one's own; None ends after the opening.
        opened: Drafts that the opening asks for; with fewer than `n`, as with one empty root, the front holds copies.
            None for n.
    """

    n: int
    survive: Survivors | None = None
    opened: int | None = None
    barrier: bool = True

    def __post_init__(self) -> None:
        if self.n < 1:
            raise RecipeError(f"n is {self.n}; it is the number of answers, at least 1")
        if self.survive is not None and self.n > MOST:
            raise RecipeError(f"n is {self.n}; a population that goes on holds at most {MOST} members")
        if self.opened is not None and not 1 <= self.opened <= self.n:
            raise RecipeError(f"opened is {self.opened}; it is the number of roots, 1 to n = {self.n}")
        if self.opened is not None and self.survive is None:
            raise RecipeError("opened needs survive; without a further generation n answers are opened")

    @property
    def roots(self) -> int:
        """How many drafts the opening asks for."""
        return self.n if self.opened is None else self.opened

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out an ask for each living node of the front, whatever the room; none without a further generation."""
        if self.survive is None:
            return ()
        living = [node for node in tree.front if not tree.has(node, DONE)]
        return [Ask(node, copies) for node, copies in Counter(living).items()]

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Make the next population of a generation's newborn, and of those who were not asked."""
        asked = tree.keep("frontier_asked", list[int])
        pool = [node for node in born if not tree.has(node, UNSCORED | PLANTED)]
        if not asked and self.roots < self.n and pool:
            self._settle(tree, asked, [pool[i % len(pool)] for i in range(self.n)])
            return
        gone = set(asked)
        pool = sorted(pool + [node for node in tree.front if node not in gone])
        if self.survive is not None and pool:
            pool = list(self.survive(tree, pool, self.n, rng))
        self._settle(tree, asked, pool)

    def _settle(self, tree: Tree, asked: list[int], front: list[int]) -> None:
        """Make `front` the population, and remember who of it will be asked."""
        tree.front = front
        living = [] if self.survive is None else [node for node in front if not tree.has(node, DONE)]
        asked[:] = dict.fromkeys(living)
