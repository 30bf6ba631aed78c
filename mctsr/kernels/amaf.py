"""All moves as first: statistics of a move wherever it was played, and the rules that read them.

A table holds one row a node: f4, shape [rows, codes, 2], [..., 0] the number of playouts through the node that contain
the code from there on, [..., 1] the sum of their results in the code's view. Counts are exact up to 2^24.
A code is a move as far as statistics tell moves apart, with its mover in it where two players share a board. Nothing
here knows what a code means, nor who gives out rows.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .descent import CLOSED
from .jit import inlined, kernel
from .node import DONE, NONE, Ids, Nodes

#: f4, shape [rows, codes, 2], and one row of it, shape [codes, 2].
Table: TypeAlias = NDArray[np.float32]
Row: TypeAlias = NDArray[np.float32]
#: int8, shape [codes]: +1 or -1, what a playout's result is multiplied by to be in the view of the code's mover.
Signs: TypeAlias = NDArray[np.int8]

VISIT = np.float32(1.0)
NEXT = np.uint64(1)

#: Methods of `best_child`.
GRAVE = 0  # an unvisited child is worth its AMAF mean; RAVE when every node is its own reference
MCPS = 1
UCB1_GRAVE = 2  # Ludii's: GRAVE plus sqrt(2 ln(sum of n) / n)
GRAVE_LUDII = 3  # an unvisited child first, whatever AMAF says


@kernel
def trail(nodes: Nodes, node: int, codes: Ids, rows: Ids, out: Ids) -> int:
    """Write the path to `node`, root first: ids to out[0], their rows to out[1], codes of the moves to out[2].

    Args:
        nodes: NODE, shape [capacity].
        node: Where the path ends.
        codes: int64, shape [capacity].
        rows: int64, shape [capacity].
        out: int64, shape [3, > depth of node].

    Returns:
        The number of moves; there is one node more.
    """
    parents = nodes["parent"]
    length = int(nodes["depth"][node])
    for i in range(length, -1, -1):
        out[0, i] = node
        out[1, i] = rows[node]
        if i > 0:
            out[2, i - 1] = codes[node]
        node = parents[node]
    return length


@kernel
def credit_playout(
    table: Table,
    rows: Ids,
    n_rows: int,
    codes: Ids,
    length: int,
    signs: Signs,
    result: float,
    scratch: Ids,
) -> None:
    """Credit one playout to every row of its path: node i gets each code that occurs at t >= i, once.

    Source: AMAF as GRAVE needs it, Cazenave 2015, "Generalized Rapid Action Value Estimation", with every code
    once a playout.

    Args:
        table: f4, shape [rows, codes, 2]; the rows of the path change.
        rows: int64, shape [>= n_rows]; table row of path node i, root first, NONE for a node that keeps none.
        n_rows: Nodes of the path; those at `length` or deeper have no move after them.
        codes: int64, shape [>= length]; codes[t] is the move made from path node t, beyond the path by the playout.
        length: Moves in all.
        signs: int8, shape [codes].
        result: The playout's result in the view of codes with sign +1.
        scratch: int64, shape [2, codes]; scratch[0] is 0 throughout, before and after.
    """
    seen, unique = scratch[0], scratch[1]
    flat, width = table.reshape(-1), 2 * table.shape[1]
    change = np.float32(result)
    count = 0
    for t in range(length - 1, -1, -1):
        code = codes[t]
        if seen[code] == 0:
            seen[code] = 1
            unique[count] = code
            count += 1
        if t < n_rows and rows[t] != NONE:
            base = rows[t] * width
            # Unsigned indices need no check for negative ones: this loop is the cost of GRAVE.
            for j in range(count):
                at = np.uint64(base + 2 * unique[j])
                flat[at] += VISIT
                flat[at + NEXT] += np.float32(signs[np.uint64(unique[j])]) * change
    for j in range(count):
        seen[unique[j]] = 0


@inlined
def mixed(
    method: int, bias: float, own: tuple[float, float], first: tuple[float, float], perm: Row
) -> tuple[float, float]:
    """Mix what is known of a move, as a fraction: its value is the first number by the second, 0 / 0 for nothing known.

    GRAVE: (1 - b) Q + b Q_amaf, b = n_amaf / (n_amaf + n + bias n_amaf n); an unvisited move has b = 1. Cazenave 2015,
    IJCAI; `bias` is 4 b̃² of RAVE (Gelly and Silver 2011).
    MCPS: (n Q + n_amaf Q_amaf + n_perm Q_perm) / (n + n_amaf + n_perm), three means on one scale. Monte Carlo
    Permutation Search, arXiv:2510.06381.

    Args:
        method: MCPS, or any other for GRAVE's mix.
        bias: GRAVE's.
        own: Sum of the move's results, and their number n.
        first: The same at the reference node, of playouts with the move anywhere after it: n_amaf.
        perm: f4, shape [2]; number n_perm and sum over playouts with the move and the path to it in any order.
    """
    top, bottom = own[0] + first[0], own[1] + first[1]
    if method == MCPS:
        return top + perm[1], bottom + perm[0]
    return top + bias * first[1] * own[0], bottom + bias * first[1] * own[1]


@kernel
def child_visits(nodes: Nodes, node: int) -> int:
    """Return the visits and the work in flight of all children of `node`."""
    total = 0
    child = nodes["first"][node]
    while child != NONE:
        total += int(nodes["visits"][child] + nodes["in_flight"][child])
        child = nodes["next"][child]
    return total


@kernel
def best_child(
    nodes: Nodes,
    node: int,
    codes: Ids,
    method: int,
    bias: float,
    low: float,
    amaf_row: Row,
    perm_row: Row,
) -> int:
    """Return the child of `node` with the largest value under `method`; the first created wins ties.

    A child of which nothing is known comes before all others. Children that are finished, spent or unscored are
    passed over, and leaves that are being grown; work in flight counts as visits that brought `low`. Q is
    value_sum / visits, which is `value` under the mean backup; these methods are defined for no other.

    Args:
        nodes: NODE, shape [capacity].
        node: Whose children.
        codes: int64, shape [capacity]; code of the move into each node.
        method: GRAVE, MCPS, UCB1_GRAVE or GRAVE_LUDII.
        bias: GRAVE's bias; MCPS has none.
        low: What work in flight counts as.
        amaf_row: f4, shape [codes, 2]; the table row of the reference node.
        perm_row: f4, shape [codes, 2]; permutation statistics, read by MCPS alone.

    Returns:
        Its id, or NONE when no child may be entered.
    """
    sums, visits, in_flight = nodes["value_sum"], nodes["visits"], nodes["in_flight"]
    firsts, nexts, flags = nodes["first"], nodes["next"], nodes["flags"]
    explore = 0.0
    if method == UCB1_GRAVE:
        explore = 2.0 * math.log(max(float(child_visits(nodes, node)), 1.0))
    busy = in_flight[node] > 0
    best, best_top, best_bottom = NONE, -math.inf, 1.0
    start, last = firsts[node], nodes["last"][node]
    # Children made together lie together: counting up need not wait for each link to be read.
    together = last - start + 1 == nodes["n_children"][node]
    while start != NONE:
        stop = last if together else start
        for child in range(start, stop + 1):
            at = np.uint64(child)  # an unsigned index needs no check for negative ones
            if flags[at] & CLOSED or (flags[at] & DONE and firsts[at] == NONE):
                continue
            if busy and in_flight[at] > 0 and firsts[at] == NONE:
                continue
            n, total = float(visits[at]), sums[at]
            if busy:
                n += in_flight[at]
                total += low * in_flight[at]
            code = np.uint64(codes[at])
            first = (float(amaf_row[code, 1]), float(amaf_row[code, 0]))
            # Fractions are compared by cross products: a division takes longer.
            top, bottom = mixed(method, bias, (total, n), first, perm_row[code])
            if bottom == 0.0 or (method == GRAVE_LUDII and n == 0.0):
                return child
            if method == UCB1_GRAVE:
                top += bottom * math.sqrt(explore / max(n, 1.0))
            if top * best_bottom > best_top * bottom:
                best, best_top, best_bottom = child, top, bottom
        start = nexts[stop]
    return best
