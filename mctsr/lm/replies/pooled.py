"""The scores that a reward model replies, at the two endpoints that give them.

Knows: their shapes. Does not know: what a row means, or how many there ought to be.
"""

from collections.abc import Mapping

from mctsr.lm.base import Pooled

from .fields import Malformed, usage_of
from .tokens import finite


def read_pooled(data: object) -> Pooled:
    """Read the rows of the one input: a row a token or step from /pooling, the one row of /classify.

    Raises:
        Malformed: there are no rows, or what they hold are no finite numbers; the latter for good.
    """
    items = data.get("data") if isinstance(data, Mapping) else None
    if not isinstance(items, list) or not items or not isinstance(items[0], Mapping):
        raise Malformed("the reply holds no scores")
    assert isinstance(data, Mapping)
    item = items[0]
    found = item["probs"] if "probs" in item else item.get("data")
    if not isinstance(found, list):
        raise Malformed(
            "the reply's scores are no list; the server at this address is no reward model", final=True
        )
    rows = found if all(isinstance(row, list) for row in found) else [found]
    return Pooled(tuple(_row(row) for row in rows), usage_of(data.get("usage")))


def _row(row: list[object]) -> tuple[float, ...]:
    numbers = tuple(number for value in row if (number := finite(value)) is not None)
    if len(numbers) != len(row):
        raise Malformed(
            "a score is NaN, infinite or no number; serve the reward model in another --dtype", final=True
        )
    return numbers
