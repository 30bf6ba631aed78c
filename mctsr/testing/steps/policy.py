"""A writer of steps with known error rates: it continues a begun solution from what stands there, right or wrong.

Knows: how often each step goes wrong, and that a wrong result is carried on. It never takes a step back: only another
continuation from before a wrong step can still be right. Does not know: protocols, judges, or who is asking.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.random import Generator

from mctsr.errors import UsageError
from mctsr.testing.puzzles import Puzzle

from .chains import Equation, Standing, right_step, standing, wrong_steps

_OPENINGS = ("", "Now ", "Next, ", "Then ", "So ", "We have ", "Here ", "That makes ")


@dataclass(frozen=True, slots=True)
class StepWriter:
    """How often a step goes wrong.

    Each step of each problem has an error rate of its own, drawn once for ever from a beta distribution: most are
    nearly always right, some mostly wrong, and there the same mistake is the likeliest. Without such steps a vote
    of many solutions would always be right.

    Attributes:
        p_err: Mean error rate of a step, in [0, 1).
        evenness: The sum of the distribution's parameters, above 0: large means that all steps are alike.

    Raises:
        UsageError: A number is out of range.
    """

    p_err: float = 0.15
    evenness: float = 2.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.p_err < 1.0:
            raise UsageError(f"p_err is {self.p_err}; allowed is 0 to 1, 1 excluded")
        if not self.evenness > 0.0:
            raise UsageError(f"evenness is {self.evenness}; it must be above 0")

    def go_on(self, puzzle: Puzzle, begun: str, seed: int, *, numbered: bool = False) -> str:
        """Write the rest of a solution; "" when the begun one is finished.

        Args:
            puzzle: What is to be worked out.
            begun: The solution so far.
            seed: The same seed and solution get the same rest.
            numbered: Write "Step 1: …" on lines of their own instead of paragraphs.
        """
        so_far = standing(puzzle, begun)
        if len(so_far.equations) >= len(puzzle.steps):
            return "" if "\\boxed" in begun else _answer(_total(puzzle, so_far))
        rng = _generator(seed, puzzle, begun)
        between = "\n" if numbered else "\n\n"
        total, steps = _total(puzzle, so_far), list[str]()
        for i in range(len(so_far.equations), len(puzzle.steps)):
            equation = self._step(puzzle, i, total, rng)
            opening = _OPENINGS[int(rng.integers(len(_OPENINGS)))]
            steps.append(f"{f'Step {i + 1}: ' if numbered else ''}{opening}{equation}.")
            total = equation.result
        lead = "" if not begun or begun[-1].isspace() else between
        return f"{lead}{between.join(steps)} {_answer(total)}"

    def error_rate(self, puzzle: Puzzle, at: int) -> float:
        """Return how often step `at` goes wrong, in [0, 1]."""
        return _error_rate(self, puzzle, at)

    def _step(self, puzzle: Puzzle, at: int, total: int, rng: Generator) -> Equation:
        draw, which = rng.random(2)
        if draw >= self.error_rate(puzzle, at):
            return right_step(total, puzzle.steps[at])
        mistakes = wrong_steps(total, puzzle.steps[at])
        weights = np.cumsum(0.5 ** np.arange(len(mistakes)))
        return mistakes[int(np.searchsorted(weights, which * weights[-1]))]


def _answer(total: int) -> str:
    return f"The final answer is \\boxed{{{total}}}"


def _total(puzzle: Puzzle, so_far: Standing) -> int:
    return so_far.equations[-1].result if so_far.equations else puzzle.start


@lru_cache(maxsize=65536)
def _error_rate(writer: StepWriter, puzzle: Puzzle, at: int) -> float:
    if not writer.p_err:
        return 0.0
    rng = _generator(at, puzzle, "error rate")
    return float(rng.beta(writer.evenness * writer.p_err, writer.evenness * (1.0 - writer.p_err)))


def _generator(seed: int, puzzle: Puzzle, text: str) -> Generator:
    said = f"{seed}\x1f{puzzle}\x1f{text}".encode("utf-8", "surrogatepass")
    return np.random.default_rng(int.from_bytes(blake2b(said, digest_size=8).digest(), "big"))
