"""Backups that mix a node's value with those of its children, and those that read a whole path.

A child counts from the moment it has a value: an unscored one through its descendants, else not at all. Each
kernel also exists as plain Python in the tests.
"""

import math

from .jit import kernel
from .node import NONE, UNJUDGED, UNSCORED, Floats, Nodes

MINIMUM = 0
PRODUCT = 1


@kernel
def best_value(nodes: Nodes, node: int) -> float:
    """Return the largest value among the children of `node`, NaN when none has one."""
    values, nexts = nodes["value"], nodes["next"]
    best = math.nan
    child = nodes["first"][node]
    while child != NONE:
        if not math.isnan(values[child]) and not values[child] <= best:
            best = values[child]
        child = nexts[child]
    return best


@kernel
def child_mean(nodes: Nodes, node: int) -> float:
    """Return the mean of the children's values weighted by their visits, NaN when none was visited."""
    values, visits, nexts = nodes["value"], nodes["visits"], nodes["next"]
    total, weight = 0.0, 0
    child = nodes["first"][node]
    while child != NONE:
        if visits[child] > 0 and not math.isnan(values[child]):
            total += values[child] * visits[child]
            weight += visits[child]
        child = nexts[child]
    return total / weight if weight > 0 else math.nan


@kernel
def highest(nodes: Nodes, own: Floats, node: int, n: int) -> None:
    """Recompute `value` from `node` up to its root: the best child's value, own for a leaf; N += n.

    Source: RAP, arXiv:2305.14992 (back-propagation: the highest future reward).

    Args:
        nodes: NODE, shape [capacity]; `visits` and `value` change along the path.
        own: f8, shape [capacity]; statistic of each node's samples, NaN where there is none.
        node: Where the climb begins.
        n: Visits to add; 0 for an evaluation that is none.
    """
    values, visits, parents = nodes["value"], nodes["visits"], nodes["parent"]
    while node != NONE:
        best = best_value(nodes, node)
        visits[node] += n
        values[node] = own[node] if math.isnan(best) else best
        node = parents[node]


@kernel
def mc_nest(nodes: Nodes, node: int) -> None:
    """Q(p) <- ½ (Q(p) + max child Q) and N(p) += 1 for every ancestor p of `node`, in place: it compounds.

    Source: the released code of MC-NEST (corei5/MC_NEST_GPT, `MC_NEST_.py`).

    Args:
        nodes: NODE, shape [capacity]; `visits` and `value` change above `node`.
        node: A node whose own value stands already.
    """
    values, visits, parents, flags = nodes["value"], nodes["visits"], nodes["parent"], nodes["flags"]
    node = parents[node]
    while node != NONE:
        best = best_value(nodes, node)
        visits[node] += 1
        values[node] = best if flags[node] & (UNSCORED | UNJUDGED) else 0.5 * (values[node] + best)
        node = parents[node]


@kernel
def moving(nodes: Nodes, node: int, g: float, n: int) -> None:
    """Q(s) <- (1 - g) Q(s) + g Q(child) for every ancestor s of `node`, each from the one below; N += n.

    Source: LLaMA-Berry, arXiv:2410.02884 (backpropagation).

    Args:
        nodes: NODE, shape [capacity]; `visits` change along the path, `value` above `node`.
        node: A node whose own value stands already.
        g: Share of the child.
        n: Number of new samples.
    """
    values, visits, parents, flags = nodes["value"], nodes["visits"], nodes["parent"], nodes["flags"]
    visits[node] += n
    q = values[node]
    node = parents[node]
    while node != NONE:
        visits[node] += n
        if not flags[node] & (UNSCORED | UNJUDGED):
            q = (1.0 - g) * values[node] + g * q
        values[node] = q
        node = parents[node]


@kernel
def visit_weighted(nodes: Nodes, own: Floats, node: int, n: int) -> None:
    """V = sum(V_c N_c) / sum(N_c) over the children, own where none was visited, up to the root; N += n.

    Source: the released codes of ReST-MCTS* (THUDM/ReST-MCTS, `MCTS/mcts.py`) and MedS3 (pixas/MedSSS,
    `Evol_Instruct/MCTS/tree.py`, update rule "default").

    Args:
        nodes: NODE, shape [capacity]; `visits` and `value` change along the path.
        own: f8, shape [capacity]; statistic of each node's samples, NaN where there is none.
        node: Where the climb begins.
        n: Visits to add; 0 for an evaluation that is none.
    """
    values, visits, parents = nodes["value"], nodes["visits"], nodes["parent"]
    while node != NONE:
        below = child_mean(nodes, node)
        visits[node] += n
        values[node] = own[node] if math.isnan(below) else below
        node = parents[node]


@kernel
def half_visit_weighted(nodes: Nodes, node: int, n: int) -> None:
    """V <- ½ (V + sum(V_c N_c) / sum(N_c)) from `node` to its root, in place: it compounds; N += n.

    Source: the released code of MedS3 (pixas/MedSSS, `Evol_Instruct/MCTS/tree.py`, update rule "comp").

    Args:
        nodes: NODE, shape [capacity]; `visits` and `value` change along the path.
        node: A node whose own value stands already.
        n: Number of new samples.
    """
    values, visits, parents, flags = nodes["value"], nodes["visits"], nodes["parent"], nodes["flags"]
    while node != NONE:
        below = child_mean(nodes, node)
        visits[node] += n
        if flags[node] & (UNSCORED | UNJUDGED):
            values[node] = below
        elif not math.isnan(below):
            values[node] = 0.5 * (values[node] + below)
        node = parents[node]


@kernel
def along(nodes: Nodes, own: Floats, node: int, rule: int) -> None:
    """Recompute `value` of `node` from the node above it and its own value.

    An unscored node has no value; those below it read past it.
    """
    values, parents = nodes["value"], nodes["parent"]
    values[node] = math.nan
    if nodes["flags"][node] & (UNSCORED | UNJUDGED):
        return
    up = parents[node]
    while up != NONE and math.isnan(values[up]):
        up = parents[up]
    values[node] = own[node]
    if up != NONE:
        values[node] = min(values[up], own[node]) if rule == MINIMUM else values[up] * own[node]


@kernel
def path_values(nodes: Nodes, own: Floats, node: int, rule: int) -> None:
    """Recompute `value` of `node` and of all below: own values from the root combined.

    Source: minimum: Math-Shepherd, arXiv:2312.08935 (score of a solution); product: MedS3, arXiv:2501.12051, at
    inference.

    Args:
        nodes: NODE, shape [capacity]; `value` changes in the subtree of `node`.
        own: f8, shape [capacity]; statistic of each node's samples.
        node: Root of the subtree; values above it stand already.
        rule: MINIMUM or PRODUCT.
    """
    firsts, nexts, parents = nodes["first"], nodes["next"], nodes["parent"]
    at = node
    while True:
        along(nodes, own, at, rule)
        if firsts[at] != NONE:
            at = firsts[at]
            continue
        while at != node and nexts[at] == NONE:
            at = parents[at]
        if at == node:
            break
        at = nexts[at]
