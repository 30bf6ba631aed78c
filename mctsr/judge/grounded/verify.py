"""Checking what a step computes.

Knows statements and what their being right or wrong is worth. A statement goes to the workers of the symbolic layer,
which can be killed and have limits of time and memory; nothing that a model wrote is evaluated in this process.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

from mctsr.caller import Caller
from mctsr.errors import RecipeError, UsageError
from mctsr.grading.notation import clean
from mctsr.grading.policy import Policy
from mctsr.grading.symbolic.asking import Asking
from mctsr.grading.symbolic.pool import LIMIT, MEMORY, UNAVAILABLE, process_pool
from mctsr.judge.steps import HIGH, LOW
from mctsr.parts import Path, Unscored, Verdict
from mctsr.tree import Sample

from .plain import plain_lines
from .statements import Statement, statements

_DECIMAL = re.compile(r"-?\d*\.(\d+)")


class Finding(NamedTuple):
    """What became of one statement."""

    statement: Statement
    verdict: Literal["correct", "wrong", "not checkable"]

    def __str__(self) -> str:
        return f"{self.verdict}: {self.statement}"


@dataclass(frozen=True, slots=True)
class ToolVerify:
    """Check the arithmetic and algebra that the last step states.

    A step is wrong (0) when one of its statements is, right (1) when one is confirmed and none is wrong, and otherwise
    not checkable. Numbers are computed, and decimals may be rounded or cut. Of formulas with letters only
    agreement counts: identities, and equations that differ from the one before by a factor; what does not agree may
    be an equation to solve, so it is not checkable, never wrong. Right arithmetic does not make a step right.

    Source: GroundedPRM (arXiv:2510.14942), which asks Wolfram Alpha and lets a model compare; here a computer
    algebra system decides, and no model is asked. A statement that takes too long is not checkable, so a verdict may
    depend on the machine there; guards refuse what is known to.

    Attributes:
        neutral: Value of a step that is not checkable, in [0, 1]; None leaves it unscored.
        most: Statements checked a step, the first ones.
        seconds: For all of them together.
    """

    neutral: float | None = 0.5
    most: int = 20
    seconds: float = LIMIT
    needs: ClassVar[frozenset[str]] = frozenset()
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    def __post_init__(self) -> None:
        if self.neutral is not None and not LOW <= self.neutral <= HIGH:
            raise RecipeError(f"neutral={self.neutral}; it is from 0 to 1, or None")
        if self.most < 1 or not self.seconds > 0:
            raise RecipeError(f"most={self.most}, seconds={self.seconds}; both are above 0")

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Check the path's last step; asks no model.

        Raises:
            UsageError: The workers cannot be started.
        """
        if not path.last.text.strip():
            return Unscored("empty step")
        found = await asyncio.to_thread(self.check, path.last.text)
        value = self.neutral
        if any(finding.verdict == "wrong" for finding in found):
            value = LOW
        elif any(finding.verdict == "correct" for finding in found):
            value = HIGH
        if value is None:
            return Unscored("nothing in the step can be checked")
        return Verdict((Sample(value, value, "\n".join(map(str, found)) or "not checkable"),))

    def check(self, text: str) -> list[Finding]:
        """Find and check the statements of a text; blocks while the workers compute.

        Raises:
            UsageError: The workers cannot be started.
        """
        found = statements(plain_lines(text))[: self.most]
        if not found:
            return []
        asking = Asking(lambda: process_pool(LIMIT, None, MEMORY), self.seconds, Policy.STANDARD)
        before = {later: earlier for earlier, later in pairwise(s for s in found if s.letters)}
        return [_checked(statement, before.get(statement), asking) for statement in found]


def _checked(statement: Statement, before: Statement | None, asking: Asking) -> Finding:
    """Compute both sides; an equation that they do not settle is compared with the one before it."""
    equal = _equal(statement.left, statement.right, _tolerance(statement), asking)
    if equal:
        return Finding(statement, "correct")
    if equal is False and not statement.letters and not statement.rough:
        return Finding(statement, "wrong")
    if before and not statement.rough and _equal(str(before), str(statement), "", asking):
        return Finding(statement, "correct")
    return Finding(statement, "not checkable")


def _equal(left: str, right: str, tolerance: str, asking: Asking) -> bool | None:
    outcome = asking.ask(clean(left), clean(right), tolerance)
    if outcome.reason == UNAVAILABLE:
        raise UsageError(
            f"{UNAVAILABLE}, and checking steps needs it; install math-verify, or take another judge"
        )
    return None if outcome.method == "none" else outcome.equal


def _tolerance(statement: Statement) -> str:
    """Return how far apart a computed value and its decimal may lie: rounding, and cutting from two places on."""
    places = _places((statement.left, statement.right))
    if statement.rough:
        return f"1/{10**places}"
    return "" if not places else "1/20" if places == 1 else f"99/{10 ** (places + 2)}"


def _places(sides: Sequence[str]) -> int:
    """Return the decimals of a side that is a lone decimal, 0 without one."""
    return max((len(match[1]) for side in sides if (match := _DECIMAL.fullmatch(side))), default=0)
