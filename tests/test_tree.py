"""The tree beside its numbers: what parts keep, what ends, and what is pruned."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels.node import DONE, NONE, PLANTED, SPENT, UNJUDGED, UNSCORED
from mctsr.tree import Sample, State, Tree


def grown(parents: list[int]) -> Tree:
    tree = Tree()
    for i, parent in enumerate(parents):
        tree.add(parent, State(f"text {i}"))
    return tree


def parents_of(size: int) -> st.SearchStrategy[list[int]]:
    return st.tuples(*(st.integers(-1, i - 1) for i in range(size))).map(list)


TREES = st.integers(1, 14).flatmap(parents_of)


# What parts keep


def test_what_a_part_keeps_is_made_once_and_shared_with_none_of_another_name() -> None:
    tree, made = Tree(), list[int]()

    def make() -> list[int]:
        made.append(1)
        return []

    mine = tree.keep("mine", make)
    mine.append(7)
    assert tree.keep("mine", make) is mine
    assert tree.keep("yours", make) == []
    assert len(made) == 2


def test_what_is_kept_may_be_nothing_and_is_still_made_once() -> None:
    tree, made = Tree(), list[int]()
    for _ in range(2):
        assert tree.keep("nothing", lambda: made.append(1)) is None
    assert len(made) == 1


# Ending


def test_the_first_reason_stays_and_an_ending_is_listed_once() -> None:
    tree = grown([NONE, 0])
    tree.end(1, "finished")
    tree.end(1, "late")
    assert (tree.states[1].ended, tree.ended) == ("finished", [1])


@given(TREES, st.data())
def test_pruning_ends_the_node_and_everything_below_it_and_nothing_else(
    parents: list[int], data: st.DataObject
) -> None:
    tree = grown(parents)
    node = data.draw(st.integers(0, len(parents) - 1))
    before = data.draw(st.integers(0, len(parents) - 1))
    tree.end(before, "before")
    tree.prune(node, "hopeless")
    below = {i for i in range(len(parents)) if node in tree.line(i)}
    assert set(tree.below(node)) == below
    assert {i for i in range(len(parents)) if tree.has(i, DONE)} == below | {before} == set(tree.ended)
    assert len(tree.ended) == len(set(tree.ended))
    assert {tree.states[i].ended for i in below - {before}} <= {"hopeless"}
    assert tree.states[before].ended == "before"


def test_children_that_come_under_a_pruned_node_later_are_ended_at_once_at_any_depth() -> None:
    tree = grown([NONE, 0])
    tree.prune(0, "hopeless")
    child = tree.add(1, State("late"))
    grandchild = tree.add(child, State("later"))
    assert tree.ended == [1, 0, child, grandchild]
    assert tree.states[grandchild].ended == "hopeless"


def test_children_that_come_under_a_node_that_only_ended_may_grow() -> None:
    tree = grown([NONE])
    tree.end(0, "context overflow")
    assert not tree.has(tree.add(0, State("in flight at the time")), DONE)


def test_a_chain_of_any_depth_is_pruned_without_recursion() -> None:
    tree = grown([i - 1 for i in range(5000)])
    tree.prune(0, "hopeless")
    assert len(tree.ended) == 5000


# Which ways are closed


def closed(tree: Tree, node: int) -> bool:
    """Whether a descent must turn away: the node cannot grow, or all below it is closed."""
    below = [i for i in range(len(tree)) if tree.parent(i) == node]
    return tree.has(node, DONE | UNSCORED) or (bool(below) and all(closed(tree, i) for i in below))


STEPS = st.lists(st.tuples(st.sampled_from(["add", "end", "lose", "judge", "prune"]), st.integers(0, 99)))


@given(STEPS)
def test_spent_says_that_every_way_down_is_closed_whatever_happened(steps: list[tuple[str, int]]) -> None:
    tree = grown([NONE])
    for what, number in steps:
        node = number % len(tree)
        if what == "add":
            # A finished node gets no children, and one without score none either.
            if not tree.has(node, DONE | UNSCORED):
                tree.add(node, State(f"text {number}"))
        elif what == "end":
            tree.end(node, "finished")
        elif what == "lose":
            tree.unscored(node, "no score in the reply")
        elif what == "judge":
            tree.judged(node, (Sample(1.0, 1.0),))
        else:
            tree.prune(node, "hopeless")
    for node in range(len(tree)):
        below = [i for i in range(len(tree)) if tree.parent(i) == node]
        spent = bool(below) and all(closed(tree, i) for i in below)
        # Behind an ancestor that is closed itself, nothing depends on the flag.
        if not any(tree.has(i, DONE | UNSCORED) for i in tree.line(node)):
            assert tree.has(node, SPENT) == spent


# The best node


@given(TREES, st.data())
def test_the_best_node_is_the_first_of_the_scored_unplanted_ones_with_the_largest_value(
    parents: list[int], data: st.DataObject
) -> None:
    tree = grown(parents)
    values = st.sampled_from([-1.0, 0.0, 2.0, np.nan])
    for i in range(len(parents)):
        tree.nodes["value"][i] = data.draw(values)
        tree.nodes["flags"][i] = data.draw(st.sampled_from([0, 0, UNJUDGED, UNSCORED, PLANTED]))
    fit = [i for i in range(len(parents)) if not tree.has(i, UNJUDGED | UNSCORED | PLANTED)]
    best = max(fit, key=lambda i: -np.inf if np.isnan(tree.value(i)) else tree.value(i), default=None)
    assert tree.best() == best


def test_an_empty_tree_has_no_best_node() -> None:
    assert Tree().best() is None


@pytest.mark.parametrize("size", [16, 17, 40])
def test_side_arrays_grow_with_the_tree(size: int) -> None:
    tree = grown([NONE])
    tree.own_array("own")[0] = 5
    for i in range(1, size):
        tree.add(0, State(f"text {i}"))
    own = tree.own_array("own")
    assert (own[0], len(own)) == (5, len(tree.nodes))
    assert np.isnan(own[1:]).all()
