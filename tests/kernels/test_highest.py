"""The best node of a range and of a path, against plain Python."""

import math

from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels.highest import highest, highest_above
from mctsr.kernels.node import NONE, PLANTED
from tests.kernels import reference
from tests.kernels.reference import Forest, forests


def best(forest: Forest, ids: list[int]) -> int:
    fit = [i for i in ids if forest[i].scored and not forest[i].flags & PLANTED]
    return max(fit, key=lambda i: -math.inf if math.isnan(forest[i].value) else forest[i].value, default=NONE)


def hole(forest: Forest, data: st.DataObject) -> Forest:
    """Plant some nodes and take the value of others."""
    for plain in forest:
        plain.flags |= data.draw(st.sampled_from([0, 0, 0, PLANTED]))
        plain.value = data.draw(st.sampled_from([plain.value, plain.value, math.nan]))
    return forest


@given(forests(), st.data())
def test_the_best_of_a_range_is_the_first_with_the_largest_value(forest: Forest, data: st.DataObject) -> None:
    nodes, _ = reference.as_array(hole(forest, data))
    begin = data.draw(st.integers(0, len(forest)))
    end = data.draw(st.integers(begin, len(forest)))
    assert highest(nodes, begin, end) == best(forest, list(range(begin, end)))


@given(forests(), st.data())
def test_the_best_of_a_path_is_the_first_with_the_largest_value(forest: Forest, data: st.DataObject) -> None:
    nodes, _ = reference.as_array(hole(forest, data))
    for node, plain in enumerate(forest):
        line, above = [node], plain.parent
        while above is not None:
            line.append(above)
            above = forest[above].parent
        assert highest_above(nodes, node) == best(forest, line[::-1])
    assert highest_above(nodes, NONE) == NONE
