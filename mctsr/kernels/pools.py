"""Scores of papers that choose from a pool and read arrays of their own."""

import math

import numpy as np

from .jit import kernel
from .node import NONE, Constants, Floats, Ids, Nodes
from .rules import VALUE, score_of


@kernel
def deepsearch_frontier(
    nodes: Nodes, ids: Ids, entropy: Floats, k: Constants, low: float, out: Floats
) -> None:
    """Write l1 tanh(Q(parent)) + l2 H + l3 sqrt(d / d_max) of each of `ids`.

    Source: DeepSearch, arXiv:2509.25454, global frontier selection.

    Args:
        nodes: NODE, shape [capacity].
        ids: int64, shape [n].
        entropy: f8, shape [capacity]; H, counted as 0 where it is NaN.
        k: l1, l2, l3, d_max.
        low: What work in flight below the parent counts as.
        out: f8, shape [n]; receives the scores.
    """
    parents, depths = nodes["parent"], nodes["depth"]
    for i in range(len(ids)):
        node = ids[i]
        parent, h = parents[node], entropy[node]
        q = score_of(nodes, parent, VALUE, k, 0.0, low) if parent != NONE else 0.0
        if math.isnan(q):
            q = 0.0
        if math.isnan(h):
            h = 0.0
        out[i] = k[0] * math.tanh(q) + k[1] * h + k[2] * math.sqrt(depths[node] / k[3])


@kernel
def omega_prm(nodes: Nodes, size: int, ids: Ids, lengths: Floats, k: Constants, out: Floats) -> None:
    """Write alpha^(1 - MC(s)) beta^(length / L) + c sqrt(sum of all N) / (1 + N(s)) of each of `ids`.

    N(s) counts the rollouts of s that were searched or are being searched. What is no rollout, or one of a state
    that is always right or always wrong, gets NaN: it is not in the pool.
    Source: OmegaPRM, arXiv:2406.06592, section 3.3.

    Args:
        nodes: NODE, shape [capacity].
        size: Number of nodes in use.
        ids: int64, shape [n]; rollouts, each a child of its state s.
        lengths: f8, shape [capacity]; length of each rollout, tokens; NaN for a node that is none.
        k: alpha, beta, L, c.
        out: f8, shape [n]; receives the scores.
    """
    values, parents, firsts, in_flight = nodes["value"], nodes["parent"], nodes["first"], nodes["in_flight"]
    counts = np.zeros(size)
    for node in range(size):
        searched = firsts[node] != NONE or in_flight[node] > 0
        if parents[node] != NONE and searched and not math.isnan(lengths[node]):
            counts[parents[node]] += 1.0
    total = math.sqrt(np.sum(counts))
    for i in range(len(ids)):
        state, out[i] = parents[ids[i]], math.nan
        if state != NONE and 0.0 < values[state] < 1.0:
            worth = k[0] ** (1.0 - values[state]) * k[1] ** (lengths[ids[i]] / k[2])
            out[i] = worth + k[3] * total / (1.0 + counts[state])
