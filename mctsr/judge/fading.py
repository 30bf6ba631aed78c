"""Estimates that take fewer completions the further a solution has come."""

from dataclasses import dataclass, replace
from typing import ClassVar

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.parts import Path, Unscored, Verdict

from .mc_estimate import McEstimate
from .steps import HIGH, LOW


@dataclass(frozen=True, slots=True)
class FadingEstimate:
    """Estimate by max(most // (depth + 1), least) completions; the first step has depth 1.

    Source: MedS3, arXiv:2501.12051, in its released code (pixas/MedSSS, `Evol_Instruct/MCTS/tree.py`).

    Attributes:
        inner: The estimate; its own number of completions is not read.
        most: What is divided.
        least: Fewest completions.
    """

    inner: McEstimate
    most: int = 20
    least: int = 5
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    def __post_init__(self) -> None:
        if self.most < 1 or self.least < 1:
            raise RecipeError(f"most={self.most}, least={self.least}; both are at least 1")

    @property
    def needs(self) -> frozenset[str]:
        """What the estimate needs."""
        return self.inner.needs

    @property
    def uses_gold(self) -> bool:
        """Whether the estimate does."""
        return self.inner.uses_gold

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Estimate the path's last node."""
        completions = max(self.most // (len(path.steps) + 1), self.least)
        return await replace(self.inner, completions=completions).judge(path, draft, llm)
