"""Selection scores by name. A rule is an integer code in one chain; ties are the caller's.

`N` is visits plus work in flight. Work in flight counts as a reward of `low` (virtual loss): on a scale of
[-100, 100] a visit alone would change nothing.
"""

import math

from .jit import kernel
from .node import NONE, Floats, Ids, Nodes

UCT_MCTSR = 0  # Q + c * sqrt((ln N(p) + 1) / (N + eps)), arXiv:2406.07394, section 3.4
UCT_MCTSR_CODE = 1  # Q + c * sqrt(ln(N(p) + 1) / (N + eps)), the released code
VALUE = 2  # Q


@kernel
def bonus(rule: int, c: float, eps: float, above: float, n: float) -> float:
    """Return the exploration term of `rule` for a node with N = `n` below one with N = `above`."""
    if rule == UCT_MCTSR:
        return c * math.sqrt((math.log(max(above, 1.0)) + 1.0) / (n + eps))
    if rule == UCT_MCTSR_CODE:
        return c * math.sqrt(math.log(above + 1.0) / (n + eps))
    return 0.0


@kernel
def scores(nodes: Nodes, ids: Ids, rule: int, constants: tuple[float, float, float], out: Floats) -> None:
    """Score `ids` by `rule`; a node without parent gets no exploration bonus.

    Args:
        nodes: NODE, shape [capacity].
        ids: int64, shape [n]; scored nodes.
        rule: One of the codes of this module.
        constants: c (exploration, on the scale of the values), eps (added to N of the node), and the judge's
            lower bound.
        out: f8, shape [n]; receives the scores.
    """
    c, eps, low = constants
    values, visits, in_flight, parents = nodes["value"], nodes["visits"], nodes["in_flight"], nodes["parent"]
    for i in range(len(ids)):
        node = ids[i]
        waiting = in_flight[node]
        n = visits[node] + waiting
        q = values[node]
        if waiting > 0:
            q = (q * visits[node] + low * waiting) / n
        out[i] = q
        parent = parents[node]
        if parent != NONE:
            out[i] += bonus(rule, c, eps, float(visits[parent] + in_flight[parent]), float(n))
