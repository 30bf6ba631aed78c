"""Paired differences: the published numbers, the laws, and what no flip means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.report.paired import LEAST, TOO_FEW, bootstrap, mcnemar, pair


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 2 / 32),
        (8, 2, 2 * (1 + 10 + 45) / 1024),
        (2, 8, 2 * (1 + 10 + 45) / 1024),
        (7, 7, 1.0),
        # Fay 2010, "Two-sided exact tests", example of McNemar's: 21 against 9 gives 0.0428.
        (21, 9, 0.04277),
    ],
)
def test_mcnemar_is_the_exact_binomial_probability(gained: int, lost: int, p: float) -> None:
    assert mcnemar(gained, lost) == pytest.approx(p, abs=5e-5)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_a_probability_that_does_not_know_sides(gained: int, lost: int) -> None:
    assert 0.0 < mcnemar(gained, lost) == mcnemar(lost, gained) <= 1.0


def test_mcnemar_of_thousands_is_a_number() -> None:
    assert mcnemar(3000, 2500) == pytest.approx(1.6e-11, rel=0.2)


def test_the_interval_is_that_of_resampled_pairs() -> None:
    """Against the plain bootstrap: draw problems with replacement, take the mean difference."""
    differences = np.array([1] * 12 + [-1] * 5 + [0] * 33)
    rng = np.random.default_rng(1)
    plain = rng.choice(differences, (20_000, 50)).mean(axis=1)
    low, high = bootstrap(12, 5, 50, np.random.default_rng(2))
    assert (low, high) == pytest.approx(np.quantile(plain, [0.025, 0.975]), abs=0.021)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng, truth, covered = np.random.default_rng(3), 0.2 - 0.1, 0
    for _ in range(200):
        gained, lost, _ = rng.multinomial(200, [0.2, 0.1, 0.7])
        low, high = bootstrap(int(gained), int(lost), 200, rng, resamples=1000)
        covered += low <= truth <= high
    assert 180 <= covered <= 199


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_what_is_gained_one_way_is_lost_the_other_way(answers: list[tuple[bool, bool]]) -> None:
    first = {str(i): a for i, (a, _) in enumerate(answers)}
    second = {str(i): b for i, (_, b) in enumerate(answers)}
    there = pair("selected", first, second, np.random.default_rng(0))
    back = pair("selected", second, first, np.random.default_rng(0))
    assert (there.gained, there.lost) == (back.lost, back.gained)
    assert there.difference is not None
    assert there.difference == pytest.approx((sum(second.values()) - sum(first.values())) / len(answers))
    assert there.p == back.p
    if len(answers) < LEAST:
        assert (there.low, there.high, there.p, there.note) == (None, None, None, TOO_FEW)
        return
    assert there.note == ""
    assert there.low is not None
    assert there.high is not None
    assert -1 <= there.low <= there.difference <= there.high <= 1


def test_nothing_to_compare_is_no_number() -> None:
    found = pair("selected", {}, {}, np.random.default_rng(0))
    assert (found.n, found.difference, found.low, found.high, found.p) == (0, None, None, None, None)


def test_pairs_of_different_problems_are_refused() -> None:
    with pytest.raises(ValueError, match="same problems"):
        pair("selected", {"a": True}, {"b": True}, np.random.default_rng(0))
