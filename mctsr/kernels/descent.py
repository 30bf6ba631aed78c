"""From the root down: which child, which leaf; and what is closed on the way."""

import math

from .jit import inlined, kernel
from .node import DONE, NONE, PLANTED, SPENT, UNSCORED, Constants, Nodes
from .rules import PUCT_ALPHAZERO, UCB1, above, score_of

#: What a descent never enters; neither does it enter a leaf that is DONE. See `closed`.
CLOSED = SPENT | UNSCORED


@inlined
def closed(nodes: Nodes, node: int) -> bool:
    """Say whether nothing can grow at `node` and below: it is spent, unscored, or done and without children."""
    row = nodes[node]
    return bool(row["flags"] & CLOSED != 0 or (row["flags"] & DONE != 0 and row["first"] < 0))


@inlined
def scan(
    nodes: Nodes,
    family: tuple[int, int, bool],
    rule: int,
    k: Constants,
    shared: tuple[float, float],
    shut: int,
) -> int:
    """Return the best of a family of siblings: the first, the id behind the last, and whether links lead there.

    `shared` is what `rules.above` returned for their parent, and what work in flight counts as.
    """
    best, highest = NONE, -math.inf
    child = family[0]
    while child >= 0 and child != family[1]:
        this, row = child, nodes[child]
        if family[2]:
            child = row["next"]
        else:
            child += 1
        if row["flags"] & shut or (row["first"] < 0 and row["in_flight"] > 0):
            continue
        if row["flags"] & DONE and (row["first"] < 0 or row["flags"] & SPENT):
            continue  # passed through while something below can grow
        found = score_of(nodes, this, rule, k, shared[0], shared[1])
        if found > highest or (best < 0 and not math.isnan(found)):
            best, highest = this, found
            if highest == math.inf:
                break
    return best


@kernel
def best_unless(nodes: Nodes, node: int, rule: int, k: Constants, low: float, shut: int) -> int:
    """Do what `best_child` does, passing over children with any flag of `shut` instead of `CLOSED`."""
    row = nodes[node]
    shared = (above(rule, k, float(row["visits"] + row["in_flight"])), low)
    end = row["first"] + row["n_children"]
    # Siblings born together lie side by side: counting up lets the processor fetch ahead, links do not.
    if row["last"] + 1 == end:
        return scan(nodes, (row["first"], end, False), rule, k, shared, shut)
    return scan(nodes, (row["first"], NONE, True), rule, k, shared, shut)


@kernel
def best_child(nodes: Nodes, node: int, rule: int, k: Constants, low: float) -> int:
    """Return the child of `node` with the largest score; the first created wins ties.

    Children that are closed are passed over, leaves that are being grown, and scores that are NaN. The scan ends at
    the first infinite score.

    Args:
        nodes: NODE, shape [capacity].
        node: Whose children.
        rule: A code of `rules`.
        k: The rule's constants.
        low: What work in flight counts as.

    Returns:
        Its id, or NONE when no child may be entered.
    """
    # int(): a constant would be part of the signature, and compile the scan once more.
    return best_unless(nodes, node, rule, k, low, int(CLOSED))


@kernel
def may_widen(nodes: Nodes, node: int, widen: float, alpha: float) -> bool:
    """Say whether `node` has room for one more child: fewer than ceil(widen * N ** alpha), at least one.

    Work in flight counts, as visits and, at the node itself, as children.
    Source: progressive widening, Coulom 2007, "Computing Elo ratings of move patterns in the game of Go"; in the
    form k N^alpha of Couetoux et al. 2011, "Continuous upper confidence trees".
    """
    pending = nodes["in_flight"][node]
    child = nodes["first"][node]
    while child != NONE:
        pending -= nodes["in_flight"][child]
        child = nodes["next"][child]
    n = nodes["visits"][node] + nodes["in_flight"][node]
    return bool(nodes["n_children"][node] + pending < max(math.ceil(widen * n**alpha), 1))


@inlined
def follow(nodes: Nodes, root: int, rule: int, k: Constants, low: float) -> int:
    """Follow the best child from `root` to a leaf, NONE where no child may be entered."""
    node = root
    while node >= 0 and nodes[node]["first"] >= 0:
        row = nodes[node]
        end = row["first"] + row["n_children"]
        if row["last"] + 1 == end:
            shared = (above(rule, k, float(row["visits"] + row["in_flight"])), low)
            node = scan(nodes, (row["first"], end, False), rule, k, shared, CLOSED)
        else:
            node = best_unless(nodes, node, int(rule), k, low, int(CLOSED))
    return node


