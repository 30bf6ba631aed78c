"""What a labelled solution is, how a score becomes a label, and what is counted on the way to them.

Knows scores in [0, 1]. Does not know trees.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from mctsr.errors import UsageError, shown

from .scale import Scale

KINDS = "hard", "soft"
MIDDLE = 0.5
"""The threshold where nothing is said: a step is good when it is better than bad."""


@dataclass(frozen=True, slots=True)
class Labels:
    """How values become labels.

    Attributes:
        kind: "hard": a step is good or not; "soft": the score itself, in [0, 1].
        threshold: A step is good when its score is above this, in [0, 1); 0 takes whatever is better than the
            worst, as Math-Shepherd's hard estimation does. None takes what is usual for the run, see `meaning`.
        min_visits: A step with fewer visits gets no label, and ends its path; 0 labels those that have a value but
            were never visited.
        scale: Of the judge; None takes what the run tells.

    Raises:
        UsageError: A value is not one of these.
    """

    kind: str = "hard"
    threshold: float | None = None
    min_visits: int = 1
    scale: Scale | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"labels {shown(self.kind)} are unknown; give --labels {' or '.join(KINDS)}")
        if self.threshold is not None and not 0.0 <= self.threshold < 1.0:
            raise UsageError(f"threshold {self.threshold:g} is out of range; give --threshold 0 to below 1")
        if self.min_visits < 0:
            raise UsageError(f"minimum visits {self.min_visits} are too few; give --min-visits 0 or more")

    def good(self, score: float) -> bool:
        """Say whether a step of this score counts as good."""
        return score > (MIDDLE if self.threshold is None else self.threshold)


class Step(NamedTuple):
    """One step, or several in a row: text as the model wrote it, separator included; score in [0, 1]; visits."""

    text: str
    score: float
    visits: int


class Solution(NamedTuple):
    """A path from the root down, as far as its steps have labels.

    Attributes:
        problem_id: Whose problem it solves; `problem` is the question.
        node: Its last node.
        answer: The final answer in it; "" when it is not finished.
        steps: At least one.
    """

    problem_id: str
    problem: str
    node: int
    answer: str
    steps: tuple[Step, ...]


@dataclass(slots=True)
class Counts:
    """What an export came to; filled while the rows are written.

    Attributes:
        problems: Trees that were read.
        with_rows: Of these, problems that gave a row; `with_good_path` a finished one whose steps are all good.
        paths: Rows.
        steps: Labelled steps in all rows; a step that several paths share is counted in each. `good` of them
            are good.
        low: Lowest score of a step; `high` the highest.
        left_out: What got no label, by reason.
        scale: What the judge's values were read on; None before the first tree.
    """

    problems: int = 0
    with_rows: int = 0
    with_good_path: int = 0
    paths: int = 0
    steps: int = 0
    good: int = 0
    low: float = 1.0
    high: float = 0.0
    left_out: Counter[str] = field(default_factory=Counter)
    scale: Scale | None = None

    def add(self, solution: Solution, labels: Labels) -> bool:
        """Count a row; says whether it is a finished path of good steps alone."""
        scores = [step.score for step in solution.steps]
        good = sum(map(labels.good, scores))
        self.paths += 1
        self.steps += len(scores)
        self.good += good
        self.low, self.high = min(self.low, *scores), max(self.high, *scores)
        return bool(solution.answer) and good == len(scores)
