"""The loop: ask, await, tell.

    selector ── Ask ──▶ expander ──▶ judge ──▶ drafts, verdicts ──▶ tree.add, backup ──▶ selector.tell
       µs                 seconds, LLM                                     µs

Asks are folded in the order they were made, whatever arrives first, so a tree is a function of the replies.
The engine knows no recipe, no file and no screen; who wants to watch gets events.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from mctsr.caller import NO_REFEREE, Caller, Referee
from mctsr.draws import CHOOSING, FOLDING, Dice
from mctsr.errors import RecipeError, UsageError
from mctsr.kernels.node import NONE
from mctsr.lm.base import LM, Tally, unoffered
from mctsr.parts import Ask, Ledger, Path, Problem
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.rollout import Asked, Change, Done, Event, Folded, Stopped, fold, work
from mctsr.stop import Decisions, Limits
from mctsr.tree import Tree, warm_up

MAX_SERVER_FAULTS = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search leaves behind.

    Attributes:
        tree: The tree.
        ledger: What it cost.
        reason: Why it stopped.
        failed: Whether server faults ended it; its answers then mean nothing.
    """

    tree: Tree
    ledger: Ledger
    reason: str
    failed: bool


class _Flight(NamedTuple):
    number: int
    ask: Ask
    caller: Caller
    task: "asyncio.Task[Done]"


class _Stop(NamedTuple):
    reason: str
    failed: bool = False


async def search(
    problem: Problem,
    recipe: Recipe,
    lm: LM,
    *,
    seed: int = 0,
    prompts: Prompts | None = None,
    limits: Limits | None = None,
    watch: Callable[[Event], None] | None = None,
    decisions: Decisions | None = None,
    referee: Referee | None = None,
) -> Outcome:
    """Grow one tree for `problem`.

    Args:
        problem: The question.
        recipe: The six parts.
        lm: The model, or a log in front of it.
        seed: The run's seed; every choice of the search derives from it and the problem's id.
        prompts: What the parts say to the model; the shipped prompts when None.
        limits: What the problem may cost.
        watch: Receives every event, in order; without one, none is made.
        decisions: Where choices made by the clock are kept.
        referee: Compares answers with the known one, for recipes that label; others never see it.

    Raises:
        UsageError: The recipe needs what the model does not offer, or a referee.
        Refused, ServerGone: The run cannot go on.
    """
    if missing := recipe.needs - lm.offers:
        raise unoffered(missing, lm.offers)
    if recipe.uses_gold and referee is None:
        raise UsageError(NO_REFEREE)
    prompts, limits, known = prompts or Prompts(), limits or Limits(), referee if recipe.uses_gold else None
    loop = _Search(problem, recipe, lm, seed, prompts, limits, watch, decisions, known)
    try:
        loop.launch(Ask(NONE, recipe.selector.roots))
        await loop.ready()
        while loop.flights:
            if not await loop.arrived():
                break
            loop.tell()
            loop.ask()
        return loop.outcome()
    finally:
        await loop.drop()


