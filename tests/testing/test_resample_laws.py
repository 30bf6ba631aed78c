"""The shipped resamplers keep the laws, and one that breaks a law is told so."""

from functools import partial

import numpy as np
import pytest
from numpy.random import Generator

from mctsr.kernels.node import Floats, Ids
from mctsr.select.particles import Method, resample
from mctsr.testing.resample_laws import Resampler, check_resampler
from mctsr.testing.tree_laws import LawBroken


@pytest.mark.parametrize("method", ["multinomial", "systematic", "stratified", "residual"])
def test_shipped_resamplers_keep_the_laws(method: Method) -> None:
    check_resampler(partial(resample, method), rounds=200, low_variance=method == "systematic")


def shares(log_weights: Floats) -> Floats:
    weights: Floats = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    return weights


def sound(log_weights: Floats, n: int, rng: Generator) -> Ids:
    return np.sort(rng.choice(len(log_weights), n, p=shares(log_weights)))


def unsorted(log_weights: Floats, n: int, rng: Generator) -> Ids:
    return rng.choice(len(log_weights), n, p=shares(log_weights))


def greedy(log_weights: Floats, n: int, rng: Generator) -> Ids:
    return np.full(n, np.argmax(log_weights))


def flat(log_weights: Floats, n: int, rng: Generator) -> Ids:
    return np.sort(rng.integers(len(log_weights), size=n))


def sharpened(log_weights: Floats, n: int, rng: Generator) -> Ids:
    return sound(2.0 * log_weights, n, rng)


def tempered_in_place(log_weights: Floats, n: int, rng: Generator) -> Ids:
    log_weights *= 0.5
    return sound(log_weights, n, rng)


def one_too_few(log_weights: Floats, n: int, rng: Generator) -> Ids:
    return sound(log_weights, n, rng)[1:]


def forgetful(log_weights: Floats, n: int, rng: Generator) -> Ids:
    return sound(log_weights, n, np.random.default_rng())


@pytest.mark.parametrize(
    ("resampler", "words"),
    [
        (unsorted, "not ascending"),
        (greedy, "copies on average, not"),
        (flat, "without weight is copied|copies on average"),
        (sharpened, "copies on average, not"),
        (tempered_in_place, "it changed the weights"),
        (one_too_few, "an array of shape"),
        (forgetful, "with the same seed it says"),
    ],
)
def test_a_resampler_that_breaks_a_law_is_told_so(resampler: Resampler, words: str) -> None:
    with pytest.raises(LawBroken, match=words):
        check_resampler(resampler, rounds=300)


def test_independent_draws_are_sound_but_not_of_low_variance() -> None:
    check_resampler(sound, rounds=200)
    with pytest.raises(LawBroken, match="copies of shares"):
        check_resampler(sound, rounds=200, low_variance=True)


@pytest.mark.parametrize("weights", [[-np.inf, -np.inf], [0.0, np.nan], [np.inf, 0.0], []])
def test_weights_that_are_none_are_an_error_before_anything_is_drawn(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="none may be NaN or \\+inf, and one must be above -inf"):
        resample("systematic", np.array(weights), 3, np.random.default_rng(0))
