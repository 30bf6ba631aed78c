"""What a step is worth when one goes on from it for a while.

Knows when a step is judged as it stands and when by what lies ahead. How steps are written and judged, others know.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from mctsr.caller import Caller
from mctsr.errors import RecipeError, ServerError
from mctsr.parts import Draft, Judge, Path, Unscored, Verdict, use_gold, words_of
from mctsr.tree import Sample

AHEAD = "what lies ahead:"
"""Begins the text of a sample that tells of the steps ahead; who shows samples knows them by it."""

BEYOND = -2
"""Number of the first step ahead in the places of its calls; -1 is the asked node, drafts count from 0."""


class Writer(Protocol):
    """Writes the next step of a solution, as `expand.step.Steps` does."""

    @property
    def needs(self) -> frozenset[str]:
        """What the model must offer."""

    async def write(self, path: Path, draft: int, llm: Caller) -> Draft:
        """Write one step; `draft` is the number in the places of its calls."""


class _Seen(NamedTuple):
    """What the steps ahead were worth, what they said, and what could not be read."""

    values: list[float]
    texts: list[str]
    lost: list[Unscored]


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Judge a new step as `inner` does; asked again, go on from it, and return the best value on the way.

    The steps ahead are written one below the other, each is judged, and none joins the tree; the way ends early where
    the solution does. A finished node has nothing ahead: its value stays what it is, without a call. So does that of a
    step behind which nothing was written. The sample's text holds the steps ahead with their values.
    Source: ReST-MCTS*, arXiv:2406.03816 (greedy Monte Carlo simulation with the value model), and its released code
    (THUDM/ReST-MCTS), with one branch.

    Attributes:
        inner: Judges single steps.
        writer: Writes the steps ahead.
        forward: How many.

    Raises:
        RecipeError: `forward` is below 1.
    """

    inner: Judge
    writer: Writer
    forward: int = 3

    def __post_init__(self) -> None:
        if self.forward < 1:
            raise RecipeError(f"forward is {self.forward}; it is the number of steps ahead, at least 1")

    @property
    def needs(self) -> frozenset[str]:
        """What the inner judge and the writer need."""
        return self.inner.needs | self.writer.needs

    @property
    def wishes(self) -> frozenset[str]:
        """What the inner judge makes use of."""
        return words_of("wishes", self.inner)

    @property
    def uses_gold(self) -> bool:
        """Whether the inner judge does."""
        return use_gold(self.inner)

    @property
    def low(self) -> float:
        """The inner judge's."""
        return self.inner.low

    @property
    def high(self) -> float:
        """The inner judge's."""
        return self.inner.high

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Judge the path's last node, as a new step or by what lies ahead of it."""
        if draft >= 0 or not path.last.samples:
            return await self.inner.judge(path, draft, llm)
        seen = await self._ahead(path, llm)
        if not seen.values and seen.lost:
            return seen.lost[0]
        known = path.last.samples
        value = max(seen.values, default=_mean([sample.value for sample in known]))
        # `raw` is the step's own score, and judges of later steps read it: what lies ahead does not change it.
        raw = _mean([sample.raw for sample in known])
        text = "\n".join([AHEAD, *seen.texts]) if seen.texts else "nothing lies ahead"
        return Verdict((Sample(value, raw, text),), tuple(seen.lost))

    async def _ahead(self, path: Path, llm: Caller) -> _Seen:
        """Walk on to the end of the solution, or `forward` steps."""
        seen = _Seen([], [], [])
        for number in range(BEYOND, BEYOND - self.forward, -1):
            if path.last.done:
                break
            try:
                written = await self.writer.write(path, number, llm)
                path = path.plus(written)
                if written.unscored:
                    break
                said = await self.inner.judge(path, number, llm)
            except ServerError as error:
                seen.lost.append(Unscored.of(error))
                break
            path = _note(path, said, seen)
        return seen


def _note(path: Path, said: Verdict | Unscored, seen: _Seen) -> Path:
    """Keep what was said of a step ahead, and let judges of later ones see it."""
    samples = said.samples if isinstance(said, Verdict) else ()
    seen.lost.extend(said.unscored if isinstance(said, Verdict) else (said,))
    words = path.last.text.strip()
    if not samples:
        seen.texts.append(f"unscored: {words}")
        return path
    value = _mean([sample.value for sample in samples])
    seen.values.append(value)
    seen.texts.append(f"{value:.4g}: {words}")
    return Path(path.problem, (*path.nodes[:-1], path.last._replace(samples=samples)))


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
