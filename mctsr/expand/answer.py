"""Whole answers, each written afresh."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from mctsr.caller import Caller
from mctsr.parts import Draft, Fault, Path, Problem

from .drafts import plain_answer, together


@dataclass(frozen=True, slots=True)
class Answer:
    """Open `n` independent answers; growing a node means answering afresh."""

    needs: frozenset[str] = frozenset()

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Answer `n` times."""
        return await together(partial(plain_answer, problem, i, llm) for i in range(n))

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Answer `n` times, without regard to the path."""
        return await self.open(path.problem, n, llm)
