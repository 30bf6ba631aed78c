"""Particles: weights from scores, resampling, and the population that follows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels import resample as kernels
from mctsr.kernels.node import NONE, Floats, Ids
from mctsr.tree import Tree

from .population import alive

Kind = Literal["bernoulli", "softmax", "logit"]
Method = Literal["multinomial", "systematic", "stratified", "residual"]

_KINDS = {"bernoulli": kernels.BERNOULLI, "softmax": kernels.SOFTMAX, "logit": kernels.LOGIT}
_METHODS = {
    "multinomial": kernels.MULTINOMIAL,
    "systematic": kernels.SYSTEMATIC,
    "stratified": kernels.STRATIFIED,
    "residual": kernels.RESIDUAL,
}


def resample(method: Method, log_weights: Floats, n: int, rng: Generator) -> Ids:
    """Draw `n` ancestors, each index i on average n exp(l_i) / sum exp(l_j) times.

    Source: Douc, Cappé and Moulines 2005, "Comparison of resampling schemes for particle filtering", for multinomial,
    systematic, stratified and residual resampling.

    Args:
        method: How; "residual" is residual-multinomial.
        log_weights: f8, shape [k], k >= 1; -inf is a weight of zero.
        n: How many.
        rng: The randomness; `n` numbers are drawn, whatever the method.

    Returns:
        int64, shape [n]; indices, ascending.

    Raises:
        ValueError: No weight is above zero, or one is NaN or infinite.
    """
    weights = np.asarray(log_weights, dtype=np.float64)
    if np.isnan(weights).any() or np.isposinf(weights).any() or not (weights > -np.inf).any():
        raise ValueError(
            f"log weights are {weights.tolist()}; none may be NaN or +inf, and one must be above -inf"
        )
    return _drawn(method, weights, rng.random(n))


def resample_around(
    method: Literal["multinomial", "systematic"], log_weights: Floats, n: int, rng: Generator
) -> Ids:
    """Draw `n` ancestors as `resample` does, given that index 0 keeps its place among them.

    Its place is one of the n by chance: a draw in which index 0 comes k times is k times as likely here. So one of
    them is fixed somewhere in the share of index 0, and the rest follows as it always does.
    Source: conditional resampling, Andrieu, Doucet and Holenstein 2010, "Particle Markov chain Monte Carlo methods",
    for multinomial; Chopin and Singh 2015, "On particle Gibbs sampling", for systematic resampling.

    Args:
        method: How.
        log_weights: f8, shape [k], k >= 1; not NaN, not all -inf.
        n: How many, at least 1.
        rng: The randomness; n numbers are drawn.

    Returns:
        int64, shape [n]; ascending, the first one 0.
    """
    shares = np.empty(len(log_weights))
    kernels.normalise(log_weights, shares)
    uniforms = rng.random(n)
    uniforms[0] *= shares[0]
    if method == "systematic":
        uniforms[0] = n * uniforms[0] % 1.0
    drawn = _drawn(method, log_weights, uniforms)
    drawn[0] = 0  # without any weight it comes by no draw, and keeps its place all the same
    return drawn


def weighed(log_weights: Floats) -> Floats:
    """Return log weights that can be drawn from: where nobody has any weight all count alike."""
    return log_weights if (log_weights > -np.inf).any() else np.zeros(len(log_weights))


def _drawn(method: Method, log_weights: Floats, uniforms: Floats) -> Ids:
    out = np.empty(len(uniforms), dtype=np.int64)
    kernels.resample(_METHODS[method], log_weights, uniforms, out)
    return out


@dataclass(frozen=True, slots=True)
class Weight:
    """Log weight of a node's value r = (value - low) / (high - low): ln r, r, or logit r, divided by a temperature.

    A node without value (NaN) has log weight -inf: it is never chosen while another has a weight.

    Source: Puri et al., arXiv:2502.01618; the released code, and so the published numbers, have "logit".

    Attributes:
        kind: "bernoulli", "softmax" or "logit".
        temperature: Divides the log weight.
        low: Lower bound of the judge's scale.
        high: Upper bound of the judge's scale.
        eps: "logit" keeps r this far from 0 and 1.
        hottest: Entropic: the temperature is multiplied by this at depth 1, falling evenly to 1, wherever the
            normalised entropy of the weights lies below `floor`. Our reading of Giannone et al., arXiv:2510.05825,
            whose schedule we could not confirm. 1 switches it off.
        floor: Normalised entropy, in [0, 1].
        until: Steps after depth 1 in which the extra temperature goes.
    """

    kind: Kind = "logit"
    temperature: float = 1.0
    low: float = 0.0
    high: float = 1.0
    eps: float = 1e-7
    hottest: float = 1.0
    floor: float = 0.5
    until: int = 10

    def __post_init__(self) -> None:
        if not (self.temperature > 0 and self.hottest >= 1 and self.low < self.high and 0 < self.eps < 0.5):
            raise RecipeError(
                f"{self}: temperature must be above 0, hottest at least 1, low below high, eps between 0 and 0.5"
            )

    def __call__(self, values: Floats, temperature: float = 1.0) -> Floats:
        """Return the log weights of `values` at a multiple of the temperature; -inf for NaN, no value.

        Args:
            values: f8, shape [k]; on the judge's scale.
            temperature: Multiplies that of the attribute.
        """
        out = np.full(len(values), -np.inf)
        for i, value in enumerate(values):
            if not np.isnan(value):
                r = min(max((float(value) - self.low) / (self.high - self.low), 0.0), 1.0)
                out[i] = kernels.log_weight(_KINDS[self.kind], r, self.temperature * temperature, self.eps)
        return out

    def heat(self, log_weights: Floats, depth: int) -> float:
        """Return what the temperature is multiplied by for weights at this depth."""
        fading = min(max(1.0 - (depth - 1) / max(self.until, 1), 0.0), 1.0)
        if self.hottest == 1.0 or not fading:
            return 1.0
        shares = np.empty(len(log_weights))
        kernels.normalise(log_weights, shares)
        return 1.0 + (self.hottest - 1.0) * fading if kernels.entropy(shares) < self.floor else 1.0


@dataclass(frozen=True, slots=True)
class Particles:
    """Resample n particles by their weights; finished ones take part.

    Log weights are kept in the side array "log_weight", inherited from the parent, and 0 after resampling:

        "current"  l = w(r)                        the score as it stands: Puri et al., the released code
        "product"  l = l_parent + w(r)             bootstrap filter, g_t = r_t: Puri et al., the paper's text
        "ratio"    l = l_parent + w(r) - w(r_up)   the score as a potential: arXiv:2604.16453, section on target I

    where w is `weight`, and a parent without value has w = 0. Finished particles gain nothing under "product" and
    "ratio". When no weight is above zero all count alike.
    Source: Puri et al., arXiv:2502.01618; resampling by ESS as in Doucet et al. 2001.

    Attributes:
        weight: How a value becomes a log weight.
        method: The resampler.
        ess_below: Resample only when the effective sample size lies below this share of n; None for always.
        gain: Which of the above.
    """

    weight: Weight = Weight()
    method: Method = "systematic"
    ess_below: float | None = None
    gain: Literal["current", "product", "ratio"] = "current"

    def __post_init__(self) -> None:
        if self.ess_below is not None and not 0.0 <= self.ess_below <= 1.0:
            raise RecipeError(
                f"ess_below is {self.ess_below}; it is a share of the population, 0 to 1, or None"
            )

    def __call__(self, tree: Tree, pool: Sequence[int], n: int, rng: Generator) -> Sequence[int]:
        """Return the next population."""
        kept, ids = tree.own_array("log_weight"), np.array(pool, dtype=np.int64)
        log_weights = self._weigh(tree, ids, kept)
        kept[ids] = log_weights
        if not alive(tree, pool):
            return pool
        kept[ids] = log_weights = weighed(log_weights)
        shares = np.empty(len(pool))
        kernels.normalise(log_weights, shares)
        if self.ess_below is not None and kernels.sample_size(shares) >= self.ess_below * n:
            return pool
        chosen = [pool[i] for i in resample(self.method, log_weights, n, rng)]
        kept[chosen] = 0.0
        return chosen

    def _weigh(self, tree: Tree, pool: Ids, kept: Floats) -> Floats:
        """Return the log weights of the pool; a member of an earlier generation has one already."""
        values, parents = tree.nodes["value"], tree.nodes["parent"][pool]
        scores = self.weight(values[pool])
        heat = self.weight.heat(scores, int(tree.nodes["depth"][pool].max()))
        scores = self.weight(values[pool], heat) if heat != 1.0 else scores
        if self.gain == "current":
            return scores
        before = np.where(parents == NONE, 0.0, np.nan_to_num(kept[parents], nan=0.0, neginf=-np.inf))
        if self.gain == "ratio":
            valued = (parents != NONE) & ~np.isnan(values[parents])
            up = np.where(valued, self.weight(values[parents], heat), 0.0)
            # A potential of zero above is one of zero below: there is no ratio.
            scores = np.where(np.isneginf(up), -np.inf, scores - np.where(np.isneginf(up), 0.0, up))
        weights: Floats = np.where(np.isnan(kept[pool]), before + scores, kept[pool])
        return weights
