"""One ask, from the model to the tree: expand, judge, fold.

The first half is asynchronous and sees paths only; the second half is synchronous and changes the tree.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

from mctsr.caller import Caller, all_of, leaving, siblings
from mctsr.changes import Before, Row
from mctsr.errors import ServerError
from mctsr.kernels.node import NONE
from mctsr.lm.base import Tally
from mctsr.parts import Ask, Draft, Fault, Ledger, Path, Problem, Unscored, Verdict
from mctsr.recipe import Recipe
from mctsr.tree import State, Tree


class Change(NamedTuple):
    """What a fold did to the tree.

    Attributes:
        before: How things stood; what else changed is told by comparison, after the selector was told.
        born: Ids of the new nodes.
        judged: Ids that got a new sample, once for each.
        unscored: Ids that got a new reason instead, once for each.
        faults: What went wrong, in words.
    """

    before: Before
    born: list[int]
    judged: list[int]
    unscored: list[int]
    faults: list[str]


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
    """An ask's results are in the tree: a `Change`, and how things stand afterwards.

    Attributes:
        ended: Ids that can no longer grow from here on.
        changed: Every row that differs from before.
        front: The population.
        tally: What the ask cost.
    """

    problem: str
    ask: int
    born: tuple[int, ...]
    judged: tuple[int, ...]
    unscored: tuple[int, ...]
    ended: tuple[int, ...]
    changed: tuple[Row, ...]
    front: tuple[int, ...]
    faults: tuple[str, ...]
    tally: Tally

    @classmethod
    def of(cls, problem: str, ask: int, change: Change, tree: Tree, tally: Tally) -> "Folded":
        """Describe a fold that is in the tree."""
        born, judged, unscored = (tuple(ids) for ids in (change.born, change.judged, change.unscored))
        ended, changed = change.before.ended(tree), change.before.changed(tree)
        front, faults = tuple(tree.front), tuple(change.faults)
        return cls(problem, ask, born, judged, unscored, ended, changed, front, faults, tally)


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
    async with siblings() as group:
        judged = ask.again and path is not None and not (path.last.step and not path.last.text)
        again = group.create_task(_verdict(recipe, path, -1, llm)) if path and judged else None
        drafts = await _drafts(recipe, problem, path, ask, llm) if ask.n else ()
        base = path or Path(problem, ())
        verdicts = await all_of(
            partial(_judged, recipe, base, i, draft, llm) for i, draft in enumerate(drafts)
        )
    return Done(drafts, verdicts, None if again is None else again.result())


async def _drafts(
    recipe: Recipe, problem: Problem, path: Path | None, ask: Ask, llm: Caller
) -> Sequence[Draft | Fault]:
    """Turn the fault of a whole expansion into a record; faults that end the run pass."""
    try:
        if path is None:
            return await recipe.expander.open(problem, ask.n, llm)
        return await recipe.expander.grow(path, ask.n, llm)
    except ServerError as error:
        return [Fault.of(error)]
    except SystemExit:
        raise leaving() from None


async def _judged(
    recipe: Recipe, base: Path, number: int, draft: Draft | Fault, llm: Caller
) -> Verdict | Unscored | None:
    """Judge a draft below `base`, if it came to be."""
    if not isinstance(draft, Draft) or draft.unjudged:
        return None
    return await _verdict(recipe, base.plus(draft), number, llm, draft.unscored)


async def _verdict(
    recipe: Recipe, path: Path, draft: int, llm: Caller, unscored: str = ""
) -> Verdict | Unscored | None:
    """Judge the last node of `path`; a server fault is Unscored, never a value."""
    if recipe.judge is None:
        return None
    if unscored:
        return Unscored(unscored)
    try:
        found = await recipe.judge.judge(path, draft, llm)
    except ServerError as error:
        return Unscored.of(error)
    except SystemExit:
        raise leaving() from None
    if not isinstance(found, Verdict | Unscored):
        raise TypeError(f"the judge returned {found!r}; it must return a Verdict or Unscored")
    return found


def fold(tree: Tree, recipe: Recipe, ledger: Ledger, number: int, ask: Ask, done: Done) -> Change:
    """Put an ask's results into the tree: the asked node's new sample, the children, each with its backup."""
    before = Before(tree, ask.node, wide=getattr(recipe.backup, "wide", True))
    change = Change(before, [], [], [], [])
    verdicts = [(ask.node, done.again), *_bear(tree, number, ask, done, change)]
    # Children come before any backup: one that asks whether a node is a leaf must see what the ask made of it.
    server = any(isinstance(draft, Fault) and draft.server for draft in done.drafts)
    for node, verdict in verdicts:
        if verdict is not None:
            server |= _score(tree, recipe, ledger, node, verdict, change)
    fruit = [node for node in change.born if recipe.judge is None or tree.scored(node)]
    ledger.server_faults = ledger.server_faults + 1 if server and not fruit else 0
    ledger.best.append(before.best(tree, ledger.best[-1] if ledger.best else -math.inf))
    return change


def _bear(
    tree: Tree, number: int, ask: Ask, done: Done, change: Change
) -> Iterator[tuple[int, Verdict | Unscored | None]]:
    """Add the children, in draft order; a prompt that no longer fits ends the asked node, as an empty reply does.

    What grew nothing and failed at nothing would be asked again, and again.
    """
    if ask.n and not done.drafts and ask.node != NONE:
        tree.end(ask.node, "nothing new")
    for draft, verdict in zip(done.drafts, done.verdicts, strict=True):
        if isinstance(draft, Fault):
            change.faults.append(draft.reason)
            if not draft.server and ask.node != NONE:
                tree.end(ask.node, draft.reason)
            continue
        state = _state(draft, number)
        node = tree.add(ask.node, state, planted=draft.planted, truncated=draft.truncated, prior=draft.prior)
        change.born.append(node)
        if draft.done:
            tree.end(node, draft.why or "finished")
        yield node, verdict


def _state(draft: Draft, ask: int) -> State:
    return State(
        draft.text,
        draft.answer,
        draft.work,
        ask,
        ids=draft.ids,
        logprob=draft.logprob,
        tokens=draft.tokens,
        step=draft.step,
    )


def _score(
    tree: Tree, recipe: Recipe, ledger: Ledger, node: int, verdict: Verdict | Unscored, change: Change
) -> bool:
    """Record a verdict and back it up; says whether a server fault lost an evaluation."""
    verdict = _on_scale(verdict, recipe)
    lost = verdict.unscored if isinstance(verdict, Verdict) else (verdict,)
    for unscored in lost:
        tree.unscored(node, unscored.reason)
        ledger.unscored[unscored.reason.partition(":")[0]] += 1
        change.unscored.append(node)
    if isinstance(verdict, Verdict) and verdict.samples:
        tree.judged(node, verdict.samples)
        recipe.backup(tree, node)
        change.judged.extend([node] * len(verdict.samples))
    return any(unscored.server for unscored in lost)


def _on_scale(verdict: Verdict | Unscored, recipe: Recipe) -> Verdict | Unscored:
    """Keep the samples that lie on the judge's scale; any other number, NaN too, is a lost evaluation."""
    judge = recipe.judge
    if judge is None or not isinstance(verdict, Verdict):
        return verdict
    if verdict.samples and all(judge.low <= sample.value <= judge.high for sample in verdict.samples):
        return verdict
    fit = tuple(sample for sample in verdict.samples if judge.low <= sample.value <= judge.high)
    off = [sample.value for sample in verdict.samples if not judge.low <= sample.value <= judge.high]
    unfit = tuple(Unscored(f"off the scale: {value} of {judge.low} to {judge.high}") for value in off)
    lost = (*verdict.unscored, *unfit)
    return Verdict(fit, lost) if fit or lost else Unscored("the judge returned no sample")
