"""Labelled solutions of trees in which whole solutions were searched for their first errors.

Knows that states and rollouts alternate: below a state whole answers, below these their beginnings, each with the share
of its own rollouts that are right as its value. What lies between two labelled places is one step of a row, though it
may hold several: nothing is said of the places that the search did not ask about.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mctsr.runs.records import NodeRecord, TreeRecord

from .labels import Counts, Labels, Solution, Step
from .scale import Scale, score_of

UNSEARCHED = "wrong solutions that were not searched"


class _Place(NamedTuple):
    """A place in a solution, as the number of characters before it, and what is known of it."""

    end: int
    score: float
    visits: int


def rollout_paths(tree: TreeRecord, scale: Scale, labels: Labels, counts: Counts) -> Iterator[Solution]:
    """Yield the wrong solutions that were searched, and of each state the first right one.

    The last step of a row ends with the solution, and its label is how that ended: it is no estimate, and is kept
    whatever `labels.min_visits` says. States with fewer visits are no place with a label. Of paths with equal texts the
    first created is taken.
    """
    walk, seen, fruitful = _Walk(tree, scale, labels, counts), set[tuple[str, ...]](), set[int | None]()
    for node in tree["nodes"]:
        if node["parent"] is None or node.get("step"):
            continue
        reason, score = _unfit(node), 0.0
        if not reason:
            score, own = score_of(node, tree, scale), walk.searched(node)
            right = score > 0.0 and not own
            if right and node["parent"] in fruitful:
                reason = "right solutions beside the first of their state"
            elif not right and not own:
                reason = UNSEARCHED
            fruitful |= {node["parent"]} if right else set()
        path = None if reason else walk.path(node, score)
        if path is not None and (texts := tuple(step.text for step in path.steps)) in seen:
            reason = "paths equal to another"
        if path is None or reason:
            counts.left_out[reason] += 1
            continue
        seen.add(texts)
        yield path


def _unfit(node: NodeRecord) -> str:
    if not node["text"].strip():
        return "empty solutions"
    return "solutions without a value" if node["value"] is None else ""


class _Walk:
    """The places with labels in the solutions of one tree."""

    def __init__(self, tree: TreeRecord, scale: Scale, labels: Labels, counts: Counts) -> None:
        self._tree, self._own = tree, dict[int, list[_Place]]()
        nodes = tree["nodes"]
        for node in nodes:
            above = node["parent"]
            if above is None or not node.get("step") or nodes[above].get("step") or node["value"] is None:
                continue
            if node["visits"] < labels.min_visits:
                counts.left_out[f"steps with fewer than {labels.min_visits} visits"] += 1
                continue
            place = _Place(len(node["text"]), score_of(node, tree, scale), node["visits"])
            self._own.setdefault(above, []).append(place)

    def searched(self, rollout: NodeRecord) -> bool:
        """Say whether a solution has places with labels of its own."""
        return rollout["id"] in self._own

    def path(self, rollout: NodeRecord, score: float) -> Solution:
        """Return a solution, cut at all places that are known in it."""
        text, tree = rollout["text"], self._tree
        last = _Place(len(text), score, rollout["visits"])
        steps, begin = list[Step](), 0
        for place in [*self._places(rollout), last]:
            if text[begin : place.end].strip():
                steps.append(Step(text[begin : place.end], place.score, place.visits))
                begin = place.end
        return Solution(
            tree["problem_id"], tree["problem"], rollout["id"], rollout["answer"] or "", tuple(steps)
        )

    def _places(self, rollout: NodeRecord) -> list[_Place]:
        """Return the places with labels in a solution: those of the solutions above it as far as it begins alike."""
        nodes, found, limit = self._tree["nodes"], list[_Place](), len(rollout["text"])
        one: NodeRecord | None = rollout
        while one is not None:
            found += [place for place in self._own.get(one["id"], ()) if place.end <= limit]
            state = one["parent"]
            limit = 0 if state is None else len(nodes[state]["text"])
            above = None if state is None else nodes[state]["parent"]
            one = None if above is None else nodes[above]
        return sorted(found)
