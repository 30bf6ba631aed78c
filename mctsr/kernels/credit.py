"""Backups that add rewards along a path, and MCTSr's two.

Climbs that mix a node's value with those of its children lie in `credit_climbs`, rank scores in `credit_ranks`.
Each one also exists as plain Python in the tests. A climb never reads a reward of an unscored or unjudged
node: it passes over it, and what such a node shows comes from its descendants alone.
"""

import math

from .jit import kernel
from .node import DONE, NONE, UNJUDGED, UNSCORED, Floats, Nodes
from .rules import UCT_MCTSR_CODE, above, score


@kernel
def best_child(nodes: Nodes, measure: Floats, node: int) -> float:
    """Return the largest `measure` among the scored children of `node`, NaN when there are none."""
    flags, nexts = nodes["flags"], nodes["next"]
    best = math.nan
    child = nodes["first"][node]
    while child != NONE:
        if not flags[child] & (UNSCORED | UNJUDGED) and not measure[child] <= best:
            best = measure[child]
        child = nexts[child]
    return best


@kernel
def mean(nodes: Nodes, node: int, reward: float, flip: float) -> None:
    """Add one reward to `node` and all its ancestors: N += 1, sum += r, value = sum / N, then r *= flip.

    An unscored or unjudged ancestor collects what its descendants earned; it has no reward of its own.
    Source: AlphaZero, arXiv:1712.01815; rStar-Math, arXiv:2501.04519; MASPRM, arXiv:2510.24803; I-MCTS,
    arXiv:2502.14693.

    Args:
        nodes: NODE, shape [capacity]; `visits`, `value_sum` and `value` change along the path.
        node: Where the reward was earned.
        reward: In the view of the player who moved into `node`.
        flip: 1 for a single agent, -1 when two players alternate.
    """
    while node >= 0:
        row = nodes[node]
        visits, total = row["visits"] + 1, row["value_sum"] + reward
        row["visits"] = visits
        row["value_sum"] = total
        row["value"] = total / visits
        reward *= flip
        node = row["parent"]


@kernel
def mean_alone(nodes: Nodes, node: int, reward: float) -> None:
    """Add one reward to `node` and to no other: N += 1, sum += r, value = sum / N."""
    nodes["visits"][node] += 1
    nodes["value_sum"][node] += reward
    nodes["value"][node] = nodes["value_sum"][node] / nodes["visits"][node]


@kernel
def decayed_sum(nodes: Nodes, node: int, reward: float, decay: float) -> None:
    """Add a reward to `node` and decay^d times it to its ancestor at distance d; only ancestors get a visit.

    `value` is the sum, not a mean.
    Source: the released code of GroundedPRM (JerryPlain/GroundedPRMCode, `pipeline/MCTS/mcts.py`).

    Args:
        nodes: NODE, shape [capacity]; `visits`, `value_sum` and `value` change along the path.
        node: Where the reward was earned.
        reward: Any number.
        decay: What each level up keeps of it.
    """
    values, sums, visits, parents = nodes["value"], nodes["value_sum"], nodes["visits"], nodes["parent"]
    at = node
    while at != NONE:
        visits[at] += at != node
        sums[at] += reward
        values[at] = sums[at]
        reward *= decay
        at = parents[at]


@kernel
def signed_sum(nodes: Nodes, node: int, reward: float, shift: float, floor: float) -> None:
    """Spread a final reward r over the steps of its path: q += g r, unless their signs differ; value = q / N.

    g = max((i + shift) / (l + shift), floor) for the step at depth i of l. Where q < 0 < r, q becomes g r: a
    step on a right path must be positive. Where q > 0 > r, q stays. A reward of 0 at a node that is not DONE is
    no end: it counts as a visit of `node` alone.
    Source: DeepSearch, arXiv:2509.25454 (shift 0), and its released code (smiles724/DeepSearch,
    `deepsearch/utils/mcts.py`, shift 1).

    Args:
        nodes: NODE, shape [capacity]; `visits`, `value_sum` (q) and `value` change along the path.
        node: Last node of the path.
        reward: In [-1, 1].
        shift: What is added to both depths.
        floor: Least weight.
    """
    values, sums, visits, parents = nodes["value"], nodes["value_sum"], nodes["visits"], nodes["parent"]
    length = nodes["depth"][node] + shift
    ends = reward != 0.0 or nodes["flags"][node] & DONE != 0
    at = node
    while at != NONE:
        visits[at] += 1
        share = reward if at == node else reward * max((nodes["depth"][at] + shift) / length, floor)
        if sums[at] * reward >= 0.0:
            sums[at] += share
        elif reward > 0.0:
            sums[at] = share
        values[at] = sums[at] / visits[at]
        at = parents[at] if ends else NONE


@kernel
def half_own_half_best(nodes: Nodes, own: Floats, node: int) -> None:
    """Recompute `value` from `node` up to its root: ½ (own + best child value), own alone for a leaf.

    Never reads a previous `value` of the node itself, so nothing compounds. An unscored node passes the
    best of its children on, since it has no own value.
    Source: MCTSr, arXiv:2406.07394, section 3.3.

    Args:
        nodes: NODE, shape [capacity]; `value` changes along the path.
        own: f8, shape [capacity]; statistic of each node's samples.
        node: Where the climb begins.
    """
    values, parents, flags = nodes["value"], nodes["parent"], nodes["flags"]
    while node != NONE:
        best = best_child(nodes, values, node)
        if flags[node] & (UNSCORED | UNJUDGED):
            values[node] = best
        elif math.isnan(best):
            values[node] = own[node]
        else:
            values[node] = 0.5 * (own[node] + best)
        node = parents[node]


@kernel
def mctsr_code(nodes: Nodes, size: int, own: Floats, ucb: Floats, c: float, eps: float) -> None:
    """Refresh `value` and `ucb` of leaves and of parents of leaves; everything else keeps a stale score.

    Source: the released code of MCTSr (trotsky1997/MathBlackBox, `update_ucb`): raw child values, one level,
    N(no parent) = 0.

    Args:
        nodes: NODE, shape [capacity]; `value` changes.
        size: Number of nodes in use.
        own: f8, shape [capacity].
        ucb: f8, shape [capacity]; changes.
        c: Exploration constant.
        eps: Added to N of the node.
    """
    values, visits, parents = nodes["value"], nodes["visits"], nodes["parent"]
    firsts, nexts, flags = nodes["first"], nodes["next"], nodes["flags"]
    k = (c, eps, 0.0, 0.0)
    for node in range(size):
        if flags[node] & (UNSCORED | UNJUDGED):
            continue
        value = own[node]
        if firsts[node] != NONE:
            child = firsts[node]
            above_leaf = False
            while child != NONE:
                above_leaf = above_leaf or firsts[child] == NONE
                child = nexts[child]
            if not above_leaf:
                continue
            best = best_child(nodes, own, node)
            if not math.isnan(best):
                value = 0.5 * (value + best)
        n_parent = 0.0 if parents[node] == NONE else float(visits[parents[node]])
        values[node] = value
        up = above(UCT_MCTSR_CODE, k, n_parent)
        ucb[node] = score(UCT_MCTSR_CODE, k, up, value, float(visits[node]), 1.0, 0.0)
