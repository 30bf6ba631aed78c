"""Sequential halving with Gumbel noise: who is visited next, at the root and below.

N counts simulations through a child, those in flight included; it begins at 0 for every child, judged or not. A child
whose value nobody knows yet has q = NaN.
Source of all: Danihelka et al., ICLR 2022, "Policy improvement by planning with Gumbel", with the authors' code
(google-deepmind/mctx).
"""

import math
from typing import TypeAlias

from .descent import closed
from .jit import kernel
from .node import NONE, UNSCORED, Floats, Ids, Nodes
from .resample import normalise

#: Ids, N, q and logits of some children, each of the same shape.
Rows: TypeAlias = tuple[Ids, Ids, Floats, Floats]
#: Whether closed children are left out, which the unscored always are; and ids that are left out.
Shut: TypeAlias = tuple[bool, Ids]
#: c_visit and c_scale; rows, and two f8 of the same shape.
Work: TypeAlias = tuple[tuple[float, float], Rows, Floats, Floats]

#: Smallest range of values that is stretched to [0, 1].
SPAN = 1e-8
#: Logit of a prior of zero: low, but no obstacle when nothing else is left.
LOWEST = -1e9


@kernel
def considered_visits(m: int, n: int, out: Ids) -> None:
    """Write for each of `n` simulations how often the child to be visited has been visited before.

    Sequential halving: of `m` children each gets max(1, floor(n / (ceil(log2 m) * left))) visits in a round, then the
    better half stays, at least 2, and so on until the budget is spent.
    Source: Karnin et al. 2013, "Almost optimal exploration in multi-armed bandits"; as a table in mctx.

    Args:
        m: Children considered.
        n: Simulations.
        out: int64, shape [n].
    """
    rounds = 1
    while 1 << rounds < m:
        rounds += 1
    done, visits, left = 0, 0, max(m, 1)
    while done < n:
        extra = max(1, n // (rounds * left))
        for k in range(min(extra * left, n - done)):
            out[done + k] = visits + k // left
        done += extra * left
        visits += extra
        left = max(min(m, 2), left // 2)


@kernel
def among(ids: Ids, node: int) -> bool:
    """Say whether `node` is one of `ids`."""
    found = False
    for i in range(len(ids)):
        found |= ids[i] == node
    return found


@kernel
def gather(nodes: Nodes, node: int, shut: Shut, low: float, sims: Floats, rows: Rows) -> int:
    """Collect the children of `node` that may be entered; one in flight whose value nobody knows counts as `low`.

    Args:
        nodes: NODE, shape [capacity].
        node: Whose children.
        shut: Who is left out.
        low: What work in flight counts as in q.
        sims: f8, shape [capacity]; simulations through each node, NaN for none.
        rows: Four arrays of shape [children]; they receive ids, N, q and ln prior.

    Returns:
        How many.
    """
    ids, counts, q, logits = rows
    open_only, blocked = shut
    values, visits, in_flight = nodes["value"], nodes["visits"], nodes["in_flight"]
    child, k = nodes["first"][node], 0
    while child != NONE:
        left_out = nodes["flags"][child] & UNSCORED != 0 or (open_only and closed(nodes, child))
        if not left_out and not among(blocked, child):
            waiting = in_flight[child]
            ids[k] = child
            counts[k] = (int(sims[child]) if sims[child] > 0.0 else 0) + waiting
            q[k] = values[child]
            if waiting > 0:
                # 0 * NaN is no 0: where nothing is known yet, the work in flight is all there is.
                known = visits[child] > 0 and not math.isnan(values[child])
                total = values[child] * visits[child] if known else 0.0
                q[k] = (total + low * waiting) / (waiting + (visits[child] if known else 0))
            prior = nodes["prior"][child] + 0.0  # f8: the logarithm of an f4 is an f4
            logits[k] = math.log(prior) if prior > 0.0 else LOWEST
            k += 1
        child = nodes["next"][child]
    return k


@kernel
def complete(counts: Ids, logits: Floats, v: float, q: Floats) -> None:
    """Replace each unknown q by v_mix = (v + sum N * sum p q / sum p) / (1 + sum N), sums of p over the known.

    Source: the paper's appendix D. Without any v it is the mean under the prior alone, without anything known v or 0.

    Args:
        counts: int64, shape [k]; N.
        logits: f8, shape [k].
        v: The node's own value before any search; NaN for none.
        q: f8, shape [k]; changes where it is NaN.
    """
    top = -math.inf
    for i in range(len(q)):
        if not math.isnan(q[i]):
            top = max(top, logits[i])
    total, mass, weighted = 0.0, 0.0, 0.0
    for i in range(len(q)):
        total += counts[i]
        if not math.isnan(q[i]):
            p = math.exp(logits[i] - top)
            mass += p
            weighted += p * q[i]
    mixed = 0.0 if math.isnan(v) else v
    if mass > 0.0:
        mixed = weighted / mass if math.isnan(v) else (v + total * weighted / mass) / (1.0 + total)
    for i in range(len(q)):
        if math.isnan(q[i]):
            q[i] = mixed


@kernel
def sigma(counts: Ids, q: Floats, c_visit: float, c_scale: float, out: Floats) -> None:
    """sigma(q) = (c_visit + max N) * c_scale * (q - min q) / (max q - min q).

    Source: the paper's equation 8, with the min-max normalisation of mctx.

    Args:
        counts: int64, shape [k]; N.
        q: f8, shape [k]; completed.
        c_visit: Added to the largest N.
        c_scale: Factor.
        out: f8, shape [k].
    """
    least, most, visits = math.inf, -math.inf, 0
    for i in range(len(q)):
        least, most, visits = min(least, q[i]), max(most, q[i]), max(visits, counts[i])
    scale = (c_visit + visits) * c_scale / max(most - least, SPAN)
    for i in range(len(q)):
        out[i] = scale * (q[i] - least)


@kernel
def next_below(counts: Ids, policy: Floats) -> int:
    """Return argmax p'_i - N_i / (1 + sum N): visits follow the improved policy; the first wins ties.

    Source: the paper's section 5, "Planning at non-root nodes".

    Args:
        counts: int64, shape [k]; N.
        policy: f8, shape [k]; softmax(logits + sigma(q)).
    """
    total = 1.0 + counts.sum()
    best, highest = NONE, -math.inf
    for i in range(len(counts)):
        found = policy[i] - counts[i] / total
        if found > highest:
            best, highest = i, found
    return best


@kernel
def next_at_root(counts: Ids, scores: Floats, considered: int) -> int:
    """Return the best score among the children with N = `considered`; the first wins ties.

    When a child that was considered can no longer be entered nobody may have this N: then those with the largest N
    below it are meant, and without any the least visited.

    Args:
        counts: int64, shape [k]; N.
        scores: f8, shape [k]; g + logit, plus sigma(q) once everybody considered has a visit.
        considered: From `considered_visits`.
    """
    level, least = -1, counts[0]
    for i in range(len(counts)):
        least = min(least, counts[i])
        if counts[i] <= considered:
            level = max(level, counts[i])
    level = level if level >= 0 else least
    best, highest = NONE, -math.inf
    for i in range(len(counts)):
        if counts[i] == level and (scores[i] > highest or best == NONE):
            best, highest = i, scores[i]
    return best


@kernel
def weigh(nodes: Nodes, node: int, k: int, c: tuple[float, float], rows: Rows, bonus: Floats) -> None:
    """Complete the q of `k` gathered children of `node` and write their sigma to `bonus`, f8 of shape [>= k].

    Args:
        nodes: NODE, shape [capacity].
        node: The parent; v is the value of its first sample.
        k: How many children.
        c: c_visit and c_scale.
        rows: The children; q changes.
        bonus: Receives sigma.
    """
    _, counts, q, logits = rows
    complete(counts[:k], logits[:k], nodes["initial"][node] + 0.0, q[:k])
    sigma(counts[:k], q[:k], c[0], c[1], bonus)


@kernel
def descend(nodes: Nodes, node: int, shut: Shut, low: float, sims: Floats, work: Work) -> int:
    """Follow `next_below` from `node`, which is not the root, to a leaf.

    Args:
        nodes: NODE, shape [capacity].
        node: Where to begin.
        shut: Who is left out.
        low: What work in flight counts as in q.
        sims: f8, shape [capacity]; simulations through each node, NaN for none.
        work: c_visit and c_scale; rows to work in, and two more f8, all of shape [most children of any node].

    Returns:
        The leaf; or -2 - i where i has children and none may be entered.
    """
    c, rows, bonus, policy = work
    ids, counts, _, logits = rows
    while nodes["first"][node] != NONE:
        k = gather(nodes, node, shut, low, sims, rows)
        if k == 0:
            return -2 - node
        weigh(nodes, node, k, c, rows, bonus)
        for i in range(k):
            bonus[i] += logits[i]
        normalise(bonus[:k], policy)  # softmax
        node = ids[next_below(counts[:k], policy)]
    return node


@kernel
def passed(nodes: Nodes, node: int, sims: Floats) -> None:
    """Count a simulation that grew `node`: add 1 to `sims`, f8 of shape [capacity], from there to the root."""
    while node != NONE:
        sims[node] = sims[node] + 1.0 if sims[node] > 0.0 else 1.0
        node = nodes["parent"][node]
