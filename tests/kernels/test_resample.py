"""Weights and resampling: numbers of the source, exact expectations by enumeration, plain Python."""

import math
from bisect import bisect_right
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels import resample as kernels
from mctsr.kernels.node import Floats, Ids

METHODS = (kernels.MULTINOMIAL, kernels.SYSTEMATIC, kernels.STRATIFIED, kernels.RESIDUAL)
log_weights = st.lists(st.one_of(st.just(-math.inf), st.floats(-900, 900)), min_size=1, max_size=9).filter(
    lambda given: max(given) > -math.inf
)
uniform = st.floats(0, 1, exclude_max=True)


def shares_of(given: list[float]) -> list[float]:
    top = max(given)
    weights = [math.exp(x - top) for x in given]
    return [w / sum(weights) for w in weights]


def drawn(method: int, given: Floats | list[float], uniforms: Floats | list[float], n: int) -> Ids:
    out = np.full(n, -1, dtype=np.int64)
    kernels.resample(method, np.array(given, dtype=float), np.array(uniforms, dtype=float), out)
    return out


# Weights of particles


def test_sampling_11_4_particle_weights() -> None:
    scores, out = [0.95, 0.9, 0.5, 0.1], np.empty(4)
    expected = {
        kernels.SOFTMAX: [0.332, 0.315, 0.211, 0.142],
        kernels.LOGIT: [0.653, 0.309, 0.034, 0.004],
        kernels.BERNOULLI: [0.388, 0.367, 0.204, 0.041],
    }
    for kind, weights in expected.items():
        kernels.normalise(np.array([kernels.log_weight(kind, r, 1.0, 1e-7) for r in scores]), out)
        # The logit of 0.5 has the exact share .03436, of 0.9 .30928.
        np.testing.assert_allclose(out, weights, atol=0.0006)


@given(uniform, st.floats(0.1, 10))
def test_log_weights_are_the_logarithms_of_the_published_weights(r: float, temperature: float) -> None:
    assert math.exp(kernels.log_weight(kernels.BERNOULLI, r, 1.0, 1e-7)) == pytest.approx(r)
    assert kernels.log_weight(kernels.SOFTMAX, r, temperature, 1e-7) == pytest.approx(r / temperature)
    if 1e-7 < r < 1 - 1e-7:
        odds = (r / (1 - r)) ** (1 / temperature)
        assert math.exp(kernels.log_weight(kernels.LOGIT, r, temperature, 1e-7)) == pytest.approx(odds)


def test_the_ends_of_the_scale_have_weights_too() -> None:
    assert kernels.log_weight(kernels.BERNOULLI, 0.0, 1.0, 1e-7) == -math.inf
    assert kernels.log_weight(kernels.LOGIT, 0.0, 1.0, 1e-7) == pytest.approx(math.log(1e-7), rel=1e-6)
    assert kernels.log_weight(kernels.LOGIT, 1.0, 2.0, 1e-7) == pytest.approx(-math.log(1e-7) / 2, rel=1e-6)


@given(log_weights)
def test_weights_effective_size_and_entropy_are_those_of_the_formulas(given_weights: list[float]) -> None:
    out = np.empty(len(given_weights))
    total = kernels.normalise(np.array(given_weights), out)
    shares = shares_of(given_weights)
    top = max(given_weights)
    assert total == pytest.approx(top + math.log(sum(math.exp(x - top) for x in given_weights)))
    np.testing.assert_allclose(out, shares, rtol=1e-9)
    assert kernels.sample_size(out) == pytest.approx(1 / sum(w * w for w in shares))
    plain = -sum(w * math.log(w) for w in shares if w) / math.log(len(shares)) if len(shares) > 1 else 1.0
    assert kernels.entropy(out) == pytest.approx(plain, abs=1e-12)


def test_no_weight_at_all_is_seen() -> None:
    out = np.empty(2)
    assert kernels.normalise(np.array([-math.inf, -math.inf]), out) == -math.inf
    assert out.tolist() == [0, 0]


# Resampling


def plain(method: int, shares: list[float], uniforms: list[float], n: int) -> list[int]:
    """Say which ancestors each method names."""
    cumulated = list(accumulate(shares))
    if method == kernels.MULTINOMIAL:
        positions = [u * cumulated[-1] for u in uniforms[:n]]
    elif method == kernels.SYSTEMATIC:
        positions = [(k + uniforms[0]) / n for k in range(n)]
    elif method == kernels.STRATIFIED:
        positions = [(k + uniforms[k]) / n for k in range(n)]
    else:
        whole = [math.floor(n * w * (1 + 1e-14)) for w in shares]
        rest = [max(n * w - k, 0) for w, k in zip(shares, whole, strict=True)]
        left = n - sum(whole)
        more = plain(kernels.MULTINOMIAL, rest, uniforms, left) if left else []
        return sorted([i for i, k in enumerate(whole) for _ in range(k)] + more)
    last = max(i for i, w in enumerate(shares) if w > 0)
    return sorted(min(bisect_right(cumulated, p), last) for p in positions)


