"""Process reward models that are talked to: each step is a user's turn, each label the assistant's.

Source: RLHFlow/RLHF-Reward-Modeling (Llama3.1-8B-PRM, Mistral and Deepseek data). Served as a generation model; the
score of a step is the probability of the good label among the two as the first token of the reply.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mctsr.caller import Caller
from mctsr.judge.aggregate import Aggregate, last
from mctsr.judge.labels import Labels
from mctsr.judge.steps import HIGH, LOW, Step, settled, steps_of
from mctsr.lm.base import Message
from mctsr.parts import Path, Unscored, Verdict

from .labelled import LabelReader, label_request
from .shepherd import PLUS_OR_MINUS


@dataclass(frozen=True, slots=True)
class ChatTokenPrm:
    """Score the last step by the label that the assistant gives it.

    The value is the aggregate of the steps' scores, `raw` the last step's own. What a node of the path was given before
    is not asked for again.

    Attributes:
        aggregate: Makes one value of the steps' scores; see `AGGREGATES`.
        labels: The two labels, one token each; earlier steps are always given the good one, as in the released code.
        after_problem: Stands between the problem and the first step; the ProcessBench script has a blank line.
    """

    aggregate: Aggregate = last
    labels: Labels = PLUS_OR_MINUS
    after_problem: str = " "
    needs: ClassVar[frozenset[str]] = frozenset({"prm", "logprobs"})
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Score the path's last step.

        Raises:
            UsageError: The model labels no steps.
        """
        if known := settled(path):
            return known
        reader = LabelReader(
            "chat_token_prm",
            self.labels,
            lambda steps: label_request(self.labels, self.turns(path.problem.text, steps)),
            self.aggregate,
        )
        return await reader.judge(steps_of(path), draft, llm)

    def turns(self, problem: str, steps: Sequence[Step]) -> tuple[Message, ...]:
        """Write the conversation up to the last step."""
        turns = list[Message]()
        for step in steps:
            head = "" if turns else problem.strip() + self.after_problem
            turns += [Message("assistant", self.labels.good)] if turns else []
            turns.append(Message("user", head + step.text.strip()))
        return tuple(turns)
