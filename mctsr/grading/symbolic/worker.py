"""The worker: one process that answers one question after another on two pipes.

Knows its limits and the protocol: a line of JSON in, a line of JSON out. It ends when its input ends, and the kernel
ends it when a question takes too long and nobody else does.
"""

import json
import logging
import os
import signal
import sys
from typing import TextIO

READY = "ready"
MEMORY = "memory"
_MOST_DIGITS = 20_000
_DEEPEST = 3_000
_GRACE = 3


def serve(memory: int, limit: float) -> None:
    """Answer questions from standard input until it ends.

    Args:
        memory: address space in bytes, 0 for no limit.
        limit: seconds after which the parent kills this process; the kernel does a little later.
    """
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _bound(memory)
    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(_DEEPEST)
    sys.set_int_max_str_digits(_MOST_DIGITS)
    from mctsr.grading.policy import Policy

    from .decide import decide

    decide(r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}", "", Policy.STANDARD)  # fills the parser's caches
    _say(output, [READY])
    for line in sys.stdin.buffer:
        gold, answer, tolerance, policy = json.loads(line)
        _alarm(limit + _GRACE)
        try:
            equal, reason = decide(gold, answer, tolerance, Policy(policy))
        except (MemoryError, RecursionError):
            equal, reason = None, MEMORY
        except Exception as error:  # a worker that dies costs more than a pair that is open
            equal, reason = None, f"the symbolic layer failed with {type(error).__name__}"
        _alarm(0)
        _say(output, [equal, reason])


def _say(output: TextIO, message: object) -> None:
    output.write(json.dumps(message) + "\n")
    output.flush()


def _bound(memory: int) -> None:
    if memory and sys.platform != "win32":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _alarm(seconds: float) -> None:
    """Ask the kernel to end this process: Python code cannot while one big multiplication runs."""
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
