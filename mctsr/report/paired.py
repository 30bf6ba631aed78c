"""Two ways of answering the same problems: how far they differ, and how sure that is.

Knows pairs of right and wrong, and nothing of runs. Only problems on which the two ways differ carry any weight.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

from .shares import Interval

if TYPE_CHECKING:
    from numpy.random import Generator

RESAMPLES = 10_000
"""Resamples of the bootstrap."""

LEAST = 5
"""Pairs below which neither an interval nor a probability is given: they would look surer than they are."""

TOO_FEW = "too few pairs"


@dataclass(frozen=True, slots=True)
class Paired:
    """One rule of choosing answers in two runs, problem by problem.

    Attributes:
        rule: "first", "selected", "majority" or "oracle".
        n: Problems that count in both, without the `left_out`.
        gained: Ids of the problems that only the second run has right; `lost` only the first.
        difference: Share right in the second minus share right in the first, in [-1, 1]; None over no problem.
        low: Lower bound of the 95 % interval of the difference; `high` the upper one. Without any problem gained
            or lost both are 0: resampling what never differs cannot show how rarely it might. None below `LEAST`.
        p: Two-sided exact McNemar probability; None below `LEAST` pairs.
        left_out: How many problems are in no pair, because they failed in one run or in both.
        note: `TOO_FEW` below `LEAST` pairs, else "".
    """

    rule: str
    n: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    left_out: int = 0
    note: str = ""


def pair(
    rule: str,
    first: Mapping[str, bool],
    second: Mapping[str, bool],
    rng: "Generator",
    *,
    left_out: int = 0,
) -> Paired:
    """Compare two runs on the problems of both, each named with whether its answer is right.

    Args:
        rule: Name of what is compared.
        first: Right or wrong by problem, in the run that is compared with.
        second: The same of the other run, for the same problems.
        rng: Draws the resamples.
        left_out: How many problems the caller left out of both.

    Raises:
        ValueError: The two do not name the same problems.
    """
    if first.keys() != second.keys():
        raise ValueError("pairs need the same problems on both sides")
    gained = tuple(id for id in first if second[id] and not first[id])
    lost = tuple(id for id in first if first[id] and not second[id])
    n = len(first)
    difference = (len(gained) - len(lost)) / n if n else None
    if n < LEAST:
        return Paired(rule, n, gained, lost, difference, None, None, None, left_out, TOO_FEW)
    low, high = bootstrap(len(gained), len(lost), n, rng)
    p = mcnemar(len(gained), len(lost))
    return Paired(rule, n, gained, lost, difference, low, high, p, left_out)


def mcnemar(gained: int, lost: int) -> float:
    """Return the exact two-sided probability of a split at least as uneven when both ways are equally good.

    McNemar 1947, Psychometrika 12(2), in its exact binomial form; nothing gained or lost is 1.
    """
    n, less = gained + lost, min(gained, lost)
    tail, all_splits = sum(comb(n, k) for k in range(less + 1)), 1 << n
    return min(1.0, 2 * tail / all_splits)


def bootstrap(gained: int, lost: int, n: int, rng: "Generator", *, resamples: int = RESAMPLES) -> Interval:
    """Return the 95 % percentile interval of the paired difference, in [-1, 1].

    A resample draws `n` problems with replacement, each with both its answers; what counts of it is how many
    gained and lost ones it holds, and these are multinomial. Efron 1979, Annals of Statistics 7(1).
    """
    import numpy as np

    drawn = rng.multinomial(n, [gained / n, lost / n, 1.0 - (gained + lost) / n], size=resamples)
    low, high = np.quantile((drawn[:, 0] - drawn[:, 1]) / n, [0.025, 0.975])
    return Interval(float(low), float(high))