def clear_of_rounding(method: int, shares: list[float], uniforms: list[float], n: int) -> bool:
    """Say whether no position lies so near a boundary that a rounding error moves it to the other side."""
    copies = np.array([n * w for w in shares])
    positions = np.array([k + u for k in range(n) for u in uniforms] + [n * u for u in uniforms])
    if method == kernels.RESIDUAL:
        if np.abs(copies - np.round(copies)).min() < 1e-9:
            return False
        copies -= np.floor(copies)
        positions = copies.sum() * np.array(uniforms)
    return bool(np.abs(positions[:, None] - np.cumsum(copies)).min() > 1e-9)


@given(st.sampled_from(METHODS), log_weights, st.lists(uniform, min_size=8, max_size=8), st.integers(1, 8))
def test_resampling_is_what_plain_python_says(
    method: int, given_weights: list[float], uniforms: list[float], n: int
) -> None:
    found, shares = drawn(method, given_weights, uniforms, n), shares_of(given_weights)
    expected = plain(method, shares, uniforms, n)
    if clear_of_rounding(method, shares, uniforms, n):
        assert found.tolist() == expected
    assert len(found) == n
    assert (np.diff(found) >= 0).all()
    assert all(shares[i] > 0 for i in found)


@pytest.mark.parametrize(
    ("weights", "uniforms", "expected"),
    [
        ([0.5, 0.25, 0.25], [0.5] * 4, [0, 0, 1, 2]),  # nothing is left to draw
        ([0.4, 0.35, 0.25], [0.0, 0.0, 0.0, 0.0], [0, 0, 1, 2]),  # 1.6, 1.4, 1.0: one drawn from .6, .4, 0
        ([0.4, 0.35, 0.25], [0.61, 0.0, 0.0, 0.0], [0, 1, 1, 2]),
        ([1 / 3, 1 / 3, 1 / 3], [0.9, 0.9, 0.9], [0, 1, 2]),
    ],
)
def test_residual_resampling_copies_whole_shares_and_draws_the_rest(
    weights: list[float], uniforms: list[float], expected: list[int]
) -> None:
    assert drawn(kernels.RESIDUAL, np.log(weights), uniforms, len(uniforms)).tolist() == expected


@given(log_weights, uniform, st.integers(1, 12))
def test_systematic_counts_are_the_share_rounded_down_or_up(
    given_weights: list[float], u: float, n: int
) -> None:
    copies = np.bincount(drawn(kernels.SYSTEMATIC, given_weights, [u], n), minlength=len(given_weights))
    for count, share in zip(copies, shares_of(given_weights), strict=True):
        assert math.floor(n * share - 1e-9) <= count <= math.ceil(n * share + 1e-9)


WEIGHTS = ([1, 2, 3, 2], [0, 5, 0, 3], [8], [1, 1, 1, 1, 4])


@pytest.mark.parametrize("eighths", WEIGHTS)
@pytest.mark.parametrize("n", [1, 3, 5])
def test_systematic_resampling_is_unbiased_exactly(eighths: list[int], n: int) -> None:
    grid = (np.arange(8) + 0.5) / 8
    copies = np.zeros(len(eighths))
    for u in grid:
        found = drawn(kernels.SYSTEMATIC, np.log(np.maximum(eighths, 1e-300)), [u], n)
        copies += np.bincount(found, minlength=len(eighths))
    assert copies.tolist() == [n * w for w in eighths]


@pytest.mark.parametrize("eighths", WEIGHTS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_stratified_resampling_is_unbiased_exactly(eighths: list[int], n: int) -> None:
    grid = (np.arange(8) + 0.5) / 8
    copies = np.zeros(len(eighths))
    for case in range(8**n):
        uniforms = [grid[case // 8**k % 8] for k in range(n)]
        found = drawn(kernels.STRATIFIED, np.log(np.maximum(eighths, 1e-300)), uniforms, n)
        copies += np.bincount(found, minlength=len(eighths))
    np.testing.assert_allclose(copies / 8**n, [n * w / 8 for w in eighths], rtol=1e-12)


@pytest.mark.parametrize("eighths", WEIGHTS)
def test_multinomial_resampling_is_unbiased_exactly(eighths: list[int]) -> None:
    grid = (np.arange(8) + 0.5) / 8
    found = drawn(kernels.MULTINOMIAL, np.log(np.maximum(eighths, 1e-300)), grid, 8)
    assert np.bincount(found, minlength=len(eighths)).tolist() == eighths


@pytest.mark.parametrize("method", METHODS)
def test_nobody_without_weight_is_copied_at_the_last_uniform_number(method: int) -> None:
    almost_one = math.nextafter(1.0, 0.0)
    given_weights = [-math.inf, *np.log([0.1] * 7), -math.inf, -math.inf]
    for u in (0.0, almost_one):
        assert set(drawn(method, given_weights, [u] * 5, 5)) <= set(range(1, 8))
