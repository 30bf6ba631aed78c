"""AB-MCTS-A: what is drawn from, where a draw leads, and what is counted."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE, Floats
from mctsr.parts import Ask, Selector
from mctsr.select.thompson import Beta, Gaussian, Posterior, Thompson, thompson_beta, thompson_gaussian
from mctsr.testing.laws import check_selector
from mctsr.tree import Sample, State, Tree

RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Told:
    """A posterior that says what it is told to, by what the arms have seen."""

    say: Callable[[list[list[float]]], list[float]]

    def draw(self, seen: Floats, rng: Generator) -> Floats:
        return np.array(self.say(seen.tolist()))


def bear(
    tree: Tree, selector: Selector, parent: int, *scores: float | None, planted: bool = False
) -> list[int]:
    """Add children with these scores (None: unscored), and tell the selector."""
    born = []
    for score in scores:
        node = tree.add(parent, State(f"text {len(tree)}"), planted=planted)
        if score is None:
            tree.unscored(node, "no score in the reply")
        else:
            tree.judged(node, (Sample(score, score),))
        born.append(node)
    selector.tell(tree, RNG, born)
    return born


def mean(seen: list[list[float]]) -> list[float]:
    """Draw the mean of what was seen, 0.5 of nothing."""
    return [total / n if n else 0.5 for n, total, _ in seen]


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("make", [thompson_gaussian, thompson_beta])
@pytest.mark.parametrize("roots", [1, 3])
def test_it_keeps_the_laws(make: Callable[..., Thompson], roots: int, judged: bool, width: int) -> None:
    check_selector(make(low=-100.0, high=100.0, roots=roots), judged=judged, width=width)


# Posteriors


def test_sampling_10_4_gaussian_draws_have_the_law_of_the_posterior() -> None:
    # Of .8, .8, .4, .4, .6, .6: kappa 7, nu 7, m 3.6 / 7, tau2 (.1 + .16 + 6 * .36 / 7) / 7. The mean is Student's t.
    ys = np.array([0.8, 0.8, 0.4, 0.4, 0.6, 0.6])
    seen = np.tile([6, ys.sum(), (ys**2).sum()], (40_000, 1))
    drawn = Gaussian().draw(seen, np.random.default_rng(1))
    tau2 = (0.1 + 0.16 + 6 * 0.36 / 7) / 7
    variance = tau2 / 7 * 7 / (7 - 2)
    assert drawn.mean() == pytest.approx(3.6 / 7, abs=5 * math.sqrt(variance / 40_000))
    assert drawn.var() == pytest.approx(variance, rel=0.05)
    quarter = 0.7111 * math.sqrt(tau2 / 7)  # the upper quartile of t with 7 degrees
    assert np.mean(drawn > 3.6 / 7 + quarter) == pytest.approx(0.25, abs=0.011)


def test_sampling_10_4_beta_draws_have_the_law_of_the_posterior() -> None:
    drawn = Beta().draw(np.tile([3.0, 2.1, 1.5], (40_000, 1)), np.random.default_rng(1))
    a, b = 2.6, 1.4
    variance = a * b / ((a + b) ** 2 * (a + b + 1))
    assert drawn.mean() == pytest.approx(a / (a + b), abs=5 * math.sqrt(variance / 40_000))
    assert drawn.var() == pytest.approx(variance, rel=0.05)


def test_a_gaussian_prior_without_scores_has_the_published_width() -> None:
    drawn = Gaussian().draw(np.zeros((40_000, 3)), np.random.default_rng(1))
    # Student's t with one degree, scale sqrt(.1): the quartiles lie one scale from the middle.
    assert np.mean(np.abs(drawn) < math.sqrt(0.1)) == pytest.approx(0.5, abs=0.0125)


@pytest.mark.parametrize("make", [lambda: Gaussian(kappa=0), lambda: Gaussian(tau2=-1), lambda: Beta(a=0)])
def test_a_prior_that_is_none_is_refused(make: Callable[[], Posterior]) -> None:
    with pytest.raises(RecipeError, match="above 0"):
        make()


# Choices


def test_a_leaf_gets_its_first_child_without_a_draw() -> None:
    def nothing(seen: list[list[float]]) -> list[float]:
        raise AssertionError(seen)

    tree, selector = Tree(), Thompson(Told(nothing))
    bear(tree, selector, NONE, 0.3)
    assert selector.ask(tree, RNG, 1) == (Ask(0),)


def test_an_empty_tree_and_a_finished_root_are_asked_nothing() -> None:
    tree, selector = Tree(), Thompson()
    assert selector.ask(tree, RNG, 1) == ()
    bear(tree, selector, NONE, 0.3)
    tree.end(0, "finished")
    assert selector.ask(tree, RNG, 1) == ()


def test_each_arm_has_seen_what_the_source_says() -> None:
    seen: list[list[list[float]]] = []

    def record(given: list[list[float]]) -> list[float]:
        seen.append(given)
        return list(range(len(given)))  # go on, with the last child

    tree, selector = Tree(low=-100.0), Thompson(Told(record), low=-100.0, high=100.0)
    bear(tree, selector, NONE, 0.0)
    bear(tree, selector, 0, -50.0, 50.0)  # 1, 2: .25, .75
    bear(tree, selector, 2, 100.0)  # 3: 1
    bear(tree, selector, 3, 0.0)  # 4: .5
    assert selector.ask(tree, RNG, 1) == (Ask(4),)
    assert seen[0] == [
        [2, 1.0, 0.0625 + 0.5625],  # GEN: 1 and 2
        [2, 1.5, 1.25],  # CONT: 3 and 4
    ]
    assert seen[1] == [
        [1, 0.25, 0.0625],  # 1 itself
        [3, 2.25, 0.5625 + 1.25],  # 2, 3 and 4
    ]
    assert seen[2:4] == [[[1, 1.0, 1.0], [1, 0.5, 0.25]], [[2, 1.5, 1.25]]]
    assert seen[4:] == [[[1, 0.5, 0.25], [0, 0, 0]], [[1, 0.5, 0.25]]]


def test_a_new_child_is_asked_for_when_gen_is_drawn_higher() -> None:
    tree, selector = Tree(), Thompson(Told(mean))
    bear(tree, selector, NONE, 0.5)
    bear(tree, selector, 0, 0.9, 0.8)
    assert selector.ask(tree, RNG, 1) == (Ask(0),)
    bear(tree, selector, 1, 0.99)  # going on has brought .99, new children .85
    assert selector.ask(tree, RNG, 1) == (Ask(1),)
    assert Thompson(Told(lambda seen: [0.5] * len(seen))).ask(tree, RNG, 1) == (Ask(0),), "GEN wins ties"


def test_what_cannot_grow_is_not_entered() -> None:
    tree, selector = Tree(), Thompson(Told(lambda seen: list(range(len(seen)))))
    bear(tree, selector, NONE, 0.5)
    bear(tree, selector, 0, 0.9, 0.2, None)
    assert selector.ask(tree, RNG, 1) == (Ask(2),)
    tree.end(2, "finished")
    assert selector.ask(tree, RNG, 1) == (Ask(1),)
    tree.end(1, "finished")
    assert selector.ask(tree, RNG, 1) == (Ask(0),), "with nothing to go on with, a new child is asked for"
    tree.end(0, "context overflow: too long")
    assert selector.ask(tree, RNG, 1) == ()


def test_below_a_node_that_can_no_longer_grow_the_search_goes_on() -> None:
    tree, selector = Tree(), Thompson(Told(lambda seen: [-i for i in range(len(seen))]))
    bear(tree, selector, NONE, 0.5)
    bear(tree, selector, 0, 0.9, 0.9)
    tree.end(0, "context overflow: too long")
    assert selector.ask(tree, RNG, 1) == (Ask(1),)


def test_a_finished_node_is_passed_through_until_it_is_spent_too() -> None:
    tree, selector = Tree(), Thompson(Told(lambda seen: list(range(len(seen)))))
    bear(tree, selector, NONE, 0.5)
    bear(tree, selector, 0, 0.9, 0.2)
    bear(tree, selector, 2, 0.3)
    tree.end(2, "context overflow: too long")
    assert selector.ask(tree, RNG, 1) == (Ask(3),)
    tree.end(3, "finished")
    assert selector.ask(tree, RNG, 1) == (Ask(1),)


def test_of_several_roots_the_one_drawn_highest_is_entered() -> None:
    tree, selector = Tree(), Thompson(Told(mean), roots=3)
    bear(tree, selector, NONE, 0.2, 0.7, 0.6)
    assert selector.ask(tree, RNG, 1) == (Ask(1),)
    bear(tree, selector, 1, 0.1)  # root 1 has seen .7 and .1
    assert selector.ask(tree, RNG, 1) == (Ask(2),)
    tree.end(2, "finished")
    assert selector.ask(tree, RNG, 1) == (Ask(3),), "the next root, and down from there"


def test_work_in_flight_counts_as_the_lowest_score() -> None:
    tree, selector = Tree(), Thompson(Told(mean))
    bear(tree, selector, NONE, 0.5)
    bear(tree, selector, 0, 0.9)
    bear(tree, selector, 1, 0.92)
    assert selector.ask(tree, RNG, 1) == (Ask(1),)
    tree.mark(1, +1)
    assert selector.ask(tree, RNG, 1) == (Ask(0),)
    tree.mark(0, +1)
    tree.mark(0, +1)  # GEN .9 / 3, CONT .92 / 2
    assert selector.ask(tree, RNG, 1)[0].node != 0


# Counting


def test_unscored_and_planted_nodes_are_never_counted() -> None:
    tree, selector = Tree(), Thompson()
    bear(tree, selector, NONE, 0.5)
    bear(tree, selector, 0, None)
    bear(tree, selector, 0, 0.9, planted=True)
    assert [tree.own_array(f"thompson_{name}")[0] for name in ("count", "sum", "square")] == [1, 0.5, 0.25]


def test_totals_equal_those_of_a_tree_counted_anew() -> None:
    tree, selector, rng = Tree(), thompson_beta(), np.random.default_rng(3)
    bear(tree, selector, NONE, 0.5)
    for number in range(60):
        (ask,) = selector.ask(tree, np.random.default_rng(number), 1)
        bear(tree, selector, ask.node, float(rng.random()) if rng.random() < 0.8 else None)
    assert len({int(tree.nodes["depth"][i]) for i in range(len(tree))}) > 3
    for node in range(len(tree)):
        ys = [tree.states[i].samples[0].value for i in tree.below(node) if tree.scored(i)]
        found = [tree.own_array(f"thompson_{name}")[node] for name in ("count", "sum", "square")]
        if ys:
            np.testing.assert_allclose(found, [len(ys), sum(ys), sum(y * y for y in ys)], rtol=1e-9)
        else:
            assert np.isnan(found).all()


def test_several_samples_of_a_newborn_count_by_their_mean() -> None:
    tree, selector = Tree(), Thompson()
    tree.add(NONE, State("text"))
    tree.judged(0, (Sample(0.2, 0.2), Sample(0.6, 0.6)))
    selector.tell(tree, RNG, [0])
    assert tree.own_array("thompson_own")[0] == pytest.approx(0.4)


def test_a_score_off_the_scale_is_an_error_that_says_what_to_do() -> None:
    tree, selector = Tree(), Thompson()
    with pytest.raises(
        RecipeError, match=r"node 0 scored 40.0, outside 0.0 to 1.0; give Thompson the judge's scale"
    ):
        bear(tree, selector, NONE, 40.0)
    with pytest.raises(RecipeError, match="low must be below high"):
        Thompson(low=1.0, high=1.0)


def test_it_goes_deeper_where_refining_pays_and_wider_where_it_does_not() -> None:
    def depth(gain: float) -> float:
        depths = []
        for seed in range(10):
            tree, selector, rng = Tree(), thompson_gaussian(), np.random.default_rng(seed)
            bear(tree, selector, NONE, 0.3)
            for number in range(40):
                (ask,) = selector.ask(tree, np.random.default_rng([seed, number]), 1)
                level = int(tree.nodes["depth"][ask.node]) + 1
                bear(tree, selector, ask.node, float(np.clip(0.3 + gain * level + 0.05 * rng.normal(), 0, 1)))
            depths.append(tree.nodes["depth"][: len(tree)].mean())
        return float(np.mean(depths))

    assert depth(0.1) > 1.5 * depth(-0.1)
