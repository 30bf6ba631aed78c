"""Rankings from pairwise preferences, against plain Python and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.backup import borda, borda_values, llama_berry_values
from mctsr.kernels.credit_ranks import Beats
from mctsr.kernels.node import NONE, Floats

Edges = set[tuple[int, int]]


def table(n: int, edges: Edges) -> Beats:
    beats = np.zeros((n, n), dtype=np.bool_)
    for i, j in edges:
        beats[i, j] = True
    return beats


def reached(n: int, edges: Edges, start: int) -> set[int]:
    """Follow edges from `start`, one or more."""
    found: set[int] = set()
    todo = [start]
    while todo:
        at = todo.pop()
        new = {j for i, j in edges if i == at} - found
        found |= new
        todo += new
    return found


@settings(max_examples=50)
@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))
    )
)
def test_the_count_is_the_number_of_nodes_reached_by_preferences(drawn: tuple[int, Edges]) -> None:
    n, edges = drawn
    given = table(n, edges)
    assert borda(given).tolist() == [len(reached(n, edges, i)) for i in range(n)]
    np.testing.assert_array_equal(given, table(n, edges))


def test_a20_borda() -> None:
    edges = {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)}
    assert borda(table(4, edges)).tolist() == [3, 2, 1, 0]
    assert borda(table(4, edges | {(3, 0)})).tolist() == [4, 4, 4, 4]


def sure(order: list[int], p: float = 0.9) -> Floats:
    """Return preferences that rank nodes as `order` does, best first."""
    place = {node: i for i, node in enumerate(order)}
    n = len(order)
    return np.array([[p if place[i] < place[j] else 1 - p for j in range(n)] for i in range(n)])


@given(st.integers(1, 8).flatmap(lambda n: st.permutations(range(n))))
def test_clear_preferences_give_evenly_spaced_values(order: list[int]) -> None:
    values = borda_values(sure(order))
    n = len(order)
    assert [values[node] for node in order] == pytest.approx([1 - i / max(n - 1, 1) for i in range(n)])


def test_members_of_a_cycle_are_ranked_by_how_clearly_they_win() -> None:
    # 0 > 1 > 2 > 0, the middle one most clearly.
    p = np.array([[0.5, 0.6, 0.4], [0.4, 0.5, 0.9], [0.6, 0.1, 0.5]])
    assert borda_values(p).tolist() == [0.5, 1, 0]


def test_what_cannot_be_told_apart_keeps_its_order() -> None:
    assert borda_values(np.full((3, 3), 0.5)).tolist() == [1, 0.5, 0]


def test_a_value_mixes_the_rank_with_the_share_of_children_beaten() -> None:
    p = sure([1, 0, 2])
    parents = np.array([NONE, 0, 0])
    # Ranks 0.5, 1, 0; the root beats one child of two; leaves keep their ranks.
    assert llama_berry_values(p, parents) == pytest.approx([0.9 * 0.5 + 0.1 * 0.5, 1, 0])
