"""The pool: a few workers, one question each, replaced when they are killed or worn.

Knows how many there are, when one is started, and what a question that nobody could answer is called. Starts nothing
until it is asked or warmed, and leaves no process behind.
"""

import os
import threading
import weakref
from dataclasses import dataclass, field
from functools import cache

from .process import Process, Reply, WorkerGone

LIMIT = 5.0
"""Seconds a pair may take, the start of a worker left out."""

MEMORY = 1536 * 2**20
"""Bytes of address space a worker may take; loading takes a tenth of it."""

TIMEOUT = "timeout"
UNAVAILABLE = "the symbolic layer is not available"
_RECYCLED_AFTER = 2_000
_MOST_WORKERS = 4
_MOST_FAILED_STARTS = 2


@dataclass(slots=True)
class _State:
    """What the pool's finalizer needs to know."""

    idle: list[Process] = field(default_factory=list)
    all: set[Process] = field(default_factory=set)
    owner: int = field(default_factory=os.getpid)
    closed: bool = False


class Pool:
    """Workers that compare formulas; use it from any thread."""

    def __init__(self, *, limit: float = LIMIT, workers: int | None = None, memory: int = MEMORY) -> None:
        self._limit = limit
        self._memory = memory
        self._size = workers or max(1, min(_MOST_WORKERS, os.cpu_count() or 1))
        self._slots = threading.BoundedSemaphore(self._size)
        self._lock = threading.Lock()
        self._state = _State()
        self._failed_starts = 0
        self._finalizer = weakref.finalize(self, _end, self._state)

    @property
    def available(self) -> bool:
        """Whether workers can be started, as far as is known."""
        return self._failed_starts < _MOST_FAILED_STARTS

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers there are now."""
        with self._lock:
            return [process.pid for process in self._state.all]

    def warm(self) -> None:
        """Start one worker in the background if there is none; returns at once."""
        self._after_fork()
        with self._lock:
            if not self._state.all and self.available and not self._state.closed:
                self._add_spare()

    def ask(self, question: tuple[str, ...], limit: float | None = None) -> Reply:
        """Ask a worker; waits for a free one, then at most `limit` seconds (default: the pool's)."""
        limit = self._limit if limit is None else min(limit, self._limit)
        if limit <= 0:
            return Reply(None, TIMEOUT)
        self._after_fork()
        with self._slots:
            try:
                return self._ask_once(question, limit)
            except WorkerGone as gone:
                if gone.timed_out:
                    return Reply(None, TIMEOUT, limit)
            try:
                return self._ask_once(question, limit)
            except WorkerGone as gone:
                return Reply(None, TIMEOUT if gone.timed_out else self._gone(), limit)

    def close(self) -> None:
        """End all workers; questions that are being asked end as unanswered."""
        self._finalizer()

    def _gone(self) -> str:
        return "the worker ended before it answered" if self.available else UNAVAILABLE

    def _ask_once(self, question: tuple[str, ...], limit: float) -> Reply:
        process = self._take()
        try:
            reply = process.ask(question, limit)
        except BaseException:
            self._drop(process, replace=True)
            raise
        if process.asked >= _RECYCLED_AFTER:
            self._drop(process, replace=True)
        else:
            self._give_back(process)
        return reply

    def _take(self) -> Process:
        """Take an idle worker or start one, and wait until it is ready.

        Raises:
            WorkerGone: None can be started.
        """
        with self._lock:
            if not self.available or self._state.closed:
                raise WorkerGone(timed_out=False)
            if not self._state.idle:
                self._add_spare()
            process = self._state.idle.pop() if self._state.idle else None
        if process is None:
            raise WorkerGone(timed_out=False)
        try:
            process.wait_ready()
        except BaseException:
            self._failed_starts += 1
            self._drop(process, replace=False)
            raise
        self._failed_starts = 0
        return process

    def _add_spare(self) -> None:
        """Start a worker, its import in the background; the caller holds the lock."""
        try:
            process = Process(self._memory, self._limit)
        except (OSError, ValueError):
            self._failed_starts += 1
            return
        self._state.all.add(process)
        self._state.idle.append(process)

    def _give_back(self, process: Process) -> None:
        with self._lock:
            if not self._state.closed and process in self._state.all:
                self._state.idle.append(process)
                return
        process.kill()

    def _drop(self, process: Process, *, replace: bool) -> None:
        process.kill()
        with self._lock:
            self._state.all.discard(process)
            if replace and not self._state.closed and not self._state.idle:
                self._add_spare()

    def _after_fork(self) -> None:
        """Leave the workers of a parent process alone: two askers on one pipe would read each other's answers."""
        if self._state.owner != os.getpid():
            self._slots, self._lock = threading.BoundedSemaphore(self._size), threading.Lock()
            self._state = _State()
            self._finalizer.detach()
            self._finalizer = weakref.finalize(self, _end, self._state)


@cache
def process_pool(limit: float, workers: int | None, memory: int) -> Pool:
    """Return the pool that graders outside a context share; it ends with this process."""
    return Pool(limit=limit, workers=workers, memory=memory)


def _end(state: _State) -> None:
    state.closed = True
    if state.owner != os.getpid():
        return
    while state.all:
        state.all.pop().kill()
    state.idle.clear()
