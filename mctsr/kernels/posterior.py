"""Conjugate posteriors of AB-MCTS-A: what each arm of a node has seen, and what that says of its mean.

At a node the arms are: a new child (GEN), going on below (CONT), and each child. A score in [0, 1] counts

    for GEN      of its parent,
    for itself   as an arm, and for every node above it as an arm,
    for CONT     of its grandparent and of everything above.

Two kinds of totals are enough: of a node's subtree, and of its children. What is below a node without itself and its
children is CONT. Nothing is drawn here.
Source: AB-MCTS, arXiv:2503.04412, section 3, with the released code (SakanaAI/treequest), which starts a child's
arm with the child's own score.
"""

import math
from typing import TypeAlias

from .jit import kernel
from .node import DONE, NONE, SPENT, UNSCORED, Floats, Ids, Nodes

GEN, CONT = 0, 1

#: Number, sum and sum of squares of scores, each f8 of shape [capacity]; NaN where nothing was counted.
Totals: TypeAlias = tuple[Floats, Floats, Floats]


@kernel
def add(totals: Totals, node: int, y: float) -> None:
    """Count one score at `node`: n += 1, sum += y, squares += y^2."""
    count, total, square = totals
    if math.isnan(count[node]):
        count[node], total[node], square[node] = 0.0, 0.0, 0.0
    count[node] += 1.0
    total[node] += y
    square[node] += y * y


@kernel
def observe(nodes: Nodes, node: int, y: float, subtree: Totals, children: Totals) -> None:
    """Add the score `y` of `node` to the subtrees of the node and of all above it, and to its parent's children.

    Args:
        nodes: NODE, shape [capacity].
        node: Who was scored.
        y: Its score, in [0, 1].
        subtree: Totals over each node and everything below; changes.
        children: Totals over the children of each node; changes.
    """
    parents = nodes["parent"]
    if parents[node] != NONE:
        add(children, parents[node], y)
    while node != NONE:
        add(subtree, node, y)
        node = parents[node]


@kernel
def may_grow(nodes: Nodes, node: int) -> bool:
    """Say whether anything at `node` or below it can be asked: one more child of its own, or an open child's.

    A node gets children unless it is finished or unscored; a finished one can still be passed through while a child
    of its own is open. Below a finished node that is spent nothing counts, not even a child that might widen.
    """
    flags = nodes["flags"][node]
    if flags & UNSCORED:
        return False
    return bool(flags & DONE == 0 or (nodes["first"][node] != NONE and flags & SPENT == 0))


@kernel
def wider_or_deeper(
    nodes: Nodes, node: int, y: float, subtree: Totals, children: Totals, out: Floats
) -> None:
    """Collect what GEN and CONT of a node have seen: number, sum and sum of squares of scores.

    Work in flight counts as scores of 0, the lowest (virtual loss): at the node for GEN, below for CONT.

    Args:
        nodes: NODE, shape [capacity].
        node: Whose arms.
        y: The node's own score, NaN without one.
        subtree: Totals over each node and everything below.
        children: Totals over the children of each node.
        out: f8, shape [2, 3]; receives the rows GEN and CONT.
    """
    own = 0.0 if math.isnan(y) else 1.0
    for column in range(3):
        all_below, direct = subtree[column][node], children[column][node]
        if column > 0 and own > 0.0:
            own *= y
        direct = 0.0 if math.isnan(direct) else direct
        out[GEN, column] = direct
        out[CONT, column] = 0.0 if math.isnan(all_below) else max(all_below - direct - own, 0.0)
    waiting, child = nodes["in_flight"][node], NONE
    if waiting > 0:
        child = nodes["first"][node]
    while child != NONE:
        waiting -= nodes["in_flight"][child]
        child = nodes["next"][child]
    out[GEN, 0] += waiting
    out[CONT, 0] += nodes["in_flight"][node] - waiting


@kernel
def arms(nodes: Nodes, first: int, subtree: Totals, ids: Ids, out: Floats) -> int:
    """Collect what a node's children, as arms, have seen: those that may be entered.

    Args:
        nodes: NODE, shape [capacity].
        first: The node's first child.
        subtree: Totals over each node and everything below.
        ids: int64, shape [children]; receives their ids.
        out: f8, shape [children, 3]; receives number, sum and squares, work in flight as scores of 0.

    Returns:
        How many.
    """
    count, total, square = subtree
    child, k = first, 0
    while child != NONE:
        if may_grow(nodes, child):
            ids[k] = child
            out[k, 0], out[k, 1], out[k, 2] = 0.0, 0.0, 0.0
            if count[child] > 0.0:
                out[k, 0], out[k, 1], out[k, 2] = count[child], total[child], square[child]
            out[k, 0] += nodes["in_flight"][child]
            k += 1
        child = nodes["next"][child]
    return k


@kernel
def gaussian(seen: Floats, prior: tuple[float, float, float, float], out: Floats) -> None:
    """Update a normal-inverse-gamma prior: kappa_n = kappa + n, m_n = (kappa m + sum y) / kappa_n, nu_n = nu + n,
    tau2_n = (nu tau2 + SS + n kappa (m - mean)^2 / kappa_n) / nu_n with SS = sum (y - mean)^2.

    The mean is normal around m_n with variance s2 / kappa_n, and s2 inverse-gamma(nu_n / 2, nu_n tau2_n / 2).
    Source: Murphy, "Probabilistic Machine Learning: Advanced Topics", section 3.4.3.3; arXiv:2503.04412, appendix.

    Args:
        seen: f8, shape [k, 3]; number, sum and sum of squares of the scores of each arm.
        prior: m, kappa, nu, tau2.
        out: f8, shape [k, 4]; receives m_n, kappa_n, nu_n, tau2_n.
    """
    m, kappa, nu, tau2 = prior
    for i in range(len(seen)):
        n, total, square = seen[i, 0], seen[i, 1], seen[i, 2]
        mean = total / n if n > 0.0 else m
        scatter = max(square - n * mean * mean, 0.0) if n > 0.0 else 0.0
        out[i, 0] = (kappa * m + total) / (kappa + n)
        out[i, 1] = kappa + n
        out[i, 2] = nu + n
        out[i, 3] = (nu * tau2 + scatter + n * kappa * (m - mean) * (m - mean) / (kappa + n)) / (nu + n)


@kernel
def beta(seen: Floats, prior: tuple[float, float], out: Floats) -> None:
    """Update a beta prior: a_n = a + sum y, b_n = b + sum (1 - y).

    Source: AB-MCTS, arXiv:2503.04412; a = b = 1/2 is Jeffreys' prior.

    Args:
        seen: f8, shape [k, 3]; number, sum and sum of squares of the scores of each arm.
        prior: a, b.
        out: f8, shape [k, 2]; receives a_n, b_n.
    """
    a, b = prior
    for i in range(len(seen)):
        out[i, 0] = a + seen[i, 1]
        # Sums of scores can pass their number by a rounding error.
        out[i, 1] = b + max(seen[i, 0] - seen[i, 1], 0.0)
