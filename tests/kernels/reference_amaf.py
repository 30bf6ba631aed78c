"""AMAF and permutation statistics by definition: recomputed from the list of all playouts, with sets."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mctsr.kernels.amaf import GRAVE, GRAVE_LUDII, MCPS, UCB1_GRAVE
from mctsr.kernels.node import DONE, NONE, SPENT, UNSCORED, Nodes

Stat = tuple[float, float]
NOTHING: Stat = (0.0, 0.0)


class Played(NamedTuple):
    """One playout: what the path nodes are called (None: they keep nothing), its moves from the root, its result."""

    path: Sequence[int | None]
    moves: Sequence[int]
    result: float


def amaf(played: Sequence[Played], node: int, code: int, sign: float = 1.0) -> Stat:
    """Count playouts through `node` that contain `code` from there on, and sum their results."""
    results = [
        sign * p.result
        for p in played
        for i, name in enumerate(p.path)
        if name == node and code in p.moves[i:]
    ]
    return float(len(results)), sum(results)


def permutation(
    played: Sequence[Played], window: int, path: Sequence[int], code: int, sign: float = 1.0
) -> Stat:
    """Count the last `window` playouts that contain the path and `code` in any order, and sum their results."""
    wanted = {*path, code}
    results = [sign * p.result for p in played[-window:] if wanted <= set(p.moves)]
    return float(len(results)), sum(results)


def grave(q: float, n: float, amaf: Stat, bias: float) -> float:
    """Mix two means by Cazenave's weight; infinite when there is no mean."""
    if not amaf[0]:
        return q if n else math.inf
    b = amaf[0] / (amaf[0] + n + bias * amaf[0] * n)
    return (1 - b) * (q if n else 0.0) + b * amaf[1] / amaf[0]


def mcps(q: float, n: float, amaf: Stat, perm: Stat) -> float:
    """Mix three means by their counts; infinite when there is no mean."""
    stats = [(n, q)] * bool(n) + [(count, total / count) for count, total in (amaf, perm) if count]
    weight = sum(count for count, _ in stats)
    return sum(count * mean for count, mean in stats) / weight if weight else math.inf


class View(NamedTuple):
    """What the children of one node are scored with; `amaf` and `perm` map a child to its statistics."""

    method: int
    bias: float
    low: float
    amaf: Callable[[int], Stat]
    perm: Callable[[int], Stat]


def children(nodes: Nodes, node: int) -> list[int]:
    found, child = [], int(nodes["first"][node])
    while child != NONE:
        found.append(child)
        child = int(nodes["next"][child])
    return found


def own(nodes: Nodes, child: int, low: float) -> tuple[float, float]:
    """Return mean and count of a child, asks in flight counted as rewards of `low`."""
    visits, waiting = int(nodes["visits"][child]), int(nodes["in_flight"][child])
    n = visits + waiting
    total = (float(nodes["value"][child]) * visits if visits else 0.0) + low * waiting
    return (total / n if n else 0.0), float(n)


def score(nodes: Nodes, node: int, child: int, view: View) -> float:
    q, n = own(nodes, child, view.low)
    if view.method == MCPS:
        return mcps(q, n, view.amaf(child), view.perm(child))
    if view.method == GRAVE_LUDII and not n:
        return math.inf
    value = grave(q, n, view.amaf(child), view.bias)
    if view.method in (GRAVE, GRAVE_LUDII):
        return value
    assert view.method == UCB1_GRAVE
    total = sum(own(nodes, other, view.low)[1] for other in children(nodes, node))
    return value + math.sqrt(2) * math.sqrt(math.log(max(1, total)) / max(n, 1))


def open_children(nodes: Nodes, node: int, closed: set[int]) -> list[int]:
    """Return the children that may be entered: not spent, unscored or in `closed`, no leaf done or in flight."""
    return [
        child
        for child in children(nodes, node)
        if not nodes["flags"][child] & (SPENT | UNSCORED)
        and child not in closed
        and not (
            nodes["first"][child] == NONE and (nodes["in_flight"][child] or nodes["flags"][child] & DONE)
        )
    ]
