"""One candidate of many, by chance instead of by the largest score.

Each function goes into `Anywhere(choose=…)`. A weight below zero counts as zero and one that is no number too;
when nothing has a weight all candidates count alike. Candidates with a score of +inf come before all others.
"""

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import Floats, Ids

from .anywhere import Choose


def importance(scores: Floats, rng: Generator, *, pi: Floats | None = None) -> int:
    """P(i) = max(u_i pi_i, 0) / sum_j max(u_j pi_j, 0); uniform when the sum is 0.

    Without `pi` this is MCTSr's importance sampling over UCT values, arXiv:2406.07394, section 3.4; with it
    MC-NEST's, arXiv:2411.15645. The released code of MC-NEST (corei5/MC_NEST_GPT) lets a negative weight into the
    cumulative sum, where it takes probability from its neighbours; here it is zero.

    Args:
        scores: f8, shape [n], n >= 1; the u_i.
        rng: The randomness; one number is drawn.
        pi: f8, shape [n]; the strategy, MC-NEST's `nash`; None for the same everywhere.

    Returns:
        An index below n.
    """
    weights = _endless(scores) if pi is None else _endless(scores) * pi
    return _drawn(weights, rng)


def pairwise_importance(scores: Floats, rng: Generator, *, pi: Floats | None = None) -> int:
    """P(i < j) ~ |u_i - u_j| pi_i pi_j, and the higher of the two; uniform over candidates when the sum is 0.

    The sum of the pairs that j wins is p_j sum p_i (u_j - u_i) over the i below it, so j is drawn at once, in
    O(n log n). A score that is no finite number makes no pair.
    Source: MC-NEST, arXiv:2411.15645, with its released code. A single candidate is chosen.

    Args:
        scores: f8, shape [n], n >= 1; the u_i.
        rng: The randomness; one number is drawn.
        pi: f8, shape [n]; the strategy; None for the same everywhere.

    Returns:
        An index below n.
    """
    u = _endless(scores)
    finite = np.isfinite(u)
    share = finite * (1.0 if pi is None else np.maximum(np.nan_to_num(pi), 0.0))
    order = np.argsort(np.where(finite, u, 0.0), kind="stable")
    u, share = np.where(finite, u, 0.0)[order], share[order]
    # Step by step up the scores: no difference of large sums, so that equal scores weigh exactly nothing.
    weights = np.zeros(len(u))
    weights[order[1:]] = np.cumsum(np.diff(u) * np.cumsum(share)[:-1]) * share[1:]
    return _drawn(weights, rng)


def anyone(scores: Floats, rng: Generator, *, pi: Floats | None = None) -> int:
    """P(i) = 1 / n, whatever the scores.

    Source: GroundedPRM's released code (JerryPlain/GroundedPRMCode), which chooses a uniform child where the paper,
    arXiv:2510.14942, has UCT.

    Args:
        scores: f8, shape [n], n >= 1; only their number counts.
        rng: The randomness; one number is drawn.
        pi: Not read.

    Returns:
        An index below n.
    """
    return int(rng.integers(len(scores)))


def top_k(scores: Floats, k: int) -> Ids:
    """Return the indices of the `k` largest scores, best first; the first wins ties, NaN comes last.

    Args:
        scores: f8, shape [n].
        k: How many; all when there are fewer.

    Returns:
        int64, shape [min(k, n)].
    """
    order: Ids = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    return order[:k]


def among_top(k: int) -> Choose:
    """Choose evenly among the `k` largest scores.

    Raises:
        RecipeError: `k` is below 1.
    """
    if k < 1:
        raise RecipeError(f"k is {k}; it is the number of candidates to choose among, at least 1")

    def choose(scores: Floats, rng: Generator, *, pi: Floats | None = None) -> int:
        best = top_k(scores if pi is None else scores + pi, k)
        return int(rng.choice(best))

    return choose


def _endless(scores: Floats) -> Floats:
    """Make a score of +inf 1 and everything else 0, if there is one."""
    endless: Floats = np.isposinf(scores).astype(np.float64)
    return endless if endless.any() else scores


def _drawn(weights: Floats, rng: Generator) -> int:
    total = np.cumsum(np.maximum(np.nan_to_num(weights, nan=0.0, neginf=0.0), 0.0))
    if not total[-1] > 0.0:
        return int(rng.integers(len(total)))
    last = int(np.searchsorted(total, total[-1]))  # the last one that has a weight
    return min(int(np.searchsorted(total, rng.random() * total[-1], side="right")), last)
