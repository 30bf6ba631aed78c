"""Statistics of moves wherever they were played, and the choice of a child by them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.kernels import amaf
from mctsr.kernels.amaf import GRAVE, GRAVE_LUDII, MCPS, UCB1_GRAVE, Signs, Table
from mctsr.kernels.descent import expand
from mctsr.kernels.node import DONE, NONE, PLANTED, SPENT, UNSCORED, Ids, Nodes, fresh
from tests.kernels import reference_amaf as plain
from tests.kernels.reference_amaf import Played, View

CODES, ROWS = 6, 4
METHODS = (GRAVE, MCPS, UCB1_GRAVE, GRAVE_LUDII)


Known = tuple[float, int]
"""A mean, and of how many."""


def mixed(method: int, own: Known, first: Known, perm: Known) -> float:
    """Mix three means by their counts; the kernel keeps sums, and returns a fraction."""
    sums = ((own[0] * own[1], float(own[1])), (first[0] * first[1], float(first[1])))
    top, bottom = amaf.mixed(method, 1e-5, *sums, np.array([perm[1], perm[0] * perm[1]], dtype=np.float32))
    return top / bottom if bottom else math.nan


def grave(own: Known, first: Known) -> float:
    return mixed(GRAVE, own, first, (0.0, 0))


def test_a6_grave_mixes_two_means_by_their_counts_and_the_bias() -> None:
    assert grave((0.0, 10), (1.0, 50)) == pytest.approx(0.833264, abs=5e-7)
    assert grave((0.6, 10), (0.4, 50)) == pytest.approx(0.433347, abs=5e-7)


def test_a7_grave_takes_the_amaf_mean_alone_for_an_unvisited_move() -> None:
    assert grave((0.0, 0), (0.4, 50)) == pytest.approx(0.4)
    assert grave((0.6, 10), (0.0, 0)) == pytest.approx(0.6)
    assert math.isnan(grave((0.0, 0), (0.0, 0)))


def test_a8_mcps_weighs_three_means_by_their_counts() -> None:
    assert mixed(MCPS, (0.6, 10), (0.6, 50), (0.75, 4)) == pytest.approx(0.609375)
    assert mixed(MCPS, (0.0, 0), (0.6, 50), (0.0, 0)) == pytest.approx(0.6)
    assert math.isnan(mixed(MCPS, (0.0, 0), (0.0, 0), (0.0, 0)))


playouts = st.builds(
    Played,
    st.lists(st.one_of(st.none(), st.integers(0, ROWS - 1)), max_size=ROWS + 2, unique=True),
    st.lists(st.integers(0, CODES - 1), max_size=9),
    st.integers(-3, 3).map(float),
)


def credit(table: Table, played: Played, signs: Signs, scratch: Ids) -> None:
    rows = np.array([NONE if row is None else row for row in played.path], dtype=np.int64)
    codes = np.array(played.moves, dtype=np.int64)
    amaf.credit_playout(table, rows, len(rows), codes, len(codes), signs, played.result, scratch)


@given(st.lists(playouts, max_size=6), st.lists(st.sampled_from([1, -1]), min_size=CODES, max_size=CODES))
@settings(max_examples=60)
def test_every_row_of_a_path_counts_each_later_code_once_a_playout(
    played: list[Played], view: list[int]
) -> None:
    table, signs = np.zeros((ROWS, CODES, 2), dtype=np.float32), np.array(view, dtype=np.int8)
    scratch = np.zeros((2, CODES), dtype=np.int64)
    for one in played:
        credit(table, one, signs, scratch)
    expected = [[plain.amaf(played, row, code, view[code]) for code in range(CODES)] for row in range(ROWS)]
    assert table.tolist() == [[list(stat) for stat in row] for row in expected]
    assert not scratch[0].any()


def test_a_repeated_code_counts_once_for_every_node_before_its_last_occurrence() -> None:
    table, scratch = np.zeros((3, CODES, 2), dtype=np.float32), np.zeros((2, CODES), dtype=np.int64)
    credit(table, Played([0, 1, 2], [4, 4, 5], 1.0), np.ones(CODES, dtype=np.int8), scratch)
    assert table[:, 4, 0].tolist() == [1.0, 1.0, 0.0]
    assert table[:, 5, 0].tolist() == [1.0, 1.0, 1.0]


def family(values: list[tuple[float, int, int, int, bool]]) -> Nodes:
    """Make a root with one child an entry: value, visits, asks in flight, flags, whether it has a child itself."""
    nodes = fresh(2 * len(values) + 1)
    nodes["first"] = NONE
    expand(nodes, 0, 0, 1)
    nodes[0] = fresh(1)[0]
    nodes["first"][0], nodes["parent"][0] = NONE, NONE
    expand(nodes, 1, 0, len(values))
    size = 1 + len(values)
    nodes["in_flight"][0] = sum(waiting for _, _, waiting, _, _ in values)
    for child, (value, visits, waiting, flags, parent) in enumerate(values, start=1):
        nodes["value"][child] = value if visits else math.nan
        nodes["value_sum"][child] = value * visits
        nodes["visits"][child], nodes["in_flight"][child], nodes["flags"][child] = visits, waiting, flags
        if parent:
            expand(nodes, size, child, 1)
            size += 1
    return nodes


REWARDS = st.integers(-200, 200).map(lambda i: i / 64)

entries = st.lists(
    st.tuples(
        REWARDS,
        st.integers(0, 4),
        st.sampled_from([0, 0, 0, 1, 2]),
        st.sampled_from([0, 0, 0, PLANTED, DONE, SPENT, UNSCORED]),
        st.booleans(),
    ),
    min_size=1,
    max_size=7,
)
stats = st.lists(
    st.tuples(st.integers(0, 3), REWARDS).map(lambda s: (float(s[0]), s[0] * s[1])),
    min_size=CODES,
    max_size=CODES,
)


@given(
    entries,
    st.lists(st.integers(0, CODES - 1), min_size=8, max_size=8),
    stats,
    stats,
    st.sampled_from(METHODS),
    st.sampled_from([0.0, 1e-5, 0.5, 3.0]),
)
@settings(max_examples=250)
def test_best_child_has_the_largest_value_among_those_that_may_be_entered(
    values: list[tuple[float, int, int, int, bool]],
    code: list[int],
    all_first: list[tuple[float, float]],
    permuted: list[tuple[float, float]],
    method: int,
    bias: float,
) -> None:
    nodes = family(values)
    codes = np.array((code * 2)[: len(nodes)], dtype=np.int64)
    view = View(
        method, bias, -3.0, lambda child: all_first[codes[child]], lambda child: permuted[codes[child]]
    )
    rows = (np.array(all_first, dtype=np.float32), np.array(permuted, dtype=np.float32))
    chosen = amaf.best_child(nodes, 0, codes, method, bias, view.low, *rows)
    open_ = plain.open_children(nodes, 0, set())
    if not open_:
        assert chosen == NONE
        return
    scores = {child: plain.score(nodes, 0, child, view) for child in open_}
    assert scores[chosen] >= max(scores.values()) - 1e-9
    unknown = [child for child in open_ if scores[child] == math.inf]
    assert chosen == min(unknown, default=chosen)


@pytest.mark.parametrize("method", METHODS)
def test_the_first_created_of_equal_children_wins(method: int) -> None:
    nodes = family([(1.0, 2, 0, 0, False), (2.0, 2, 0, 0, False), (2.0, 2, 0, 0, False)])
    nothing = np.zeros((1, 2), dtype=np.float32)
    codes = np.zeros(len(nodes), dtype=np.int64)
    assert amaf.best_child(nodes, 0, codes, method, 1e-5, 0.0, nothing, nothing) == 2


def test_ludii_tries_an_unvisited_child_before_all_others_where_the_paper_reads_its_amaf_mean() -> None:
    nodes = family([(0.9, 3, 0, 0, False), (0.0, 0, 0, 0, False)])
    codes, row = np.arange(len(nodes), dtype=np.int64), np.zeros((len(nodes), 2), dtype=np.float32)
    row[2] = 10.0, 1.0
    assert amaf.best_child(nodes, 0, codes, GRAVE, 1e-5, 0.0, row, row) == 1
    assert amaf.best_child(nodes, 0, codes, GRAVE_LUDII, 1e-5, 0.0, row, row) == 2


def test_ucb1_grave_explores_children_with_few_visits_and_counts_none_as_one() -> None:
    nodes = family([(0.5, 9, 0, 0, False), (0.4, 1, 0, 0, False), (0.0, 0, 0, 0, False)])
    codes, row = np.arange(len(nodes), dtype=np.int64), np.zeros((len(nodes), 2), dtype=np.float32)
    row[3] = 1.0, 0.39
    assert amaf.best_child(nodes, 0, codes, GRAVE, 1e-5, 0.0, row, row) == 1
    assert amaf.best_child(nodes, 0, codes, UCB1_GRAVE, 1e-5, 0.0, row, row) == 2
    row[3] = 1.0, 0.41
    assert amaf.best_child(nodes, 0, codes, UCB1_GRAVE, 1e-5, 0.0, row, row) == 3


def test_work_in_flight_counts_as_visits_that_brought_the_lower_bound() -> None:
    nodes = family([(0.9, 1, 1, 0, True), (0.5, 1, 0, 0, False)])
    codes, row = np.zeros(len(nodes), dtype=np.int64), np.zeros((1, 2), dtype=np.float32)
    assert amaf.best_child(nodes, 0, codes, GRAVE, 1e-5, 0.0, row, row) == 2
    assert amaf.best_child(nodes, 0, codes, GRAVE, 1e-5, 0.5, row, row) == 1
