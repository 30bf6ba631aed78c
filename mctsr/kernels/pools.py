"""Scores of papers that choose from a pool and read arrays of their own."""

import math

import numpy as np

from .jit import kernel
from .node import NONE, Constants, Floats, Ids, Nodes


@kernel
def deepsearch_frontier(nodes: Nodes, ids: Ids, entropy: Floats, k: Constants, out: Floats) -> None:
    """Write l1 tanh(Q(parent)) + l2 H + l3 sqrt(d / d_max) of each of `ids`.

    Source: DeepSearch, arXiv:2509.25454, global frontier selection.

    Args:
        nodes: NODE, shape [capacity].
        ids: int64, shape [n].
        entropy: f8, shape [capacity]; H, counted as 0 where it is NaN.
        k: l1, l2, l3, d_max.
        out: f8, shape [n]; receives the scores.
    """
    values, parents, depths = nodes["value"], nodes["parent"], nodes["depth"]
    for i in range(len(ids)):
        node = ids[i]
        parent, h = parents[node], entropy[node]
        q = values[parent] if parent != NONE else 0.0
        if math.isnan(q):
            q = 0.0
        if math.isnan(h):
            h = 0.0
        out[i] = k[0] * math.tanh(q) + k[1] * h + k[2] * math.sqrt(depths[node] / k[3])


@kernel
def omega_prm(nodes: Nodes, size: int, ids: Ids, lengths: Floats, k: Constants, out: Floats) -> None:
    """Write alpha^(1 - MC(s)) beta^(length / L) + c sqrt(sum of all N) / (1 + N(s)) of each of `ids`.

    Source: OmegaPRM, arXiv:2406.06592, section 3.3.

    Args:
        nodes: NODE, shape [capacity].
        size: Number of nodes in use.
        ids: int64, shape [n]; rollouts, each a child of its state s.
        lengths: f8, shape [capacity]; length of each rollout, tokens.
        k: alpha, beta, L, c.
        out: f8, shape [n]; receives the scores.
    """
    values, visits, parents = nodes["value"], nodes["visits"], nodes["parent"]
    total = math.sqrt(np.sum(visits[:size]))
    for i in range(len(ids)):
        state = parents[ids[i]]
        worth = k[0] ** (1.0 - values[state]) * k[1] ** (lengths[ids[i]] / k[2])
        out[i] = worth + k[3] * total / (1.0 + visits[state])
