"""ThinkPRM: a model that verifies a whole prefix in one long thought, then says yes or no.

Source: ThinkPRM (arXiv:2504.16828, released code mukhal/ThinkPRM and its model card). The prompt is the one that the
model was trained on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from mctsr.caller import Caller, all_of
from mctsr.errors import RecipeError, ServerError
from mctsr.judge.labels import MOST_ALTERNATIVES, Labels
from mctsr.judge.steps import HIGH, LOW, Step, gathered, numbered, steps_of
from mctsr.lm.base import Message, Request
from mctsr.parts import Path, Unscored, Verdict
from mctsr.tree import Sample

YES_OR_NO = Labels("yes", "no")
QUESTION = "\nIs the solution correct? "
_HEAD = "You are given a math problem and a proposed step-by-step solution:"
_TAIL = (
    "Review and critique each step in the proposed solution to determine whether each step is correct. "
    "If the solution is incomplete, only verify the provided steps."
)


@dataclass(frozen=True, slots=True)
class ThinkPrm:
    """Let the model verify the solution so far, then take P(yes) of its answer to whether it is right.

    One score says how good the whole prefix is, so there is nothing to aggregate. Several samples are several
    evaluations of the node.

    Attributes:
        samples: Verifications a visit.
        temperature: Of the verifications.
        max_tokens: Longest verification.
        suffix: What the assistant's turn begins with. The released code has "\\nLet's verify step by step:"; with
            templates that open a thought by themselves it gives empty chains, so nothing is the default.
    """

    samples: int = 1
    temperature: float = 0.6
    max_tokens: int = 8192
    suffix: str = ""
    needs: ClassVar[frozenset[str]] = frozenset({"prm", "logprobs", "prefill"})
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    def __post_init__(self) -> None:
        if self.samples < 1 or self.max_tokens < 1:
            raise RecipeError(f"samples={self.samples}, max_tokens={self.max_tokens}; both are at least 1")

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Verify the path."""
        if not path.last.text.strip():
            return Unscored("empty step")
        steps = steps_of(path)
        request = Request((Message("user", prompt(path.problem.text, steps)),), "prm")
        found = await all_of(
            partial(self._sample, request, len(steps), draft, i, llm) for i in range(self.samples)
        )
        return gathered(found)

    async def _sample(
        self, request: Request, steps: int, draft: int, number: int, llm: Caller
    ) -> Sample | Unscored:
        stops = ("Is the solution correct?", "</think>", f"Step {steps + 1}:")
        verifying = replace(
            request, temperature=self.temperature, begun=self.suffix, stop=stops, max_tokens=self.max_tokens
        )
        try:
            reply = await llm.complete(verifying, part="think_prm_verify", draft=draft, sample=number)
            thought = without_stop(reply.thought + reply.text, stops).rstrip()
            asking = replace(
                request,
                temperature=0.0,
                begun=self.suffix + thought + QUESTION,
                max_tokens=1,
                logprobs=MOST_ALTERNATIVES,
                labels=YES_OR_NO.spellings,
            )
            answer = await llm.complete(asking, part="think_prm", draft=draft, sample=number)
        except ServerError as error:
            return Unscored.of(error)
        found = YES_OR_NO.read(answer.tokens)
        return Unscored(found.reason) if found.reason else Sample(found.share, found.share, thought)


def prompt(problem: str, steps: Sequence[Step]) -> str:
    """Write the one user turn."""
    lines = "\n".join(numbered(i, step.text) for i, step in enumerate(steps, 1))
    return "\n\n".join((_HEAD, "[Math Problem]", problem.strip(), "[Solution]", lines, _TAIL))


def without_stop(text: str, stops: Sequence[str]) -> str:
    """Cut off the stop string at the end of a text."""
    return next((text.removesuffix(stop) for stop in stops if text.endswith(stop)), text)
