"""One call and its tries: what it is to send, and what a failed try means.

Knows: which failures are worth another try, and how long to wait for it. Does not know: how anything is sent.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic

from tenacity import RetryCallState

from mctsr.errors import ContextOverflow, Refused, ServerError
from mctsr.lm import faults
from mctsr.lm.connection import Raw
from mctsr.lm.dialects import R
from mctsr.lm.gate import Slot

from .asked import Prepare

_log = logging.getLogger(__name__)

_FIRST_DELAY = 0.5
_LONGEST_DELAY = 30.0

Slots = Callable[[], AbstractAsyncContextManager[Slot]]


class Again(Exception):
    """An attempt failed in a way that the next one may not."""

    def __init__(self, why: str, *, status: int = 0, wished: float | None = None, lost: bool = False) -> None:
        super().__init__(why)
        self.status = status
        self.wished = wished
        self.lost = lost


@dataclass(slots=True)
class Call(Generic[R]):
    """One call and its tries.

    Attributes:
        prepare: Makes the request, once a try, when the try has its slot.
        slots: Gives a slot to each try.
        seed: Spreads the waits of calls that failed together.
        sent: Called once, when the first try has its slot.
        most: Tries at most; None for the sender's own number.
    """

    prepare: Prepare[R]
    slots: Slots
    seed: int = 0
    sent: Callable[[], None] | None = None
    most: int | None = None
    tries: int = 0
    spared: bool = False


def failure(fault: faults.Fault, raw: Raw, base: str, advice: str, *, hopeless: bool = False) -> Exception:
    """Return what a try raises that ended in a fault.

    Args:
        fault: What the server said.
        raw: Its whole reply.
        base: Its address.
        advice: What to do when every call alike is refused.
        hopeless: Whether it is so, whatever the fault's status says.
    """
    # A fault found inside a good reply bears a status that decides about tries, and was never sent.
    inside = raw.status < 300 and fault.status != raw.status
    sent = f"{raw.status} with something that is no completion" if inside else f"{fault.status}"
    words = f"{base} answered {sent}: {fault.message}"
    verdict = faults.judge(fault)
    if verdict in {"again", "overload"}:
        return Again(words, status=fault.status, wished=faults.wait_wished(raw.headers))
    if verdict == "overflow":
        return ContextOverflow(words, status=fault.status)
    if verdict == "refused" or hopeless:
        return Refused(f"{words}; {advice}", status=fault.status)
    return ServerError(words, status=fault.status)


def delay(state: RetryCallState) -> float:
    """Say how many seconds to wait for the next try of a `Call`, the only argument of each try."""
    error = state.outcome.exception() if state.outcome else None
    step, seconds = state.attempt_number, getattr(error, "wished", None)
    if seconds is None:
        # The call's own seed spreads the calls without a generator.
        spread = (state.args[0].seed * 2654435761 * step) % 1000 / 1000
        seconds = min(_FIRST_DELAY * 2.0 ** (step - 1) * (0.75 + spread / 2), _LONGEST_DELAY)
    _log.info("try %d failed, the next in %.1f s: %s", step, seconds, error)
    return float(seconds)
