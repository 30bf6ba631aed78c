"""The call log of one unfinished problem: what was asked, what came back, what was decided.

The engine is a function of the replies, so this file is the point from which a killed search goes on.
Knows: lines, keys and how a torn end is healed. Does not know: trees, recipes, or when a problem is finished.

Each line is one JSON object, told apart by "t":

    sent      key, place, hash          before the request leaves; a call that waits for its turn has no line
    reply     key and the completion    after it came
    failed    key and the error         the call failed for good
    decision  after, what, charged      something depended on time or load, written before it is obeyed
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, cast

from mctsr.errors import ContextOverflow, RecipeError, Refused, RunError, ServerError, ServerGone

from . import wire
from .base import Completion, LogicalLM, Place, Request, Tally, Usage

Line = dict[str, object]


class Decision(NamedTuple):
    """What was decided after a fold, and what the asks then in flight had cost."""

    what: str
    charged: Tally


class CallLog:
    """An append-only file of lines that survives being killed at any byte."""

    def __init__(self, path: Path) -> None:
        """Name the file; it and its folders are made by the first `append`."""
        self.path = path
        self._file: int | None = None
        self._closed = False

    def read(self) -> list[Line]:
        """Read all whole lines; what follows the last newline was never written to its end.

        Raises:
            RunError: a line before the end is damaged.
        """
        try:
            whole = self.path.read_bytes()
        except FileNotFoundError:
            return []
        return [self._line(raw, number) for number, raw in enumerate(whole.split(b"\n")[:-1], start=1)]

    def append(self, line: Mapping[str, object]) -> None:
        """Write one line, after cutting off a torn end once.

        Raises:
            OSError: it cannot be written whole; what was written is taken back.
            ValueError: the log is closed.
        """
        data, file = wire.dumps(line) + b"\n", self._opened()
        end = os.lseek(file, 0, os.SEEK_END)
        try:
            while data:
                data = data[os.write(file, data) :]
        except OSError:
            os.ftruncate(file, end)
            raise

    def close(self) -> None:
        """Close the file for good: who still writes must not bring a finished problem's log back."""
        self._closed = True
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        if self._closed:
            raise ValueError(f"the call log {self.path} is closed")
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            whole = self.path.read_bytes()
            os.truncate(self._file, whole.rfind(b"\n") + 1)
        return self._file

    def _line(self, raw: bytes, number: int) -> Line:
        try:
            line = wire.loads(raw)
        except ValueError:
            line = None
        if not isinstance(line, dict) or "t" not in line:
            raise RunError(f"{self.path}, line {number}: damaged call log; delete it to ask its calls again")
        return line


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
        self._ended: dict[str, Line] = {}
        self._open: set[str] = set()
        self._asking: set[str] = set()
        self._sent: dict[str, set[str]] = {}
        self._decisions: dict[int, Decision] = {}
        self.replayed = self.repeated = self.stale = 0
        for line in log.read():
            self._take(line)

    @property
    def offers(self) -> frozenset[str]:
        """What the model behind the log offers."""
        return self._inner.offers

    def logical(self, place: Place, request: Request) -> Mapping[str, object]:
        """Resolve a request as the model behind the log does."""
        return self._inner.logical(place, request)

    async def complete(self, place: Place, request: Request) -> Completion:
        """Return the logged reply, or ask and log.

        Once the log holds a decision, a call that is not in it never returns: whoever obeys the decision
        cancels it. A changed request, or a failure asked for again, makes the decision void.

        Raises:
            ServerError: the call failed for good, now or according to the log.
            RecipeError: another call with the same name is still in flight.
            ValueError: the log is closed.
        """
        digest = blake2b(wire.canonical(self.logical(place, request)), digest_size=12).hexdigest()
        name = _name(place)
        key = f"{name}:{digest}"
        ended = self._ended.get(key)
        retry = ended is not None and ended["t"] == "failed" and self._retry_failed
        if ended is not None and not retry:
            self.replayed += 1
            return _completion(ended)
        others = self._sent.pop(name, set()) - {key}
        self.stale += sum(self._ended.get(other, {}).get("t") == "reply" for other in others)
        if retry or (others and key not in self._open):
            self._decisions.clear()  # they were made on replies that no longer count
        if self._decisions:
            await asyncio.get_running_loop().create_future()
        if key in self._asking:
            raise RecipeError(f"two calls in flight share {place}; number them by draft, sample or attempt")
        return await self._ask(key, place, request, digest)

    def decided(self, fold: int) -> Decision | None:
        """Return what was decided after `fold` folds, None when nothing was."""
        return self._decisions.get(fold)

    def decide(self, fold: int, what: str, charged: Tally) -> None:
        """Log a decision before it is acted on, with what the asks then in flight had cost."""
        cost = {**_plain(charged), "usage": _plain(charged.usage), "wire": sorted(charged.wire)}
        self._log.append({"t": "decision", "after": fold, "what": what, "charged": cost})
        self._decisions[fold] = Decision(what, replace(charged))

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    async def _ask(self, key: str, place: Place, request: Request, digest: str) -> Completion:
        line: Line = {"t": "sent", "key": key, "place": list(place), "hash": digest}
        self._asking.add(key)
        try:
            completion = await self._inner.complete(place, request, sent=partial(self._note, line))
        except (Refused, ServerGone):
            raise  # these end the run, and the call is asked again when it goes on
        except ServerError as error:
            failure = {"kind": error.kind, "status": error.status, "retries": error.retries}
            self._note({"t": "failed", "key": key, **failure, "message": str(error)})
            raise
        finally:
            self._asking.discard(key)
        self._note({"t": "reply", "key": key, **_plain(completion), "usage": _plain(completion.usage)})
        return completion

    def _note(self, line: Line) -> None:
        self._log.append(line)
        self._take(line)

    def _take(self, line: Line) -> None:
        """Learn from a line; of several with the same key the last one counts."""
        if line["t"] == "decision":
            self._decisions[cast(int, line["after"])] = Decision(str(line["what"]), _tally(line["charged"]))
            return
        key = str(line["key"])
        if line["t"] == "sent":
            # Nothing is asked after a decision, unless the replies it was made on no longer count.
            self._decisions.clear()
            self.repeated += key in self._open
            self._open.add(key)
            self._sent.setdefault(key.rsplit(":", 1)[0], set()).add(key)
            return
        self._open.discard(key)
        self._ended[key] = line


def _name(place: Place) -> str:
    # The problem is left out: the file is one problem's.
    return "/".join(map(str, place[1:]))


def _plain(record: Completion | Usage | Tally) -> Line:
    return {part.name: getattr(record, part.name) for part in fields(record)}


def _usage(record: object) -> Usage:
    return Usage(**cast(dict[str, int], record))


def _tally(charged: object) -> Tally:
    record = cast(Line, charged)
    usage, wire = _usage(record["usage"]), frozenset(cast(list[str], record["wire"]))
    return Tally(**{**record, "usage": usage, "wire": wire})  # type: ignore[arg-type]


def _completion(line: Line) -> Completion:
    """Return the completion that a line holds, or fail as the call failed."""
    if line["t"] == "failed":
        kind = ContextOverflow if line["kind"] == ContextOverflow.kind else ServerError
        status, retries = cast(int, line["status"]), cast(int, line["retries"])
        raise kind(str(line["message"]), status=status, retries=retries)
    usage, wire = _usage(line["usage"]), tuple(cast(list[str], line["wire"]))
    known = {part.name: line[part.name] for part in fields(Completion)}
    return Completion(**{**known, "usage": usage, "wire": wire})  # type: ignore[arg-type]
