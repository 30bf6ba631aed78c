"""A judge of steps of known quality: what it says of each step of a solution, as a probability that it is right.

A step counts as right when it and all steps before it are. Like a model at temperature 0 the judge has no chance of
its own: the same text gets the same verdict for ever, so asking again or copying a text brings nothing new.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Literal, NamedTuple

from mctsr.errors import UsageError
from mctsr.testing.puzzles import Puzzle

from .chains import Equation, deviates, equations_of, normal, right_step

Kind = Literal["perfect", "noisy", "over-confident"]
KINDS: tuple[Kind, ...] = ("perfect", "noisy", "over-confident")

_SURE = 0.999


@dataclass(frozen=True)
class StepJudge:
    """The quality of the verdicts.

    perfect: P(right) is 0.999 for right steps and 0.001 for wrong ones. noisy: a normal deviate lies around +h or -h,
    h = quantile(auc) / sqrt(2), and P(right) is what follows from it at even odds, so that it is calibrated there.
    over-confident: noisy, but overlooks a share of the mistakes: a step that makes such a one passes for right, more
    surely than steps that are. What follows is judged as the noisy judge does, unless the oversight lasts.

    Attributes:
        kind: Which of the three.
        auc: Chance that a right step scores above a wrong one that is not overlooked, in (0.5, 1).
        shared: Share of the noise that depends on what the step says, not on how it is worded, in [0, 1].
        overlooked: Share of mistakes that the over-confident judge overlooks, in [0, 1].
        surer: How far an overlooked mistake lies above the mean of right steps, in standard deviations.
        lasting: Whether all steps behind an overlooked mistake pass for right as surely.
        seed: Another seed is another judge of the same quality.

    Raises:
        UsageError: A number is out of range, or the kind is unknown.
    """

    kind: Kind = "noisy"
    auc: float = 0.85
    shared: float = 0.5
    overlooked: float = 0.3
    surer: float = 1.0
    lasting: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"judge is {self.kind!r}; choose one of {', '.join(KINDS)}")
        if not 0.5 < self.auc < 1.0:
            raise UsageError(f"auc is {self.auc}; allowed is between 0.5 and 1, both excluded")
        for name in ("shared", "overlooked"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name} is {getattr(self, name)}; allowed is 0 to 1")

    def verdicts(self, puzzle: Puzzle, steps: Sequence[str]) -> tuple[float, ...]:
        """Return P(right) of each step, in (0, 1); a step without an equation is as right as those before it."""
        said, text = list[float](), ""
        for at, step in enumerate(_read(puzzle, steps)):
            text += f"{steps[at].strip()}\n"
            said.append(self._says(puzzle, at, step, text))
        return tuple(said)

    def _says(self, puzzle: Puzzle, at: int, step: "_Step", text: str) -> float:
        if self.kind == "perfect":
            return 1.0 - _SURE if step.wrong else _SURE
        noise = math.sqrt(self.shared) * _noise(self.seed, puzzle, f"{at} {step.says}")
        noise += math.sqrt(1.0 - self.shared) * _noise(self.seed, puzzle, text)
        mean = -self.half if step.wrong else self.half
        if step.wrong and self._overlooks(puzzle, step):
            mean = self.half + self.surer
        return 1.0 / (1.0 + math.exp(-2.0 * self.half * (mean + noise)))

    def _overlooks(self, puzzle: Puzzle, step: "_Step") -> bool:
        """Say whether a wrong step passes for right: a share of the mistakes does, whatever their words."""
        if self.kind != "over-confident" or not (step.first or self.lasting):
            return False
        return deviates("overlooked", self.seed, puzzle, step.wrong)[0] < self.overlooked

    @cached_property
    def half(self) -> float:
        """Distance of either mean from 0, in standard deviations."""
        return NormalDist().inv_cdf(self.auc) / math.sqrt(2.0)


@lru_cache(maxsize=1 << 18)
def _noise(seed: int, puzzle: Puzzle, text: str) -> float:
    """Return what this judge adds here, always; whole paths are judged again and again."""
    return normal(seed, puzzle, text)


class _Step(NamedTuple):
    """What one step says last, the first mistake up to here, and whether that is made in this step."""

    says: Equation | None
    wrong: Equation | None
    first: bool


def _read(puzzle: Puzzle, steps: Sequence[str]) -> Iterator[_Step]:
    number, total = 0, puzzle.start
    says: Equation | None = None
    wrong: Equation | None = None
    for text in steps:
        before = wrong
        for says in equations_of(text):
            expected = right_step(total, puzzle.steps[number]) if number < len(puzzle.steps) else None
            wrong = wrong or (says if says != expected else None)
            number, total = number + 1, says.result
        yield _Step(says, wrong, before is None)
