"""Selection scores by name. A rule is an integer code in one chain; ties are the caller's.

`q` is the value, `n` the visits of a node, `N` the visits of its parent, each with the work in flight; `p` is the
prior and `v` the first reward that the node got. A rule has two halves, so that what all siblings share is computed
once: `above` is the part of N, `score` does the rest.

| rule              | visited                                          | n = 0        | constants       |
|-------------------|--------------------------------------------------|--------------|-----------------|
| VALUE             | q                                                | q            |                 |
| UCB1              | q + c sqrt(ln N / n)                             | infinite     | c               |
| UCT_MCTSR         | q + c sqrt((ln N + 1) / (n + eps))               | the same     | c, eps          |
| UCT_MCTSR_CODE    | q + c sqrt(ln(N + 1) / (n + eps))                | the same     | c, eps          |
| UCT_ZERO          | q + c sqrt(ln N / n)                             | 0            | c               |
| UCT_REST          | q + c sqrt(2 ln N / n)                           | q + first    | c, first        |
| UCT_MEDS3         | q + c sqrt(ln N / n)                             | first        | c, first        |
| UCT_ONE           | q + c sqrt(ln max(N, 1) / max(n, 1))             | keep q       | c, keep         |
| UCT_PSEUDO        | (q n + v) / (n + 1) + c sqrt(ln(N + 1) / (n + 1))| the same     | c               |
| UCT_PRIOR         | q + c p sqrt(ln N / n)                           | infinite     | c               |
| PUCT              | q + c p sqrt(N) / (1 + n)                        | q or first   | c, first        |
| PUCT_PSEUDO       | (q n + v) / (n + 1) + c p sqrt(max(N, 1)) / (1 + n) | the same  | c               |
| PUCT_ALPHAZERO    | q + p sqrt(N) / (1 + n) (ln((N + base + 1) / base) + init) | q or first | init, base, first |
| I_MCTS            | w v + (1 - w) q + c sqrt(ln(N + 1e-6) / n), w = cv / (n + cv) | w = 1, n := cv | c, cv |

Whose rule each is, with its source, stands in `mctsr.select.scores`. A value that nobody has written (NaN) counts as 0
where q is read at n = 0, and a first reward that never came as q.
"""

import math

from .jit import inlined, kernel
from .node import NONE, Constants, Floats, Ids, Nodes

UCT_MCTSR = 0
UCT_MCTSR_CODE = 1
VALUE = 2
UCB1 = 3
UCT_ZERO = 4
UCT_REST = 5
UCT_MEDS3 = 6
UCT_ONE = 7
UCT_PSEUDO = 8
UCT_PRIOR = 9
PUCT = 10
PUCT_PSEUDO = 11
PUCT_ALPHAZERO = 12
I_MCTS = 13

CODES = range(14)


@inlined
def above(rule: int, k: Constants, n_parent: float) -> float:
    """Return what the parent contributes to the score of every child under `rule`.

    Args:
        rule: One of the codes of this module.
        k: The rule's constants, in the order of the table above.
        n_parent: N.
    """
    if rule == PUCT:
        return k[0] * math.sqrt(n_parent)
    if rule == PUCT_ALPHAZERO:
        return math.sqrt(n_parent) * (math.log((n_parent + k[1] + 1.0) / k[1]) + k[0])
    if rule == PUCT_PSEUDO:
        return k[0] * math.sqrt(max(n_parent, 1.0))
    if rule == UCT_MCTSR_CODE or rule == UCT_PSEUDO:
        return math.log(n_parent + 1.0)
    log = math.log(max(n_parent, 1.0))
    if rule == UCT_MCTSR:
        return log + 1.0
    if rule == UCT_REST:
        return 2.0 * log
    if rule == I_MCTS:
        return math.log(max(n_parent, 1.0) + 1e-6)
    return log


