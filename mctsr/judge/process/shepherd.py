"""Process reward models that say a label after each step token: Math-Shepherd and openr, on a generation server.

Source: Math-Shepherd (arXiv:2312.08935) and openreasoner/openr. The score of a step is the probability of the good
label among the two labels as the next token after the step's tag. The text goes to the model as it is, without a chat
template. Deeper paths extend shallower ones, so that a prefix cache is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mctsr.caller import Caller
from mctsr.judge.aggregate import Aggregate, last
from mctsr.judge.labels import Labels
from mctsr.judge.steps import HIGH, LOW, Step, numbered, settled, steps_of
from mctsr.parts import Path, Unscored, Verdict

from .labelled import LabelReader, label_request

PLUS_OR_MINUS = Labels("+", "-")


@dataclass(frozen=True, slots=True)
class TokenPrm:
    """Score the last step by the label that follows its tag.

    The value is the aggregate of the steps' scores, `raw` the last step's own. What a node of the path was given before
    is not asked for again.

    Attributes:
        aggregate: Makes one value of the steps' scores; see `AGGREGATES`.
        labels: The two labels, one token each.
        tag: Stands behind each step, its blank included.
        between: Stands between a tag and the next step.
        numbered: Whether "Step i: " is put before steps that do not begin so, as in the training data.
    """

    aggregate: Aggregate = last
    labels: Labels = PLUS_OR_MINUS
    tag: str = " ки"
    between: str = "\n"
    numbered: bool = True
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
            "token_prm",
            self.labels,
            lambda steps: label_request(self.labels, begun=self.text(path.problem.text, steps)),
            self.aggregate,
        )
        return await reader.judge(steps_of(path), draft, llm)

    def text(self, problem: str, steps: Sequence[Step]) -> str:
        """Write what the model reads, up to the tag of the last step."""
        texts = [numbered(i, s.text) if self.numbered else s.text.strip() for i, s in enumerate(steps, 1)]
        return f"{problem.strip()} {self.between.join(text + self.tag for text in texts)}"


def openr_prm(*, aggregate: Aggregate = last) -> TokenPrm:
    """Return the judge for openr's Math-psa models: a blank and five line breaks as the tag."""
    return TokenPrm(aggregate, tag=" \n\n\n\n\n", between="")
