"""Three toy worlds of LLM steps with a known best solution: the order of steps is free, half matters, or matters.

A problem offers M steps, each a small sum worked out; K of them make a full solution. What a solution is worth is
the sum of what its steps are worth where they stand, relative to the best solution:

| order   | a step is worth                                                                                  |
|---------|--------------------------------------------------------------------------------------------------|
| free    | the same anywhere: the value depends on the set of steps                                         |
| half    | the same anywhere, but a third of the steps, the best ones, count only after a step they build on |
| matters | something at one place of the solution alone; anywhere else it costs a quarter of that           |

The worlds resemble step search with a process reward model: nodes are partial solutions, one call proposes one step,
one call judges one node. The judge is noisy; a full solution is easier to judge than a partial one. Proposals follow a
prior that knows a little. Siblings drawn by one ask differ, which is kinder than a language model; the same step comes
worded and turned in many ways, so that only what it works out tells that it is the same. The parts that talk to the
worlds are in `order_parts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.random import Generator

from mctsr.kernels.node import Floats
from mctsr.lm.base import Completion, Place, Pooled, Pooling, Request, Usage, no_scores
from mctsr.parts import Problem

Order = Literal["free", "half", "matters"]

#: How a step may be said; all read as the same operation.
WORDINGS = (
    "{a} * {b} = {c}",
    "Next we compute {b} × {a}, which gives {c}.",
    "So $ {a} \\times {b} = {c} $.",
    "We get {c} = {b} * {a}",
    "Multiply {a} by {b} to get {c}.",
)
_ELSEWHERE = -0.25
_LOW, _SPAN = 0.2, 0.6


@dataclass(frozen=True, slots=True)
class StepWorld:
    """A language model that proposes and judges the steps of its only problem.

    Attributes:
        order: Whether order matters.
        worth: Worth of each of M steps at each of K places, before it is related to the best solution.
        needs: The step that each step builds on, -1 for none.
        prior: How likely each step is proposed, relative to the others.
        noise: Standard deviation of the judge of a partial solution, on the scale where the best one is worth 1.
        final_noise: The same for a full solution, which is easier to judge.
        seed: Of all its draws.
    """

    order: Order
    worth: tuple[tuple[float, ...], ...]
    needs: tuple[int, ...]
    prior: tuple[float, ...]
    noise: float = 0.2
    final_noise: float = 0.05
    seed: int = 0
    offers: frozenset[str] = frozenset()
    best: tuple[int, ...] = field(init=False)
    _read: dict[str, int] = field(default_factory=dict, init=False, compare=False)
    _logs: Floats = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "best", _best(self.order, self.worth, self.needs))
        object.__setattr__(self, "_logs", np.log(self.prior))
        for step in range(len(self.worth)):
            self._read.update((text, step) for text in self.texts(step))

    @property
    def length(self) -> int:
        """Steps of a full solution."""
        return len(self.worth[0])

    @property
    def problem(self) -> Problem:
        """What is asked."""
        return Problem(f"{self.order}-{self.seed}", f"Which {self.length} products add up to most?")

    def texts(self, step: int) -> list[str]:
        """Return every wording of a step."""
        a, b = 11 + step, 20 + (7 * step + self.seed) % 70
        return [wording.format(a=a, b=b, c=a * b) for wording in WORDINGS]

    def read(self, solution: str) -> list[int]:
        """Return the steps of a solution, one a line."""
        return [self._read[line] for line in solution.split("\n") if line]

    def sum(self, steps: Sequence[int]) -> float:
        """Add up what steps are worth where they stand."""
        return sum(
            self.worth[step][place]
            for place, step in enumerate(steps)
            if self.needs[step] < 0 or self.needs[step] in steps[:place]
        )

    def value(self, steps: Sequence[int]) -> float:
        """Return what a solution is worth: 1 for the best; steps that are missing bring nothing."""
        return self.sum(steps) / self.sum(self.best)

    def hoped(self, steps: Sequence[int]) -> float:
        """Return what a partial solution is worth when each missing step brings what the average step brings."""
        missing = (self.length - len(steps)) * sum(map(sum, self.worth)) / len(self.worth) / self.length
        return self.value(steps) + missing / self.sum(self.best)

    def chance(self, step: int, steps: Sequence[int]) -> float:
        """Return how likely `step` is proposed after `steps`; none comes twice."""
        return self.prior[step] / sum(p for i, p in enumerate(self.prior) if i not in steps)

    async def complete(self, place: Place, request: Request) -> Completion:
        """Propose a step after those in the request, or judge them on a scale from 0 to 1.

        Calls for the part "step" that differ in the draft alone get different steps.
        """
        said = request.messages[-1].content
        steps = self.read(said)
        if request.role == "judge":
            text = repr(self._judged(steps, np.random.default_rng(place.seed(self.seed))))
        else:
            text = self._proposed(steps, place)
        return Completion(text, usage=Usage(len(said.split()), len(text.split())))

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        """Refuse: it scores nothing."""
        raise no_scores(pooling)

    def _judged(self, steps: Sequence[int], rng: Generator) -> float:
        """0.2 for what is worth nothing, 0.8 for the best, and noise."""
        noise = self.noise if len(steps) < self.length else self.final_noise
        seen = self.hoped(steps) + rng.normal(0.0, noise)
        return min(max(_LOW + _SPAN * seen, 0.0), 1.0)

    def _proposed(self, steps: Sequence[int], place: Place) -> str:
        """Draw the siblings of one ask without putting back, and word them by chance."""
        siblings = place.part == "step"
        drawn, which = (place._replace(draft=0), place.draft) if siblings else (place, 0)
        rng = np.random.default_rng(drawn.seed(self.seed))
        # The largest of log p + Gumbel noise, one after another, are draws without putting back.
        keys = self._logs + rng.gumbel(size=len(self.prior))
        keys[list(steps)] = -np.inf
        step, wording = int(np.argsort(-keys)[which]), int(rng.integers(len(WORDINGS), size=which + 1)[which])
        return self.texts(step)[wording]


def step_world(
    order: Order,
    seed: int,
    *,
    steps: int = 12,
    length: int = 5,
    noise: float = 0.2,
    final_noise: float = 0.05,
) -> StepWorld:
    """Make a world.

    Args:
        order: Whether order matters.
        seed: Of the world and of all its draws.
        steps: M, at least as many as `length`, and 6 or more.
        length: K.
        noise: Standard deviation of the judge of a partial solution.
        final_noise: The same for a full one.
    """
    rng = np.random.default_rng([seed, ("free", "half", "matters").index(order)])
    base, needs = rng.random(steps), np.full(steps, -1)
    worth = np.repeat(base[:, None], length, axis=1)
    if order == "half":
        third = steps // 3
        needs[:third] = third + rng.permutation(third)
        worth[:third] = 0.5 + 0.5 * worth[:third]
        worth[third : 2 * third] *= 0.4
    elif order == "matters":
        own = (np.arange(steps) % length)[:, None] == np.arange(length)
        worth = (0.4 + 0.6 * worth) * np.where(own, 1.0, _ELSEWHERE)
    prior = np.exp(base + rng.normal(0.0, 1.0, steps))
    # Names carry no order: a step's number tells nothing of its worth.
    shuffled = rng.permutation(steps)
    moved = np.argsort(shuffled)
    rows = tuple(tuple(map(float, worth[step])) for step in shuffled)
    builds = tuple(int(moved[needs[step]]) if needs[step] >= 0 else -1 for step in shuffled)
    return StepWorld(order, rows, builds, tuple(map(float, prior[shuffled])), noise, final_noise, seed)


def _best(order: Order, worth: Sequence[Sequence[float]], needs: Sequence[int]) -> tuple[int, ...]:
    """Return the best solution, the first of several."""
    length = len(worth[0])
    if order == "matters":
        return tuple(max(range(len(worth)), key=lambda step: worth[step][place]) for place in range(length))

    def total(chosen: tuple[int, ...]) -> float:
        return sum(worth[step][0] for step in chosen if needs[step] < 0 or needs[step] in chosen)

    chosen = max(combinations(range(len(worth)), length), key=total)
    return tuple(sorted(chosen, key=lambda step: needs[step] >= 0))
