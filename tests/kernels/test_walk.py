"""Links, work in flight and the candidate rule, against plain Python."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels import walk
from mctsr.kernels.node import DONE, NODE, NONE, UNJUDGED, UNSCORED, fresh
from tests.kernels import reference
from tests.kernels.reference import Forest, Plain, forests


def test_a_node_is_one_cache_line_and_selection_reads_its_first_half() -> None:
    assert NODE.itemsize == 64
    offsets = {name: NODE.fields[name][1] for name in NODE.names or ()} if NODE.fields else {}
    for name in ("value", "visits", "in_flight", "first", "next", "prior", "flags"):
        assert offsets[name] < 32
    assert all(offsets[name] % 8 == 0 for name in ("value", "value_sum"))
    assert [fresh(n).ctypes.data % 64 for n in (1, 7, 10_000)] == [0, 0, 0]


@given(forests())
def test_links_lead_through_the_children_in_order_of_creation(forest: Forest) -> None:
    nodes, _ = reference.as_array(forest)
    for i, plain in enumerate(forest):
        seen, child = [], int(nodes["first"][i])
        while child != NONE:
            seen.append(child)
            child = int(nodes["next"][child])
        assert seen == plain.children
        assert nodes["n_children"][i] == len(plain.children)
        assert nodes["last"][i] == (plain.children[-1] if plain.children else NONE)
        assert nodes["parent"][i] == (NONE if plain.parent is None else plain.parent)
        assert nodes["depth"][i] == (0 if plain.parent is None else nodes["depth"][plain.parent] + 1)


@given(forests())
def test_work_in_flight_is_counted_on_the_whole_path_and_returns_to_zero(forest: Forest) -> None:
    nodes, _ = reference.as_array(forest)
    for i in range(len(forest)):
        assert nodes["in_flight"][i] == reference.in_flight(forest, i)
    for i, plain in enumerate(forest):
        walk.mark(nodes, i, -plain.asks)
    assert not nodes["in_flight"].any()


CONDITIONS = {"better": walk.BETTER, "as good": walk.AS_GOOD, "number": walk.NUMBER, "either": walk.EITHER}


@given(forests(), st.integers(-1, 4), st.sampled_from(list(CONDITIONS)))
def test_candidates_equal_the_plain_rule(forest: Forest, open_below: int, closed_by: str) -> None:
    nodes, own = reference.as_array(forest)
    out = np.empty(len(forest), dtype=np.int64)
    for measure, plain in ((nodes["value"], [p.value for p in forest]), (own, [p.own for p in forest])):
        count = walk.candidates(nodes, len(forest), measure, open_below, CONDITIONS[closed_by], out)
        assert out[:count].tolist() == reference.candidates(forest, plain, open_below, closed_by)


def chosen(forest: Forest, open_below: int, closed_by: int) -> list[int]:
    nodes, _ = reference.as_array(forest)
    out = np.empty(len(forest), dtype=np.int64)
    count = walk.candidates(nodes, len(forest), nodes["value"], open_below, closed_by, out)
    return [int(node) for node in out[:count]]


def family(parent: float, children: list[float], asks: int = 0, flags: int = 0) -> Forest:
    root = Plain(None, parent, parent, 1, asks, flags, list(range(1, len(children) + 1)))
    return [root, *(Plain(0, value, value, 1, 0, 0) for value in children)]


def test_paper_rule_closes_a_node_only_with_enough_children_and_a_better_one() -> None:
    assert 0 in chosen(family(5, [9]), 2, walk.BETTER)
    assert 0 in chosen(family(5, [4, 5]), 2, walk.BETTER)
    assert 0 not in chosen(family(5, [4, 6]), 2, walk.BETTER)


def test_code_rule_closes_a_node_with_an_equal_child_too() -> None:
    assert 0 in chosen(family(5, [4, 5]), 3, walk.AS_GOOD)
    assert 0 in chosen(family(5, [4, 4, 4]), 3, walk.AS_GOOD)
    assert 0 not in chosen(family(5, [4, 4, 5]), 3, walk.AS_GOOD)


def test_the_number_of_children_alone_or_a_better_child_alone_can_close_a_node() -> None:
    assert 0 not in chosen(family(5, [4]), 1, walk.NUMBER)
    assert 0 in chosen(family(5, []), 1, walk.NUMBER)
    assert 0 not in chosen(family(5, [6]), 2, walk.EITHER)
    assert 0 not in chosen(family(5, [4, 4]), 2, walk.EITHER)
    assert 0 in chosen(family(5, [4]), 2, walk.EITHER)


def test_asks_in_flight_count_as_children() -> None:
    assert 0 in chosen(family(5, [4]), 2, walk.BETTER)
    assert 0 not in chosen(family(5, [4], asks=1), 2, walk.BETTER)
    assert 0 in chosen(family(5, [], asks=1), 2, walk.BETTER)


def test_no_limit_keeps_every_scored_unfinished_node() -> None:
    assert chosen(family(5, [9, 9, 9]), -1, walk.BETTER) == [0, 1, 2, 3]


def test_finished_unscored_and_unjudged_nodes_are_never_candidates() -> None:
    for flag in (DONE, UNSCORED, UNJUDGED):
        assert chosen(family(5, [], flags=flag), 2, walk.BETTER) == []


def test_an_unscored_child_counts_as_child_but_never_beats_its_parent() -> None:
    forest = family(5, [4, math.inf])
    forest[2].flags = UNSCORED
    assert 0 in chosen(forest, 2, walk.BETTER)
