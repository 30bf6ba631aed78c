"""From the scores of a path's steps to one number.

Knows nothing of models. Scores are probabilities in [0, 1], in the order of the steps, at least one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from mctsr.errors import RecipeError, named, shown

Aggregate = Callable[[Sequence[float]], float]


def last(scores: Sequence[float]) -> float:
    """Return the last step's score: what a model that reads the whole prefix says of it."""
    return scores[-1]


def minimum(scores: Sequence[float]) -> float:
    """Return the worst score: a chain is as good as its weakest step."""
    return min(scores)


def product(scores: Sequence[float]) -> float:
    """Return the product: the chance that no step is wrong, if steps failed independently; shrinks with length."""
    return math.prod(scores)


def mean(scores: Sequence[float]) -> float:
    """Return the arithmetic mean."""
    return math.fsum(scores) / len(scores)


AGGREGATES: Mapping[str, Aggregate] = MappingProxyType(
    {"last": last, "min": minimum, "product": product, "mean": mean}
)
"""The aggregations by the names that recipes use."""


def named_aggregate(name: str) -> Aggregate:
    """Return the aggregation called `name`.

    Raises:
        RecipeError: There is none of that name.
    """
    if name not in AGGREGATES:
        raise RecipeError(f"aggregation {shown(name)} is unknown; choose one of {named(AGGREGATES)}")
    return AGGREGATES[name]
