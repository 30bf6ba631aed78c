"""Scores of steps that are read as the next token after each step.

Knows when a step must be asked about and what the reply is worth. The protocols say what is sent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mctsr.caller import Caller, all_of
from mctsr.judge.aggregate import Aggregate
from mctsr.judge.labels import MOST_ALTERNATIVES, Labels
from mctsr.judge.steps import Step, verdict, wanted
from mctsr.lm.base import Message, Request
from mctsr.parts import Unscored, Verdict

from .wrong import wrong_model

NO_MASS = 0.01
"""Mass of both labels together under which a model does not know them."""


def label_request(labels: Labels, messages: tuple[Message, ...] = (), begun: str = "") -> Request:
    """Return the request for one token and what could have stood there."""
    request = Request(messages, "prm", 0.0, begun=begun, max_tokens=1, logprobs=MOST_ALTERNATIVES)
    return replace(request, labels=labels.spellings)


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Asks for the label after the last step, and after earlier ones that count and that nobody scored yet.

    Attributes:
        part: Of the calls' places.
        labels: The two labels.
        request: Makes the request for the last of the steps that it is given.
        aggregate: Makes one value of the steps' scores.
    """

    part: str
    labels: Labels
    request: Callable[[Sequence[Step]], Request]
    aggregate: Aggregate

    async def judge(self, steps: Sequence[Step], draft: int, llm: Caller) -> Verdict | Unscored:
        """Score the last step; an earlier one that is lost takes the verdict along.

        Raises:
            UsageError: The model labels no steps.
        """
        own = await all_of(partial(self._score, steps, i, draft, llm) for i in wanted(steps, self.aggregate))
        if lost := next((score for score in own if isinstance(score, Unscored)), None):
            return lost
        return verdict([score for score in own if not isinstance(score, Unscored)], self.aggregate)

    async def _score(self, steps: Sequence[Step], i: int, draft: int, llm: Caller) -> float | Unscored:
        if (before := steps[i].score) is not None:
            return before
        request = self.request(steps[: i + 1])
        completion = await llm.complete(request, part=self.part, draft=draft, sample=i)
        found = self.labels.read(completion.tokens)
        if not found.reason:
            return found.share
        # A model that knows no labels even after a first step knows none at all.
        if len(steps) == 1 and completion.tokens and found.mass < NO_MASS:
            allowed = (
                f"a process reward model that says {self.labels.good!r} or {self.labels.bad!r} after a step"
            )
            endpoint = "/chat/completions" if request.messages else "/completions"
            raise wrong_model(f"does not label steps ({found.reason})", allowed, endpoint, self.part)
        return Unscored(found.reason)
