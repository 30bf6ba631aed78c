"""The steps that a judge is shown, what is known of them already, and the verdict on the last one.

A path's nodes carry their own samples: what the judge said of a parent stands there (`raw` is the step's own score,
`value` the aggregate up to it), so a step that was judged is never asked about again. That is the only cache, and it
needs none of its own: judges keep no state.
"""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from mctsr.parts import Path, Unscored, Verdict
from mctsr.tree import Sample

from .aggregate import Aggregate, last

LOW, HIGH = 0.0, 1.0

_BLANK_LINES = re.compile(r".+?(?:\n[^\S\n]*\n\s*|\Z)", re.DOTALL)

_NUMBERED = re.compile(r"step\s*\d+\s*[:.]", re.IGNORECASE)


class Step(NamedTuple):
    """One step of a solution.

    Attributes:
        text: As the model wrote it, its separator included; never blank.
        samples: What was said of it before, oldest first.
    """

    text: str
    samples: tuple[Sample, ...] = ()

    @property
    def score(self) -> float | None:
        """Its own score, the mean over its samples; None while it has none."""
        raw = [sample.raw for sample in self.samples]
        return math.fsum(raw) / len(raw) if raw else None


def steps_of(path: Path) -> tuple[Step, ...]:
    """Take a path apart: its nodes are the steps, or the last node's text is a whole answer, cut after blank lines.

    Blank pieces are left out; an answer's steps have no samples of their own.
    """
    if path.last.step:
        return tuple(Step(node.text, node.samples) for node in path.steps if node.text.strip())
    return tuple(Step(found) for found in _BLANK_LINES.findall(path.last.text) if found.strip())


def settled(path: Path) -> Verdict | Unscored | None:
    """Return what needs no call: an empty step has no score, and a model without chance says the same again."""
    if not path.last.text.strip():
        return Unscored("empty step")
    return Verdict(path.last.samples[-1:]) if path.last.samples else None


def wanted(steps: Sequence[Step], aggregate: Aggregate) -> range:
    """Return the numbers of the steps whose own scores the aggregate reads."""
    return range(len(steps) - 1 if aggregate is last else 0, len(steps))


def verdict(scores: Sequence[float], aggregate: Aggregate, text: str = "") -> Verdict | Unscored:
    """Make the verdict on the last of `scores`, unless one of them is no probability.

    Args:
        scores: The steps' own scores, in order; at least one.
        aggregate: Makes the value of them.
        text: What was said, for people.
    """
    found = sample_of(scores, aggregate, text)
    return found if isinstance(found, Unscored) else Verdict((found,))


def sample_of(scores: Sequence[float], aggregate: Aggregate, text: str = "") -> Sample | Unscored:
    """Make one sampled evaluation, as `verdict` does."""
    odd = next((score for score in scores if not LOW <= score <= HIGH), None)
    if odd is not None:
        return Unscored(f"no probability: the score is {odd}")
    return Sample(aggregate(scores), scores[-1], text)


def gathered(found: Sequence[Sample | Unscored]) -> Verdict | Unscored:
    """Put sampled evaluations of one node together; those that were lost take no other along."""
    read = tuple(one for one in found if isinstance(one, Sample))
    lost = tuple(one for one in found if isinstance(one, Unscored))
    return Verdict(read, lost) if read else lost[0]


def numbered(number: int, text: str) -> str:
    """Return a step's text with "Step i: " before it, unless it begins so already."""
    text = text.strip()
    return text if _NUMBERED.match(text) else f"Step {number}: {text}"
