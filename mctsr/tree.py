"""Every node of one search: numbers in one array, text beside it.

The tree knows nothing of problems, models or recipes. It is append-only; a node's id is its order of creation.
A column view must never be kept across an `await`: growth replaces the array.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar, cast

import numpy as np

from mctsr.kernels import descent, walk
from mctsr.kernels.highest import highest
from mctsr.kernels.node import (
    DONE,
    NONE,
    PLANTED,
    TRUNCATED,
    TWIN,
    UNJUDGED,
    UNSCORED,
    Floats,
    Nodes,
    fresh,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sampled evaluation.

    Attributes:
        value: What backups use, on the judge's scale.
        raw: What the judge said, before any suppression.
        text: The judge's whole reply.
    """

    value: float
    raw: float
    text: str = ""


@dataclass(slots=True)
class State:
    """What a node is in words.

    Attributes:
        text: The answer or step.
        answer: The final answer read from it; None when there is none.
        work: What led to it, by name, e.g. the critique.
        ask: Number of the ask that made it.
        samples: All evaluations, in the order they were folded.
        unscored: Reasons of evaluations that gave no value.
        ended: Why the node can never grow again; "" while it can.
        twin: Id of the first node with the same text, or None; a step's twin continues the same steps, too.
        ids: Token ids of the text, where the server gave them.
        logprob: Sum of its tokens' log-probabilities in nats; None when unknown.
        tokens: How many tokens were written for it.
        step: Whether the text continues the steps above it; otherwise it is a whole answer.
    """

    text: str
    answer: str | None = None
    work: Mapping[str, str] = field(default_factory=dict)
    ask: int = 0
    samples: list[Sample] = field(default_factory=list)
    unscored: list[str] = field(default_factory=list)
    ended: str = ""
    twin: int | None = None
    ids: tuple[int, ...] = ()
    logprob: float | None = None
    tokens: int = 0
    step: bool = False


