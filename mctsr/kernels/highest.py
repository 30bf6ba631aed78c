"""Which node stands highest: by `value`, among those that have a score and that the model wrote."""

import math

from .jit import kernel
from .node import NONE, PLANTED, UNJUDGED, UNSCORED, Nodes


@kernel
def highest(nodes: Nodes, begin: int, end: int) -> int:
    """Return the best id in [begin, end), NONE where nothing has a score; the first created wins ties.

    Args:
        nodes: NODE, shape [capacity].
        begin: First id that is looked at.
        end: The id behind the last one.
    """
    flags, values = nodes["flags"], nodes["value"]
    best, top = NONE, -math.inf
    for node in range(begin, end):
        value = -math.inf if math.isnan(values[node]) else values[node]
        if not flags[node] & (UNSCORED | UNJUDGED | PLANTED) and (value > top or best == NONE):
            best, top = node, value
    return best


@kernel
def highest_above(nodes: Nodes, node: int) -> int:
    """Do the same for `node` and everything on its way to the root; NONE has nothing above it."""
    flags, values, parents = nodes["flags"], nodes["value"], nodes["parent"]
    best, top = NONE, -math.inf
    while node != NONE:
        value = -math.inf if math.isnan(values[node]) else values[node]
        if not flags[node] & (UNSCORED | UNJUDGED | PLANTED) and (value >= top or best == NONE):
            best, top = node, value
        node = parents[node]
    return best
