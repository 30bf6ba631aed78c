"""Link nodes, mark work in flight, list candidates. All in place, nothing allocated."""

from .jit import kernel
from .node import DONE, NONE, UNJUDGED, UNSCORED, Floats, Ids, Nodes


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
def mark(nodes: Nodes, node: int, delta: int) -> None:
    """Add `delta` to `in_flight` on the path from `node` to its root."""
    parents, in_flight = nodes["parent"], nodes["in_flight"]
    while node != NONE:
        in_flight[node] += delta
        node = parents[node]


@kernel
def fully_expanded(nodes: Nodes, node: int, measure: Floats, open_below: int, or_equal: bool) -> bool:
    """Say whether `node` has `open_below` children and one of its scored children beats it.

    Asks in flight at the node itself count as children whose worth nobody knows yet: they close it.
    """
    flags, nexts, in_flight = nodes["flags"], nodes["next"], nodes["in_flight"]
    pending = in_flight[node]
    beaten = False
    child = nodes["first"][node]
    while child != NONE:
        pending -= in_flight[child]
        scored = flags[child] & (UNSCORED | UNJUDGED) == 0
        beaten |= scored and measure[child] > measure[node]
        beaten |= scored and or_equal and measure[child] == measure[node]
        child = nexts[child]
    return bool(nodes["n_children"][node] + pending >= open_below and (beaten or pending > 0))


@kernel
def candidates(nodes: Nodes, size: int, measure: Floats, open_below: int, or_equal: bool, out: Ids) -> int:
    """List the scored, unfinished nodes that are not fully expanded.

    A node is fully expanded when it has `open_below` children, counting asks in flight at the node itself,
    and one of its scored children measures more than the node does (or as much, with `or_equal`).
    Source: MCTSr, arXiv:2406.07394, section 3.2; `or_equal` as in its released code.

    Args:
        nodes: NODE, shape [capacity].
        size: Number of nodes in use.
        measure: f8, shape [>= size]; what is compared.
        open_below: Number of children; negative keeps every scored, unfinished node.
        or_equal: Whether an equal child closes the node too.
        out: int64, shape [>= size]; receives the ids, ascending.

    Returns:
        How many ids were written.
    """
    flags = nodes["flags"]
    count = 0
    for node in range(size):
        if flags[node] & (DONE | UNSCORED | UNJUDGED):
            continue
        if open_below < 0 or not fully_expanded(nodes, node, measure, open_below, or_equal):
            out[count] = node
            count += 1
    return count
