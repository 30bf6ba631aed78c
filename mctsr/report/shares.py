"""Shares of right answers with their uncertainty. Knows counts, and nothing of runs."""

import math
from typing import NamedTuple

Z95 = 1.959963984540054
"""Half-width of a 95 % interval of the normal distribution."""


class Interval(NamedTuple):
    """Bounds of a share, both in [0, 1]."""

    low: float
    high: float


def wilson(correct: int, n: int) -> Interval:
    """Return the 95 % score interval of `correct` out of `n`; nothing known, n = 0, is (0, 1).

    Wilson 1927, Journal of the American Statistical Association 22(158).

    Raises:
        ValueError: Not 0 <= correct <= n.
    """
    if not 0 <= correct <= n:
        raise ValueError(f"{correct} correct of {n}; the count lies between 0 and n")
    if n == 0:
        return Interval(0.0, 1.0)
    share, spread = correct / n, Z95 * Z95 / n
    centre = share + spread / 2
    reach = math.sqrt(spread * (share * (1 - share) + spread / 4))
    low = 0.0 if correct == 0 else (centre - reach) / (1 + spread)
    high = 1.0 if correct == n else (centre + reach) / (1 + spread)
    return Interval(low, high)