@dataclass
class _Search:
    """The state of one loop."""

    problem: Problem
    recipe: Recipe
    lm: LM
    seed: int
    prompts: Prompts
    limits: Limits
    watch: Callable[[Event], None] | None
    decisions: Decisions | None
    referee: Referee | None
    ledger: Ledger = field(default_factory=Ledger)
    flights: deque[_Flight] = field(default_factory=deque)
    stop: _Stop | None = None
    folds: int = 0
    fault: str = ""

    def __post_init__(self) -> None:
        self.tree = Tree(low=self.recipe.judge.low if self.recipe.judge else 0.0)
        self.began = time.monotonic()
        self.dice = Dice(self.seed, self.problem.id)

    def launch(self, ask: Ask) -> None:
        """Start the work of `ask`."""
        number = 0 if ask.node == NONE else self.ledger.asks + 1
        self.ledger.asks = number
        self.tree.mark(ask.node, +1)
        caller = Caller(self.lm, self.prompts, self.problem.id, number, self.referee)
        path = Path.to(ask.node, self.tree, self.problem) if number else None
        task = asyncio.create_task(work(self.recipe, self.problem, path, ask, caller))
        self.flights.append(_Flight(number, ask, caller, task))
        if self.watch:
            self.watch(Asked(self.problem.id, number, ask.node, ask.n, ask.again))

    async def ready(self) -> None:
        """Load the kernels in a thread, once a process, while the first calls are in flight."""
        if not warm_up.cache_info().currsize:
            await asyncio.sleep(0)
            await asyncio.to_thread(warm_up)

    async def arrived(self) -> bool:
        """Wait for the oldest ask, or for all behind a barrier; False when the clock ends the search."""
        if self.decisions and (known := self.decisions.decided(self.folds)):
            self.give_up(*known)
            return False
        left = None if self.limits.seconds is None else self.limits.seconds - (time.monotonic() - self.began)
        awaited = [flight.task for flight in self.flights][: None if self.recipe.selector.barrier else 1]
        _, pending = await asyncio.wait(awaited, timeout=None if left is None else max(left, 0.0))
        if not pending:
            return True
        charged = Tally()
        for flight in self.flights:
            charged.add(flight.caller.tally)
        if self.decisions:
            self.decisions.decide(self.folds, "time limit", charged)
        self.give_up("time limit", charged)
        return False

    def give_up(self, reason: str, charged: Tally) -> None:
        """Stop without folding what is in flight; what it has cost is charged."""
        self.ledger.tally.add(charged)
        self.stop = _Stop(reason, failed=not self.tree.answers())

    def tell(self) -> None:
        """Fold what arrived, in ask order; the selector learns of a generation when all of it is folded."""
        selector, born = self.recipe.selector, list[int]()
        for left in reversed(range(len(self.flights) if selector.barrier else 1)):
            number, ask, caller, task = self.flights.popleft()
            self.tree.mark(ask.node, -1)
            change = fold(self.tree, self.recipe, self.ledger, number, ask, task.result())
            born += change.born
            if not left:
                selector.tell(self.tree, self.dice.of(number, FOLDING), born)
            self.folds += 1
            self.ledger.folds += number > 0
            self.ledger.tally.add(caller.tally)
            if self.watch:
                self.watch(Folded.of(self.problem.id, number, change, self.tree, caller.tally))
            # Draining after a stop can still show that the server is broken.
            self.stop = self.broken(number, change) or self.stop or self.enough()

    def ask(self) -> None:
        """Fill the width with asks; a stop only drains."""
        selector = self.recipe.selector
        while self.stop is None:
            room = self.recipe.width - len(self.flights)
            if room < 1 or (selector.barrier and self.flights):
                return
            asks = selector.ask(self.tree, self.dice.of(self.ledger.asks + 1, CHOOSING), room)
            for ask in asks:
                if not 0 <= ask.node < len(self.tree) or ask.n < (not ask.again):
                    raise RecipeError(f"the selector asked {ask} of a tree of {len(self.tree)} nodes")
                self.launch(ask)
            if not asks:
                return
            self.stop = self.enough()

    def broken(self, number: int, change: Change) -> _Stop | None:
        """Say whether faults make the problem fail."""
        if number == 0 and not self.tree.answers():
            why = "; ".join(change.faults) or "the expander returned nothing"
            return _Stop(f"no first answer: {why}", True)
        faults = self.ledger.server_faults
        if faults:
            reasons = change.faults or [self.tree.states[i].unscored[-1] for i in change.unscored]
            self.fault = max(reasons, key=lambda reason: reason.startswith("server error"))
        if faults < (MAX_SERVER_FAULTS if number else 1):
            return None
        what = f"{faults} asks running ended in server faults" if number else "no first score"
        return _Stop(f"{what}: {self.fault}", True)

    def exhausted(self) -> _Stop:
        """Say why there is nothing left to ask; when nothing came of it and the server is why, the problem fails."""
        unscored = self.recipe.judge is not None and self.tree.best() is None
        answered = any(self.tree.states[node].answer is not None for node in self.tree.answers())
        if self.ledger.server_faults and (unscored or not answered):
            return _Stop(f"nothing is left after server faults: {self.fault}", True)
        return _Stop("all unscored" if unscored else "exhausted")

    def enough(self) -> _Stop | None:
        """Ask the limits and the stopper."""
        reason = self.limits.met(self.ledger) or self.recipe.stopper(self.tree, self.ledger)
        if reason is not None and not isinstance(reason, str):
            raise RecipeError(f"the stopper returned {reason!r}; it must return a reason in words, or None")
        return _Stop(reason) if reason else None

    async def drop(self) -> None:
        """Cancel what is in flight and wait until it is gone."""
        for flight in self.flights:
            flight.task.cancel()
            self.tree.mark(flight.ask.node, -1)
        await asyncio.gather(*(flight.task for flight in self.flights), return_exceptions=True)
        self.flights.clear()

    def outcome(self) -> Outcome:
        """Close the search."""
        stop = self.stop or self.exhausted()
        if self.watch:
            self.watch(Stopped(self.problem.id, stop.reason, stop.failed))
        return Outcome(self.tree, self.ledger, stop.reason, stop.failed)
