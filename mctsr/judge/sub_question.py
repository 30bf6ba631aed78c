"""What a sub-question and its answer are worth: how useful the question is, and how sure the model was of the answer.

Knows how such a step is put down: the question is its first line, and its work says as "confidence" how much the
answers agreed. Asks a model only about the question.
"""

from dataclasses import dataclass
from typing import ClassVar

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.parts import Path, PathNode, Unscored, Verdict
from mctsr.tree import Sample

from .aggregate import mean
from .llm_judge import LlmJudge
from .steps import HIGH, LOW, steps_of

CONFIDENCE = "confidence"


@dataclass(frozen=True, slots=True)
class SubQuestionReward:
    """r = useful^alpha * confidence^(1 - alpha); the value is the mean of r over the path.

    `useful` is the share of Yes when a model is asked whether the question helps, and a tenth of a score from 0 to 10
    where log-probabilities are not offered. It is shown the questions alone.
    Source: RAP, arXiv:2305.14992, section 4.2, and its code (maitrix-org/llm-reasoners), where a path counts as the
    mean of its rewards.

    Attributes:
        alpha: Weight of the usefulness, in [0, 1].
        attempts: Tries at one readable opinion.

    Raises:
        RecipeError: A number is out of range.
    """

    alpha: float = 0.5
    attempts: int = 3
    needs: ClassVar[frozenset[str]] = frozenset()
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise RecipeError(f"alpha is {self.alpha}; it must be a number from 0 to 1")

    @property
    def _usefulness(self) -> LlmJudge:
        return LlmJudge(
            attempts=self.attempts, label_prompt="sub_question_useful", score_prompt="sub_question_score"
        )

    @property
    def wishes(self) -> frozenset[str]:
        """What it makes use of where the judge's model offers it."""
        return self._usefulness.wishes

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Judge the path's last question and its answer."""
        confidence = path.last.work.get(CONFIDENCE)
        if confidence is None:
            return Unscored("no sub-question")
        asked = Path(path.problem, tuple(_question(node) for node in path.nodes))
        said = await self._usefulness.judge(asked, draft, llm)
        if isinstance(said, Unscored):
            return said
        above = [score for step in steps_of(path)[:-1] if (score := step.score) is not None]
        samples = tuple(self._sample(sample, float(confidence), above) for sample in said.samples)
        return Verdict(samples, said.unscored)

    def _sample(self, useful: Sample, confidence: float, above: list[float]) -> Sample:
        reward = useful.value**self.alpha * confidence ** (1.0 - self.alpha)
        return Sample(mean([*above, reward]), reward, useful.text)


def _question(node: PathNode) -> PathNode:
    """Return a step without its answer, and without what was said of both."""
    return node._replace(text=node.text.partition("\n")[0], samples=())
