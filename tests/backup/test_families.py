"""One end of a family: which one, what it undoes, and what the choice may not touch."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.backup import DeepSearch, DeepSearchCode, MaxOfWalks, OneEnd, trajectories_done, walks_done
from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, NONE
from mctsr.parts import Backup, Ledger
from mctsr.select.pools import FrontierDeepSearch
from mctsr.tree import Sample, State, Tree

Ends = Sequence[tuple[float, str | None, float | None]]


def chain(length: int) -> Tree:
    """Return steps one below the other, the root first."""
    tree = Tree(low=-1.0)
    for node in range(length):
        tree.add(node - 1 if node else NONE, State(f"step {node}", ask=node, logprob=-1.0, tokens=2))
    return tree


def bear(tree: Tree, backup: Backup, parent: int, ask: int, ends: Ends) -> list[int]:
    """Add finished children in one fold: value, answer, log-probability of the one token."""
    born = [
        tree.add(parent, State(f"{ask}.{i}", e[1], ask=ask, logprob=e[2], tokens=1))
        for i, e in enumerate(ends)
    ]
    for node in born:
        tree.end(node, "finished")
    for node, end in zip(born, ends, strict=True):
        tree.judged(node, (Sample(end[0], end[0]),))
        backup(tree, node)
    return born


def numbers(tree: Tree, count: int) -> list[tuple[float, int]]:
    used = tree.nodes[:count]
    return list(zip(used["value_sum"].tolist(), used["visits"].tolist(), strict=True))


@pytest.mark.parametrize(
    ("inner", "weights"),
    [(DeepSearch(), [0.1, 1 / 3, 2 / 3, 1.0]), (DeepSearchCode(), [0.25, 0.5, 0.75, 1.0])],
)
def test_a11_a12_one_right_end_is_spread_over_its_path(inner: Backup, weights: list[float]) -> None:
    tree = chain(3)
    bear(tree, OneEnd(inner), 2, 9, [(1.0, "5", None)])
    assert tree.nodes["value_sum"][:4] == pytest.approx(weights)


def test_a13_a_wrong_end_takes_nothing_from_a_right_path_and_a_right_one_makes_it_right() -> None:
    for order in ((1.0, -1.0), (-1.0, 1.0)):
        tree, backup = chain(3), OneEnd(DeepSearchCode())
        for ask, value in enumerate(order, 7):
            bear(tree, backup, 2, ask, [(value, "5", None)])
        assert tree.nodes["value_sum"][:3] == pytest.approx([0.25, 0.5, 0.75])
        assert tree.nodes["visits"][:3].tolist() == [2, 2, 2]


def test_a14_the_frontier_score() -> None:
    tree = chain(5)
    tree.nodes["value"][3] = 0.5
    assert FrontierDeepSearch()(tree, np.array([4]))[0] == pytest.approx(0.187347, abs=1e-6)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([-1.0, -0.5, 0.5, 1.0]),
            st.sampled_from([None, "5"]),
            st.sampled_from([None, -0.1, -2.0]),
        ),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_a_family_leaves_behind_what_its_best_end_alone_would(ends: Ends, complete_first: bool) -> None:
    backup = OneEnd(DeepSearch(), complete_first)

    def key(end: tuple[float, str | None, float | None]) -> tuple[bool, float, bool, float]:
        value, answer, logprob = end
        known = [0.5, 0.5, 0.5, *([] if logprob is None else [-logprob])]
        return value > 0, max(value, 0.0), answer is not None or not complete_first, -sum(known) / len(known)

    best = max(range(len(ends)), key=lambda i: key(ends[i]))
    # What the steps themselves have said of certainty is noted when they are judged.
    tree, alone = chain(3), chain(3)
    for one in (tree, alone):
        one.own_array("entropy")[:3] = 0.5
    born = bear(tree, backup, 2, 9, ends)
    bear(alone, DeepSearch(), 2, 9, [ends[best]])
    assert numbers(tree, 3) == numbers(alone, 3)
    assert tree.nodes["visits"][born].tolist() == [int(i == best) for i in range(len(ends))]
    assert tree.nodes["value"][born].tolist() == [end[0] for end in ends]
    assert trajectories_done(1)(tree, Ledger()) == "trajectories"
    assert trajectories_done(2)(tree, Ledger()) is None


def test_without_certainty_the_first_of_equals_wins() -> None:
    tree = chain(2)
    born = bear(tree, OneEnd(DeepSearch(), by_certainty=False), 1, 9, [(-1.0, "1", -3.0), (-1.0, "2", -0.1)])
    assert tree.nodes["visits"][born].tolist() == [1, 0]


def test_families_of_the_same_parent_at_other_times_are_two() -> None:
    tree, backup = chain(2), OneEnd(DeepSearch())
    bear(tree, backup, 1, 8, [(-1.0, "1", None)])
    bear(tree, backup, 1, 9, [(1.0, "5", None)])
    assert tree.nodes["visits"][:2].tolist() == [2, 2]
    assert trajectories_done(2)(tree, Ledger()) == "trajectories"


@pytest.mark.parametrize("inner", [DeepSearch(), DeepSearchCode()])
def test_an_end_that_is_neither_right_nor_wrong_is_a_visit_of_its_path_and_no_value(inner: Backup) -> None:
    tree = chain(2)
    bear(tree, OneEnd(inner), 1, 9, [(0.0, "5", None)])
    assert numbers(tree, 3) == [(0.0, 1), (0.0, 1), (0.0, 1)]
    assert tree.nodes["value"][:3].tolist() == [0.0, 0.0, 0.0]
    assert trajectories_done(1)(tree, Ledger()) == "trajectories"


def test_an_unfinished_step_counts_itself_and_nobody_else() -> None:
    tree, backup = chain(2), OneEnd(DeepSearch())
    tree.judged(1, (Sample(0.0, 0.0),))
    backup(tree, 1)
    assert numbers(tree, 2) == [(0.0, 0), (0.0, 1)]
    assert tree.own_array("entropy")[1] == 0.5
    assert math.isnan(tree.own_array("entropy")[0])
    assert trajectories_done(1)(tree, Ledger()) is None


def test_no_number_of_trajectories_is_off_and_a_negative_one_is_refused() -> None:
    assert trajectories_done(0)(Tree(), Ledger()) is None
    with pytest.raises(RecipeError, match="trajectories is -1"):
        trajectories_done(-1)


# Walks


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=4), min_size=1, max_size=6
    )
)
def test_a_walk_is_one_visit_of_its_path_when_the_best_of_a_family_is_finished(
    families: list[list[tuple[int, bool]]],
) -> None:
    tree, backup = Tree(), MaxOfWalks()
    above, ends = tree.add(NONE, State("")), list[int]()
    for ask, family in enumerate(families, 1):
        born = [tree.add(above, State(f"{ask}.{i}", ask=ask)) for i in range(len(family))]
        for node, (_, done) in zip(born, family, strict=True):
            if done:
                tree.end(node, "finished")
        for node, (value, _) in zip(born, family, strict=True):
            tree.judged(node, (Sample(value, value),))
            backup(tree, node)
        best = max(born, key=lambda node: tree.states[node].samples[0].value)
        if tree.has(best, DONE):
            ends.append(best)
        else:
            above = best
    for n in (len(ends), len(ends) + 1):
        assert walks_done(n)(tree, Ledger()) == ("paths" if 0 < n == len(ends) else None)
    on_the_way = [i for end in ends for i in tree.line(end)]
    assert tree.nodes["visits"][: len(tree)].tolist() == [on_the_way.count(i) for i in range(len(tree))]
    for node in range(len(tree)):
        below = [tree.value(child) for child in tree.children(node)]
        own = tree.states[node].samples[0].value if node else math.nan
        assert tree.value(node) == (max(below) if below else own)


def test_a_negative_number_of_walks_is_refused() -> None:
    with pytest.raises(RecipeError, match="paths is -1"):
        walks_done(-1)
