"""The six protocols.

Parts are frozen dataclasses or plain functions that satisfy a protocol; there is nothing to inherit from.
Expanders and judges see an immutable `Path`, taken when the ask is made, never the tree: what arrives
meanwhile cannot change a result. Selectors, backups, stoppers and answerers are synchronous and see the tree.
What passes between them is in `exchange.py` and can be imported from here.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, SupportsFloat

from numpy.random import Generator

from mctsr.caller import Caller
from mctsr.errors import RecipeError, shown
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
    "Rule", "Selected", "Selector", "Stopper", "Unscored", "Verdict", "check_part", "not_numbers", "use_gold",
    "words_of",
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


def words_of(what: str, *parts: object) -> frozenset[str]:
    """Return all words that parts declare as `what`, such as "wishes"; few parts declare any."""
    return frozenset[str]().union(*(getattr(part, what, frozenset()) for part in parts))


def use_gold(*parts: object) -> bool:
    """Say whether any of the parts declares that it compares answers with known ones."""
    return any(getattr(part, "uses_gold", False) for part in parts)


def not_numbers(of: str, values: Floats, ids: Ids) -> RecipeError:
    """Return the error for the values of a `Rule`, called `of` in it, that are not one number an id."""
    return RecipeError(
        f"{of} returned {values.tolist()} for {len(ids)} ids; it must return one number for each, not all of them NaN"
    )


_HAVE: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "expander": {
            "needs": "",
            "open": "async open(problem, n, llm)",
            "grow": "async grow(path, n, llm)",
        },
        "judge": {"needs": "", "low": "", "high": "", "judge": "async judge(path, draft, llm)"},
        "selector": {
            "roots": "",
            "barrier": "",
            "ask": "ask(tree, rng, room)",
            "tell": "tell(tree, rng, born)",
        },
    }
)
"""What the parts that are objects must have; methods with how they are called."""

_CALLED: Mapping[str, str] = MappingProxyType(
    {"backup": "(tree, node)", "stopper": "(tree, ledger)", "answerer": "(tree)"}
)
"""How the parts that are functions are called."""

_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "expander": "needs is frozenset() where plain chat will do",
        "judge": "needs is frozenset() where plain chat will do, low and high bound its values",
        "selector": "roots is the number of drafts it opens with, barrier is True or False",
    }
)
"""What their attributes say."""


def check_part(name: str, part: object) -> None:
    """Refuse a part that is not what its protocol asks for, before a search finds out.

    Args:
        name: Which of the six.
        part: What is given for it.

    Raises:
        RecipeError: It lacks something; says what it must have.
    """
    if isinstance(part, type):
        raise RecipeError(f"the {name} is the class {part.__name__}; make one: {part.__name__}(…)")
    if name in _CALLED:
        if not callable(part):
            raise RecipeError(f"the {name} is {shown(part)}; it must be a function {_CALLED[name]}")
        return
    lacks = [word for word, call in _HAVE[name].items() if not _has(part, word, method=bool(call))]
    if lacks:
        whole = ", ".join(call or word for word, call in _HAVE[name].items())
        raise RecipeError(
            f"the {name} {shown(type(part).__name__)} has no {', '.join(lacks)}; it must have {whole}; "
            f"{_FIELDS[name]}"
        )
    if name != "selector":
        _check_needs(name, getattr(part, "needs", None))
    if name == "judge":
        _check_bounds(getattr(part, "low", None), getattr(part, "high", None))


def _has(part: object, word: str, *, method: bool) -> bool:
    found = getattr(part, word, None)
    return callable(found) if method else found is not None


def _check_needs(name: str, needs: object) -> None:
    if not isinstance(needs, frozenset) or not all(isinstance(word, str) for word in needs):
        raise RecipeError(f"the {name}'s needs are {shown(needs)}; they must be a frozenset of words")


def _check_bounds(low: object, high: object) -> None:
    if not isinstance(low, SupportsFloat) or not isinstance(high, SupportsFloat) or float(low) > float(high):
        raise RecipeError(
            f"the judge's low is {shown(low)} and its high {shown(high)}; they must be numbers, low the lesser"
        )
