"""Every rule and backup once more, slowly: plain Python over plain lists, and random forests to compare on."""

import math
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

from mctsr.kernels import walk
from mctsr.kernels.node import DONE, NODE, NONE, UNJUDGED, UNSCORED, Floats, Nodes


@dataclass
class Plain:
    """One node: what it is, and what a search has counted at it."""

    parent: int | None
    own: float
    value: float
    visits: int
    asks: int
    flags: int
    children: list[int] = field(default_factory=list)

    @property
    def scored(self) -> bool:
        return not self.flags & (UNSCORED | UNJUDGED)


Forest = list[Plain]


@st.composite
def forests(draw: st.DrawFn, max_size: int = 24) -> Forest:
    """Draw nodes in order of creation; small integers as values, so that ties are common."""
    size = draw(st.integers(1, max_size))
    number = st.one_of(st.integers(-3, 3).map(float), st.floats(-100, 100))
    forest: Forest = []
    for node in range(size):
        above = draw(st.integers(-1, node - 1))
        flags = draw(st.sampled_from([0, 0, 0, 0, DONE, UNSCORED, UNJUDGED]))
        visits, asks = draw(st.integers(1, 9)), draw(st.sampled_from([0, 0, 0, 1, 2]))
        forest.append(Plain(None if above < 0 else above, draw(number), draw(number), visits, asks, flags))
        if above >= 0:
            forest[above].children.append(node)
    return forest


def as_array(forest: Forest) -> tuple[Nodes, Floats]:
    """Build the array and the own values by the kernels `link` and `mark`; unused rows lie behind."""
    nodes = np.zeros(len(forest) + 3, dtype=NODE)
    own = np.full(len(nodes), np.nan)
    for i, plain in enumerate(forest):
        walk.link(nodes, i, NONE if plain.parent is None else plain.parent)
        nodes["flags"][i], nodes["visits"][i] = plain.flags, plain.visits
        nodes["value"][i], own[i] = plain.value, plain.own
    for i, plain in enumerate(forest):
        walk.mark(nodes, i, plain.asks)
    return nodes, own


def in_flight(forest: Forest, node: int) -> int:
    """Count the asks at `node` and everywhere below."""
    return forest[node].asks + sum(in_flight(forest, child) for child in forest[node].children)


def candidates(forest: Forest, measure: list[float], open_below: int, closed_by: str) -> list[int]:
    """List who may grow: leaves and nodes that are not fully expanded, by the condition of that name."""
    found = []
    for i, plain in enumerate(forest):
        if plain.flags:
            continue
        full = open_below >= 0 and len(plain.children) + plain.asks >= open_below
        scored = [measure[child] for child in plain.children if forest[child].scored]
        best = max(scored, default=-math.inf)
        beaten = best > measure[i] or (closed_by == "as good" and best == measure[i])
        closed = {"number": full, "either": full or (open_below >= 0 and beaten)}
        if not closed.get(closed_by, full and (beaten or bool(plain.asks))):
            found.append(i)
    return found


def half(forest: Forest, node: int) -> float:
    """½ (own + best child), from the bottom up; an unscored node passes its best child on."""
    below = [half(forest, child) for child in forest[node].children if forest[child].scored]
    if not forest[node].scored:
        return max(below, default=math.nan)
    return 0.5 * (forest[node].own + max(below)) if below else forest[node].own


def uct(q: float, above: float, n: float, c: float, eps: float, *, paper: bool) -> float:
    """MCTSr's score: the +1 outside the logarithm (paper) or inside (released code)."""
    return q + c * math.sqrt((math.log(above) + 1 if paper else math.log(above + 1)) / (n + eps))
