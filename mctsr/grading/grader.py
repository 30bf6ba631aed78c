"""The grader: one verdict for a gold answer and an answer or a reply.

Knows in which order the layers are asked, and remembers what they said. The exact layer decides what it can; formulas
it leaves open go to workers that are started then and can be killed. A pair that nobody can decide is graded with
method "none", which reports count apart from wrong answers.
"""

import re
import threading
from dataclasses import dataclass, replace
from types import TracebackType
from typing import ClassVar, Self

from .compare import Comparer
from .cues import from_phrases
from .exact import Outcome, compare_short
from .extract import extract_answer
from .notation import clean
from .phrases import stated_value
from .policy import Policy
from .symbolic.asking import Asking
from .symbolic.pool import LIMIT, MEMORY, UNAVAILABLE, Pool, process_pool
from .typed import Gold

_MOST_REMEMBERED = 65_536
_LONGEST_REMEMBERED = 4_000
_LONGEST_SENTENCE = 200
_THOUGHT_TAGS = re.compile(r"</?(?:think|thinking|thought|reasoning)>|\\[/?THINK\\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict on one answer.

    Attributes:
        equal: whether the answer is the gold answer.
        method: how that was found: "exact" (the same text after cleaning, or parts that do not fit), "numeric",
            "choice", "symbolic" (a computer algebra system), "no-answer" (there was nothing to compare), or "none" (no
            layer could tell).
        reason: one line for a person who reads disputes; "timeout" when the time was up.
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

    The context owns the workers of the symbolic layer and a memory of the pairs seen, and lets go of both at the end.
    Outside a context the workers belong to the process and end with it.

    Attributes:
        policy: how disputed conventions are settled.
    """

    version: ClassVar[str] = "symbolic-1"

    def __init__(
        self,
        *,
        symbolic: bool = True,
        policy: Policy = Policy.STANDARD,
        limit: float = LIMIT,
        workers: int | None = None,
        memory: int = MEMORY,
    ) -> None:
        """Set up a grader; starts nothing.

        Args:
            symbolic: whether formulas that the exact layer leaves open are compared symbolically.
            policy: how disputed conventions are settled.
            limit: seconds a pair may take.
            workers: processes at most; None takes one for each core, four at most.
            memory: bytes of address space of each.
        """
        self.policy = policy
        self._symbolic = symbolic
        self._limit = limit
        self._workers = workers
        self._memory = memory
        self._pool: Pool | None = None
        self._lock = threading.Lock()
        self._entered = False
        self._failed = False
        self._seen: dict[tuple[str, str], Grade] = {}

    def __enter__(self) -> Self:
        self._entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered = False
        self._seen.clear()
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    @property
    def identity(self) -> str:
        """What grades are signed with: the version, and what is not the default."""
        exact = "" if self._symbolic else "exact only"
        policy = "" if self.policy is Policy.STANDARD else self.policy.value
        extra = ", ".join(filter(None, (exact, policy)))
        return f"{self.version} ({extra})" if extra else self.version

    @property
    def notice(self) -> str:
        """One line when the symbolic layer was needed and could not be started, else empty."""
        missing = "pairs that need it are ungradable; install math-verify and grade the run again"
        return f"{UNAVAILABLE}: {missing}" if self._failed else ""

    @property
    def worker_pids(self) -> list[int]:
        """Process ids of the workers that this grader's context has now."""
        return [] if self._pool is None else self._pool.pids

    def warm(self) -> None:
        """Start a worker in the background, so that the first formula finds it ready."""
        if self._symbolic:
            self._workers_now().warm()

    def grade(self, gold: Gold | str, answer: str | None) -> Grade:
        """Compare an answer with the gold answer (see `clean_gold` and `gold_of`). Never raises for any text."""
        if answer is None:
            return Grade(False, "no-answer", "there is no answer", None)
        pair = (str(gold), answer)
        known = self._seen.get(pair)
        if known is None:
            known = self._judge(gold, answer)
            self._remember(pair, known)
        return known

    def grade_reply(self, gold: Gold | str, reply: str, *, kind: str | None = None) -> Grade:
        """Extract the answer of a whole reply and compare it with the gold answer.

        Args:
            gold: the gold answer; it has no say in how the reply is read.
            reply: the model's text.
            kind: as in `extract_answer`.
        """
        answer = extract_answer(reply, kind)
        if answer is None and self.policy is Policy.LENIENT:
            answer = extract_answer(_THOUGHT_TAGS.sub("\n", reply), kind)
        grade = self.grade(gold, answer)
        if grade.method == "no-answer":
            return replace(grade, reason="the reply gives no answer")
        return grade

    def _judge(self, gold: Gold | str, answer: str) -> Grade:
        outcome = compare_short(gold, answer) if isinstance(gold, str) else None
        if outcome is None:
            typed = Gold.read(gold) if isinstance(gold, str) else gold
            ask = Asking(self._workers_now, self._limit, self.policy).ask if self._symbolic else None
            comparer = Comparer(self.policy, ask)
            outcome = comparer.compare(typed, answer)
            if not outcome.equal and (stated := _stated(answer)) is not None:
                second = comparer.compare(typed, stated)
                outcome = second if second.equal or outcome.method == "none" else outcome
        if outcome.method == "none" and not clean(answer):
            outcome = Outcome(False, "no-answer", "the answer is empty")
        self._failed |= outcome.reason == UNAVAILABLE
        return Grade(outcome.equal, outcome.method, outcome.reason, answer)

    def _workers_now(self) -> Pool:
        if not self._entered:
            return process_pool(self._limit, self._workers, self._memory)
        with self._lock:
            if self._pool is None:
                self._pool = Pool(limit=self._limit, workers=self._workers, memory=self._memory)
            return self._pool

    def _remember(self, pair: tuple[str, str], grade: Grade) -> None:
        if len(pair[0]) + len(pair[1]) > _LONGEST_REMEMBERED:
            return
        if len(self._seen) >= _MOST_REMEMBERED:
            self._seen.clear()
        self._seen[pair] = grade


def _stated(answer: str) -> str | None:
    """Read the value out of an answer that is a whole sentence, or return None for any other answer."""
    if " " not in answer or len(answer) > _LONGEST_SENTENCE or "\n" in answer.strip():
        return None
    return stated_value(answer) or from_phrases(answer, None)
