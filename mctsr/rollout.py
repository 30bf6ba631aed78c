"""One ask, from the model to the tree: expand, judge, fold.

The first half is asynchronous and sees paths only; the second half is synchronous and changes the tree.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator

from mctsr.caller import Caller
from mctsr.errors import ContextOverflow, Refused, ServerError, ServerGone
from mctsr.kernels.node import NONE
from mctsr.lm.base import Tally
from mctsr.parts import Ask, Draft, Fault, Ledger, Path, Problem, Unscored, Verdict
from mctsr.recipe import Recipe
from mctsr.tree import State, Tree


class Row(NamedTuple):
    """A node's numbers after a fold."""

    id: int
    visits: int
    value: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A selector handed out work; the opening is ask 0 of node -1."""

    problem: str
    ask: int
    node: int
    n: int
    again: bool


@dataclass(frozen=True, slots=True)
class Folded:
    """An ask's results are in the tree.

    Attributes:
        problem: Id of the problem.
        ask: Its number.
        born: Ids of the new nodes.
        changed: Every row that differs from before.
        front: The population afterwards.
        faults: What went wrong, in words.
        tally: What the ask cost.
    """

    problem: str
    ask: int
    born: tuple[int, ...]
    changed: tuple[Row, ...]
    front: tuple[int, ...]
    faults: tuple[str, ...]
    tally: Tally


@dataclass(frozen=True, slots=True)
class Stopped:
    """The search is over."""

    problem: str
    reason: str
    failed: bool


Event: TypeAlias = Asked | Folded | Stopped


class Done(NamedTuple):
    """What an ask brought back, in draft order."""

    drafts: Sequence[Draft | Fault]
    verdicts: Sequence[Verdict | Unscored | None]
    again: Verdict | Unscored | None


async def work(recipe: Recipe, problem: Problem, path: Path | None, ask: Ask, llm: Caller) -> Done:
    """Do what `ask` says: grow `path` (None opens the tree), judge the drafts, judge the asked node again.

    Raises:
        Refused, ServerGone: The run cannot go on.
    """
    again: Verdict | Unscored | None = None
    if path is not None and ask.again:
        drafts, again = await asyncio.gather(
            _drafts(recipe, problem, path, ask, llm), _verdict(recipe, path, -1, llm)
        )
    else:
        drafts = await _drafts(recipe, problem, path, ask, llm)
    base = path or Path(problem, ())
    verdicts = await asyncio.gather(
        *(
            _verdict(recipe, base.plus(draft), i, llm, draft.unscored)
            if isinstance(draft, Draft)
            else _nothing()
            for i, draft in enumerate(drafts)
        )
    )
    return Done(drafts, verdicts, again)


async def _drafts(
    recipe: Recipe, problem: Problem, path: Path | None, ask: Ask, llm: Caller
) -> Sequence[Draft | Fault]:
    """Turn the fault of a whole expansion into a record; faults that end the run pass."""
    try:
        if path is None:
            return await recipe.expander.open(problem, ask.n, llm)
        return await recipe.expander.grow(path, ask.n, llm)
    except (Refused, ServerGone):
        raise
    except ServerError as error:
        return [Fault.of(error)]


async def _nothing() -> None:
    return None


async def _verdict(
    recipe: Recipe, path: Path, draft: int, llm: Caller, unscored: str = ""
) -> Verdict | Unscored | None:
    """Judge the last node of `path`; a server fault is Unscored, never a value."""
    if recipe.judge is None:
        return None
    if unscored:
        return Unscored(unscored)
    try:
        return await recipe.judge.judge(path, draft, llm)
    except ContextOverflow as error:
        return Unscored(f"context overflow: {error}")
    except (Refused, ServerGone):
        raise
    except ServerError as error:
        return Unscored(f"server error: {error}", server=True)


def fold(
    tree: Tree, recipe: Recipe, ledger: Ledger, number: int, ask: Ask, done: Done, *, rng: Generator
) -> tuple[list[int], list[str]]:
    """Put an ask's results into the tree: the asked node's new sample, the children, each with its backup.

    Returns:
        The ids born and the faults in words.
    """
    born: list[int] = []
    faults = [draft for draft in done.drafts if isinstance(draft, Fault)]
    server = any(fault.kind == "server" for fault in faults)
    # Children come before any backup: one that asks whether a node is a leaf must see what the ask made of it.
    verdicts: list[tuple[int, Verdict | Unscored | None]] = [(ask.node, done.again)]
    for draft, verdict in zip(done.drafts, done.verdicts, strict=True):
        if isinstance(draft, Fault):
            continue
        state = State(draft.text, draft.answer, draft.work, ask=number)
        node = tree.add(ask.node, state, planted=draft.planted, truncated=draft.truncated, prior=draft.prior)
        born.append(node)
        if draft.done:
            tree.end(node, "finished")
        verdicts.append((node, verdict))
    for node, found in verdicts:
        if found is not None:
            server |= _score(tree, recipe, ledger, node, found)
    if ask.node != NONE and any(fault.kind == "context" for fault in faults):
        tree.end(ask.node, next(fault.reason for fault in faults if fault.kind == "context"))
    ledger.server_faults = ledger.server_faults + 1 if server else 0
    recipe.selector.tell(tree, rng, born)
    best = tree.best()
    ledger.best.append(-math.inf if best is None else tree.value(best))
    return born, [fault.reason for fault in faults]


def _score(tree: Tree, recipe: Recipe, ledger: Ledger, node: int, verdict: Verdict | Unscored) -> bool:
    """Record a verdict and back it up; says whether a server fault prevented one."""
    if isinstance(verdict, Unscored):
        tree.unscored(node, verdict.reason)
        ledger.unscored[verdict.reason.partition(":")[0]] += 1
        return verdict.server
    tree.judged(node, verdict.samples)
    recipe.backup(tree, node)
    return False


class Before:
    """The numbers before a fold, to say afterwards which rows changed."""

    def __init__(self, tree: Tree) -> None:
        used = tree.nodes[: len(tree)]
        self._visits, self._values = used["visits"].copy(), used["value"].copy()

    def changed(self, tree: Tree) -> tuple[Row, ...]:
        """Return the rows that are new or differ."""
        used, old = tree.nodes[: len(tree)], len(self._visits)
        visits, values = used["visits"], used["value"]
        same = (visits[:old] == self._visits) & ((values[:old] == self._values) | np.isnan(self._values))
        same &= np.isnan(values[:old]) == np.isnan(self._values)
        ids = [*np.flatnonzero(~same).tolist(), *range(old, len(tree))]
        return tuple(Row(i, int(visits[i]), float(values[i])) for i in ids)
