"""Weights of particles and who is copied: arrays in, arrays out; nothing here knows a tree.

Weights are logarithms, so that products over a hundred steps neither overflow nor vanish; -inf is a weight of zero.
Randomness comes in as uniform numbers in [0, 1). What has no weight is never chosen, rounding or not.
"""

import math

import numpy as np

from .jit import kernel
from .node import Floats, Ids

#: How a score in [0, 1] becomes a log weight.
BERNOULLI = 0  # ln r / T: a process reward as the chance that the step is right
SOFTMAX = 1  # r / T
LOGIT = 2  # ln(r / (1 - r)) / T

#: How ancestors are drawn.
MULTINOMIAL = 0
SYSTEMATIC = 1
STRATIFIED = 2
RESIDUAL = 3


@kernel
def log_weight(kind: int, r: float, temperature: float, eps: float) -> float:
    """Return the log weight of a score: ln r, r, or ln(r / (1 - r)), divided by the temperature.

    Source: Puri et al., arXiv:2502.01618: the text has BERNOULLI, the algorithm box SOFTMAX, the released code LOGIT.

    Args:
        kind: BERNOULLI, SOFTMAX or LOGIT.
        r: A score in [0, 1].
        temperature: Above 1 flattens, below 1 sharpens; positive.
        eps: LOGIT keeps r this far from 0 and 1.
    """
    if kind == BERNOULLI:
        return math.log(r) / temperature if r > 0.0 else -math.inf
    if kind == LOGIT:
        r = min(max(r, eps), 1.0 - eps)
        return math.log(r / (1.0 - r)) / temperature
    return r / temperature


@kernel
def normalise(log_weights: Floats, out: Floats) -> float:
    """Write w_i = exp(l_i - logsumexp(l)) to `out` and return logsumexp(l); all -inf gives zeros and -inf.

    Args:
        log_weights: f8, shape [n]; no NaN, no +inf.
        out: f8, shape [n]; receives weights that sum to 1.
    """
    top = -math.inf
    for i in range(len(log_weights)):
        top = max(top, log_weights[i])
    if top == -math.inf:
        out[:] = 0.0
        return top
    total = 0.0
    for i in range(len(log_weights)):
        out[i] = math.exp(log_weights[i] - top)
        total += out[i]
    for i in range(len(log_weights)):
        out[i] /= total
    return top + math.log(total)


@kernel
def sample_size(weights: Floats) -> float:
    """Return the effective sample size 1 / sum w_i^2 of normalised weights: between 1 and n.

    Source: Kong, Liu and Wong 1994, "Sequential imputations and Bayesian missing data problems".
    """
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * weights[i]
    return 1.0 / total


@kernel
def entropy(weights: Floats) -> float:
    """Return -sum w ln w / ln n of normalised weights: 1 when all are alike or there is one, 0 when one has all."""
    total = 0.0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            total -= weights[i] * math.log(weights[i])
    return total / math.log(len(weights)) if len(weights) > 1 else 1.0


@kernel
def multinomial(weights: Floats, uniforms: Floats, n: int, counts: Ids) -> None:
    """Add n independent draws to `counts`: each takes the first i with w_0 + … + w_i > u.

    Args:
        weights: f8, shape [k]; not negative, not all zero, need not sum to 1.
        uniforms: f8, shape [>= n]; in [0, 1).
        n: Draws.
        counts: int64, shape [k]; changes.
    """
    total = np.cumsum(weights)
    last = len(weights) - 1
    while weights[last] <= 0.0:
        last -= 1
    for j in range(n):
        chosen = np.searchsorted(total, uniforms[j] * total[last], side="right")
        counts[min(chosen, last)] += 1


@kernel
def comb(weights: Floats, uniforms: Floats, n: int, step: int, counts: Ids) -> None:
    """Add n draws at the positions (k + u_k) / n, k = 0 … n - 1, each taking the first i with w_0 + … + w_i above.

    Args:
        weights: f8, shape [m]; normalised.
        uniforms: f8, shape [1] or [n]; in [0, 1).
        n: Draws.
        step: 0: one u for all (systematic); 1: a u for each (stratified).
        counts: int64, shape [m]; changes.
    """
    last = len(weights) - 1
    while weights[last] <= 0.0:
        last -= 1
    i, reached = 0, n * weights[0]
    for k in range(n):
        while i < last and reached <= k + uniforms[k * step]:
            i += 1
            reached += n * weights[i]
        counts[i] += 1


@kernel
def residual(weights: Floats, uniforms: Floats, n: int, counts: Ids) -> None:
    """Add floor(n w_i) copies of each, and the rest by multinomial draws from n w_i - floor(n w_i).

    Source: Liu and Chen 1998, "Sequential Monte Carlo methods for dynamic systems", section 3.2: residual-multinomial,
    the standard form.
    """
    rest = np.empty(len(weights))
    left = n
    for i in range(len(weights)):
        # A share that rounding left a hair below a whole number is that number.
        whole = math.floor(n * weights[i] * (1.0 + 1e-14))
        rest[i] = max(n * weights[i] - whole, 0.0)
        counts[i] += whole
        left -= whole
    if left > 0:
        multinomial(rest, uniforms, left, counts)


@kernel
def resample(method: int, log_weights: Floats, uniforms: Floats, out: Ids) -> None:
    """Draw len(out) ancestors so that the expected number of copies of i is len(out) * w_i; ascending.

    Source: Douc, Cappé and Moulines 2005, "Comparison of resampling schemes for particle filtering".

    Args:
        method: MULTINOMIAL, SYSTEMATIC, STRATIFIED or RESIDUAL.
        log_weights: f8, shape [k]; not all -inf.
        uniforms: f8, shape [len(out)], in [0, 1); SYSTEMATIC reads the first, RESIDUAL as many as it needs.
        out: int64, shape [n]; receives indices into `log_weights`.
    """
    weights = np.empty(len(log_weights))
    normalise(log_weights, weights)
    counts = np.zeros(len(log_weights), dtype=np.int64)
    if method == MULTINOMIAL:
        multinomial(weights, uniforms, len(out), counts)
    elif method == RESIDUAL:
        residual(weights, uniforms, len(out), counts)
    else:
        comb(weights, uniforms, len(out), 0 if method == SYSTEMATIC else 1, counts)
    k = 0
    for i in range(len(counts)):
        for _ in range(counts[i]):
            out[k] = i
            k += 1
