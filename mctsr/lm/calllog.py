"""The call log of one unfinished problem: what was asked, what came back, what was decided.

The engine is a function of the replies, so the log is the point from which a killed search goes on.
Knows: keys, replay, and when a decision still holds. Does not know: how lines are stored, trees, recipes, or when
a problem is finished.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import NamedTuple, Protocol, TypeVar

from mctsr.errors import RecipeError, Refused, ServerError, ServerGone

from . import wire
from .base import Completion, LogicalLM, Place, Pooled, Pooling, Request, Tally
from .callfile import CallLog
from .log.lines import (
    EndLine,
    FailedLine,
    Line,
    SentLine,
    charged_of,
    completion_of,
    pooled_of,
    reply_of,
    tally_of,
)

__all__ = ["CallLog", "Decision", "LoggedLM"]

R = TypeVar("R", bound=Completion | Pooled)
C_co = TypeVar("C_co", bound=Completion | Pooled, covariant=True)

PATIENCE = 10.0
"""Seconds without a fold after which a decision that is still to come is given up."""


class Decision(NamedTuple):
    """What was decided after a fold, and what the asks then in flight had cost."""

    what: str
    charged: Tally


class _Call(NamedTuple):
    """A call: its place, its name in the log, and the hash of what is asked, a part of the name."""

    place: Place
    key: str
    digest: str


class _Ask(Protocol[C_co]):
    async def __call__(self, *, sent: Callable[[], None]) -> C_co: ...


class _Pending(NamedTuple):
    """A decision that the log ends with: after how many folds, and what lets calls go that wait for it."""

    after: int
    decision: Decision
    void: asyncio.Event


class LoggedLM:
    """A language model that never asks twice for what its log holds.

    Attributes:
        replayed: Calls answered from the log.
        repeated: Calls sent again because the log had neither their reply nor their failure, in all processes.
        stale: Logged replies passed over because the request has changed.
    """

    def __init__(self, inner: LogicalLM, log: CallLog, *, retry_failed: bool = False) -> None:
        """Read the log.

        Args:
            inner: Answers what the log does not hold.
            log: The log of one problem.
            retry_failed: Ask again for calls whose failure is logged, instead of failing again.

        Raises:
            RunError: the log is damaged.
        """
        self._inner = inner
        self._log = log
        self._retry_failed = retry_failed
        self._ended: dict[str, EndLine] = {}
        self._open: set[str] = set()
        self._asking: set[str] = set()
        self._sent: dict[str, set[str]] = {}
        self._pending: _Pending | None = None
        self._folds = -1
        self.replayed = self.repeated = self.stale = 0
        for line in log.read():
            self._take(line)

    @property
    def offers(self) -> frozenset[str]:
        """What the model behind the log offers."""
        return self._inner.offers

    def logical(self, place: Place, request: Request | Pooling) -> Mapping[str, object]:
        """Resolve a request as the model behind the log does."""
        return self._inner.logical(place, request)

    async def complete(self, place: Place, request: Request) -> Completion:
        """Return the logged reply, or ask and log.

        Once the log ends with a decision, a call that is not in it waits: whoever obeys the decision cancels it.
        A changed request, a failure asked for again, or a call that must have been answered before makes the
        decision void.

        Raises:
            ServerError: the call failed for good, now or according to the log.
            RecipeError: another call with the same name is still in flight.
            ValueError: the log is closed.
        """
        call = self._call(place, request)
        ended = await self._logged(call)
        if ended is not None:
            return completion_of(ended)
        return await self._ask(call, partial(self._inner.complete, place, request))

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        """Return logged scores, or ask and log, as `complete` does; raises the same."""
        call = self._call(place, pooling)
        ended = await self._logged(call)
        if ended is not None:
            return pooled_of(ended)
        return await self._ask(call, partial(self._inner.pool, place, pooling))

    def _call(self, place: Place, asked: Request | Pooling) -> _Call:
        digest = blake2b(wire.canonical(self.logical(place, asked)), digest_size=12).hexdigest()
        return _Call(place, f"{_name(place)}:{digest}", digest)

    async def _logged(self, call: _Call) -> EndLine | None:
        """Return the line with which a call ended; None when it is to be asked, and may be now."""
        key, name = call.key, _name(call.place)
        ended = self._ended.get(key)
        retry = ended is not None and ended["t"] == "failed" and self._retry_failed
        if ended is not None and not retry:
            self.replayed += 1
            return ended
        others = self._sent.pop(name, set()) - {key}
        self.stale += sum(other in self._ended and self._ended[other]["t"] != "failed" for other in others)
        if retry or (others and key not in self._open):
            self._make_void()  # it was made on replies that no longer count
        await self._stand_back(call.place.ask)
        if key in self._asking:
            raise RecipeError(
                f"two calls in flight share {call.place}; number them by draft, sample or attempt"
            )
        return None

    def decided(self, fold: int) -> Decision | None:
        """Return what was decided after `fold` folds, None when nothing was; who is told must obey."""
        self._folds = fold
        pending = self._pending
        return pending.decision if pending and pending.after == fold else None

    def decide(self, fold: int, what: str, charged: Tally) -> None:
        """Log a decision before it is acted on, with what the asks then in flight had cost."""
        self._log.append({"t": "decision", "after": fold, "what": what, "charged": charged_of(charged)})
        self._folds = fold
        self._pending = _Pending(fold, Decision(what, replace(charged)), asyncio.Event())

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    async def _stand_back(self, ask: int) -> None:
        """Hold a call of `ask` that the log does not hold, as long as a decision stands against it.

        Asks are numbered from 0 and folded in this order, so in a search that decided after `after` folds all
        calls of the asks below `after` had ended. A call of one of them that is missing in the log, or a fold
        beyond `after`, proves that the log is not the one on which it was decided: nobody would ever obey, and
        to wait for that would be to wait for ever. Calls of later asks wait for the fold to come. What comes
        before it is in the log, so it comes at once; should it not, because somebody edited the log of a search
        that folds several asks together, or a part waits for something else than a model, patience ends. A
        decision given up by mistake costs calls and changes when the search stops, never what a reply is.
        """
        while pending := self._pending:
            folds, after = self._folds, pending.after
            if ask < after or after < max(folds, 0):
                return self._make_void()
            # At the fold itself it was told to who asked, and is being obeyed.
            with suppress(TimeoutError):
                await asyncio.wait_for(pending.void.wait(), None if after == folds else PATIENCE)
            if self._pending is pending and self._folds == folds:
                return self._make_void()
        return None

    def _make_void(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.void.set()

    async def _ask(self, call: _Call, ask: _Ask[R]) -> R:
        line: SentLine = {"t": "sent", "key": call.key, "place": call.place, "hash": call.digest}
        self._asking.add(call.key)
        try:
            reply = await ask(sent=partial(self._note, line))
        except (Refused, ServerGone):
            raise  # these end the run, and the call is asked again when it goes on
        except ServerError as error:
            failure: FailedLine = {
                "t": "failed",
                "key": call.key,
                "kind": error.kind,
                "status": error.status,
                "retries": error.retries,
                "message": str(error),
            }
            self._note(failure)
            raise
        finally:
            self._asking.discard(call.key)
        self._note(reply_of(call.key, reply))
        return reply

    def _note(self, line: Line) -> None:
        self._log.append(line)
        self._take(line)

    def _take(self, line: Line) -> None:
        """Learn from a line; of several with the same key the last one counts."""
        # Nothing is written after a decision that holds.
        self._make_void()
        if line["t"] == "decision":
            decision = Decision(line["what"], tally_of(line["charged"]))
            self._pending = _Pending(line["after"], decision, asyncio.Event())
        elif line["t"] == "sent":
            key = line["key"]
            self.repeated += key in self._open
            self._open.add(key)
            self._sent.setdefault(key.rsplit(":", 1)[0], set()).add(key)
        else:
            self._open.discard(line["key"])
            self._ended[line["key"]] = line


def _name(place: Place) -> str:
    # The problem is left out: the file is one problem's.
    return "/".join(map(str, place[1:]))
