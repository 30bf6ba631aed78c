"""One candidate by chance: the weights of the sources, and what has no weight."""

import math
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import Floats
from mctsr.select.anywhere import Choose
from mctsr.select.sampled import (
    among_top,
    importance,
    pairwise_importance,
    top_k,
)

number = st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100))


def shares(choose: Choose, scores: list[float], draws: int = 4000) -> list[float]:
    """Return how often each index is chosen."""
    rng = np.random.default_rng(7)
    counts = Counter(choose(np.array(scores), rng) for _ in range(draws))
    return [counts[i] / draws for i in range(len(scores))]


def near(expected: list[float], draws: int = 4000) -> object:
    return pytest.approx(expected, abs=5 * math.sqrt(0.25 / draws))


class Dial(Generator):
    """A generator whose next uniform number is known."""

    def __init__(self, u: float) -> None:
        super().__init__(np.random.PCG64(0))
        self.u = u

    def random(self, *args: object, **kwargs: object) -> float:  # type: ignore[override]
        return self.u


def exact(choose: Callable[[Floats, Generator], int], scores: list[float], cuts: int) -> list[int]:
    """Count choices over a grid of `cuts` uniform numbers: exact where weights are multiples of 1 / cuts."""
    counts = Counter(choose(np.array(scores), Dial((k + 0.5) / cuts)) for k in range(cuts))
    return [counts[i] for i in range(len(scores))]


def test_importance_is_in_proportion_to_the_score() -> None:
    assert exact(importance, [10.0, 30.0, 40.0], 8) == [1, 3, 4]


def test_importance_is_in_proportion_to_score_times_strategy() -> None:
    pi = np.array([0.0, 0.5, 0.5, 0.0])
    assert exact(partial(importance, pi=pi), [1e4, 10.0, 30.0, 70.0], 4) == [0, 1, 3, 0]


def test_a_negative_score_takes_nothing_from_its_neighbours() -> None:
    # A cumulative sum of 60, 20, 100 would give the second none, and the third 80.
    assert exact(importance, [60.0, -40.0, 40.0], 10) == [6, 0, 4]


@pytest.mark.parametrize("scores", [[-1.0, -2.0, -3.0], [0.0, 0.0, 0.0], [math.nan, -1.0, 0.0]])
def test_without_any_weight_all_count_alike(scores: list[float]) -> None:
    assert shares(importance, scores) == near([1 / 3] * 3)


@pytest.mark.parametrize("choose", [importance, pairwise_importance, among_top(2)])
def test_a_single_candidate_is_chosen(choose: Choose) -> None:
    for score in (5.0, -5.0, 0.0, math.inf):
        assert choose(np.array([score]), np.random.default_rng(0)) == 0


@pytest.mark.parametrize("choose", [importance, pairwise_importance])
def test_an_endless_score_comes_before_all_others(choose: Choose) -> None:
    assert shares(choose, [5.0, math.inf, 70.0], 200) == [0, 1, 0]


def test_pairs_are_drawn_by_their_distance_and_the_higher_one_returned() -> None:
    # Pairs (0,1) 2, (0,2) 6, (1,2) 4.
    assert exact(pairwise_importance, [-1.0, 1.0, 5.0], 12) == [0, 2, 10]
    # Pairs with pi: (0,1) 2 * 1/4, (0,2) 0, (1,2) 0.
    pi = np.array([0.5, 0.5, 0.0])
    assert exact(partial(pairwise_importance, pi=pi), [3.0, 1.0, 5.0], 4) == [4, 0, 0]


def test_equal_scores_make_no_pair_and_all_count_alike() -> None:
    assert shares(pairwise_importance, [2.0, 2.0, 2.0]) == near([1 / 3] * 3)
    nobody = np.array([0.0, 0.0, 0.0, 1.0])
    assert shares(partial(pairwise_importance, pi=nobody), [1.0, 2.0, 3.0, 4.0]) == near([0.25] * 4)


@given(st.lists(number, min_size=1, max_size=8), st.integers(0, 2**32))
def test_pairs_follow_the_weights_that_plain_python_says(scores: list[float], seed: int) -> None:
    pairs = [(i, j, abs(scores[i] - scores[j])) for j in range(len(scores)) for i in range(j)]
    pairs.sort()
    total, u = sum(w for _, _, w in pairs), np.random.default_rng(seed).random()
    if total > 0:
        reached, expected = 0.0, set[int]()
        for i, j, w in pairs:
            if w > 0 and reached - 1e-9 * total <= u * total <= reached + w + 1e-9 * total:
                expected.add(j if scores[j] > scores[i] else i)
            reached += w
    else:
        expected = set(range(len(scores)))
    assert pairwise_importance(np.array(scores), np.random.default_rng(seed)) in expected


@given(st.lists(st.one_of(number, st.just(math.nan)), min_size=1, max_size=8), st.integers(1, 10))
def test_the_largest_come_first_and_the_first_wins_ties(scores: list[float], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: math.inf if math.isnan(scores[i]) else -scores[i])
    assert top_k(np.array(scores), k).tolist() == expected[:k]


def test_the_choice_among_the_top_is_even() -> None:
    assert shares(among_top(2), [1.0, 5.0, 3.0, 5.0]) == near([0, 0.5, 0, 0.5])
    with pytest.raises(RecipeError, match="k is 0; it is the number of candidates"):
        among_top(0)
