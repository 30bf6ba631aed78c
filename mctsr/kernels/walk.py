"""Link nodes, mark work in flight, list candidates. All in place, nothing allocated."""

import math

from .jit import kernel
from .node import DONE, NONE, SPENT, UNJUDGED, UNSCORED, Floats, Ids, Nodes

#: Every flag but those of a node without a reward.
REWARDED = 0xFFFFFFFF ^ (UNSCORED | UNJUDGED)

#: What closes a node with enough children; see `candidates`.
BETTER, AS_GOOD, NUMBER, EITHER = range(4)


@kernel
def link(nodes: Nodes, node: int, parent: int) -> None:
    """Append `node` to the children of `parent` (NONE for a root); sets its depth and empties its links.

    Args:
        nodes: NODE, shape [capacity]; records of `node` and `parent` change.
        node: Id of the new node, larger than every id linked before.
        parent: Id of its parent, or NONE.
    """
    parents, firsts, lasts, nexts = nodes["parent"], nodes["first"], nodes["last"], nodes["next"]
    parents[node] = parent
    firsts[node] = NONE
    lasts[node] = NONE
    nexts[node] = NONE
    if parent == NONE:
        nodes["depth"][node] = 0
        return
    nodes["depth"][node] = nodes["depth"][parent] + 1
    if firsts[parent] == NONE:
        firsts[parent] = node
    else:
        nexts[lasts[parent]] = node
    lasts[parent] = node
    nodes["n_children"][parent] += 1


@kernel
def born(nodes: Nodes, node: int, parent: int, flags: int, prior: float) -> bool:
    """Write the record of a new node and link it, as `link` does; nothing is known of its value yet.

    Args:
        nodes: NODE, shape [capacity]; records of `node` and `parent` change.
        node: Id of the new node, larger than every id linked before; its record as `fresh` made it.
        parent: Id of its parent, or NONE.
        flags: Its flags.
        prior: Its prior.

    Returns:
        Whether the parent was closed, and the way to it must be opened again.
    """
    shut = False
    if parent >= 0:
        above = nodes[parent]
        shut = bool(above["flags"] & SPENT != 0 or (above["flags"] & DONE != 0 and above["first"] < 0))
    link(nodes, node, parent)
    row = nodes[node]
    row["flags"] = flags
    row["prior"] = prior
    row["value"] = math.nan
    row["initial"] = math.nan
    return shut


@kernel
def judged(nodes: Nodes, node: int, n_rewards: int, first: float) -> bool:
    """Note that `node` has rewards now, `first` being the first of them if it had none.

    Returns:
        Whether it was UNSCORED before and can be entered now: the way to it must be opened again.
    """
    row = nodes[node]
    if row["n_rewards"] == 0:
        row["initial"] = first
    before = row["flags"]
    row["n_rewards"] = n_rewards
    row["flags"] = before & REWARDED
    dead = before & SPENT != 0 or (before & DONE != 0 and row["first"] < 0)
    return bool(before & UNSCORED != 0 and not dead)


@kernel
def mark(nodes: Nodes, node: int, delta: int) -> None:
    """Add `delta` to `in_flight` on the path from `node` to its root."""
    while node >= 0:
        row = nodes[node]
        row["in_flight"] += delta
        node = row["parent"]


@kernel
def fully_expanded(nodes: Nodes, node: int, measure: Floats, open_below: int, closed_by: int) -> bool:
    """Say whether `node` may get no further child, by one of the conditions of this module.

    Asks in flight at the node itself count as children whose worth nobody knows yet: where a better child is
    asked for, they close it.
    """
    flags, nexts, in_flight = nodes["flags"], nodes["next"], nodes["in_flight"]
    pending = in_flight[node]
    beaten = False
    child = nodes["first"][node]
    while child != NONE:
        pending -= in_flight[child]
        scored = flags[child] & (UNSCORED | UNJUDGED) == 0
        beaten |= scored and measure[child] > measure[node]
        beaten |= scored and closed_by == AS_GOOD and measure[child] == measure[node]
        child = nexts[child]
    full = nodes["n_children"][node] + pending >= open_below
    if closed_by == NUMBER:
        return bool(full)
    if closed_by == EITHER:
        return bool(full or beaten)
    return bool(full and (beaten or pending > 0))


@kernel
def candidates(nodes: Nodes, size: int, measure: Floats, open_below: int, closed_by: int, out: Ids) -> int:
    """List the scored, unfinished nodes that are not fully expanded.

    Args:
        nodes: NODE, shape [capacity].
        size: Number of nodes in use.
        measure: f8, shape [>= size]; what is compared.
        open_below: Number of children; negative keeps every scored, unfinished node.
        closed_by: BETTER: `open_below` children and one that measures more than the node (MCTSr, arXiv:2406.07394,
            section 3.2). AS_GOOD: or as much (its released code). NUMBER: `open_below` children. EITHER:
            `open_below` children, or one that measures more (MC-NEST's released code).
        out: int64, shape [>= size]; receives the ids, ascending.

    Returns:
        How many ids were written.
    """
    flags = nodes["flags"]
    count = 0
    for node in range(size):
        if flags[node] & (DONE | UNSCORED | UNJUDGED):
            continue
        if open_below < 0 or not fully_expanded(nodes, node, measure, open_below, closed_by):
            out[count] = node
            count += 1
    return count
