"""Values from pairwise preferences: places in a ranking of all nodes. They know no tree."""

import numpy as np

from mctsr.kernels import credit_ranks
from mctsr.kernels.credit_ranks import Beats
from mctsr.kernels.node import Floats, Ids


def borda(beats: Beats) -> Ids:
    """Count whom each one beats under the transitive closure of `beats`.

    Members of a cycle count each other and themselves.
    Source: LLaMA-Berry, arXiv:2410.02884 (enhanced Borda count).

    Args:
        beats: bool, shape [n, n]; beats[i, j] says i > j. Left as it is.

    Returns:
        int64, shape [n].
    """
    closed = beats.copy()
    credit_ranks.close(closed)
    counts: Ids = closed.sum(axis=1, dtype=np.int64)
    return counts


def borda_values(p: Floats) -> Floats:
    """1 - (rank - 1) / (n - 1) by Borda count: the best has 1, the worst 0.

    A single one has 1. Equal counts (all members of a cycle have them) are ranked by the sum of their
    probabilities against each other, then by order.
    Source: LLaMA-Berry, arXiv:2410.02884 (global value); how P settles ties of three and more is not stated there.

    Args:
        p: f8, shape [n, n]; p[i, j] is the probability that i is better than j. The diagonal is not read.

    Returns:
        f8, shape [n], in [0, 1].
    """
    n = len(p)
    apart = ~np.eye(n, dtype=np.bool_)
    counts = borda((p >= 0.5) & apart)
    tied = (counts[:, None] == counts[None, :]) & apart
    strength = np.where(tied, p, 0.0).sum(axis=1)
    order = np.lexsort((np.arange(n), -strength, -counts))
    values = np.empty(n)
    values[order] = 1.0 - np.arange(n) / max(n - 1, 1)
    return values


def llama_berry_values(p: Floats, parents: Ids, *, share: float = 0.1) -> Floats:
    """(1 - share) Q_g + share Q_l: rank, and part of its own children beaten.

    A node without children has no Q_l and keeps Q_g.
    Source: LLaMA-Berry, arXiv:2410.02884, equation 7.

    Args:
        p: f8, shape [n, n]; p[i, j] is the probability that i is better than j.
        parents: int64, shape [n]; row of each node's parent, NONE for a root.
        share: Weight of Q_l, in [0, 1].

    Returns:
        f8, shape [n], in [0, 1].
    """
    ranked = borda_values(p)
    child = parents[None, :] == np.arange(len(p))[:, None]
    families = child.sum(axis=1)
    beaten = (child & (p >= 0.5)).sum(axis=1)
    near = np.where(families > 0, beaten / np.maximum(families, 1), ranked)
    return (1.0 - share) * ranked + share * near
