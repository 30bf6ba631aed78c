"""Backups, against plain Python and against numbers worked out on paper."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.backup import half_min_mean
from mctsr.kernels import credit
from mctsr.kernels.node import UNSCORED
from mctsr.tree import Sample
from tests.kernels import reference
from tests.kernels.reference import Forest, Plain, forests


@given(forests(), st.randoms(use_true_random=False))
def test_values_are_half_own_half_best_child_whatever_the_order_of_judging(
    forest: Forest, mix: object
) -> None:
    nodes, own = reference.as_array(forest)
    order = list(range(len(forest)))
    mix.shuffle(order)  # type: ignore[attr-defined]
    for node in order:
        credit.half_own_half_best(nodes, own, node)
    expected = [reference.half(forest, node) for node in range(len(forest))]
    np.testing.assert_array_equal(nodes["value"][: len(forest)], expected)


@given(forests())
def test_a_backup_changes_values_on_its_path_alone(forest: Forest) -> None:
    nodes, own = reference.as_array(forest)
    before = nodes.copy()
    node: int | None = len(forest) - 1
    credit.half_own_half_best(nodes, own, len(forest) - 1)
    path = set()
    while node is not None:
        path.add(node)
        node = forest[node].parent
    off = [i for i in range(len(nodes)) if i not in path]
    np.testing.assert_array_equal(nodes[off], before[off])
    for name in set(nodes.dtype.names or ()) - {"value"}:
        np.testing.assert_array_equal(nodes[name], before[name])


@given(forests())
def test_repeating_a_backup_changes_nothing(forest: Forest) -> None:
    nodes, own = reference.as_array(forest)
    for node in range(len(forest)):
        credit.half_own_half_best(nodes, own, node)
    once = nodes["value"].copy()
    credit.half_own_half_best(nodes, own, len(forest) - 1)
    np.testing.assert_array_equal(nodes["value"], once)


@given(forests(), st.floats(0, 3))
def test_released_code_refreshes_leaves_and_parents_of_leaves_and_nothing_else(
    forest: Forest, c: float
) -> None:
    nodes, own = reference.as_array(forest)
    ucb = np.full(len(nodes), -7.0)
    values = nodes["value"].copy()
    credit.mctsr_code(nodes, len(forest), own, ucb, c, 1e-5)
    for i, plain in enumerate(forest):
        leaf = not plain.children
        above_leaf = any(not forest[child].children for child in plain.children)
        if not plain.scored or not (leaf or above_leaf):
            assert (nodes["value"][i], ucb[i]) == (values[i], -7.0)
            continue
        below = [forest[child].own for child in plain.children if forest[child].scored]
        value = 0.5 * (plain.own + max(below)) if below else plain.own
        above = 0 if plain.parent is None else forest[plain.parent].visits
        assert nodes["value"][i] == value
        assert ucb[i] == pytest.approx(reference.uct(value, above, plain.visits, c, 1e-5, paper=False))


def test_a1_value_is_half_minimum_half_mean() -> None:
    # min = -50, mean = 10/3; (-50 + 3.333333) / 2
    assert half_min_mean([Sample(v, v) for v in (-50.0, 20.0, 40.0)]) == pytest.approx(-23.333333, abs=5e-7)


def test_a4_backup_is_half_own_half_best_child() -> None:
    own = -70 / 3
    forest = [Plain(None, own, own, 3, 0, 0, [1, 2]), Plain(0, 10, 10, 1, 0, 0), Plain(0, 35, 35, 1, 0, 0)]
    nodes, own_values = reference.as_array(forest)
    credit.half_own_half_best(nodes, own_values, 2)
    assert nodes["value"][0] == pytest.approx(5.833333, abs=5e-7)


def test_an_unscored_child_has_no_part_in_its_parents_value() -> None:
    forest = [Plain(None, 10, 10, 1, 0, 0, [1]), Plain(0, 90, 90, 0, 0, UNSCORED)]
    nodes, own = reference.as_array(forest)
    credit.half_own_half_best(nodes, own, 0)
    assert nodes["value"][0] == 10
    assert math.isnan(credit.best_child(nodes, own, 0))
