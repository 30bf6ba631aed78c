"""Whole answers, rewritten from their first wrong step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.parts import Draft, Expander, Fault, Judge, Path, PathNode, Problem, Verdict, use_gold, words_of

from .boundary import PARAGRAPHS, Boundary, split
from .drafts import together, whole_answer


@dataclass(frozen=True, slots=True)
class Rectify:
    """Open as `inner` does; grow an answer by keeping what is right in it and writing the rest anew.

    The answer is cut into steps, and a judge scores one after the other until one lies below the threshold: what stands
    before it is kept, and the model goes on from there to the end. Where no step is found wrong, or too few stand
    before it, nothing is written, and the answer is left as it is.
    Source: SCOPE, arXiv:2602.24110. There another, stronger model writes the rest; its threshold is not known to us.

    Attributes:
        inner: Opens the answers, written under the prompt "answer".
        judge: Scores the last step of a path of steps, and that one alone.
        threshold: On the judge's scale.
        least: Steps that must be kept, at least 0.
        boundary: Where steps end.
        temperature: Of what is written; None leaves it to the model's settings.
    """

    inner: Expander
    judge: Judge
    threshold: float = 0.5
    least: int = 1
    boundary: Boundary = PARAGRAPHS
    temperature: float | None = None

    def __post_init__(self) -> None:
        if self.least < 0:
            raise RecipeError(f"least is {self.least}; it must be at least 0")

    @property
    def needs(self) -> frozenset[str]:
        """A server that continues a begun turn, and what the inner expander and the judge need."""
        return self.inner.needs | self.judge.needs | {"steps"}

    @property
    def wishes(self) -> frozenset[str]:
        """What the judge makes use of where its model offers it."""
        return words_of("wishes", self.judge)

    @property
    def uses_gold(self) -> bool:
        """Whether the inner expander or the judge compares answers with the known one."""
        return use_gold(self.inner, self.judge)

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Open as the inner expander does."""
        return await self.inner.open(problem, n, llm)

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        """Write `n` answers that share their right beginning with the path's last one, or none."""
        steps = split(path.last.text, self.boundary)
        good = await self._good(path.problem, steps, n, llm)
        if good == len(steps) or good < self.least:
            return []
        return await together(partial(self._rest, path, steps, good, i, llm) for i in range(n))

    async def _good(self, problem: Problem, steps: Sequence[str], n: int, llm: Caller) -> int:
        """Return how many steps stand before the first wrong one; a step that gets no score is not found wrong."""
        nodes: tuple[PathNode, ...] = ()
        for i, text in enumerate(steps):
            step = Path(problem, nodes).plus(Draft(text, step=True))
            # Numbers from n on: the drafts' own belong to the verdicts on them.
            said = await self.judge.judge(step, n + i, llm)
            samples = said.samples if isinstance(said, Verdict) else ()
            if samples and sum(sample.value for sample in samples) / len(samples) < self.threshold:
                return i
            nodes = (*nodes, step.last._replace(samples=samples))
        return len(steps)

    async def _rest(self, path: Path, steps: Sequence[str], good: int, draft: int, llm: Caller) -> Draft:
        kept = "".join(steps[:good])
        request = llm.ask("answer", {"problem": path.problem.text}, temperature=self.temperature)
        reply = await llm.complete(replace(request, begun=kept), part="rectify", draft=draft)
        work = {"kept": f"{good} of {len(steps)} steps"}
        if not reply.text.strip():
            return Draft(kept, work=work, unscored="empty reply")
        return whole_answer(replace(reply, text=kept + reply.text), path.problem, work)
