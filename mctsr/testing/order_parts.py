"""Parts that search the toy worlds of `orders`: one call proposes a step, one call judges a node.

They know the world for its length and its priors only; steps and scores come from the calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from mctsr.caller import Caller
from mctsr.errors import ServerError
from mctsr.expand.drafts import together
from mctsr.lm.base import Message, Request
from mctsr.parts import Draft, Fault, Path, Problem, Unscored, Verdict
from mctsr.tree import Sample

from .orders import StepWorld


def _lines(path: Path) -> str:
    return "\n".join(node.text for node in path.nodes if node.text)


@dataclass(frozen=True, slots=True)
class NextStep:
    """Open an empty solution; grow it by one step a draft, one call each.

    A draft's prior is the world's, as a model's token probabilities would give it; a full solution is finished, and its
    answer is the numbers of its steps.
    """

    world: StepWorld
    needs: frozenset[str] = frozenset()

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Open one empty solution."""
        return [Draft("")]

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Propose `n` steps, fewer when no more are left."""
        lines = _lines(path)
        most = len(self.world.worth) - len(self.world.read(lines))
        return await together(partial(self._draft, lines, i, llm) for i in range(min(n, most)))

    async def _draft(self, lines: str, draft: int, llm: Caller) -> Draft:
        text = (await llm.complete(_request(lines), part="step", draft=draft)).text
        before = self.world.read(lines)
        steps = [*before, *self.world.read(text)]
        prior = self.world.chance(steps[-1], before)
        done = len(steps) == self.world.length
        answer = " ".join(map(str, steps)) if done else None
        return Draft(text, answer, prior=prior, done=done)


@dataclass(frozen=True, slots=True)
class WholeSolution:
    """Open `n` full solutions, each written step by step: as many calls as it has steps."""

    world: StepWorld
    needs: frozenset[str] = frozenset()

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Write `n` solutions."""
        return await together(partial(self._solution, i, llm) for i in range(n))

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Write `n` solutions, without regard to the path."""
        return await self.open(path.problem, n, llm)

    async def _solution(self, draft: int, llm: Caller) -> Draft:
        lines: list[str] = []
        for place in range(self.world.length):
            request = _request("\n".join(lines))
            completion = await llm.complete(request, part="solution", draft=draft, sample=place)
            lines.append(completion.text)
        text = "\n".join(lines)
        return Draft(text, " ".join(map(str, self.world.read(text))), done=True)


@dataclass(frozen=True, slots=True)
class StepJudge:
    """Ask the world what a solution is worth, one call a node; 0.2 + 0.6 value + noise, kept in [0, 1]."""

    needs: frozenset[str] = frozenset()
    low: float = 0.0
    high: float = 1.0

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Judge the solution that the path spells."""
        try:
            completion = await llm.complete(_request(_lines(path), "judge"), part="score", draft=draft)
        except ServerError as error:
            return Unscored.of(error)
        try:
            value = float(completion.text)
        except ValueError:
            return Unscored("no score in the reply")
        return Verdict((Sample(value, value, completion.text),))


def _request(lines: str, role: Literal["policy", "judge"] = "policy") -> Request:
    return Request((Message("user", lines),), role)
