"""Gumbel with sequential halving: how the budget is shared, and what is recommended."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE, Ids
from mctsr.parts import Ask
from mctsr.select.gumbel import Gumbel
from mctsr.testing.laws import check_selector
from mctsr.tree import Sample, State, Tree

Score = Callable[[Tree, int, int], float | None]


def fold(
    tree: Tree, selector: Gumbel, number: int, ask: Ask, score: Score, priors: list[float] | None = None
) -> None:
    """Add the children that an ask wants; their scores are their values, and no backup changes them."""
    born = []
    for i in range(ask.n):
        node = tree.add(ask.node, State(f"text {len(tree)}"), prior=priors[i] if priors else 1.0)
        found = score(tree, node, i)
        if found is None:
            tree.unscored(node, "no score in the reply")
        else:
            tree.judged(node, (Sample(found, found),))
            tree.nodes["value"][node], tree.nodes["visits"][node] = found, 1
        born.append(node)
    selector.tell(tree, np.random.default_rng(number), born)


def grown(
    selector: Gumbel, score: Score, *, priors: list[float] | None = None, rounds: int = 1000
) -> tuple[Tree, list[int]]:
    """Search to the end; returns the tree and the nodes asked."""
    tree, asked = Tree(), list[int]()
    fold(tree, selector, 0, Ask(NONE), lambda *_: 0.5)
    while len(asked) < rounds and (asks := selector.ask(tree, np.random.default_rng(0), 1)):
        fold(tree, selector, len(asked), asks[0], score, None if asked else priors)
        asked.append(asks[0].node)
    return tree, asked


def branch(tree: Tree, node: int) -> int:
    """Return the child of the root above `node`."""
    return tree.line(node)[1]


def shared(tree: Tree, asked: list[int]) -> list[int]:
    """Count the simulations of each child of the root, largest first."""
    taken = [branch(tree, node) for node in asked[1:]]
    return sorted((taken.count(child) for child in tree_children(tree)), reverse=True)


def tree_children(tree: Tree) -> list[int]:
    return [node for node in range(len(tree)) if tree.parent(node) == 0]


def by_branch(*values: float) -> Score:
    """Give every node the value of its child of the root."""
    return lambda tree, node, i: values[branch(tree, node) - 1]


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("selector", [Gumbel(20, 4, 4, 2), Gumbel(200, 8, 6, 3), Gumbel(3, 1, 1, 1)])
def test_it_keeps_the_laws(selector: Gumbel, judged: bool, width: int) -> None:
    check_selector(selector, judged=judged, width=width)


@pytest.mark.parametrize(
    ("considered", "simulations", "expected"),
    [
        (4, 8, [3, 3, 1, 1, 0, 0]),
        (6, 6, [1, 1, 1, 1, 1, 1]),
        (16, 6, [1, 1, 1, 1, 1, 1]),
        (1, 5, [5, 0, 0, 0, 0, 0]),
        (2, 7, [4, 3, 0, 0, 0, 0]),
        (4, 3, [1, 1, 1, 0, 0, 0]),
    ],
)
def test_the_budget_is_shared_by_sequential_halving(
    considered: int, simulations: int, expected: list[int]
) -> None:
    tree, asked = grown(Gumbel(simulations, considered, 6, 2), by_branch(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    assert asked[0] == 0
    assert len(asked) == 1 + simulations
    assert shared(tree, asked) == expected
    assert tree.nodes["n_children"][0] == 6


def test_the_first_round_goes_to_the_best_by_noise_and_logit_alone() -> None:
    priors = [0.05, 0.05, 0.3, 0.1, 0.3, 0.2]
    selector = Gumbel(3, 3, 6, 2)
    tree, asked = grown(selector, by_branch(*[0.9, 0.9, 0.1, 0.1, 0.1, 0.1]), priors=priors)
    noise = tree.own_array("gumbel")[1:7] + np.log(priors)
    assert [branch(tree, node) - 1 for node in asked[1:]] == np.argsort(-noise)[:3].tolist()


def test_later_rounds_go_to_the_best_by_value_too() -> None:
    values = [0.1, 0.9, 0.2, 0.8]
    tree, asked = grown(Gumbel(8, 4, 4, 2), by_branch(*values))
    # The noise is a few units, sigma reaches fifty: the two best values stay.
    assert {branch(tree, node) - 1 for node in asked[5:]} == {1, 3}
    assert Gumbel(8, 4, 4, 2).committed(tree) == 2


def test_with_small_c_scale_noise_and_prior_decide() -> None:
    selector = Gumbel(8, 4, 4, 2, c_scale=0.0)
    tree, asked = grown(selector, by_branch(0.1, 0.9, 0.2, 0.8))
    best = np.argsort(-tree.own_array("gumbel")[1:5]).tolist()
    assert {branch(tree, node) - 1 for node in asked[5:]} == set(best[:2])
    assert selector.committed(tree) == best[0] + 1


def test_noise_differs_between_searches_and_not_within_one() -> None:
    tree, _ = grown(Gumbel(1, 4, 4, 2), by_branch(0, 0, 0, 0))
    noise = tree.own_array("gumbel")[1:5].copy()
    assert len(set(noise)) == 4
    fold(tree, Gumbel(1, 4, 4, 2), 99, Ask(1, 2), by_branch(0, 0, 0, 0))
    np.testing.assert_array_equal(tree.own_array("gumbel")[1:5], noise)
    assert np.isnan(tree.own_array("gumbel")[5:]).all()


def test_a_step_is_recommended_as_often_as_the_policy_would_draw_it() -> None:
    """The Gumbel-max trick: without values the recommendation is a draw from the prior."""
    priors, counts = [0.5, 0.3, 0.2], np.zeros(3)
    for seed in range(1500):
        selector, tree = Gumbel(3, 3, 3, 1), Tree()
        fold(tree, selector, 0, Ask(NONE), lambda *_: 0.5)
        fold(tree, selector, seed, Ask(0, 3), lambda *_: 0.5, priors)
        child = selector.committed(tree)
        assert child is not None
        counts[child - 1] += 1
    assert counts / 1500 == pytest.approx(priors, abs=5 * math.sqrt(0.25 / 1500))


def test_nothing_is_recommended_of_a_tree_without_children() -> None:
    selector, tree = Gumbel(3), Tree()
    assert selector.committed(tree) is None
    fold(tree, selector, 0, Ask(NONE), lambda *_: 0.5)
    assert selector.committed(tree) is None
    fold(tree, selector, 0, Ask(0, 2), lambda *_: None)
    assert selector.committed(tree) is None


def test_a_finished_child_gives_its_share_to_the_others() -> None:
    selector = Gumbel(8, 4, 4, 2)
    tree, asked = grown(selector, by_branch(0.1, 0.9, 0.2, 0.8), rounds=5)
    assert shared(tree, asked) == [1, 1, 1, 1]
    tree.prune(2, "solved")
    for number in range(4):
        (ask,) = selector.ask(tree, np.random.default_rng(0), 1)
        assert branch(tree, ask.node) != 2
        fold(tree, selector, number, ask, by_branch(0.1, 0.9, 0.2, 0.8))
        asked.append(ask.node)
    assert selector.ask(tree, np.random.default_rng(0), 1) == ()
    # The two best that are left share four: 1, 1 and 2, 2.
    assert shared(tree, asked) == [3, 3, 1, 1]


def test_a_dead_end_is_left_and_a_dead_tree_ends_the_search() -> None:
    selector, tree = Gumbel(50, 4, 2, 2), Tree()
    fold(tree, selector, 0, Ask(NONE), lambda *_: 0.5)
    fold(tree, selector, 0, Ask(0, 2), lambda *_: 0.5)
    for child in (1, 2):
        fold(tree, selector, 0, Ask(child, 2), lambda *_: 0.5)  # 3, 4 and 5, 6
    for node in (3, 4):
        tree.end(node, "finished")  # nobody has told the selector
    (ask,) = selector.ask(tree, np.random.default_rng(0), 1)
    assert ask.node in (5, 6)
    for node in (5, 6):
        tree.end(node, "finished")
    assert selector.ask(tree, np.random.default_rng(0), 1) == ()


def test_a_finished_child_is_passed_through_to_its_open_children() -> None:
    selector, tree = Gumbel(50, 4, 2, 2), Tree()
    fold(tree, selector, 0, Ask(NONE), lambda *_: 0.5)
    fold(tree, selector, 0, Ask(0, 2), lambda *_: 0.5)
    fold(tree, selector, 0, Ask(1, 2), lambda *_: 0.5)  # 3, 4
    tree.end(0, "context overflow: too long")
    tree.end(1, "context overflow: too long")
    tree.end(2, "finished")
    (ask,) = selector.ask(tree, np.random.default_rng(0), 1)
    assert ask.node in (3, 4)
    tree.end(3, "finished")
    assert selector.ask(tree, np.random.default_rng(0), 1) == (Ask(4, 2),)
    tree.end(4, "finished")
    assert selector.ask(tree, np.random.default_rng(0), 1) == ()


def test_a_finished_root_without_children_is_asked_nothing() -> None:
    tree = Tree()
    fold(tree, Gumbel(3), 0, Ask(NONE), lambda *_: 0.5)
    tree.end(0, "finished")
    assert Gumbel(3).ask(tree, np.random.default_rng(0), 1) == ()


def test_the_table_of_considered_visits_is_made_once_a_tree() -> None:
    selector = Gumbel(8, 4, 4, 2)
    tree, _ = grown(selector, by_branch(0.1, 0.9, 0.2, 0.8))
    tables = tree.keep("gumbel_tables", dict[tuple[int, int], Ids])
    assert list(tables) == [(4, 8)]
    assert tables[4, 8].tolist() == [0, 0, 0, 0, 1, 1, 2, 2]


def test_unscored_children_close_their_parent() -> None:
    selector, tree = Gumbel(50, 4, 2, 2), Tree()
    fold(tree, selector, 0, Ask(NONE), lambda *_: 0.5)
    fold(tree, selector, 0, Ask(0, 2), lambda *_: 0.5)
    fold(tree, selector, 0, Ask(1, 2), lambda *_: None)
    fold(tree, selector, 0, Ask(2, 2), lambda *_: None)
    assert selector.ask(tree, np.random.default_rng(0), 1) == ()


def test_work_in_flight_is_a_simulation_and_its_leaf_waits() -> None:
    selector = Gumbel(4, 4, 4, 2)
    tree, _ = grown(selector, by_branch(0.1, 0.9, 0.2, 0.8), rounds=1)
    nodes = []
    for _ in range(4):
        (ask,) = selector.ask(tree, np.random.default_rng(0), 4)
        nodes.append(ask.node)
        tree.mark(ask.node, +1)
    assert sorted(nodes) == [1, 2, 3, 4]
    assert selector.ask(tree, np.random.default_rng(0), 4) == (), "the budget is in flight"
    single = Gumbel(4, 1, 4, 2)
    tree.mark(nodes[0], -1)
    for node in nodes[1:]:
        tree.mark(node, -1)
    (ask,) = single.ask(tree, np.random.default_rng(0), 2)
    tree.mark(ask.node, +1)
    assert single.ask(tree, np.random.default_rng(0), 1) == (), "the only child considered is being grown"


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**32))
def test_every_search_spends_its_budget_and_no_more(
    considered: int, first: int, branching: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    selector = Gumbel(17, considered, first, branching)
    tree, asked = grown(selector, lambda *_: float(rng.random()))
    assert len(asked) == 18
    assert len(set(asked)) == 18, "every ask grows a leaf"
    assert int(tree.own_array("gumbel_simulations")[0]) == 18
    child = selector.committed(tree)
    assert child is not None
    most = max(tree.own_array("gumbel_simulations")[i] for i in tree_children(tree) if asked.count(i))
    assert tree.own_array("gumbel_simulations")[child] == most


def test_a_budget_that_is_none_is_refused() -> None:
    with pytest.raises(RecipeError, match="must be at least 1"):
        Gumbel(0)
