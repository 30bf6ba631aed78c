"""The six protocols.

Parts are frozen dataclasses or plain functions that satisfy a protocol; there is nothing to inherit from.
Expanders and judges see an immutable `Path`, taken when the ask is made, never the tree: what arrives
meanwhile cannot change a result. Selectors, backups, stoppers and answerers are synchronous and see the tree.
What passes between them is in `exchange.py` and can be imported from here.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from numpy.random import Generator

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.exchange import (
    Ask,
    Draft,
    Fault,
    Ledger,
    Path,
    PathNode,
    Problem,
    Selected,
    Unscored,
    Verdict,
)
from mctsr.kernels.node import Floats, Ids
from mctsr.tree import Tree

__all__ = [
    "Answerer", "Ask", "Backup", "Draft", "Expander", "Fault", "Judge", "Ledger", "Path", "PathNode", "Problem",
    "Rule", "Selected", "Selector", "Stopper", "Unscored", "Verdict", "not_numbers",
]  # fmt: skip


class Expander(Protocol):
    """What could come next: asks the model for drafts."""

    @property
    def needs(self) -> frozenset[str]:
        """What the model must offer."""

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Make the roots. The first call is the plain answer, the same in every recipe of whole answers."""

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Make `n` drafts below the path's last node."""


class Judge(Protocol):
    """How good is it."""

    @property
    def needs(self) -> frozenset[str]:
        """What the model must offer."""

    @property
    def low(self) -> float:
        """Lower bound of the values."""

    @property
    def high(self) -> float:
        """Upper bound of the values."""

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Evaluate the path's last node once. `draft` is its number in the ask, -1 for the asked node itself."""


class Selector(Protocol):
    """Where to work next. Stateless: what it must remember lives in the tree."""

    @property
    def roots(self) -> int:
        """How many drafts the opening asks for."""

    @property
    def barrier(self) -> bool:
        """Whether a whole generation is awaited before it is folded."""

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out at most `room` asks (a barrier selector: a generation); none means wait, or exhausted."""

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Learn which nodes an ask gave birth to, after their backup; a barrier selector: a whole generation.

        It may change `tree.front` and end or prune nodes, but no visits and no value of an older node.
        """


class Backup(Protocol):
    """What a new evaluation changes.

    One that writes visits and values only between the judged node and its root says so with an attribute
    `wide = False`: then no more than that path is looked at when the changes of a fold are recorded.
    """

    def __call__(self, tree: Tree, node: int) -> None:
        """Update visits and values after `node` was judged."""


Rule = Callable[[Tree, Ids], Floats]
Stopper = Callable[[Tree, Ledger], str | None]
Answerer = Callable[[Tree], Selected]


def not_numbers(of: str, values: Floats, ids: Ids) -> RecipeError:
    """Return the error for the values of a `Rule`, called `of` in it, that are not one number an id."""
    return RecipeError(
        f"{of} returned {values.tolist()} for {len(ids)} ids; it must return one number for each, not all of them NaN"
    )
