"""Backups over the array. Each one also exists as plain Python in the tests."""

import math

from .jit import kernel
from .node import NONE, UNJUDGED, UNSCORED, Floats, Nodes
from .rules import UCT_MCTSR_CODE, bonus


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
        above = 0.0 if parents[node] == NONE else float(visits[parents[node]])
        values[node] = value
        ucb[node] = value + bonus(UCT_MCTSR_CODE, c, eps, above, float(visits[node]))
