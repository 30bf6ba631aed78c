"""Descents, against a walk over plain lists."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels import descent, rules, walk
from mctsr.kernels.node import DONE, NONE, SPENT, UNSCORED, Nodes, fresh
from tests.kernels import reference
from tests.kernels.reference import Forest, Plain, forests

K = (1.4, 1.0, 0.0, 0.0)
LOW = -100.0
CODES = [rules.UCB1, rules.UCT_ZERO, rules.PUCT, rules.PUCT_ALPHAZERO, rules.VALUE, rules.UCT_MCTSR]


def enterable(forest: Forest, child: int, shut: int) -> bool:
    plain = forest[child]
    grows = not plain.children and reference.in_flight(forest, child) > 0
    dead = bool(plain.flags & DONE) and (not plain.children or bool(plain.flags & SPENT))
    return not plain.flags & shut and not grows and not dead


def closed(forest: Forest, node: int) -> bool:
    """Say whether nothing can grow at a node or below, by going there."""
    plain = forest[node]
    if plain.children:
        return bool(plain.flags & UNSCORED) or all(closed(forest, child) for child in plain.children)
    return bool(plain.flags & (DONE | UNSCORED))


def best(forest: Forest, nodes: Nodes, node: int, rule: int, shut: int = descent.CLOSED) -> int:
    """Score the children one by one; the first of the largest wins."""
    found = [child for child in forest[node].children if enterable(forest, child, shut)]
    if not found:
        return NONE
    out = np.empty(len(found))
    rules.scores(nodes, np.array(found), rule, K, LOW, out)
    return found[int(np.argmax(out))]


def pending(forest: Forest, node: int) -> int:
    below = sum(reference.in_flight(forest, child) for child in forest[node].children)
    return reference.in_flight(forest, node) - below


@st.composite
def searched(draw: st.DrawFn) -> tuple[Forest, Nodes]:
    """Draw a forest in which some leaves were never visited, and closed nodes are reported upwards."""
    forest = draw(forests())
    for plain in forest:
        if not plain.children and draw(st.booleans()):
            plain.visits = 0
    nodes, _ = reference.as_array(forest)
    nodes["prior"] = draw(st.sampled_from([1.0, 0.5]))
    for i, plain in enumerate(forest):
        if plain.flags & (DONE | UNSCORED):
            descent.spend(nodes, i)
    for i, plain in enumerate(forest):
        plain.flags = int(nodes["flags"][i])
    return forest, nodes


@given(searched(), st.sampled_from(CODES))
def test_the_best_child_is_the_first_with_the_largest_score(tree: tuple[Forest, Nodes], rule: int) -> None:
    forest, nodes = tree
    for node in range(len(forest)):
        assert descent.best_child(nodes, node, rule, K, LOW) == best(forest, nodes, node, rule)


@given(searched(), st.sampled_from(CODES))
def test_a_descent_takes_the_best_child_at_every_level(tree: tuple[Forest, Nodes], rule: int) -> None:
    forest, nodes = tree
    for root in [i for i, plain in enumerate(forest) if plain.parent is None]:
        node = NONE if closed(forest, root) else root
        while node != NONE and forest[node].children:
            node = best(forest, nodes, node, rule)
        if node == root and pending(forest, root):
            node = NONE
        before = nodes.tobytes()
        assert descent.descend(nodes, root, rule, K, LOW) == node
        assert nodes.tobytes() == before


@given(searched(), st.sampled_from(CODES), st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from([0.0, 0.5, 1.0]))
def test_a_widening_descent_ends_where_there_is_room(
    tree: tuple[Forest, Nodes], rule: int, factor: float, exponent: float
) -> None:
    forest, nodes = tree

    def room(node: int) -> bool:
        n = forest[node].visits + reference.in_flight(forest, node)
        held = len(forest[node].children) + pending(forest, node)
        return bool(held < max(math.ceil(factor * n**exponent), 1))

    for root in [i for i, plain in enumerate(forest) if plain.parent is None]:
        dead = forest[root].flags & UNSCORED or (forest[root].flags & DONE and closed(forest, root))
        node = NONE if dead else root
        while node != NONE and (forest[node].flags & DONE or not room(node)):
            child = best(forest, nodes, node, rule, UNSCORED)
            if child == NONE:
                node = NONE if reference.in_flight(forest, node) or forest[node].flags & DONE else node
                break
            node = child
        found = descent.descend_widening(nodes, root, rule, K, LOW, (factor, exponent))
        assert found == node


@given(forests())
def test_a_node_is_spent_when_no_way_down_leads_to_an_open_leaf(forest: Forest) -> None:
    nodes, _ = reference.as_array(forest)
    for i, plain in enumerate(forest):
        if plain.flags & (DONE | UNSCORED):
            descent.spend(nodes, i)
    for node, plain in enumerate(forest):
        spent = bool(nodes["flags"][node] & SPENT)
        assert spent == (bool(plain.children) and all(closed(forest, child) for child in plain.children))
        assert descent.closed(nodes, node) == closed(forest, node)


def test_a_new_open_child_opens_the_whole_way_up() -> None:
    nodes = fresh(6)
    for node, parent in enumerate([NONE, 0, 1, 2]):
        walk.link(nodes, node, parent)
    nodes["flags"][3] = DONE
    descent.spend(nodes, 3)
    assert nodes["flags"][:4].tolist() == [SPENT, SPENT, SPENT, DONE]
    nodes["flags"][1] |= DONE
    descent.reopen(nodes, 2)
    assert nodes["flags"][:4].tolist() == [0, DONE, 0, DONE]


def test_a_node_that_is_done_is_passed_through_while_something_below_can_grow() -> None:
    nodes = fresh(6)
    for node, parent in enumerate([NONE, 0, 0, 1]):
        walk.link(nodes, node, parent)
    nodes["visits"][:4], nodes["value"][:4] = 1, [0, 1, 0, 0]
    nodes["flags"][1] = DONE
    descent.spend(nodes, 1)
    assert descent.descend(nodes, 0, rules.VALUE, K, LOW) == 3
    nodes["flags"][3] = DONE
    descent.spend(nodes, 3)
    assert descent.descend(nodes, 0, rules.VALUE, K, LOW) == 2


def test_a_score_that_is_no_number_is_passed_over() -> None:
    nodes = fresh(6)
    for node, parent in enumerate([NONE, 0, 0, 0]):
        walk.link(nodes, node, parent)
    nodes["visits"][:4], nodes["value"][:4] = 1, [0, math.nan, 1, 0]
    assert descent.best_child(nodes, 0, rules.VALUE, K, LOW) == 2


def test_children_come_side_by_side_and_unvisited() -> None:
    nodes = fresh(12)
    walk.link(nodes, 0, NONE)
    assert descent.expand(nodes, 1, 0, 3) == 1
    assert descent.expand(nodes, 4, 2, 2) == 4
    linked = fresh(12)
    for node, parent in enumerate([NONE, 0, 0, 0, 2, 2]):
        walk.link(linked, node, parent)
    for name in ("parent", "first", "last", "next", "n_children", "depth"):
        np.testing.assert_array_equal(nodes[name][:6], linked[name][:6])
    assert np.isnan(nodes["value"][1:6]).all()
    assert (nodes["prior"][1:6] == 1).all()
    assert not nodes["visits"].any()


def test_siblings_of_different_asks_are_found_by_their_links() -> None:
    nodes = fresh(8)
    for node, parent in enumerate([NONE, 0, 1, 0, 1, 0]):
        walk.link(nodes, node, parent)
    nodes["visits"][:6], nodes["value"][:6] = 1, [0, 1, 0, 2, 0, 3]
    assert descent.best_child(nodes, 0, rules.VALUE, K, LOW) == 5
    nodes["flags"][5] = DONE
    assert descent.best_child(nodes, 0, rules.VALUE, K, LOW) == 3


def test_a_leaf_that_is_being_grown_is_left_alone() -> None:
    nodes = fresh(8)
    walk.link(nodes, 0, NONE)
    walk.mark(nodes, 0, +1)
    assert descent.descend(nodes, 0, rules.UCB1, K, LOW) == NONE
    walk.mark(nodes, 0, -1)
    descent.expand(nodes, 1, 0, 2)
    walk.mark(nodes, 1, +1)
    assert descent.descend(nodes, 0, rules.UCB1, K, LOW) == 2
    walk.mark(nodes, 2, +1)
    assert descent.descend(nodes, 0, rules.UCB1, K, LOW) == NONE


@pytest.mark.parametrize(("n", "children"), [(0, 1), (1, 1), (2, 2), (4, 2), (5, 3), (100, 10)])
def test_widening_allows_the_square_root_of_the_visits(n: int, children: int) -> None:
    nodes = fresh(20)
    nodes["visits"][0] = n
    for held in range(12):
        nodes["n_children"][0] = held
        nodes["first"][0] = NONE
        assert descent.may_widen(nodes, 0, 1.0, 0.5) == (held < children)


def test_work_in_flight_at_the_node_itself_takes_room() -> None:
    forest = [Plain(None, 0, 0, 3, 1, 0, [1]), Plain(0, 0, 0, 1, 0, 0)]
    nodes, _ = reference.as_array(forest)
    # four visits with the one in flight make room for two: the child and the one to come
    assert not descent.may_widen(nodes, 0, 1.0, 0.5)