@inlined
def score(rule: int, k: Constants, up: float, q: float, n: float, p: float, v: float) -> float:
    """Return the score of one node under `rule`.

    Args:
        rule: One of the codes of this module.
        k: The rule's constants.
        up: What `above` returned for its parent.
        q: Value.
        n: Visits.
        p: Prior.
        v: First reward; read by the PSEUDO rules and I_MCTS alone.
    """
    if n == 0.0:
        return unvisited(rule, k, up, q, p, v)
    if rule == PUCT or rule == PUCT_ALPHAZERO:
        return q + p * up / (1.0 + n)
    if rule == UCT_MCTSR or rule == UCT_MCTSR_CODE:
        return q + k[0] * math.sqrt(up / (n + k[1]))
    if rule == VALUE:
        return q
    if rule == UCT_PSEUDO:
        return (q * n + v) / (n + 1.0) + k[0] * math.sqrt(up / (n + 1.0))
    if rule == PUCT_PSEUDO:
        return (q * n + v) / (n + 1.0) + p * up / (1.0 + n)
    if rule == UCT_PRIOR:
        return q + k[0] * p * math.sqrt(up / n)
    if rule == I_MCTS:
        w = k[1] / (n + k[1])
        return w * v + (1.0 - w) * q + k[0] * math.sqrt(up / n)
    return q + k[0] * math.sqrt(up / n)


@inlined
def unvisited(rule: int, k: Constants, up: float, q: float, p: float, v: float) -> float:
    """Return the score of a node that has no visit and no work in flight; arguments as of `score`."""
    if rule == UCB1 or rule == UCT_PRIOR:
        return math.inf
    known = not math.isnan(q)
    if rule == PUCT:
        return (q if known else k[1]) + p * up
    if rule == PUCT_ALPHAZERO:
        return (q if known else k[2]) + p * up
    if rule == UCT_MEDS3:
        return k[1]
    if rule == UCT_ZERO:
        return 0.0
    if rule == I_MCTS:
        return v + k[0] * math.sqrt(up / k[1])
    first = q if known else 0.0
    if rule == UCT_REST:
        return first + k[1]
    if rule == UCT_ONE:
        return k[1] * first + k[0] * math.sqrt(up)
    if rule == UCT_PSEUDO:
        return v + k[0] * math.sqrt(up)
    if rule == PUCT_PSEUDO:
        return v + p * up
    if rule == UCT_MCTSR or rule == UCT_MCTSR_CODE:
        return first + k[0] * math.sqrt(up / k[1])
    return first


@inlined
def score_of(nodes: Nodes, node: int, rule: int, k: Constants, up: float, low: float) -> float:
    """Return the score of `node` with its work in flight; each ask counts as a visit that brought `low`.

    On a scale of [-100, 100] a visit alone would change nothing. Virtual loss: Chaslot et al. 2008, "Parallel
    Monte-Carlo Tree Search", section 3.3.
    """
    row = nodes[node]
    waiting, visits, q = row["in_flight"], row["visits"], row["value"]
    n = float(visits + waiting)
    if waiting > 0:
        q = (q * visits + low * waiting) / n if visits > 0 else low
    v = 0.0
    if rule == UCT_PSEUDO or rule == PUCT_PSEUDO or rule == I_MCTS:
        v = float(row["initial"])
        if math.isnan(v):
            v = 0.0 if math.isnan(q) else q
    return score(rule, k, up, q, n, float(row["prior"]), v)


@kernel
def scores(nodes: Nodes, ids: Ids, rule: int, k: Constants, low: float, out: Floats) -> None:
    """Score `ids` by `rule`; a node without parent gets its value, no exploration bonus.

    Args:
        nodes: NODE, shape [capacity].
        ids: int64, shape [n].
        rule: One of the codes of this module.
        k: The rule's constants; c is on the scale of the values.
        low: Lower bound of the values; what work in flight counts as.
        out: f8, shape [n]; receives the scores.
    """
    visits, in_flight, parents = nodes["visits"], nodes["in_flight"], nodes["parent"]
    for i in range(len(ids)):
        parent = parents[ids[i]]
        if parent == NONE:
            out[i] = score_of(nodes, ids[i], VALUE, k, 0.0, low)
        else:
            up = above(rule, k, float(visits[parent] + in_flight[parent]))
            out[i] = score_of(nodes, ids[i], rule, k, up, low)
