"""One candidate by chance: the weights of the sources, and what has no weight."""

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import Floats
from mctsr.select.anywhere import Choose
from mctsr.select.sampled import among_top, anyone, importance, pairwise_importance, top_k

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


@pytest.mark.parametrize("choose", [importance, pairwise_importance, among_top(2), anyone])
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


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 3)), min_size=1, max_size=7))
def test_the_winners_of_pairs_have_the_exact_law_of_the_pairs(rows: list[tuple[int, int]]) -> None:
    scores, pi = [float(u) for u, _ in rows], np.array([float(p) for _, p in rows])
    wins = [0] * len(rows)
    for i, j in combinations(range(len(rows)), 2):
        higher = j if scores[j] > scores[i] else i
        wins[higher] += int(abs(scores[i] - scores[j]) * pi[i] * pi[j])
    if sum(wins):
        assert exact(partial(pairwise_importance, pi=pi), scores, sum(wins)) == wins
    else:
        everybody = exact(partial(pairwise_importance, pi=pi), scores, 1)
        assert sum(everybody) == 1


def test_a_score_that_is_no_finite_number_makes_no_pair() -> None:
    assert exact(pairwise_importance, [1.0, math.nan, 3.0, -math.inf, 2.0], 4) == [0, 0, 3, 0, 1]
    assert shares(pairwise_importance, [math.nan, 3.0]) == near([0.5, 0.5])


def test_equal_scores_weigh_exactly_nothing_however_large() -> None:
    # 0.1 + 0.2 and 0.3 differ; these do not, and rounding must make no pair of them.
    same = [1e9 + 0.1] * 50
    assert len({pairwise_importance(np.array(same), np.random.default_rng(seed)) for seed in range(200)}) > 40


def test_a_long_list_is_drawn_from_without_a_table_of_pairs() -> None:
    scores = np.random.default_rng(0).random(200_000)  # the pairs alone would take 320 GB
    chosen = [pairwise_importance(scores, np.random.default_rng(seed)) for seed in range(20)]
    assert scores[chosen].mean() > 0.5


def test_anyone_is_chosen_whatever_the_scores() -> None:
    pi = np.array([1.0, 0.0, 0.0])
    assert shares(partial(anyone, pi=pi), [math.nan, -math.inf, 90.0]) == near([1 / 3] * 3)


@given(st.lists(st.one_of(number, st.just(math.nan)), min_size=1, max_size=8), st.integers(1, 10))
def test_the_largest_come_first_and_the_first_wins_ties(scores: list[float], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda i: math.inf if math.isnan(scores[i]) else -scores[i])
    assert top_k(np.array(scores), k).tolist() == expected[:k]


def test_the_choice_among_the_top_is_even() -> None:
    assert shares(among_top(2), [1.0, 5.0, 3.0, 5.0]) == near([0, 0.5, 0, 0.5])
    with pytest.raises(RecipeError, match="k is 0; it is the number of candidates"):
        among_top(0)
