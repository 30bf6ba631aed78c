"""Where a wrong solution goes wrong: binary search over its beginnings, one solution after another.

Knows a tree in which states and rollouts alternate, as `expand.completions` grows it: the root and what lies at even
depths are states, what lies between them rollouts. Who is right, values say: of a rollout 1 or 0, of a state the share
of its rollouts that are right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, NONE, PLANTED, TRUNCATED, UNSCORED, Ids
from mctsr.parts import Ask, Ledger, Rule, Stopper
from mctsr.select.anywhere import Anywhere
from mctsr.select.pools import OmegaPrm
from mctsr.tree import Tree

ROOT = 0
_POOL: Rule = OmegaPrm()


@dataclass(frozen=True, slots=True)
class FirstError:
    """Take a wrong rollout from the pool, halve it until its first error is found, and take the next.

    An ask of a state is for `n` rollouts, one of a rollout for its beginnings. Of these the middle one is asked: where
    none of its rollouts is right, the first error is at or before its last step, and the shorter ones are left; else it
    is behind it, and the longer ones are left. The whole solution is known to be wrong and is not asked. When nothing
    is left the rollout is ended with the place of its first error; the wrong rollouts of the states that were met on
    the way have joined the pool, if some but not all rollouts of the state are wrong. Right rollouts are ended at their
    birth, and so are wrong ones that were cut off or were met before, word by word. An estimate that was lost ends the
    search of its rollout. The front is the root's rollouts: they alone are drawn as a model answers.

    Everything is read from the tree. With several asks in flight several rollouts are searched at a time.
    Source: OmegaPRM, arXiv:2406.06592, section 3.3 and algorithm 1.

    Attributes:
        n: Rollouts of each state, k.
        pool: Scores wrong rollouts, NaN for those that are not in the pool.
    """

    n: int = 8
    pool: Rule = _POOL
    roots: int = 1
    barrier: bool = False

    def __post_init__(self) -> None:
        if self.n < 1:
            raise RecipeError(f"n is {self.n}; it is the number of rollouts of a state, at least 1")

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one ask, or none when there is nothing left to search."""
        if not len(tree):
            return ()
        if tree.nodes["first"][ROOT] == NONE:
            return (Ask(ROOT, self.n),) if _free(tree, ROOT) else ()
        for rollout in _searched(tree):
            found = _halved(tree, rollout)
            if found.state is not None and _free(tree, found.state):
                return (Ask(found.state, self.n),)
        return Anywhere(self.pool, open_below=1, closed_by="number", again=False).ask(tree, rng, room)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """End what is right, known already, or searched to its end."""
        for node in born:
            if _is_rollout(tree, node) and tree.scored(node):
                _sort_out(tree, node)
        if born and tree.parent(born[0]) == ROOT:
            tree.front = [node for node in born if not tree.has(node, UNSCORED | PLANTED)]
        for rollout in _searched(tree):
            found = _halved(tree, rollout)
            if found.state is None:
                tree.end(rollout, f"first error in step {found.steps + 1}")
            elif _lost(tree, found.state):
                tree.end(rollout, f"first error not found: step {found.steps + 1} has no estimate")


def searches_done(n: int) -> Stopper:
    """Stop when `n` wrong rollouts were searched; 0 switches it off. Stop when the root's are all right or all wrong.

    Then there is nothing to learn about steps: a problem is too easy or too hard.

    Raises:
        RecipeError: `n` is negative.
    """
    if n < 0:
        raise RecipeError(f"searches is {n}; it is a number of wrong solutions to be searched, 0 for off")

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        if not len(tree) or not tree.nodes["visits"][ROOT]:
            return None
        share = tree.value(ROOT)
        if share in (0.0, 1.0):
            return "all solutions right" if share else "no solution right"
        return "searches" if n and np.count_nonzero(_with_cuts(tree) & _done(tree)) >= n else None

    return stop


@dataclass(frozen=True, slots=True)
class _Halved:
    """How far a binary search has come: the state to be asked, None at its end, and the steps before its last one."""

    state: int | None
    steps: int


def _halved(tree: Tree, rollout: int) -> _Halved:
    """Follow the search of a rollout through the states that have an estimate."""
    states, before = tree.children(rollout), _steps_before(tree, rollout)
    low, high = 0, len(states) - 1
    while low <= high:
        middle = (low + high) // 2
        value = tree.value(states[middle])
        if np.isnan(value):
            return _Halved(states[middle], before + middle)
        low, high = (middle + 1, high) if value > 0.0 else (low, middle - 1)
    return _Halved(None, before + low)


def _steps_before(tree: Tree, rollout: int) -> int:
    """Count the steps of the state that a rollout was written from."""
    steps, above = 0, tree.line(rollout)[1:-1]
    for parent, state in zip(above[::2], above[1::2], strict=True):
        steps += 1 + tree.children(parent).index(state)
    return steps


def _is_rollout(tree: Tree, node: int) -> bool:
    return bool(tree.nodes["depth"][node] % 2)


def _free(tree: Tree, state: int) -> bool:
    return not tree.has(state, DONE | UNSCORED | PLANTED) and tree.nodes["in_flight"][state] == 0


def _lost(tree: Tree, state: int) -> bool:
    """Say whether a state without an estimate will never have one: it was asked, or cannot be."""
    asked = tree.nodes["first"][state] != NONE and tree.nodes["in_flight"][state] == 0
    return bool(asked) or tree.has(state, DONE | UNSCORED | PLANTED)


def _with_cuts(tree: Tree) -> NDArray[np.bool_]:
    used = tree.nodes[: len(tree)]
    found: NDArray[np.bool_] = (used["depth"] % 2 == 1) & (used["first"] != NONE)
    return found


def _done(tree: Tree) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = tree.nodes["flags"][: len(tree)] & DONE != 0
    return found


def _searched(tree: Tree) -> list[int]:
    """Return the rollouts that are being searched, the first created first."""
    ids: Ids = np.flatnonzero(_with_cuts(tree) & ~_done(tree))
    return [int(node) for node in ids]


def _sort_out(tree: Tree, rollout: int) -> None:
    """End a rollout that is right, known already, or cut off.

    Of what never came to its end no step need be wrong.
    """
    twin = tree.states[rollout].twin
    if tree.value(rollout) > 0.0:
        tree.end(rollout, "finished")
    elif twin is not None:
        tree.end(rollout, f"same text as {twin}")
    elif tree.has(rollout, TRUNCATED):
        tree.end(rollout, "cut off")
