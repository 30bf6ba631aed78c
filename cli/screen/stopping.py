"""How a run that is shown is stopped from outside: by Ctrl-C or SIGTERM.

Knows: what the first signal does, and the next one. Does not know: what is being stopped.
"""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from .live import Watch

SIGNALLED = 128
"""An exit code is this and the number of the signal."""


@contextmanager
def interruptible(watch: Watch, signals: list[int]) -> Iterator[None]:
    """Let the first Ctrl-C or SIGTERM cancel the current task, and a Ctrl-C after that end the process at once.

    Another SIGTERM changes nothing, also afterwards: `timeout` sends one to the process and one to its group.

    Args:
        watch: Says that the run is stopping.
        signals: Receives the number of each signal that came.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def stop(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        if len(signals) == 1:
            loop.call_soon_threadsafe(task.cancel)
            more = "press Ctrl-C again" if number == signal.SIGINT else "SIGTERM came; press Ctrl-C"
            loop.call_soon_threadsafe(watch.say, f"stopping; {more} to end at once")
        elif number == signal.SIGINT:
            watch.abandon()
            os._exit(SIGNALLED + number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in heard:
            ended = signals and number == signal.SIGTERM
            signal.signal(number, signal.SIG_IGN if ended else before[number])
