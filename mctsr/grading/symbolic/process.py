"""One worker process as its parent sees it: started, asked, killed.

Knows pipes and time limits, and starts the worker as a program of its own: nothing of the parent's main module, threads
or signal handlers is needed or touched. Works from any thread.
"""

import contextlib
import json
import subprocess
import sys
import threading
import time
from typing import NamedTuple, Self

from .worker import READY

_START_LIMIT = 90.0
_PROGRAM = (
    "import json, sys; path, memory, limit = json.loads(sys.argv[1]); sys.path[:] = path;"
    "from mctsr.grading.symbolic.worker import serve; serve(memory, limit)"
)


class Reply(NamedTuple):
    """What came back: True, False, or None with a reason; and the seconds it took."""

    equal: bool | None
    reason: str
    seconds: float = 0.0


class WorkerGone(Exception):
    """The process ended, or was ended, before it answered.

    Attributes:
        timed_out: whether its time was up.
    """

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__("timeout" if timed_out else "the worker ended")
        self.timed_out = timed_out


class Process:
    """A worker; its import goes on in the background until the first question waits for it."""

    def __init__(self, memory: int, limit: float) -> None:
        arguments = json.dumps([[entry for entry in sys.path if entry], memory, limit])
        # -I: no variable, working folder or user site may change what the worker is
        self._popen = subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM, arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._ready = False
        self.asked = 0

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    def wait_ready(self) -> Self:
        """Wait until the worker has loaded what it needs.

        Raises:
            WorkerGone: It ended, or took more than a minute and a half.
        """
        if not self._ready:
            if self._line(_START_LIMIT) != [READY]:
                raise WorkerGone(timed_out=False)
            self._ready = True
        return self

    def ask(self, question: tuple[str, ...], limit: float) -> Reply:
        """Ask one question.

        Raises:
            WorkerGone: It gave no answer within `limit` seconds and was killed, or ended by itself.
        """
        self.asked += 1
        start = time.monotonic()
        stdin = self._popen.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(question).encode() + b"\n")
            stdin.flush()
        except (OSError, ValueError):
            raise WorkerGone(timed_out=False) from None
        said = self._line(limit)
        equal = said[0] if isinstance(said[0], bool) else None
        return Reply(equal, str(said[1]), time.monotonic() - start)

    def kill(self) -> None:
        """End the process and let go of its pipes; does nothing the second time."""
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with contextlib.suppress(OSError):  # a broken pipe has nothing left to flush to
                if pipe is not None:
                    pipe.close()

    def _line(self, limit: float) -> list[object]:
        stdout = self._popen.stdout
        assert stdout is not None
        fired = threading.Event()
        timer = threading.Timer(limit, self._expire, (fired,))
        timer.daemon = True
        timer.start()
        try:
            line = stdout.readline()
        finally:
            timer.cancel()
        if fired.is_set() or not line:
            raise WorkerGone(timed_out=fired.is_set())
        try:
            said: list[object] = json.loads(line)
        except ValueError:  # it died in the middle of a line
            raise WorkerGone(timed_out=False) from None
        return said

    def _expire(self, fired: threading.Event) -> None:
        fired.set()
        self._popen.kill()
