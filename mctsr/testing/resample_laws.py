"""Laws of resamplers: who is copied, how often, and in which order."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from mctsr.kernels.node import Floats, Ids

from .tree_laws import law

Resampler = Callable[[Floats, int, Generator], Ids]

_CASES = (
    (0.0,),
    (0.0, 0.0, 0.0),
    (0.0, -1.0, -2.0, -0.5, -3.0),
    (-700.0, -701.0, -702.0),
    (900.0, 899.0, 898.5, 897.0),
    (-np.inf, 0.0, -np.inf, 0.7, -np.inf),
    (-np.inf, -np.inf, 5.0),
    (0.0, -50.0, -0.1, -60.0),
)


def check_resampler(resampler: Resampler, *, rounds: int = 1000, low_variance: bool = False) -> None:
    """A resampler is unbiased, copies nobody without weight, sorts, repeats itself and leaves its input alone.

    Unbiased: over `rounds` draws each index comes n w_i times on average, within five standard errors of
    independent draws, which no sound resampler exceeds.

    Args:
        resampler: Takes log weights (f8, shape [k], -inf allowed), the number n of ancestors and a generator;
            returns indices, shape [n].
        rounds: Draws of each case.
        low_variance: Whether each index must come floor(n w_i) or ceil(n w_i) times, as in systematic resampling.

    Raises:
        LawBroken: It does otherwise.
    """
    for number, case in enumerate(_CASES):
        log_weights = np.array(case)
        shares = np.exp(log_weights - log_weights.max())
        shares /= shares.sum()
        for n in (1, 7):
            counts = np.zeros(len(case))
            for seed in range(rounds):
                drawn = _drawn(resampler, log_weights, n, [number, n, seed], twice=seed < 20)
                copies = np.bincount(drawn, minlength=len(case))
                law(not copies[shares == 0.0].any(), f"weights {shares}: somebody without weight is copied")
                near = (copies > n * shares - 1 - 1e-9) & (copies < n * shares + 1 + 1e-9)
                law(bool(near.all()) or not low_variance, f"{copies} copies of shares {n * shares}")
                counts += copies
            error = np.sqrt(n * shares * (1.0 - shares) / rounds)
            off = np.abs(counts / rounds - n * shares)
            law(
                bool((off <= 5.0 * error + 1e-9).all()),
                f"{counts / rounds} copies on average, not {n * shares}",
            )


def _drawn(resampler: Resampler, log_weights: Floats, n: int, seed: list[int], *, twice: bool) -> Ids:
    before = log_weights.copy()
    drawn = np.asarray(resampler(log_weights, n, np.random.default_rng(seed)))
    law(bool((log_weights == before).all()), "it changed the weights")
    law(drawn.shape == (n,), f"asked for {n} ancestors it returned an array of shape {drawn.shape}")
    law(
        bool(((drawn >= 0) & (drawn < len(log_weights))).all()),
        f"{drawn.tolist()} of {len(log_weights)} particles",
    )
    law(bool((drawn[1:] >= drawn[:-1]).all()), f"{drawn.tolist()} is not ascending")
    if twice:
        again = np.asarray(resampler(log_weights, n, np.random.default_rng(seed)))
        law(
            bool((drawn == again).all()),
            f"with the same seed it says {drawn.tolist()}, then {again.tolist()}",
        )
    return drawn
