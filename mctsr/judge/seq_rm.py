"""Reward models that give one number for a whole solution, behind a `/classify` endpoint."""

from dataclasses import dataclass
from math import exp
from typing import ClassVar

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.lm.base import Message, Pooling
from mctsr.parts import Path, Unscored, Verdict
from mctsr.tree import Sample

from .process.wrong import counted, wrong_model
from .steps import HIGH, LOW, settled

PART = "seq_rm"
_ALLOWED = "a reward model with one label, such as Skywork-Reward in vLLM with --runner pooling"


@dataclass(frozen=True, slots=True)
class SeqRm:
    """Score the solution so far as one text, and squash the raw reward into [0, 1].

    Source: Skywork-Reward (arXiv:2410.18451) and other models for sequence classification. Raw rewards are unbounded
    and shifted from problem to problem. A judge sees one path, so nothing is ranked or standardised here: the value
    is sigmoid((reward - centre) / temperature), which keeps the order within a problem, and `raw` keeps the reward
    for those who rank.

    Attributes:
        temperature: Rewards that far from the centre count as 0.27 and 0.73; > 0.
        centre: The reward that counts as 0.5.
    """

    temperature: float = 4.0
    centre: float = 0.0
    needs: ClassVar[frozenset[str]] = frozenset({"prm", "classify"})
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise RecipeError(f"temperature={self.temperature}; it must be above 0")

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Score the path.

        Raises:
            UsageError: The model gives more than one number, or none.
        """
        if known := settled(path):
            return known
        turns = (Message("user", path.problem.text), Message("assistant", path.text.strip()))
        pooled = await llm.pool(Pooling(turns, task="classify", raw=True), part=PART, draft=draft)
        shape = [len(row) for row in pooled.rows]
        if shape != [1]:
            found = f"{counted(sum(shape), 'number')} in {counted(len(shape), 'row')}"
            raise wrong_model(f"gave {found} for one solution", _ALLOWED, "/classify", PART)
        reward = float(pooled.rows[0][0])
        value = _sigmoid((reward - self.centre) / self.temperature)
        if not LOW <= value <= HIGH:
            return Unscored(f"no number: the reward is {reward}")
        return Verdict((Sample(value, reward),))


def _sigmoid(x: float) -> float:
    """Return 1 / (1 + e^-x) without overflow."""
    return 1.0 / (1.0 + exp(-x)) if x >= 0 else exp(x) / (1.0 + exp(x))
