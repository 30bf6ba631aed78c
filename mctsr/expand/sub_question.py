"""Sub-questions: a step asks the model a smaller question, and then lets it answer that several times.

Knows how a question is asked, answered and put down, and how much the answers agree: the question is the first line
of a step, the agreement stands in its work as "confidence". What that is worth is for a judge.
"""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from mctsr.caller import Caller, all_of
from mctsr.errors import RecipeError
from mctsr.grading import extract_answer, normal_form
from mctsr.lm.base import Completion
from mctsr.parts import Draft, Fault, Path, Problem

from .drafts import together
from .thoughts import behind

OVERALL = "What is the answer to the whole problem?"
"""The question that ends a solution."""

AT_A_TIME = 2
"""Answers after which it is looked whether they agree."""

ENOUGH = 0.5
"""Share of the most frequent answer that is enough, unless another is as frequent."""

_CONFIDENCE = "confidence"
_LABEL = re.compile(
    r"\A[\s*_#>-]*(?:(?:(?:sub|next)?[- ]?question\s*)?\d*\s*[:.)](?!\d))?[\s*_]*", re.IGNORECASE
)


class _Answered(NamedTuple):
    """What the answers to one question come to: the first of the most frequent, its share, and all of them."""

    chosen: Completion
    answer: str | None
    share: float
    all: Sequence[Completion]


@dataclass(frozen=True, slots=True)
class SubQuestions:
    """Ask for the next smaller question, and answer it: together they are a step.

    Equal questions are asked once. Answers are drawn two at a time until half of them agree and no other answer is as
    frequent; the first reply with the most frequent answer goes into the step, its share into `work["confidence"]`,
    0 when no reply holds an answer. A solution is finished when the problem's own question was asked: by a phrase that
    the model is told, or in the words that the problem ends with. The last step allowed asks it without a call.
    Source: RAP, arXiv:2305.14992, section 4.2; when to stop drawing is from its code (maitrix-org/llm-reasoners).

    Attributes:
        answers: Most answers to a question.
        max_steps: Questions in a solution, the last one included.
        temperature: Of questions and answers; None leaves it to the model's settings.

    Raises:
        RecipeError: A number is out of range.
    """

    answers: int = 8
    max_steps: int = 5
    temperature: float | None = 0.8
    needs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.answers < 1 or self.max_steps < 1:
            raise RecipeError(
                f"answers is {self.answers} and max_steps is {self.max_steps}; both must be at least 1"
            )
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise RecipeError(f"temperature is {self.temperature}; it must be a number from 0 to 2, or None")

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Plant `n` empty solutions, without a call; no judge sees them."""
        return [Draft("", step=True, unjudged=True)] * n

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Ask `n` questions, and answer those that differ."""
        if len(path.steps) + 1 >= self.max_steps:
            asked: Sequence[Draft | Fault] = [Draft(OVERALL)]
        else:
            asked = await together(partial(self._question, path, i, llm) for i in range(n))
        # One of equal questions is answered, in the place of the first.
        texts = [draft.text if isinstance(draft, Draft) else None for draft in asked]
        kept = [i for i, text in enumerate(texts) if text is None or text not in texts[:i]]
        steps = iter(
            await together(
                partial(self._step, path, i, text, llm) for i in kept if (text := texts[i]) is not None
            )
        )
        return [asked[i] if texts[i] is None else next(steps) for i in kept]

    async def _question(self, path: Path, draft: int, llm: Caller) -> Draft:
        values = {"problem": path.problem.text, "steps": _so_far(path)}
        reply = await llm.say("sub_question", values, draft=draft, temperature=self.temperature)
        question = _question_in(behind(reply.text))
        return Draft(OVERALL if _is_overall(question, path.problem) else question)

    async def _step(self, path: Path, draft: int, question: str, llm: Caller) -> Draft:
        if not question:
            return Draft("", step=True, unscored="empty reply", done=True, why="empty reply")
        overall = question == OVERALL
        found = await self._answered(path, draft, question, path.problem.kind if overall else None, llm)
        said = behind(found.chosen.text).strip()
        return Draft(
            f"{question}\n{said}\n\n",
            found.answer if overall else None,
            {_CONFIDENCE: f"{found.share:.4g}"},
            truncated=found.chosen.finish == "length",
            unscored="" if said else "empty reply",
            done=overall or not said,
            why="finished" if said else "empty reply",
            step=True,
            tokens=sum(reply.usage.completion_tokens for reply in found.all),
        )

    async def _answered(
        self, path: Path, draft: int, question: str, kind: str | None, llm: Caller
    ) -> _Answered:
        values = {"problem": path.problem.text, "steps": _so_far(path), "question": question}

        async def one(sample: int) -> Completion:
            return await llm.say(
                "sub_question_answer", values, draft=draft, sample=sample, temperature=self.temperature
            )

        said = list[Completion]()
        while True:
            upto = min(len(said) + AT_A_TIME, self.answers)
            said += await all_of(partial(one, sample) for sample in range(len(said), upto))
            found = _majority(said, kind)
            if len(said) == self.answers or (found is not None and found.settled):
                break
        if found is None:
            return _Answered(said[-1], None, 0.0, said)
        return _Answered(said[found.first], found.answer, found.times / len(said), said)


class _Majority(NamedTuple):
    """The most frequent answer: of which reply it is first, how often it comes, and whether that is enough."""

    first: int
    answer: str
    times: int
    settled: bool


def _majority(said: Sequence[Completion], kind: str | None) -> _Majority | None:
    """Count the answers of the replies that were not cut off; None when there is none."""
    votes, first = Counter[Hashable](), dict[Hashable, tuple[int, str]]()
    for i, reply in enumerate(said):
        answer = None if reply.finish == "length" else extract_answer(behind(reply.text), kind)
        if answer is not None and (form := normal_form(answer)) is not None:
            votes[form] += 1
            first.setdefault(form, (i, answer))
    if not votes:
        return None
    ranked = votes.most_common(2)
    tied = len(ranked) > 1 and ranked[0][1] == ranked[1][1]
    form, times = ranked[0]
    return _Majority(*first[form], times, settled=times / len(said) >= ENOUGH and not tied)


def _so_far(path: Path) -> str:
    """Write down the questions and answers above."""
    lines = (f"Question {i}: {step.text.strip()}" for i, step in enumerate(path.steps, 1))
    return "\n".join(lines) or "(nothing)"


def _question_in(said: str) -> str:
    """Return the first line that asks something, else the last one; "" when there is none."""
    lines = [line for line in said.splitlines() if line.strip()] or [""]
    asks = next((line for line in lines if "?" in line), lines[-1])
    return _LABEL.sub("", asks).strip(" \t*_")


def _is_overall(question: str, problem: Problem) -> bool:
    """Say whether a question is the problem's own."""
    asked, whole = (" ".join(text.casefold().split()).rstrip(" .?!\"'") for text in (question, problem.text))
    return bool(asked) and (OVERALL.casefold().rstrip("?") in asked or whole.endswith(asked))
