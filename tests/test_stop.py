"""When it is enough: each stopper alone, together, and the limits of one problem."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RecipeError
from mctsr.lm.base import Tally, Usage
from mctsr.parts import Ledger
from mctsr.stop import (
    Limits,
    all_drawn,
    all_finished,
    first_of,
    max_depth,
    never,
    no_gain,
    paths_done,
    rollouts_done,
    solution_found,
)
from mctsr.tree import Sample, State, Tree

EMPTY = Tree()


def deep(depth: int) -> Tree:
    tree = Tree()
    for node in range(depth + 1):
        tree.add(node - 1, State(f"text {node}"))
    return tree


def spent(calls: int, tokens: int) -> Ledger:
    return Ledger(tally=Tally(calls=calls, usage=Usage(tokens // 2, tokens - tokens // 2)))


def test_never_stops_for_nothing() -> None:
    assert never()(deep(50), Ledger(asks=10**6, best=[1.0] * 99)) is None


@pytest.mark.parametrize(("n", "asks", "reason"), [(3, 2, None), (3, 3, "rollouts"), (0, 0, "rollouts")])
def test_rollouts_count_the_asks_made(n: int, asks: int, reason: str | None) -> None:
    assert rollouts_done(n)(EMPTY, Ledger(asks=asks)) == reason


@pytest.mark.parametrize(
    ("front", "faults", "reason"), [([0], 0, "all drawn"), ([], 0, None), ([0], 1, None)]
)
def test_the_opening_was_all_unless_it_came_to_nothing(
    front: list[int], faults: int, reason: str | None
) -> None:
    tree = deep(0)
    tree.front = front
    assert all_drawn()(tree, Ledger(server_faults=faults)) == reason


@pytest.mark.parametrize(
    ("front", "ended", "faults", "reason"),
    [
        ([], {1, 2}, 0, None),
        ([1, 2], {1}, 0, None),
        ([1, 2], {1, 2}, 0, "all finished"),
        ([1, 1], {1}, 0, "all finished"),
        ([1, 2], {1, 2}, 1, None),  # whether faults have emptied the search is for the engine to say
    ],
)
def test_a_population_is_finished_when_none_of_it_can_grow(
    front: list[int], ended: set[int], faults: int, reason: str | None
) -> None:
    tree = deep(2)
    tree.front = front
    for node in ended:
        tree.end(node, "finished")
    assert all_finished()(tree, Ledger(server_faults=faults)) == reason


@pytest.mark.parametrize(
    ("patience", "best", "reason"),
    [
        (2, [10, 20, 20], None),
        (2, [10, 20, 20, 20], "no gain"),
        (2, [10, 20, 20, 21], None),
        (2, [10, 30, 5, 30], "no gain"),  # fell when judged again and only came back
        (2, [10, 30, 5, 31], None),
        (1, [10], None),  # the opening alone is no lack of gain
        (1, [10, 10], "no gain"),
        (1, [10, 11], None),
        (3, [], None),
        (2, [-math.inf, -math.inf, -math.inf], "no gain"),
        (2, [-math.inf, -math.inf, -90], None),
        (0, [10, 10, 10, 10], None),
    ],
)
def test_no_gain_looks_at_the_last_folds(patience: int, best: list[float], reason: str | None) -> None:
    assert no_gain(patience)(EMPTY, Ledger(best=best)) == reason


@given(st.lists(st.integers(-3, 3), max_size=12), st.integers(1, 5))
def test_no_gain_counts_the_folds_since_the_best_value_was_first_reached(
    best: list[int], patience: int
) -> None:
    since = len(best) - 1 - best.index(max(best)) if best else 0
    said = no_gain(patience)(EMPTY, Ledger(best=[float(value) for value in best]))
    assert (said == "no gain") == (since >= patience)


@pytest.mark.parametrize(
    ("limit", "depth", "reason"), [(2, 1, None), (2, 2, "max depth"), (2, 3, "max depth")]
)
def test_depth_counts_the_refinements_below_a_root(limit: int, depth: int, reason: str | None) -> None:
    assert max_depth(limit)(deep(depth), Ledger()) == reason


def test_depth_can_be_off_and_an_empty_tree_has_none() -> None:
    assert max_depth(0)(deep(20), Ledger()) is None
    assert max_depth(1)(EMPTY, Ledger()) is None


def test_rows_past_the_end_of_the_tree_have_no_depth() -> None:
    tree = deep(1)
    tree.nodes["depth"][len(tree) :] = 99
    assert max_depth(2)(tree, Ledger()) is None


def test_the_first_reason_in_the_order_given_counts() -> None:
    ledger = Ledger(asks=9, best=[1.0, 1.0])
    assert first_of(rollouts_done(9), no_gain(1))(EMPTY, ledger) == "rollouts"
    assert first_of(no_gain(1), rollouts_done(9))(EMPTY, ledger) == "no gain"
    assert first_of(never(), rollouts_done(10), no_gain(1))(EMPTY, ledger) == "no gain"
    assert first_of(never(), rollouts_done(10))(EMPTY, ledger) is None
    assert first_of()(EMPTY, ledger) is None


@pytest.mark.parametrize("make", [rollouts_done, no_gain, max_depth])
def test_negative_numbers_are_refused_with_what_they_are(make: object) -> None:
    with pytest.raises(RecipeError, match="-1; it is "):
        make(-1)  # type: ignore[operator]


# Limits


@pytest.mark.parametrize(
    ("limits", "ledger", "met", "over"),
    [
        (Limits(), spent(10**6, 10**9), None, {}),
        (Limits(calls=5), spent(4, 99), None, {}),
        (Limits(calls=5), spent(5, 99), "call limit", {}),
        (Limits(calls=5), spent(8, 99), "call limit", {"calls": 3}),
        (Limits(tokens=50), spent(9, 49), None, {}),
        (Limits(tokens=50), spent(9, 50), "token limit", {}),
        (Limits(tokens=50), spent(9, 71), "token limit", {"tokens": 21}),
        (Limits(calls=5, tokens=50), spent(7, 60), "call limit", {"calls": 2, "tokens": 10}),
        (Limits(calls=0), spent(0, 0), "call limit", {}),
        (Limits(seconds=0.0), spent(9, 9), None, {}),  # the clock is the engine's
    ],
)
def test_limits_are_met_at_their_number_and_passed_beyond_it(
    limits: Limits, ledger: Ledger, met: str | None, over: dict[str, int]
) -> None:
    assert limits.met(ledger) == met
    assert limits.overshoot(ledger) == over


def test_paths_count_their_ends_and_siblings_once() -> None:
    tree = Tree()
    for ask, parent in enumerate((-1, 0, 0, 1, 1)):
        tree.add(parent, State(f"step {ask}", ask=[0, 1, 1, 2, 2][ask], step=True))
    assert paths_done(1)(tree, Ledger()) is None
    tree.end(3, "finished")
    tree.end(4, "max steps")
    assert [paths_done(n)(tree, Ledger()) for n in (0, 1, 2)] == [None, "paths", None]
    tree.end(2, "empty reply")
    assert [paths_done(n)(tree, Ledger()) for n in (0, 2, 3)] == [None, "paths", None]


def test_there_are_no_fewer_paths_than_none() -> None:
    with pytest.raises(
        RecipeError, match="paths is -1; it is a number of paths that came to an end, 0 for off"
    ):
        paths_done(-1)


@pytest.mark.parametrize(
    ("answer", "value", "reason"), [("5", 0.9, "solution found"), ("5", 0.8, None), (None, 1.0, None)]
)
def test_a_solution_is_found_when_it_is_finished_and_good_enough(
    answer: str | None, value: float, reason: str | None
) -> None:
    tree, stop = Tree(), solution_found(0.9)
    tree.add(-1, State("text", answer))
    assert stop(tree, Ledger()) is None
    tree.judged(0, (Sample(value, value),))
    tree.nodes["value"][0] = value
    assert stop(tree, Ledger()) is None, "a step that may go on is no solution"
    tree.end(0, "finished")
    assert stop(tree, Ledger()) == reason


def test_a_finished_solution_without_a_score_ends_nothing() -> None:
    tree = Tree()
    tree.add(-1, State("text", "5"))
    tree.unscored(0, "no score in the reply")
    tree.end(0, "finished")
    assert solution_found(0.0)(tree, Ledger()) is None