@kernel
def descend(nodes: Nodes, root: int, rule: int, k: Constants, low: float) -> int:
    """Follow the best child from `root` to a leaf that can be grown.

    Args:
        nodes: NODE, shape [capacity].
        root: Where to begin.
        rule: A code of `rules`.
        k: The rule's constants.
        low: What work in flight counts as.

    Returns:
        The leaf, or NONE when the way ends at work in flight, everything below is closed or the root is planted.
    """
    if closed(nodes, root) or nodes[root]["flags"] & PLANTED:
        return NONE
    # With the rule as a constant the compiler leaves one formula of the chain: the commonest two are given that.
    if rule == PUCT_ALPHAZERO:
        node = follow(nodes, root, PUCT_ALPHAZERO, k, low)
    elif rule == UCB1:
        node = follow(nodes, root, UCB1, k, low)
    else:
        node = root
        while node >= 0 and nodes[node]["first"] >= 0:
            node = best_child(nodes, node, rule, k, low)
    if node == root and nodes[root]["in_flight"] > 0:
        return NONE
    return node


@kernel
def descend_widening(
    nodes: Nodes, root: int, rule: int, k: Constants, low: float, widening: tuple[float, float]
) -> int:
    """Follow the best child from `root` to the first node that has room for one more child.

    A node that is full, with no child to enter and no work in flight, grows all the same rather than end the
    search: SPENT closes nothing here. A node that is DONE is passed through and never asked.

    Args:
        nodes: NODE, shape [capacity].
        root: Where to begin.
        rule: A code of `rules`.
        k: The rule's constants.
        low: What work in flight counts as.
        widening: Factor and exponent of `may_widen`.

    Returns:
        The node, or NONE when the way ends at work in flight or the root is finished or planted.
    """
    node = root
    if nodes[root]["flags"] & (UNSCORED | PLANTED) or (nodes[root]["flags"] & DONE and closed(nodes, root)):
        return NONE
    while nodes[node]["flags"] & DONE or not may_widen(nodes, node, widening[0], widening[1]):
        child = best_unless(nodes, node, rule, k, low, UNSCORED)
        if child == NONE:
            return NONE if nodes[node]["in_flight"] > 0 or nodes[node]["flags"] & DONE else node
        node = child
    return node


@kernel
def expand(nodes: Nodes, size: int, node: int, n: int) -> int:
    """Append `n` children to the leaf `node`, at `size` and after; returns `size`.

    Args:
        nodes: NODE, shape [>= size + n]; rows from `size` on as `fresh` made them.
        size: Number of nodes in use.
        node: A node without children.
        n: Children, at least 1; prior 1, no visit, value NaN.
    """
    depth = nodes[node]["depth"] + 1
    for child in range(size, size + n):
        row = nodes[child]
        row["value"] = math.nan
        row["first"] = NONE
        row["last"] = NONE
        row["next"] = child + 1
        row["prior"] = 1.0
        row["parent"] = node
        row["depth"] = depth
    nodes[size + n - 1]["next"] = NONE
    parent = nodes[node]
    parent["first"] = size
    parent["last"] = size + n - 1
    parent["n_children"] = n
    return size


@kernel
def spend(nodes: Nodes, node: int) -> None:
    """Flag as SPENT `node`, which was closed or ended, and the nodes above that have no open child left."""
    while node >= 0:
        row = nodes[node]
        child = row["first"]
        while child >= 0 and closed(nodes, child):
            child = nodes[child]["next"]
        if row["first"] >= 0 and child < 0:
            row["flags"] |= SPENT
        if not closed(nodes, node):
            return
        node = row["parent"]


@kernel
def reopen(nodes: Nodes, node: int) -> None:
    """Take SPENT from `node` and from what lies above: an open child has come."""
    while node >= 0:
        row = nodes[node]
        if row["flags"] & SPENT:
            row["flags"] ^= SPENT
        if row["flags"] & UNSCORED:
            return
        node = row["parent"]