class Tree:
    """A forest of nodes under one problem.

    Attributes:
        nodes: NODE, shape [capacity]; rows past `len(tree)` are unused.
        states: One `State` a node.
        front: The population: particles, beams, the state of a chain, the finalists.
        ended: Ids of the nodes that can no longer grow, in the order in which they ended.
        side: Arrays that one part owns, by name; see `own_array`.
        low: Lower bound of the judge's scale; what work in flight counts as.
    """

    def __init__(self, *, low: float = 0.0) -> None:
        self.nodes: Nodes = fresh(16)
        self.states: list[State] = []
        self.front: list[int] = []
        self.ended: list[int] = []
        self.side: dict[str, Floats] = {}
        self.low = low
        self._first_with: dict[tuple[int, str], int] = {}
        self._kept: dict[str, object] = {}
        self._pruned: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.states)

    def add(
        self,
        parent: int,
        state: State,
        *,
        planted: bool = False,
        truncated: bool = False,
        prior: float = 1.0,
    ) -> int:
        """Append a node under `parent` (NONE for a root) and return its id.

        An equal text is a separate node, flagged and pointing at its first twin; equal steps are twins when what
        is above them is one node or twins. A child of a pruned node is pruned from the start.
        """
        node = len(self.states)
        if node == len(self.nodes):
            grown = fresh(2 * node)
            grown[:node] = self.nodes
            self.nodes = grown
            self.side = {k: np.concatenate([v, np.full(len(v), np.nan)]) for k, v in self.side.items()}
        above = NONE
        if state.step and parent != NONE:
            same = self.states[parent].twin
            above = parent if same is None else same
        first = self._first_with.setdefault((above, state.text), node)
        flags = UNJUDGED | TWIN * (first != node) | PLANTED * planted | TRUNCATED * truncated
        state.twin = first if first != node else None
        self.states.append(state)
        if walk.born(self.nodes, node, parent, flags, prior):
            descent.reopen(self.nodes, parent)
        if self._pruned and parent in self._pruned:
            self.prune(node, self._pruned[parent])
        return node

    def judged(self, node: int, samples: tuple[Sample, ...]) -> None:
        """Record new evaluations of `node`; backups read them afterwards."""
        state = self.states[node]
        state.samples.extend(samples)
        if walk.judged(self.nodes, node, len(state.samples), samples[0].value):
            descent.reopen(self.nodes, int(self.nodes["parent"][node]))

    def unscored(self, node: int, reason: str) -> None:
        """Record an evaluation that gave no value: counted and shown, never a number."""
        self.states[node].unscored.append(reason)
        if not self.states[node].samples:
            self.nodes["flags"][node] = (self.nodes["flags"][node] & ~np.uint32(UNJUDGED)) | UNSCORED
            descent.spend(self.nodes, node)

    def end(self, node: int, reason: str) -> None:
        """Close `node` for good: no selector hands it out again. The first reason stays."""
        if not self.has(node, DONE):
            self.states[node].ended = reason
            self.nodes["flags"][node] |= DONE
            self.ended.append(node)
            descent.spend(self.nodes, node)

    def prune(self, node: int, reason: str) -> None:
        """Close `node` and everything below it, also what is added there later."""
        for i in reversed(self.below(node)):
            self._pruned.setdefault(i, reason)
            self.end(i, reason)

    def own_array(self, name: str) -> Floats:
        """Return the side array `name`, f8, shape [capacity], NaN where nothing was written."""
        if name not in self.side:
            self.side[name] = np.full(len(self.nodes), np.nan)
        return self.side[name]

    def keep(self, name: str, make: Callable[[], T]) -> T:
        """Return what a part keeps beside the tree under `name`; `make` makes it at the first call.

        A name belongs to one part, which must ask for the same type each time.
        """
        if name not in self._kept:
            self._kept[name] = make()
        return cast(T, self._kept[name])

    def mark(self, node: int, delta: int) -> None:
        """Count work in flight on the path of `node`; NONE marks nothing."""
        if node != NONE:
            walk.mark(self.nodes, node, delta)

    def has(self, node: int, flag: int) -> bool:
        """Say whether any bit of `flag` is set on `node`."""
        return bool(self.nodes["flags"][node] & flag)

    def scored(self, node: int) -> bool:
        """Say whether `node` has at least one reward."""
        return not self.has(node, UNSCORED | UNJUDGED)

    def planted(self, node: int) -> bool:
        """Say whether the recipe wrote `node` itself."""
        return self.has(node, PLANTED)

    def value(self, node: int) -> float:
        """Return the value that selection reads; NaN while unscored."""
        return float(self.nodes["value"][node])

    def parent(self, node: int) -> int | None:
        """Return the parent's id, None for a root."""
        above = int(self.nodes["parent"][node])
        return None if above == NONE else above

    def line(self, node: int) -> list[int]:
        """Return the ids from the root to `node`."""
        ids, parents = [], self.nodes["parent"]
        while node != NONE:
            ids.append(node)
            node = int(parents[node])
        return ids[::-1]

    def children(self, node: int) -> list[int]:
        """Return the ids of the children of `node`, in order of birth."""
        ids, nexts, child = [], self.nodes["next"], int(self.nodes["first"][node])
        while child != NONE:
            ids.append(child)
            child = int(nexts[child])
        return ids

    def below(self, node: int) -> list[int]:
        """Return the ids of `node` and everything under it, parents first."""
        ids = [node]
        for above in ids:
            ids += self.children(above)
        return ids

    def answers(self) -> list[int]:
        """Return the ids of the nodes that the model wrote, planted ones left out."""
        return [node for node in range(len(self)) if not self.planted(node)]

    def best(self) -> int | None:
        """Return the scored, unplanted node with the largest value; the first one wins ties."""
        best = highest(self.nodes, 0, len(self))
        return None if best == NONE else best


@cache
def warm_up() -> None:
    """Load numba and the kernels that every tree needs: half a second that the first calls to a model can hide."""
    tree = Tree()
    tree.add(NONE, State(""))
    tree.judged(0, (Sample(0.0, 0.0),))
    tree.mark(0, 0)
