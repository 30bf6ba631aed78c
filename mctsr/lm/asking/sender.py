"""Asks until a request is answered, or says in plain words why it is not.

Knows: when to try again and how long to wait, and what this server was found not to take.
Does not know: what a request is for, roles and settings, field names, who waits (`gate`).
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import NamedTuple, NoReturn, cast

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt

from mctsr.errors import ServerError, ServerGone
from mctsr.lm import faults, wire
from mctsr.lm.address import Address
from mctsr.lm.base import Pooled
from mctsr.lm.connection import LONGEST_PAGE, Connection, Lost, Raw
from mctsr.lm.dialects import RENAMES, Kind, R, encode, longest_reply, read

from .adapt import Change, adapt, lowered
from .asked import ADVICE, Asked
from .call import Again, Call, delay, failure

_log = logging.getLogger(__name__)

_PROBE_SECONDS = 5.0
_REMEMBERED = 512
_ABSENT = {404, 405, 501}


class _Written(NamedTuple):
    """A request as it is sent, and what is noted of it."""

    body: dict[str, object]
    payload: bytes
    notes: tuple[str, ...]


class Sender:
    """Sends calls to one model of one server; it is their `Door`, too.

    Attributes:
        kind: The server's dialect, as far as it is known.
    """

    def __init__(
        self,
        connection: Connection,
        address: Address,
        max_retries: int,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.kind: Kind = "other"
        self._connection = connection
        self._address = address
        self._max_retries = max_retries
        self._sleep = sleep
        self._changes: dict[str, dict[str, Change]] = {}
        self._known: dict[bytes, Mapping[str, object]] = {}
        self._absent: set[str] = set()

    def beside(self) -> "Sender":
        """Make the sender of another model of this server, which has learnt nothing yet."""
        other = copy(self)
        other.kind, other._changes, other._known = "other", {}, {}
        return other

    @property
    def base(self) -> str:
        """Address that endpoints of the OpenAI kind are added to."""
        return self._address.base

    @property
    def root(self) -> str:
        """Address that the server's own endpoints are added to."""
        return self._address.root

    async def send(self, call: Call[R]) -> R:
        """Return the reply. Each attempt takes a slot of its own; waiting between them takes none.

        Raises:
            ContextOverflow: the prompt does not fit.
            Refused: the server says no to every call alike.
            ServerGone: it cannot be reached any more.
            ServerError: this call failed for good; the message holds the server's own words.
        """
        most = self._max_retries + 1 if call.most is None else call.most
        tries = AsyncRetrying(
            stop=stop_after_attempt(most),
            retry=retry_if_exception_type(Again),
            wait=delay,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return await tries(self._attempt, call)
        except Again as error:
            await self._give_up(error, call.tries)
        except ServerError as error:
            error.retries = call.tries - 1
            raise

    async def fetch(self, url: str, body: Mapping[str, object]) -> Mapping[str, object]:
        """Return the reply to what always has the same reply; see `Door`."""
        if url in self._absent:
            raise ServerError(f"{url} is not there", status=404)
        key = url.encode() + wire.canonical(body)
        known = self._known.pop(key, None)
        if known is None:
            known = await self._fetched(url, body)
            if len(self._known) >= _REMEMBERED:
                del self._known[next(iter(self._known))]
        self._known[key] = known  # last, as the one used latest
        return known

    async def _fetched(self, url: str, body: Mapping[str, object]) -> Mapping[str, object]:
        try:
            raw = await self._connection.post(url, encode(body)[0], LONGEST_PAGE)
        except Lost as error:
            raise Again(f"{url}: {error}", lost=error.dropped or error.unreachable) from error
        if raw.status in _ABSENT:
            self._absent.add(url)
        if raw.status >= 300:
            fault = faults.read_fault(raw.status, raw.body)
            hidden = fault._replace(message=self._connection.hide(fault.message))
            raise failure(hidden, raw, self.base, ADVICE)
        try:
            data = wire.loads(raw.body)
        except ValueError:
            data = None
        if not isinstance(data, Mapping):
            raise Again(f"{url} answered what is no JSON object", status=raw.status)
        return data

    async def _attempt(self, call: Call[R]) -> R:
        call.tries += 1
        while True:
            reply = await self._tried(call)
            if reply is not None:
                return reply

    async def _tried(self, call: Call[R]) -> R | None:
        """Send once; None when the server does not take a field that can be left out from now on."""
        async with call.slots() as slot:
            report, call.sent = call.sent, None
            if report:
                report()
            asked: Asked[R] = await call.prepare(self)
            sent = self._written(asked)
            began = time.perf_counter()
            raw = await self._post(call, asked.url, sent.payload, longest_reply(sent.body))
            seconds = time.perf_counter() - began
            result: R | faults.Fault = read(raw.status, raw.body, asked.parse, self._connection.hide)
            if not isinstance(result, faults.Fault):
                slot.succeeded()
                return _stamped(result, seconds, call.tries - 1, (*sent.notes, *result.wire))
            if faults.judge(result) == "overload":
                slot.overloaded()
        optional = {name: value for name, value in sent.body.items() if name not in asked.kept}
        if not self._learn(asked.url, result, optional):
            unfit = asked.unfit and asked.unfit.search(result.message)
            raise failure(result, raw, self.base, asked.advice, hopeless=bool(unfit))
        return None

    def _written(self, asked: Asked[R]) -> _Written:
        """Write a request without what the server was found not to take."""
        learnt = self._changes.get(asked.url, {})
        own = {name: new for name, new in learnt.items() if name not in asked.kept}
        body, notes = adapt(asked.body, own)
        payload, more = encode(body)
        return _Written(body, payload, (*asked.notes, *notes, *more))

    async def _post(self, call: Call[R], url: str, payload: bytes, longest: int) -> Raw:
        try:
            return await self._connection.post(url, payload, longest)
        except Lost as error:
            # A kept connection that the server had just closed says nothing about the server.
            if not error.dropped or call.spared:
                lost = error.dropped or error.unreachable
                raise Again(f"{self.base}: {error}", lost=lost) from error
        call.spared = True
        return await self._post(call, url, payload, longest)

    def _learn(self, url: str, fault: faults.Fault, optional: Mapping[str, object]) -> bool:
        """Remember the field that a fault is about, for every later call; False when there is none.

        A number that is too large is lowered to what the server says it takes; all else is renamed or left out.
        """
        if faults.judge(fault) != "final":
            return False
        name, changes = faults.blamed_field(fault, optional.keys()), self._changes.setdefault(url, {})
        if name is None or RENAMES.get(name) in changes:
            return False
        if found := lowered(fault, name, optional):
            if found[0] not in changes:
                _log.warning("%s takes %s up to %d: %s", self.base, *found, fault.message)
            changes[found[0]] = found[1]
            return True
        if name not in changes:
            _log.warning("%s does not take %s: %s", self.base, name, fault.message)
        changes[name] = RENAMES.get(name)
        return True

    async def _give_up(self, error: Again, tries: int) -> NoReturn:
        if error.lost:
            try:
                await self._connection.get(f"{self.base}/models", _PROBE_SECONDS)
            except Lost as lost:
                if lost.unreachable or lost.dropped:
                    raise ServerGone(f"no server answers any more at {error}") from error
        raise ServerError(f"{error} (tries: {tries})", status=error.status, retries=tries - 1) from error


def _stamped(reply: R, seconds: float, retries: int, notes: tuple[str, ...]) -> R:
    if isinstance(reply, Pooled):
        return cast(R, reply._replace(seconds=seconds, retries=retries, wire=notes))
    return replace(reply, seconds=seconds, retries=retries, wire=notes)
