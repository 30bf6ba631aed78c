"""Rollouts whose steps are checked: a node is worth what the steps behind it and their outcome are worth.

Knows how a rollout is written, checked and fused into one number, and how it is read back. Which node is simulated,
the selector says; what becomes of the number, the backup.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from mctsr.caller import Caller
from mctsr.errors import RecipeError
from mctsr.judge.lookahead import Writer
from mctsr.judge.outcome import Ends
from mctsr.parts import Judge, Path, Unscored, Verdict
from mctsr.tree import Sample

from .verify import ToolVerify

WRONG, UNKNOWN, RIGHT = -1.0, 0.0, 1.0
_VERIFY = ToolVerify()
Fuse = Callable[[Sequence[float], float], float]


class Rollout(NamedTuple):
    """What one simulation came to.

    Attributes:
        outcome: F, from -1 to 1.
        answer: The answer at its end, None without one.
        complete: Whether it came to an end at all.
        verdicts: v of each of its steps: 1 right, -1 wrong, 0 not checkable.
        steps: What was written.
    """

    outcome: float
    answer: str | None = None
    complete: bool = True
    verdicts: Sequence[float] = ()
    steps: Sequence[str] = ()


def rollouts_of(samples: Sequence[Sample]) -> list[Rollout]:
    """Return the simulations among a node's samples; the verification at its birth is none."""
    found = []
    for sample in samples:
        if sample.text.startswith("{"):
            found.append(Rollout(**json.loads(sample.text)))
    return found


@dataclass(frozen=True, slots=True)
class GroundedRollout:
    """Check a new step by computation; simulate from a node that is judged again, and check each step of that.

    A new step's sample is its verdict: 1 right, -1 wrong, 0 not checkable. A finished one is worth its outcome F.
    Judged again, a node is continued by up to `depth` steps, which are checked and never join the tree; `fuse` makes
    one number of the verdicts on all of them but the last and of F, which stands for the last. The rollout is kept
    as the sample's text, see `rollouts_of`. What has not ended after `depth` steps has the outcome of no answer; where
    the server sent nothing at all, the rollout is lost.
    Source: GroundedPRM, arXiv:2510.14942; a computer algebra system stands for its tool.

    Attributes:
        steps: Writes them.
        outcome: Says what an end is worth, from -1 to 1.
        fuse: Maps (verdicts, F) to a value from -2 to 2; `mctsr.backup.grounded_prm_code` or alike.
        depth: Most steps of a simulation.
        verify: Checks steps.
    """

    steps: Writer
    outcome: Ends
    fuse: Fuse
    depth: int = 5
    verify: ToolVerify = _VERIFY
    low: ClassVar[float] = -2.0
    high: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise RecipeError(f"depth is {self.depth}; it is the most steps of a simulation, at least 1")

    @property
    def needs(self) -> frozenset[str]:
        """What the writer and the judge of ends need."""
        return self.steps.needs | self.outcome.needs

    @property
    def wishes(self) -> frozenset[str]:
        """What the judge of ends makes use of."""
        return self.outcome.wishes

    @property
    def uses_gold(self) -> bool:
        """Whether the judge of ends does."""
        return self.outcome.uses_gold

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Check the last step of a draft; simulate from a node of the tree."""
        if not path.last.text.strip():
            return Unscored("empty step")
        if draft >= 0 and not path.last.done:
            return await _mapped(self.verify, path, draft, llm)
        return await self._simulated(path, draft, llm)

    async def _simulated(self, start: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        # What is known of the steps so far is on this judge's scale, which the judge of ends must not read.
        path = Path(start.problem, tuple(node._replace(samples=()) for node in start.nodes))
        verdicts, written = list[float](), list[str]()
        while len(written) < self.depth and not path.last.done:
            # No draft of this ask has such a number, whether it grows the node as well or not.
            step = await self.steps.write(path, draft - len(written), llm)
            if step.unscored and step.why != "finished":
                return Unscored(step.unscored)
            if step.unscored:
                path = _ended(path, step.answer)
                break
            path = path.plus(step)
            written.append(step.text)
            checked = await _mapped(self.verify, path, draft, llm)
            verdicts.append(UNKNOWN if isinstance(checked, Unscored) else checked.samples[0].value)
        ended = await self.outcome.judge(path, draft, llm)
        if isinstance(ended, Unscored):
            return ended
        known = ended.samples[0].value
        rollout = Rollout(known, path.last.answer, path.last.done, verdicts, written)
        text, value = json.dumps(rollout._asdict(), ensure_ascii=False), self.fuse(verdicts[:-1], known)
        return Verdict((Sample(value, value, text),), ended.unscored)


def _ended(path: Path, answer: str | None) -> Path:
    """Return a path whose last step was the end after all: the model had nothing to add."""
    return Path(path.problem, (*path.nodes[:-1], path.last._replace(answer=answer, done=True)))


async def _mapped(judge: Judge, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
    """Judge on the scale from -1 to 1."""
    found = await judge.judge(path, draft, llm)
    if isinstance(found, Unscored):
        return found
    span = judge.high - judge.low
    mapped = (2.0 * (sample.value - judge.low) / span - 1.0 for sample in found.samples)
    return Verdict(
        tuple(Sample(value, value, sample.text) for value, sample in zip(mapped, found.samples, strict=True)),
        found.unscored,
    )
