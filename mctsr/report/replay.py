"""What a search would have answered at every moment, from the recorded events and without the recipe's code.

Knows how trees are written down, and five ways of answering that the record suffices for. A moment is a fold: what
one ask brought cannot be taken apart, so recipes that ask for everything at once have a single moment. In a tree of
steps only those that finished a solution with an answer have a say.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from mctsr.grading import normal_form
from mctsr.runs.records import FoldedRecord, NodeRecord, TreeRecord

VALUE, LAST, FIRST, MAJORITY = "best value", "last of the front", "first answer", "majority so far"
FRONT = "best of the front"

_WAYS: Mapping[str, str] = {
    "best value": VALUE,
    "best of the front": FRONT,
    "first (nothing scored)": VALUE,
    "last": LAST,
    "first": FIRST,
}


class Moment(NamedTuple):
    """After a fold: all tokens spent so far, and what would have been answered."""

    tokens: int
    answer: str | None


def way_of(selected_by: str) -> str:
    """Return how a recipe's answer is replayed, by the rule that its result names.

    Rules that the record does not suffice for, such as weights of a judge's scale, are replayed as majority.
    """
    return _WAYS.get(selected_by, MAJORITY)


def replay(tree: TreeRecord, way: str) -> list[Moment]:
    """Return every moment of a recorded search, in order, answered in one of the five ways."""
    state, tokens, moments = _State(tree["nodes"]), 0, []
    answer = _ANSWERS[way]
    for event in tree["events"]:
        if event["event"] == "folded":
            state.fold(event)
            tokens += event["tokens"]
            moments.append(Moment(tokens, answer(state)))
    return moments


@dataclass(slots=True)
class _Votes:
    """Nodes with equal answers, counted; the one created first speaks for them."""

    count: dict[int, int] = field(default_factory=dict)
    speaker: dict[int, int] = field(default_factory=dict)

    def add(self, node: int, group: int) -> None:
        self.count[group] = self.count.get(group, 0) + 1
        self.speaker[group] = min(node, self.speaker.get(group, node))

    def winner(self) -> int | None:
        if not self.count:
            return None
        most = max(self.count.values())
        return min(self.speaker[group] for group, count in self.count.items() if count == most)


class _State:
    """A tree's numbers between two folds: who has a say, and with what.

    Attributes:
        nodes: The record.
        first: The first to have a say; nobody planted ever has.
        front: Those of the population that are whole answers or finished solutions, planted ones among them.
        values: The latest value of each node.
        scored: Those with a say that were judged.
    """

    def __init__(self, nodes: Sequence[NodeRecord]) -> None:
        self.nodes = nodes
        self.first: int | None = None
        self.front: list[int] = []
        self.values: dict[int, float | None] = {}
        self.scored: set[int] = set()
        self.all_votes, self.scored_votes = _Votes(), _Votes()
        self._groups: dict[str, int] = {}
        self._forms: dict[Hashable, int] = {}
        self._heaps: tuple[list[tuple[float, int]], list[tuple[float, int]]] = ([], [])

    def fold(self, event: FoldedRecord) -> None:
        """Take in what a fold changed."""
        for node in self._speaking(event["born"]):
            self.first = node if self.first is None else self.first
            self._vote(self.all_votes, node)
        for node in self._speaking(event["judged"]):
            if node not in self.scored:
                self.scored.add(node)
                self._vote(self.scored_votes, node)
        self.values.update((node, value) for node, _, value in event["changed"])
        for node in {*event["judged"], *(row[0] for row in event["changed"])} & self.scored:
            self._push(node)
        self.front = [node for node in event["front"] if self._whole(node)]

    def _whole(self, node: int) -> bool:
        return not self.nodes[node].get("step") or self.nodes[node]["answer"] is not None

    def _speaking(self, ids: Iterable[int]) -> Iterable[int]:
        return (node for node in ids if not self.nodes[node]["planted"] and self._whole(node))

    def _vote(self, votes: _Votes, node: int) -> None:
        if (group := self.group(node)) is not None:
            votes.add(node, group)

    def group(self, node: int) -> int | None:
        """Return a number that nodes with equal answers share; None without an answer."""
        answer = self.nodes[node]["answer"]
        if answer is None:
            return None
        if answer not in self._groups:
            form = normal_form(answer)
            self._groups[answer] = self._forms.setdefault(form, len(self._forms))
        return self._groups[answer]

    def _push(self, node: int) -> None:
        if (value := self.values.get(node)) is not None:
            heappush(self._heaps[self.nodes[node]["answer"] is None], (-value, node))

    def highest(self) -> int | None:
        """Return the scored node with the largest value, one with an answer before any without."""
        for heap in self._heaps:
            while heap and self.values.get(heap[0][1]) != -heap[0][0]:
                heappop(heap)
            if heap:
                return heap[0][1]
        return None

    @property
    def voters(self) -> list[int]:
        """Those of the front that were not planted, a node as often as it has copies."""
        return [node for node in self.front if not self.nodes[node]["planted"]]

    def answer(self, node: int | None) -> str | None:
        return None if node is None else self.nodes[node]["answer"]


def _best_value(state: _State) -> str | None:
    best = state.highest()
    return state.answer(state.first if best is None else best)


def _best_of_front(state: _State) -> str | None:
    """Take the best of the front, with an answer before any without; where it holds none, the best value."""
    if not state.front:
        return _best_value(state)
    scored = [node for node in state.voters if node in state.scored]
    answered = [node for node in scored if state.nodes[node]["answer"] is not None]
    best = max(answered or scored, key=lambda node: _or_least(state.values.get(node)), default=state.first)
    return state.answer(best)


def _or_least(value: float | None) -> float:
    return -math.inf if value is None else value


def _last(state: _State) -> str | None:
    front = state.voters
    return state.answer(front[-1] if front else state.first)


def _majority(state: _State) -> str | None:
    """Let the front vote; where it holds none every scored node; where nothing is scored, all."""
    if not state.front:
        return state.answer((state.scored_votes if state.scored else state.all_votes).winner())
    votes: dict[int, list[int]] = {}
    for node in state.voters:
        if (group := state.group(node)) is not None:
            votes.setdefault(group, []).append(node)
    return state.answer(max(votes.values(), key=len)[0]) if votes else None


_ANSWERS: Mapping[str, Callable[[_State], str | None]] = {
    VALUE: _best_value,
    FRONT: _best_of_front,
    LAST: _last,
    FIRST: lambda state: state.answer(state.first),
    MAJORITY: _majority,
}
