"""Asking: what is put to the workers for one pair of answers, and what their silence means.

Knows the guards that stand before a computer algebra system, and that the parts of one pair share its time.
"""

from collections.abc import Callable

from mctsr.grading.exact import Outcome
from mctsr.grading.policy import Policy

from .guards import refusal
from .pool import TIMEOUT, Pool
from .spelling import has_words


class Asking:
    """Takes the questions of one pair of answers to a pool."""

    def __init__(self, pool: Callable[[], Pool], limit: float, policy: Policy) -> None:
        self._pool = pool
        self._left = limit
        self._policy = policy

    def ask(self, gold: str, answer: str, tolerance: str = "") -> Outcome:
        """Compare two cleaned parts; method "none" when they are refused, unreadable or out of time."""
        for which, text in (("gold answer", gold), ("answer", answer)):
            if reason := refusal(text):
                return Outcome(False, "none", f"the {which} was not computed with: {reason}")
            if has_words(text):
                return Outcome(False, "none", f"the {which} is in words")
        if self._left <= 0:
            return Outcome(False, "none", TIMEOUT)
        reply = self._pool().ask((gold, answer, tolerance, self._policy.value), self._left)
        self._left -= reply.seconds
        return Outcome(bool(reply.equal), "none" if reply.equal is None else "symbolic", reply.reason)
