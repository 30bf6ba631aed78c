"""Any chat model as the judge of a step.

Three ways to read its opinion, best first: the probability of one word, a number in JSON that the server enforces, a
number found in free text.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

from mctsr.caller import Caller, all_of
from mctsr.errors import PromptError, RecipeError, ServerError
from mctsr.lm.base import Message, Request
from mctsr.parts import Path, Unscored, Verdict
from mctsr.tree import Sample

from .aggregate import Aggregate, last
from .labels import MOST_ALTERNATIVES, Labels
from .score import read_score
from .steps import HIGH, LOW, Step, gathered, sample_of, steps_of

YES_OR_NO = Labels("Yes", "No")
TOP = 10.0
_LABELLED = frozenset({"logprobs"})


class _Opinion(NamedTuple):
    score: float | Unscored
    text: str


@dataclass(frozen=True, slots=True)
class LlmJudge:
    """Ask a chat model whether the last step is right.

    The model is to say Yes or No first, and the score is the share of Yes. Where log-probabilities are not offered,
    it is asked for a score from 0 to 10 at once, a tenth of which counts. Where the model wants to say something else
    (one that thinks first does), it is asked so afterwards: such an opinion costs one token more, unless `labels` is
    off. What cannot be read is no score.

    It is asked in the conversation in which the steps were written, as if it had written them: the problem as the
    policy was asked it, the solution so far without its thoughts, and then the question. A server that has kept what it
    read and wrote then reads little more than the question. The steps of another prompt than `prompt` are judged as
    well, but nothing is shared.

    Attributes:
        aggregate: Makes one value of the steps' scores; an earlier step counts as it was judged, and not at all if
            it was not.
        samples: Opinions a visit. The share of Yes leaves little to chance; more than one are for scores.
        attempts: Tries at one readable opinion, the label's included.
        labels: Whether the probability of a word is tried first, where log-probabilities are offered.
        temperature: Of scores; None leaves it to the judge's settings.
        prompt: The prompt that the steps were written under; it takes the problem alone. "" for "step", and for
            "answer" where a whole answer is judged.
        label_prompt: Asks for Yes or No. Also the part in the place. One that takes the problem, and the numbered
            steps as "answer", quotes them, and is a conversation of its own.
        score_prompt: Asks for a score from 0 to 10, likewise.
    """

    aggregate: Aggregate = last
    samples: int = 1
    attempts: int = 3
    labels: bool = True
    temperature: float | None = None
    prompt: str = ""
    label_prompt: str = "judge_label"
    score_prompt: str = "judge_score"
    needs: ClassVar[frozenset[str]] = frozenset()
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    @property
    def wishes(self) -> frozenset[str]:
        """What it makes use of where the judge's model offers it."""
        return _LABELLED if self.labels else frozenset()

    def __post_init__(self) -> None:
        if self.samples < 1 or self.attempts < 1:
            raise RecipeError(f"samples={self.samples}, attempts={self.attempts}; both are at least 1")

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Judge the path's last step; a sample that is lost takes no other along."""
        if not path.last.text.strip():
            return Unscored("empty step")
        steps = steps_of(path)
        before = [score for step in steps[:-1] if (score := step.score) is not None]
        found = await all_of(partial(self._sample, path, before, draft, i, llm) for i in range(self.samples))
        return gathered(found)

    def _asked(self, question: str, path: Path, llm: Caller, temperature: float | None) -> Request:
        """Ask behind the steps in their own conversation, or quote them where the question takes them."""
        problem = {"problem": path.problem.text}
        if llm.inputs(question):
            values = {**problem, "answer": marked(steps_of(path))}
            return llm.ask(question, values, role="judge", temperature=temperature)
        wrote = llm.ask(self.prompt or ("step" if path.last.step else "answer"), problem)
        asks = llm.ask(question, {}, role="judge", temperature=temperature)
        if asks.messages[0].role != "user":
            raise PromptError(
                f"prompt {question!r} takes nothing, so it is asked behind the steps and must begin with the user's "
                f"turn, not with the {asks.messages[0].role}'s; or let it take the problem and the answer"
            )
        return replace(asks, messages=(*wrote.messages, Message("assistant", path.text), *asks.messages))

    async def _sample(
        self, path: Path, before: list[float], draft: int, number: int, llm: Caller
    ) -> Sample | Unscored:
        lost = Unscored("no score in the reply")
        labelled = self.wishes and self.wishes <= llm.offers("judge")
        for attempt in range(self.attempts):
            ask = self._by_label if labelled and attempt == 0 else self._by_score
            try:
                found, text = await ask(path, llm, draft, number, attempt)
            except ServerError as error:
                return Unscored.of(error)
            if isinstance(found, float):
                return sample_of([*before, found], self.aggregate, text)
            lost = found
        return replace(lost, reason=f"{lost.reason}: {self.attempts} tries")

    async def _by_score(self, path: Path, llm: Caller, draft: int, number: int, attempt: int) -> _Opinion:
        request = self._asked(self.score_prompt, path, llm, self.temperature)
        reply = await llm.complete(
            request, part=self.score_prompt, draft=draft, sample=number, attempt=attempt
        )
        # Prose that was cut off may end in half a number; JSON that is whole is closed.
        if reply.finish == "length" and not reply.text.rstrip().endswith(("}", "```")):
            return _Opinion(Unscored("truncated score"), reply.text)
        score = read_score(reply.text, 0.0, TOP)
        return _Opinion(Unscored("no score in the reply") if score is None else score / TOP, reply.text)

    async def _by_label(self, path: Path, llm: Caller, draft: int, number: int, attempt: int) -> _Opinion:
        request = self._asked(self.label_prompt, path, llm, 0.0)
        request = replace(request, max_tokens=1, logprobs=MOST_ALTERNATIVES, labels=YES_OR_NO.spellings)
        reply = await llm.complete(
            request, part=self.label_prompt, draft=draft, sample=number, attempt=attempt
        )
        found = YES_OR_NO.read(reply.tokens)
        return _Opinion(Unscored(found.reason) if found.reason else found.share, reply.text)


def marked(steps: tuple[Step, ...]) -> str:
    """Write steps with their numbers, so that the model sees where the last one begins."""
    return "\n".join(f"<step_{i}>\n{step.text.strip()}\n</step_{i}>" for i, step in enumerate(steps, 1))
