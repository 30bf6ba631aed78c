"""How many sequences are in flight, and who is next.

One gate serves all roles of a process. It narrows when a server says that it is overloaded and widens again
with successes (additive increase, multiplicative decrease: Chiu and Jain 1989).
Knows nothing of HTTP or of what a call is for.
"""

import asyncio
import heapq
from itertools import count
from types import TracebackType

from mctsr.errors import UsageError

Priority = tuple[int, ...]


class Gate:
    """A limit on calls in flight with a queue in which lower priorities go first, equal ones in order.

    Attributes:
        limit: Calls allowed at once now, between 1 and the configured limit.
        in_flight: Calls that hold a slot.
    """

    def __init__(self, limit: int) -> None:
        """Open a gate for at most `limit` >= 1 calls.

        Raises:
            UsageError: the limit is below 1.
        """
        if limit < 1:
            raise UsageError(f"the limit on calls in flight is {limit}; it must be at least 1")
        self.limit = limit
        self.in_flight = 0
        self._configured = limit
        self._waiting: list[tuple[Priority, int, asyncio.Future[None]]] = []
        self._order = count()
        self._successes = 0
        self._round = 0

    def slot(self, priority: Priority = ()) -> "Slot":
        """Return a slot that is taken by `async with` and given back at its end."""
        return Slot(self, priority)

    async def _enter(self, priority: Priority) -> None:
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (priority, next(self._order), turn))
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise

    def _leave(self) -> None:
        self.in_flight -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self.in_flight < self.limit:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                self.in_flight += 1
                turn.set_result(None)

    def _widen(self) -> None:
        self._successes += 1
        if self.limit < self._configured and self._successes >= self.limit:
            self._successes = 0
            self.limit += 1
            self._admit()

    def _narrow(self, seen: int) -> int:
        # A burst that was sent before the last halving tells of the same overload: it halves once.
        if seen == self._round:
            self._round += 1
            self._successes = 0
            self.limit = max(1, self.limit // 2)
        return self._round


class Slot:
    """The right to have one sequence in flight."""

    __slots__ = ("_gate", "_priority", "_round")

    def __init__(self, gate: Gate, priority: Priority) -> None:
        self._gate = gate
        self._priority = priority
        self._round = 0

    async def __aenter__(self) -> "Slot":
        await self._gate._enter(self._priority)
        self._round = self._gate._round
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gate._leave()

    def succeeded(self) -> None:
        """Report a reply."""
        self._gate._widen()

    def overloaded(self) -> None:
        """Report that the server asked for fewer calls."""
        self._round = self._gate._narrow(self._round)
