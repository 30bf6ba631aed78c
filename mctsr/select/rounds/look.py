"""Grow a node, then look ahead from the best of its newborn: two asks a round.

Knows which newborn that is, and when a round is over. Where to grow is for the selector inside.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, NONE, PLANTED
from mctsr.parts import Ask, Selector, Stopper
from mctsr.tree import Tree

Pick = Callable[[Tree, Sequence[int]], int | None]


def highest(tree: Tree, ids: Sequence[int]) -> int | None:
    """Return the node with the highest value, the first created on ties."""
    return max(ids, key=tree.value)


def first_open(tree: Tree, ids: Sequence[int]) -> int | None:
    """Return the first node that can still grow; None where all are finished."""
    return next((node for node in ids if not tree.has(node, DONE)), None)


class _Look(NamedTuple):
    """A newborn that is to be judged again, and how often it was when it was chosen."""

    node: int
    judged: int

    def over(self, tree: Tree) -> bool:
        """Say whether that has happened, with or without a value."""
        return _judged(tree, self.node) > self.judged


@dataclass(frozen=True, slots=True)
class GrowThenLook:
    """After each growth ask for one newborn once more: no children, one evaluation.

    A family without a score is not looked at. With `highest` a finished newborn takes part, and its evaluation is
    the judge's to make. With several asks in flight looks come first.
    Source: ReST-MCTS*, arXiv:2406.03816: expansion, then simulation from the best child. GroundedPRM,
    arXiv:2510.14942: from the first child that is not finished (`first_open`).

    Attributes:
        inner: Says where to grow; it must not be a barrier.
        pick: Which of the scored newborn; None for none of them.

    Raises:
        RecipeError: `inner` is a barrier.
    """

    inner: Selector
    pick: Pick = highest
    barrier: bool = False

    def __post_init__(self) -> None:
        if self.inner.barrier:
            raise RecipeError(
                f"{type(self.inner).__name__} waits for whole generations; give one that does not"
            )

    @property
    def roots(self) -> int:
        """How many drafts the opening asks for."""
        return self.inner.roots

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out the looks that are due, else growth."""
        due = [
            look.node
            for look in _looks(tree)
            if not look.over(tree) and not tree.nodes["in_flight"][look.node]
        ]
        return [Ask(node, 0, again=True) for node in due[:room]] or self.inner.ask(tree, rng, room)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Note which of the newborn is to be looked at."""
        self.inner.tell(tree, rng, born)
        fit = [
            node
            for node in born
            if tree.nodes["parent"][node] != NONE and tree.scored(node) and not tree.has(node, PLANTED)
        ]
        picked = self.pick(tree, fit) if fit else None
        if picked is not None:
            _looks(tree).append(_Look(picked, _judged(tree, picked)))


def rounds_done(n: int) -> Stopper:
    """Stop when `n` rounds of `GrowThenLook` are over: growths folded, and their looks.

    Raises:
        RecipeError: `n` is negative.
    """
    if n < 0:
        raise RecipeError(f"rounds is {n}; it is a number of growths with their looks, at least 0")

    # What was folded is growths and looks; each look that was noted is over, or has its growth still waiting for it.
    return lambda tree, ledger: "rounds" if ledger.folds - len(_looks(tree)) >= n else None


def _looks(tree: Tree) -> list[_Look]:
    return tree.keep("looks", list[_Look])


def _judged(tree: Tree, node: int) -> int:
    state = tree.states[node]
    return len(state.samples) + len(state.unscored)
