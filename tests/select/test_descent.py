"""Descents from the root: rules and functions of one's own, room, noise, and how a search ends."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.backup import Mean
from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE, PLANTED, Floats, Ids
from mctsr.parts import Ask, Rule
from mctsr.select import scores
from mctsr.select.descent import Descent, RootNoise, Widening
from mctsr.testing.laws import check_selector
from mctsr.tree import Sample, State, Tree

RNG = np.random.default_rng(0)
BACKUP = Mean()


def add(tree: Tree, parent: int, value: float | None = 0.5, *, prior: float = 1.0) -> int:
    """Add a node with one reward that is backed up, or without any."""
    node = tree.add(parent, State(f"step {len(tree)}"), prior=prior)
    if value is not None:
        tree.judged(node, (Sample(value, value),))
        BACKUP(tree, node)
    return node


def grown(*values: float) -> Tree:
    """Make a root with one judged child for each value."""
    tree = Tree()
    add(tree, NONE)
    for value in values:
        add(tree, 0, value)
    return tree


def asked(selector: Descent, tree: Tree) -> Sequence[Ask]:
    return selector.ask(tree, RNG, 1)


def test_it_asks_for_n_children_of_the_best_leaf() -> None:
    tree = grown(0.1, 0.9, 0.3)
    assert asked(Descent(scores.by_value(), n=4), tree) == (Ask(2, 4),)
    add(tree, 2, 0.0)
    assert asked(Descent(scores.by_value(), n=4, again=True), tree) == (Ask(4, 4, again=True),)


def test_an_unvisited_child_comes_before_a_good_one() -> None:
    tree = grown(0.9)
    add(tree, 0, None)
    assert asked(Descent(scores.uct()), tree) == (Ask(2),)
    assert asked(Descent(scores.uct_rstar_math()), tree) == (Ask(1),)


def test_exploration_leads_away_from_a_leaf_that_is_visited_again_and_again() -> None:
    tree = grown(0.6, 0.5)
    for _ in range(20):
        tree.judged(1, (Sample(0.6, 0.6),))
        BACKUP(tree, 1)
    assert asked(Descent(scores.uct(1.0)), tree) == (Ask(2),)


def test_work_in_flight_drives_the_next_ask_elsewhere_and_then_makes_it_wait() -> None:
    tree, selector = grown(0.9, 0.1), Descent(scores.uct(0.1))
    for expected in (1, 2):
        assert asked(selector, tree) == (Ask(expected),)
        tree.mark(expected, +1)
    assert asked(selector, tree) == ()


def test_virtual_loss_lowers_the_path_of_an_inner_node_in_flight() -> None:
    tree, selector = grown(0.6, 0.5), Descent(scores.uct(0.0))
    for _ in range(2):
        add(tree, 1, 0.6)
    tree.mark(3, +1)
    # node 1: 3 visits of 0.6 and one in flight that counts as 0: 0.45 < 0.5
    assert asked(selector, tree) == (Ask(2),)


@pytest.mark.parametrize("close", ["end", "prune"])
def test_a_closed_subtree_is_never_entered_and_a_closed_tree_ends_the_search(close: str) -> None:
    tree, selector = grown(0.9, 0.1), Descent(scores.by_value())
    deep = add(tree, 1, 0.9)
    getattr(tree, close)(deep, "finished")
    assert asked(selector, tree) == (Ask(2),)
    getattr(tree, close)(2, "finished")
    assert asked(selector, tree) == ()


def test_a_pruned_inner_node_takes_everything_below_with_it() -> None:
    tree, selector = grown(0.9, 0.1), Descent(scores.by_value())
    add(tree, 1, 0.9)
    tree.prune(1, "pruned")
    assert asked(selector, tree) == (Ask(2),)
    tree.prune(0, "pruned")
    assert asked(selector, tree) == ()


def test_a_child_without_a_score_is_passed_over_and_closes_its_parent_when_it_is_the_only_one() -> None:
    tree, selector = grown(0.9, 0.1), Descent(scores.by_value())
    tree.unscored(add(tree, 1, None), "no score in the reply")
    assert asked(selector, tree) == (Ask(2),)


def test_planted_roots_are_passed_over() -> None:
    tree = Tree()
    tree.add(NONE, State("planted"), planted=True)
    add(tree, NONE)
    assert tree.has(0, PLANTED)
    assert asked(Descent(scores.uct(), roots=2), tree) == (Ask(1),)
    assert asked(Descent(scores.uct(), roots=1), tree) == ()


def test_a_node_widens_before_its_children_are_entered() -> None:
    selector = Descent(scores.uct(0.1), widening=Widening(1.0, 0.5))
    tree, log = Tree(), []
    add(tree, NONE)
    for _ in range(9):
        node = asked(selector, tree)[0].node
        log.append(node)
        add(tree, node, 0.5)
    # room at the root: one child at N = 1, two at N = 2, three at N = 5 to 9
    assert [number + 1 for number, node in enumerate(log) if node == 0] == [1, 2, 5]
    assert tree.nodes["n_children"][0] == math.ceil(math.sqrt(9))


def test_a_wide_enough_node_with_finished_children_alone_widens_rather_than_ends() -> None:
    selector, tree = Descent(scores.uct(), widening=Widening(1.0, 0.0)), grown(0.5)
    tree.end(1, "finished")
    assert asked(selector, tree) == (Ask(0),)
    tree.mark(0, +1)
    assert asked(selector, tree) == ()


def test_root_noise_mixes_a_dirichlet_draw_into_the_priors_of_the_roots_children_alone() -> None:
    selector, tree = Descent(scores.puct(), n=4, noise=RootNoise(alpha=0.3, weight=0.25)), grown()
    born = [add(tree, 0, 0.5, prior=0.25) for _ in range(4)]
    selector.tell(tree, np.random.default_rng(7), born)
    priors = tree.nodes["prior"][born]
    expected = 0.75 * 0.25 + 0.25 * np.random.default_rng(7).dirichlet(np.full(4, 0.3))
    np.testing.assert_allclose(priors, expected, rtol=1e-6)
    assert priors.sum() == pytest.approx(1.0)
    below = add(tree, 1, 0.5, prior=0.25)
    selector.tell(tree, np.random.default_rng(7), [below])
    assert tree.nodes["prior"][below] == 0.25


def as_function(rule: Rule) -> Rule:
    """Hide that a rule is built in."""

    def score(tree: Tree, ids: Ids) -> Floats:
        return rule(tree, ids)

    return score


@given(st.data())
def test_a_function_of_ones_own_is_followed_as_a_built_in_rule_is(data: st.DataObject) -> None:
    tree = Tree(low=-1.0)
    add(tree, NONE, 0.0)
    for _ in range(data.draw(st.integers(0, 14))):
        value = data.draw(st.sampled_from([None, -1.0, 0.0, 0.5, 1.0]))
        node = add(tree, data.draw(st.integers(0, len(tree) - 1)), value)
        if data.draw(st.integers(0, 4)) == 0:
            tree.end(node, "finished")
    for _ in range(data.draw(st.integers(0, 2))):
        tree.mark(data.draw(st.integers(0, len(tree) - 1)), +1)
    rule = data.draw(st.sampled_from([scores.uct_masprm(), scores.uct_rstar_math(), scores.puct()]))
    widening = data.draw(st.sampled_from([None, Widening(1.0, 0.5), Widening(0.5, 0.0)]))
    built_in, own = (Descent(r, widening=widening) for r in (rule, as_function(rule)))
    assert asked(built_in, tree) == asked(own, tree)


def test_a_score_that_is_no_number_an_id_is_refused() -> None:
    for wrong in (lambda tree, ids: np.zeros(len(ids) + 1), lambda tree, ids: np.full(len(ids), np.nan)):
        with pytest.raises(RecipeError, match="the score of Descent returned"):
            asked(Descent(wrong), grown(0.5, 0.6))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Descent(scores.uct(), n=0), "n is 0"),
        (lambda: Widening(0.0, 0.5), "widening is 0.0"),
        (lambda: Widening(1.0, 1.5), "widening is 1.0"),
        (lambda: RootNoise(0.0), "root noise has alpha 0.0"),
        (lambda: Descent(scores.puct(), noise=RootNoise()), "n above 1"),
        (lambda: Descent(scores.puct(), n=4, noise=RootNoise(), widening=Widening()), "no widening"),
        (lambda: RootNoise(0.3, 2.0), "weight 2.0"),
    ],
)
def test_impossible_settings_are_refused(make: object, said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("widening", [None, Widening()])
@pytest.mark.parametrize("rule", [scores.uct(), scores.puct_alphazero(), as_function(scores.uct_masprm())])
def test_the_laws_of_selectors_hold(rule: Rule, widening: Widening | None) -> None:
    check_selector(Descent(rule, widening=widening), backup=BACKUP)
