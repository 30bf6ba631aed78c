"""Whether a solution came to the right answer.

Knows two ways to tell: by the known answer, for recipes that label and were told to use it, and by agreement with the
other answers that are known on the path. What the known answer is, nobody here learns.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.grading import normal_form
from mctsr.parts import Judge, Path, Unscored, Verdict, use_gold, words_of
from mctsr.tree import Sample

from .mc_estimate import most_common
from .steps import HIGH, LOW

UNFINISHED = "unfinished"
"""What stands as text of a sample that says nothing yet of a solution."""

ANSWERS = "answers"
"""Where an expander that draws several solutions at once keeps all their answers, in `Draft.work`; see `told`."""


def tell(answers: Sequence[str | None]) -> str:
    """Write the answers of solutions that were drawn together for `Draft.work[ANSWERS]`."""
    return json.dumps(answers, ensure_ascii=False)


def told(path: Path) -> list[str | None]:
    """Return the answers that were drawn along a path, the last node's own among them."""
    found: list[str | None] = []
    for node in path.nodes:
        found += json.loads(node.work[ANSWERS]) if ANSWERS in node.work else [node.answer]
    return found


@dataclass(frozen=True, slots=True)
class OutcomeReward:
    """Judge a solution by its answer alone: `high` when it is right, `low` when it is wrong or not there.

    Without the known answer, right is what most of the answers drawn along the path say, the first on ties: a stand-in
    that is as good as the model's majority.

    Attributes:
        uses_gold: Compare with the known answer.
        low: Value of a wrong one.
        high: Value of a right one.
    """

    uses_gold: bool = False
    low: float = LOW
    high: float = HIGH
    needs: frozenset[str] = field(default=frozenset(), init=False)

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise RecipeError(f"low is {self.low}, high is {self.high}; low must be below high")

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Compare the answer of the path's last node."""
        answer = path.last.answer
        if self.uses_gold:
            right = await llm.correct(answer)
        else:
            form = normal_form(answer)
            right = form is not None and form == most_common(told(path))
        if right is None:
            return Unscored("ungradable")
        value = self.high if right else self.low
        return Verdict((Sample(value, value, "right" if right else "wrong"),))


@dataclass(frozen=True, slots=True)
class Ends:
    """Judge ends alone: a solution that goes on gets `unfinished`, without a call.

    What the inner judge says of a finished one is stretched from its scale to `low` … `high`. A solution that ended
    without an answer gets `low`: it cannot be right.
    Source: DeepSearch, arXiv:2509.25454, where terminal values are 1 and -1, incomplete ones -1.

    Attributes:
        inner: Judge of finished solutions.
        unfinished: Value of the others, from `low` to `high`.
        low: Value of the worst.
        high: Value of the best.
    """

    inner: Judge
    unfinished: float = 0.0
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not self.low <= self.unfinished <= self.high or self.low == self.high:
            raise RecipeError(
                f"low is {self.low}, unfinished {self.unfinished}, high {self.high}; they must be in this order"
            )

    @property
    def needs(self) -> frozenset[str]:
        """What the inner judge needs."""
        return self.inner.needs

    @property
    def wishes(self) -> frozenset[str]:
        """What the inner judge makes use of."""
        return words_of("wishes", self.inner)

    @property
    def uses_gold(self) -> bool:
        """Whether the inner judge does."""
        return use_gold(self.inner)

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Judge the path's last node if it is an end."""
        if not path.last.done:
            return Verdict((Sample(self.unfinished, self.unfinished, UNFINISHED),))
        if path.last.answer is None:
            return Verdict((Sample(self.low, self.low, "no answer"),))
        said = await self.inner.judge(path, draft, llm)
        if isinstance(said, Unscored):
            return said
        return Verdict(tuple(self._stretched(sample) for sample in said.samples), said.unscored)

    def _stretched(self, sample: Sample) -> Sample:
        share = (sample.value - self.inner.low) / (self.inner.high - self.inner.low)
        return Sample(self.low + share * (self.high - self.low), sample.raw, sample.text)
