"""GenPRM: a model that reviews a step in words, then says Yes or No.

Source: GenPRM (arXiv:2504.00891, released code RyanLiu112/GenPRM). A conversation with one user turn a step; the
assistant's turn is written in pieces that begin as the model was trained to begin them. Nothing that the model writes
is executed here: its programs run only in a runner that the caller brings along.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

from mctsr.caller import Caller, all_of
from mctsr.errors import RecipeError, ServerError
from mctsr.judge.aggregate import Aggregate, last
from mctsr.judge.labels import MOST_ALTERNATIVES, Labels
from mctsr.judge.steps import HIGH, LOW, Step, gathered, sample_of, steps_of
from mctsr.lm.base import Message, Request
from mctsr.parts import Path, Unscored, Verdict
from mctsr.tree import Sample

YES_OR_NO = Labels("Yes", "No")

SYSTEM = (
    "You are a math teacher. Your task is to review and critique the paragraphs in solution step by step."
)
SYSTEM_WITHOUT_CODE = (
    f"{SYSTEM} Put \\boxed{{Yes}} if the paragraph is correct and \\boxed{{No}} if it is not."
)
_ANALYZE = "<analyze>\nLet's analyze the Paragraph {number} step by step: "
_VERIFY = "<verify>\nLet's use python code to find any potential error:\n```python\n"
_OUTPUT = "<output>\n**Judgement**: $\\boxed"
_CLOSED = "{{{label}}}$\n</output>\n"
_FENCE = re.compile(r"\n?```\s*\Z")
_LABEL_TOKENS = 4

Runner = Callable[[str], Awaitable[str]]
"""Runs a Python program, safely, and returns what it printed."""


@dataclass(frozen=True, slots=True)
class GenPrm:
    """Let the model review the last step, and take P(Yes) of its judgement.

    Reviews of earlier steps are part of the conversation. They are taken from the samples on the path, where each
    sample's text is the whole turn; an earlier step without one is reviewed first. Several samples are several
    evaluations of the node, their mean is for the node's own value to take.

    Attributes:
        aggregate: Makes one value of the steps' scores; see `AGGREGATES`.
        samples: Reviews a visit.
        temperature: Of the reviews.
        run: Runs the model's programs. Without one, which is the default, the model is asked for no code and none
            is executed. With one, safety is the runner's: what it gets was written by a model.
    """

    aggregate: Aggregate = last
    samples: int = 1
    temperature: float = 0.6
    run: Runner | None = None
    needs: ClassVar[frozenset[str]] = frozenset({"prm", "logprobs", "prefill"})
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise RecipeError(f"samples={self.samples}; it is at least 1")
        if self.run is not None and not callable(self.run):
            raise RecipeError(
                f"run={self.run!r}; programs that a model wrote are executed only by a sandbox of your own: "
                "give an async function from program to output, or leave it out"
            )

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Review the path's last step."""
        if not path.last.text.strip():
            return Unscored("empty step")
        steps = steps_of(path)
        found = await all_of(partial(self._sample, path, steps, draft, i, llm) for i in range(self.samples))
        return gathered(found)

    async def _sample(
        self, path: Path, steps: Sequence[Step], draft: int, number: int, llm: Caller
    ) -> Sample | Unscored:
        """Review in order what has no review yet; the last step always."""
        turns = [Message("system", SYSTEM if self.run else SYSTEM_WITHOUT_CODE)]
        scores, review = list[float](), ""
        for i, step in enumerate(steps):
            head = "" if i else path.problem.text.strip() + "\n"
            turns.append(Message("user", head + step.text.strip()))
            known = step.samples[number % len(step.samples)] if step.samples else None
            if known and known.text and step.score is not None and i < len(steps) - 1:
                scores.append(step.score)
                turns.append(Message("assistant", known.text))
                continue
            call = _Call(llm, draft, number * len(steps) + i)
            try:
                review, score = await self._review(tuple(turns), i + 1, call)
            except ServerError as error:
                return Unscored.of(error)
            if isinstance(score, Unscored):
                return score
            scores.append(score)
            turns.append(Message("assistant", review))
        return sample_of(scores, self.aggregate, review)

    async def _review(self, turns: tuple[Message, ...], number: int, call: "_Call") -> "_Review":
        """Write one assistant turn and read its judgement."""
        request = Request(turns, "prm", self.temperature)
        turn = _ANALYZE.format(number=number)
        analysis = await call.say(replace(request, begun=turn, stop=("</analyze>\n",)), "gen_prm_analyze")
        turn += analysis.removesuffix("</analyze>\n").rstrip() + "\n</analyze>\n"
        if self.run:
            turn += _VERIFY
            code = await call.say(
                replace(request, begun=turn, stop=("```\n", "</output>\n")), "gen_prm_verify"
            )
            code = _FENCE.sub("", code.removesuffix("</output>\n"))
            turn += (
                f"{code}\n```\n\n[Code Output]\n\n```\n{(await self.run(code)).rstrip()}\n```\n</verify>\n"
            )
        turn += _OUTPUT
        request = replace(
            request,
            begun=turn,
            temperature=0.0,
            max_tokens=_LABEL_TOKENS,
            logprobs=MOST_ALTERNATIVES,
            labels=YES_OR_NO.spellings,
        )
        reply = await call.llm.complete(request, part="gen_prm", draft=call.draft, sample=call.sample)
        found = YES_OR_NO.read(reply.tokens)
        label = YES_OR_NO.good if found.share >= 0.5 else YES_OR_NO.bad
        score = Unscored(found.reason) if found.reason else found.share
        return _Review(turn + _CLOSED.format(label=label), score)


class _Review(NamedTuple):
    turn: str
    score: float | Unscored


@dataclass(frozen=True, slots=True)
class _Call:
    """Where the calls of one review belong."""

    llm: Caller
    draft: int
    sample: int

    async def say(self, request: Request, part: str) -> str:
        """Return the text that continues the turn, thoughts included: to a template they are all one."""
        reply = await self.llm.complete(request, part=part, draft=self.draft, sample=self.sample)
        return reply.thought + reply.text
