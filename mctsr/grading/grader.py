"""The grader: one verdict for a gold answer and an answer or a reply.

Knows in which order the layers are asked, and remembers what they said. Today there is one layer, the exact
one; a pair it cannot decide is graded with method "none", which reports count apart from wrong answers.
"""

from dataclasses import dataclass, replace
from types import TracebackType
from typing import ClassVar, Self

from .exact import compare
from .extract import extract_answer
from .notation import clean

_MOST_REMEMBERED = 65_536
_LONGEST_REMEMBERED = 4_000


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict on one answer.

    Attributes:
        equal: whether the answer is the gold answer.
        method: how that was found: "exact" (the same text after cleaning), "numeric", "choice", "no-answer"
            (there was nothing to compare), or "none" (no layer could tell).
        reason: one line for a person who reads disputes.
        extracted: the answer that was compared, None when there was none.
    """

    equal: bool
    method: str
    reason: str
    extracted: str | None

    @property
    def ungradable(self) -> bool:
        """Whether no layer could say equal or different; `equal` is False then."""
        return self.method == "none"


class Grader:
    """Grades answers; use it as a context manager, from any thread.

    The context owns what the layers hold (a memory of the pairs seen) and lets go of it at the end.
    """

    version: ClassVar[str] = "exact-1"

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Grade] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._seen.clear()

    def grade(self, gold: str, answer: str | None) -> Grade:
        """Compare an answer with the gold answer (see `clean_gold`). Never raises for any text."""
        if answer is None:
            return Grade(False, "no-answer", "there is no answer", None)
        pair = (gold, answer)
        known = self._seen.get(pair)
        if known is None:
            known = _grade(gold, answer)
            self._remember(pair, known)
        return known

    def grade_reply(self, gold: str, reply: str, *, kind: str | None = None) -> Grade:
        """Extract the answer of a whole reply and compare it with the gold answer.

        Args:
            gold: the gold answer; it has no say in how the reply is read.
            reply: the model's text.
            kind: as in `extract_answer`.
        """
        grade = self.grade(gold, extract_answer(reply, kind))
        if grade.method == "no-answer":
            return replace(grade, reason="the reply gives no answer")
        return grade

    def _remember(self, pair: tuple[str, str], grade: Grade) -> None:
        if len(pair[0]) + len(pair[1]) > _LONGEST_REMEMBERED:
            return
        if len(self._seen) >= _MOST_REMEMBERED:
            self._seen.clear()
        self._seen[pair] = grade


def _grade(gold: str, answer: str) -> Grade:
    outcome = compare(gold, answer)
    if outcome is not None:
        return Grade(outcome.equal, outcome.method, outcome.reason, answer)
    if not clean(answer):
        return Grade(False, "no-answer", "the answer is empty", answer)
    return Grade(False, "none", "differently written, and no number, option or word to compare", answer)
