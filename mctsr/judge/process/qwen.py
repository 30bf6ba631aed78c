"""Qwen's process reward models behind a `/pooling` endpoint: one call scores every step.

Source: model card and code of Qwen2.5-Math-PRM (arXiv:2501.07301): steps are joined by a special token, one more stands
at the end, and each gives a row [P(bad), P(good)].
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mctsr.caller import Caller
from mctsr.judge.aggregate import Aggregate, last
from mctsr.judge.steps import HIGH, LOW, settled, steps_of, verdict
from mctsr.lm.base import Message, Pooling
from mctsr.parts import Path, Unscored, Verdict

from .wrong import counted, wrong_model

MARK = "<extra_0>"
SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
ENDPOINT, PART = "/pooling", "qwen_prm"
SLACK = 1e-3
"""How far beyond [0, 1] a server of low precision may round a probability."""

_ALLOWED = (
    "a process reward model that gives one pair of probabilities a step, such as Qwen2.5-Math-PRM in vLLM"
)


@dataclass(frozen=True, slots=True)
class QwenPrm:
    """Score all steps with one call, and take the last one's or an aggregate.

    The value is the aggregate of the steps' P(good), `raw` the last step's own. A node that has a sample is not asked
    about again. Blanks around a step are not sent: the model was trained on steps without their separator.

    Attributes:
        aggregate: Makes one value of the steps' scores; see `AGGREGATES`.
        mark: The special token after each step.
        system: The system turn that the model was trained with; "" sends none.
    """

    aggregate: Aggregate = last
    mark: str = MARK
    system: str = SYSTEM
    needs: ClassVar[frozenset[str]] = frozenset({"prm", "pooling"})
    low: ClassVar[float] = LOW
    high: ClassVar[float] = HIGH

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        """Score the path's last step.

        Raises:
            UsageError: The model is no process reward model of this kind.
        """
        if known := settled(path):
            return known
        texts = [step.text.strip() for step in steps_of(path)]
        if any(self.mark in text for text in (path.problem.text, *texts)):
            return Unscored(f"the text holds the step mark: {self.mark}")
        turns = [Message("system", self.system)] if self.system else []
        turns.append(Message("user", path.problem.text))
        turns.append(Message("assistant", "".join(text + self.mark for text in texts)))
        pooled = await llm.pool(Pooling(tuple(turns)), part=PART, draft=draft)
        scores = _scores(pooled.rows, len(texts))
        return scores if isinstance(scores, Unscored) else verdict(scores, self.aggregate)


def _scores(rows: Sequence[Sequence[float]], steps: int) -> Unscored | tuple[float, ...]:
    """Read P(good) of each step; what rounding put just outside [0, 1] is moved to its end.

    Raises:
        UsageError: The rows are such as no path would explain.
    """
    if any(len(row) != 2 for row in rows):
        widths = sorted({len(row) for row in rows})
        most = counted(widths[-1], "number")
        found = most if len(widths) == 1 else f"{widths[0]} to {most}"
        raise wrong_model(f"gave rows of {found}, not 2", _ALLOWED, ENDPOINT, PART)
    if len(rows) != steps and (steps == 1 or len(rows) == 1):
        raise wrong_model(
            f"gave {counted(len(rows), 'score')} for {counted(steps, 'step')}", _ALLOWED, ENDPOINT, PART
        )
    if len(rows) != steps:
        return Unscored(f"wrong number of scores: {len(rows)} for {steps} steps")
    scores = tuple(float(row[1]) for row in rows)
    outside = [s for s in scores if math.isfinite(s) and not LOW - SLACK <= s <= HIGH + SLACK]
    if outside:
        worst = max(outside, key=lambda score: max(LOW - score, score - HIGH))
        if len(outside) < len(scores):
            return Unscored(f"no probability: {worst!r}")
        raise wrong_model(f"gave {worst!r} as a probability", _ALLOWED, ENDPOINT, PART)
    return tuple(min(max(s, LOW), HIGH) if math.isfinite(s) else s for s in scores)
