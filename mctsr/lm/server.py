"""One chat endpoint: asks until it is answered, or says in plain words why it is not.

Knows: when to try again and how long to wait, and what this server was found not to take.
Does not know: roles and settings (`roles`), field names and reply shapes (`dialects`), who waits (`gate`).
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from copy import copy
from dataclasses import dataclass, replace
from types import TracebackType
from typing import NoReturn, Self

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from mctsr.errors import ContextOverflow, Refused, ServerError, ServerGone, UsageError

from . import faults
from .base import Completion
from .connection import Connection, Lost, Raw
from .dialects import RENAMES, Kind, Logical, adapt, chat_body, encode, longest_reply, read
from .gate import Gate, Slot
from .identity import ServerInfo, identify
from .options import read_address

_log = logging.getLogger(__name__)

_PROBE_SECONDS = 5.0
_FIRST_DELAY = 0.5
_LONGEST_DELAY = 30.0
_UNLIMITED = 1 << 30

Slots = Callable[[], AbstractAsyncContextManager[Slot]]


class _Again(Exception):
    """An attempt failed in a way that the next one may not."""

    def __init__(self, why: str, *, status: int = 0, wished: float | None = None, lost: bool = False) -> None:
        super().__init__(why)
        self.status = status
        self.wished = wished
        self.lost = lost


@dataclass(slots=True)
class _Call:
    logical: Logical
    slots: Slots
    sent: Callable[[], None] | None
    tries: int = 0
    spared: bool = False


class Server:
    """A model behind an OpenAI-like chat endpoint; use it inside `async with`.

    Attributes:
        address: Where it lives.
        info: What it told about itself; None before `check`.
    """

    def __init__(
        self,
        base_url: str,
        model: str | None = None,
        *,
        api_key: str | None = None,
        timeout: float | None = 600.0,
        max_retries: int = 5,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Describe a server; nothing is sent before `check` or `complete`.

        Args:
            base_url: Its address in any usual shape.
            model: Name of the model; None for the first that a local server lists.
            api_key: Key; needed unless the host is local.
            timeout: Seconds for one attempt, > 0; None for no limit.
            max_retries: Further attempts after the first, >= 0.
            sleep: Waits between attempts.

        Raises:
            UsageError: the address, the key or a number is unusable.
        """
        if max_retries < 0 or (timeout is not None and timeout <= 0):
            raise UsageError(f"retries {max_retries} and timeout {timeout}: allowed are >= 0 and > 0")
        self.address = read_address(base_url)
        self.info: ServerInfo | None = None
        self._named = model
        self._connection = Connection(self.address, api_key, timeout)
        self._max_retries = max_retries
        self._sleep = sleep
        self._changes: dict[str, str | None] = {}

    def __repr__(self) -> str:
        return f"Server({self.address.base!r}, model={self._named!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def beside(self, model: str | None) -> "Server":
        """Describe another model of this server, reached over the same connections."""
        other = copy(self)
        other.info, other._named, other._changes = None, model, {}
        return other

    async def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        await self._connection.close()

    @property
    def model(self) -> str:
        """Name of the model, as `check` settled it.

        Raises:
            UsageError: none was named, and `check` was not called.
        """
        name = self.info.model if self.info else self._named
        if name is None:
            raise UsageError(f"no model is known at {self.address.base}; name one or check the server first")
        return name

    @property
    def kind(self) -> Kind:
        """The server's dialect, "other" before `check`."""
        return self.info.kind if self.info else "other"

    async def check(self, wait: float = 0.0) -> ServerInfo:
        """Find out who answers and settle the model.

        Waits up to `wait` seconds for a server to come up, and raises what `identify` raises.
        """
        self.info = await identify(self._connection, self.address, self._named, wait)
        return self.info

    async def complete(
        self, logical: Logical, *, slots: Slots | None = None, sent: Callable[[], None] | None = None
    ) -> Completion:
        """Return one completion. Each attempt takes a slot of its own; waiting between them takes none.

        `sent` is called once, when the first attempt has its slot and the request is about to leave.

        Raises:
            ContextOverflow: the prompt does not fit.
            Refused: the server says no to every call alike.
            ServerGone: it cannot be reached any more.
            ServerError: this call failed for good; the message holds the server's own words.
        """
        call = _Call(logical, slots or Gate(_UNLIMITED).slot, sent)
        tries = AsyncRetrying(
            stop=stop_after_attempt(self._max_retries + 1),
            retry=retry_if_exception_type(_Again),
            wait=self._delay,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return await tries(self._attempt, call)
        except _Again as error:
            await self._give_up(error, call.tries)
        except ServerError as error:
            error.retries = call.tries - 1
            raise

    async def _attempt(self, call: _Call) -> Completion:
        call.tries += 1
        while True:
            own = {name: new for name, new in self._changes.items() if name not in call.logical["extra_body"]}
            body, notes = adapt(chat_body(call.logical, self.kind), own)
            payload, more = encode(body)
            async with call.slots() as slot:
                report, call.sent = call.sent, None
                if report:
                    report()
                began = time.perf_counter()
                raw = await self._post(call, payload, longest_reply(body))
                seconds = time.perf_counter() - began
                result = read(raw.status, raw.body, self._connection.hide)
                if isinstance(result, Completion):
                    slot.succeeded()
                    remarks = (*notes, *more, *result.wire)
                    return replace(result, seconds=seconds, retries=call.tries - 1, wire=remarks)
                if faults.judge(result) == "overload":
                    slot.overloaded()
            if not self._learn(result, body.keys() - call.logical["extra_body"].keys()):
                self._fail(result, raw)

    async def _post(self, call: _Call, payload: bytes, longest: int) -> Raw:
        url = f"{self.address.base}/chat/completions"
        try:
            return await self._connection.post(url, payload, longest)
        except Lost as error:
            # A kept connection that the server had just closed says nothing about the server.
            if not error.dropped or call.spared:
                lost = error.dropped or error.unreachable
                raise _Again(f"{self.address.base}: {error}", lost=lost) from error
        call.spared = True
        return await self._post(call, payload, longest)

    def _learn(self, fault: faults.Fault, optional: set[str]) -> bool:
        """Remember the field that a fault is about, for every later call; False when there is none."""
        if faults.judge(fault) != "final":
            return False
        name = faults.blamed_field(fault, optional)
        if name is None or RENAMES.get(name) in self._changes:
            return False
        if name not in self._changes:
            _log.warning("%s does not take %s: %s", self.address.base, name, fault.message)
        self._changes[name] = RENAMES.get(name)
        return True

    def _fail(self, fault: faults.Fault, raw: Raw) -> NoReturn:
        words = f"{self.address.base} answered {fault.status}: {fault.message}"
        verdict = faults.judge(fault)
        if verdict in {"again", "overload"}:
            raise _Again(words, status=fault.status, wished=faults.wait_wished(raw.headers))
        if verdict == "overflow":
            raise ContextOverflow(words, status=fault.status)
        if verdict == "refused":
            raise Refused(f"{words}; check key, model and --base-url", status=fault.status)
        raise ServerError(words, status=fault.status)

    def _delay(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        step, delay = state.attempt_number, getattr(error, "wished", None)
        if delay is None:
            # The call's own seed spreads the calls without a generator.
            spread = (state.args[0].logical["seed"] * 2654435761 * step) % 1000 / 1000
            delay = min(_FIRST_DELAY * 2.0 ** (step - 1) * (0.75 + spread / 2), _LONGEST_DELAY)
        _log.info("try %d failed, the next in %.1f s: %s", step, delay, error)
        return float(delay)

    async def _give_up(self, error: _Again, tries: int) -> NoReturn:
        if error.lost:
            try:
                await self._connection.get(f"{self.address.base}/models", _PROBE_SECONDS)
            except Lost as lost:
                if lost.unreachable or lost.dropped:
                    raise ServerGone(f"no server answers any more at {error}") from error
        raise ServerError(f"{error} (tries: {tries})", status=error.status, retries=tries - 1) from error
