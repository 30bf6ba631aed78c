"""How far a run is, counted while it goes on: problems, rollouts, calls in flight, tokens a second.

Knows the events of a run and the calls behind them. Does not know how any of it is shown.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from mctsr.lm.base import Completion, LogicalLM, Place, Pooled, Pooling, Request
from mctsr.rollout import Folded

from .records import GradeRecord, ResultRecord
from .solving import BatchEvent, ProblemFinished, ProblemStarted
from .verdict import word_of

_WINDOW = 60.0
_SHORTEST = 0.25


class CallSent(NamedTuple):
    """A request left for a server; one that is answered from a call log never does."""


class CallEnded(NamedTuple):
    """It came back with a reply of so many tokens, prompt included; None: it failed or was cancelled."""

    tokens: int | None


CallEvent: TypeAlias = CallSent | CallEnded


class Overheard:
    """Models that tell of every call, and change nothing."""

    def __init__(self, inner: LogicalLM, tell: Callable[[CallEvent], None]) -> None:
        """Stand in front of `inner`."""
        self._inner, self._tell = inner, tell

    @property
    def offers(self) -> frozenset[str]:
        """What the models offer."""
        return self._inner.offers

    def logical(self, place: Place, request: Request | Pooling) -> Mapping[str, object]:
        """Resolve a request as the models do."""
        return self._inner.logical(place, request)

    async def complete(
        self, place: Place, request: Request, *, sent: Callable[[], None] = lambda: None
    ) -> Completion:
        """Complete as the models do; raises what they raise."""
        with self._heard(sent) as hearing:
            completion = await self._inner.complete(place, request, sent=hearing.leave)
            hearing.tokens = completion.usage.total_tokens
            return completion

    async def pool(
        self, place: Place, pooling: Pooling, *, sent: Callable[[], None] = lambda: None
    ) -> Pooled:
        """Score as the models do; raises what they raise."""
        with self._heard(sent) as hearing:
            pooled = await self._inner.pool(place, pooling, sent=hearing.leave)
            hearing.tokens = pooled.usage.total_tokens
            return pooled

    @contextmanager
    def _heard(self, sent: Callable[[], None]) -> Iterator["_Hearing"]:
        hearing = _Hearing(sent, self._tell)
        try:
            yield hearing
        finally:
            if hearing.left:
                self._tell(CallEnded(hearing.tokens))


@dataclass(slots=True)
class _Hearing:
    """One call as it is told of: whether it left, and what it took when it was answered."""

    sent: Callable[[], None]
    tell: Callable[[CallEvent], None]
    left: bool = False
    tokens: int | None = None

    def leave(self) -> None:
        """Tell that the call leaves."""
        self.sent()
        self.left = True
        self.tell(CallSent())


class Progress:
    """What has happened so far.

    Attributes:
        phase: What is going on while no problem is.
        total: Problems of the run.
        done: Finished ones, those that failed included.
        failed: Those that failed.
        open: Problems being searched.
        rollouts: Asks folded in this process, openings left out.
        calls: Calls in flight.
        replies: Replies that came in this process.
        correct: Graded problems whose selected answer is right.
        graded: Graded problems, those that failed included.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.phase = "starting"
        self.total = self.done = self.failed = self.open = self.rollouts = 0
        self.calls = self.replies = self.correct = self.graded = 0
        self._clock = clock
        self._began = clock()
        self._before = 0
        self._asked: float | None = None
        self._spent: deque[tuple[float, int]] = deque()

    def begin(self, total: int) -> None:
        """Start the clock; what was counted before is an earlier process's."""
        self.phase, self.total, self._before, self._began = "", total, self.done, self._clock()

    def take(self, event: BatchEvent | CallEvent) -> None:
        """Count an event."""
        if isinstance(event, CallSent):
            self.calls += 1
            self._asked = self._clock() if self._asked is None else self._asked
        elif isinstance(event, CallEnded):
            self.calls -= 1
            self._came(event.tokens)
        elif isinstance(event, ProblemStarted):
            self.open += 1
        elif isinstance(event, ProblemFinished):
            self.open -= 1
            self.count(event.result, event.grade)
        elif isinstance(event, Folded):
            self.rollouts += event.ask > 0

    def count(self, result: ResultRecord, grade: GradeRecord | None) -> None:
        """Count a finished problem; without a grade it counts for no score."""
        failed = result["status"] == "failed"
        self.done += 1
        self.failed += failed
        self.graded += failed or grade is not None
        self.correct += word_of(result["answers"]["selected"], grade) == "right"

    @property
    def seconds(self) -> float:
        """How long this phase has lasted; once problems are open, since the first call left."""
        return self._clock() - (self._began if self.phase or self._asked is None else self._asked)

    @property
    def rate(self) -> float:
        """Tokens a second up to the last reply, over about a minute; 0 before the first one.

        What a call has written before it is done is unknown, so that the time since the last reply says nothing.
        """
        if len(self._spent) < 2:
            return 0.0
        (since, _), (until, _) = self._spent[0], self._spent[-1]
        return sum(tokens for _, tokens in list(self._spent)[1:]) / max(until - since, _SHORTEST)

    @property
    def left(self) -> float | None:
        """Seconds to go, at the pace so far; None before the first problem of this process is done."""
        here = self.done - self._before
        return (self.total - self.done) * (self._clock() - self._began) / here if here else None

    def _came(self, tokens: int | None) -> None:
        """Note a reply; the first entry of the list is where the measured time begins."""
        if tokens is None or self._asked is None:
            return
        now = self._clock()
        self.replies += 1
        if not self._spent:
            self._spent.append((self._asked, 0))
        self._spent.append((now, tokens))
        while len(self._spent) > 2 and self._spent[1][0] < now - _WINDOW:
            self._spent.popleft()
