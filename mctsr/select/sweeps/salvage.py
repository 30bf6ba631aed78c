"""After a search: the finished solutions that failed are gone back upon, to where they were still right."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, PLANTED, UNSCORED
from mctsr.parts import Ask, Ledger, Selector, Stopper
from mctsr.tree import State, Tree

FINISHED = "finished"


@dataclass(slots=True)
class _Salvage:
    """How far it is.

    Attributes:
        over: The inner search has stopped; what it has in flight is awaited.
        planned: That is done, and it is known what is to be salvaged.
        heads: Nodes to be grown next, as often as they are.
    """

    over: bool = False
    planned: bool = False
    heads: list[int] = field(default_factory=list)


class _Failed(NamedTuple):
    """A node to go on from, and how promising that is."""

    promise: float
    node: int


@dataclass(frozen=True, slots=True)
class Salvage:
    """Do what the inner selector does to its end; then let failed solutions be rewritten from their first wrong step.

    A finished solution of steps has failed when the judge's own score of one of its steps lies below the threshold;
    the node before the first such step is asked, and what is born there is grown to its end. A whole answer has
    failed when its value lies below the threshold; it is asked itself, and its expander must know where to begin
    (`Rectify`). Those with the longest good beginning come first, whole answers with the best value first. Where
    the inner selector keeps a front, what is finished joins it. Needs the stopper `salvaged_after`.
    Source: SCOPE, arXiv:2602.24110, whose thresholds are not known to us.

    Attributes:
        inner: The selector of the search before.
        threshold: On the judge's scale.
        least: Good steps that a beginning must have, at least 0.
        most: Solutions that are salvaged, at least 0.
        tries: Times that each is rewritten, at least 1.
        by_value: Whether a step's own score is its first value, as of judges whose raw score is on no scale.
    """

    inner: Selector
    threshold: float = 0.5
    least: int = 1
    most: int = 4
    tries: int = 1
    by_value: bool = False

    def __post_init__(self) -> None:
        if self.least < 0 or self.most < 0 or self.tries < 1:
            raise RecipeError(
                f"least is {self.least}, most is {self.most}, tries is {self.tries}; the first two must be at least "
                "0, the last at least 1"
            )

    @property
    def roots(self) -> int:
        """Drafts that the opening asks for."""
        return self.inner.roots

    @property
    def barrier(self) -> bool:
        """Whether a whole generation is awaited, as by the inner selector."""
        return self.inner.barrier

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out what the inner selector does, and when that has come to its end, what is to be salvaged."""
        now = _now(tree)
        if not now.planned:
            if not now.over and (asks := self.inner.ask(tree, rng, room)):
                return asks
            if tree.nodes["in_flight"][: len(tree)].any():
                return ()
            now.planned, now.heads = True, self._plan(tree)
        free = [node for node in now.heads if not tree.has(node, DONE) and not tree.nodes["in_flight"][node]]
        asks = [Ask(node, times) for node, times in Counter(free).items()]
        return asks if self.barrier else asks[:room]

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Follow the newborn to their ends."""
        now = _now(tree)
        if not now.planned:
            self.inner.tell(tree, rng, born)
            return
        grown = {tree.parent(node) for node in born}
        now.heads = [node for node in now.heads if node not in grown]
        for node in born:
            if tree.has(node, UNSCORED | PLANTED):
                continue
            state = tree.states[node]
            if state.step and not tree.has(node, DONE):
                now.heads.append(node)
            elif tree.front and (state.answer is not None or not state.step):
                tree.front.append(node)

    def _plan(self, tree: Tree) -> list[int]:
        """Return the nodes to go on from, each as often as it is to be tried."""
        failed = [found for node in tree.answers() if (found := self._failed(tree, node))]
        best = sorted(failed, key=lambda found: -found.promise)[: self.most]
        return [found.node for found in best for _ in range(self.tries)]

    def _failed(self, tree: Tree, node: int) -> _Failed | None:
        """Say from where a node is to be rewritten, if it is a solution that failed; one of equal ones is."""
        state = tree.states[node]
        if state.twin is not None or not tree.scored(node):
            return None
        if not state.step:
            value = sum(sample.value for sample in state.samples) / len(state.samples)
            return _Failed(value, node) if value < self.threshold and not tree.has(node, DONE) else None
        if state.ended != FINISHED:
            return None
        line = tree.line(node)
        good = next((line[:i] for i, step in enumerate(line) if self._wrong(tree.states[step])), [])
        kept = sum(bool(tree.states[step].text) for step in good)
        return _Failed(kept, good[-1]) if good and kept >= self.least else None

    def _wrong(self, step: State) -> bool:
        """Say whether a step itself was found wrong; one that nobody scored was not."""
        said = step.samples
        own = [sample.value for sample in said[:1]] if self.by_value else [sample.raw for sample in said]
        return bool(own) and sum(own) / len(own) < self.threshold


def salvaged_after(stopper: Stopper) -> Stopper:
    """Let `Salvage` begin when `stopper` would stop; and stop when all that it began is finished."""

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        now = _now(tree)
        now.over = now.over or stopper(tree, ledger) is not None
        if not now.planned or ledger.server_faults:
            return None
        return "all finished" if all(tree.has(node, DONE) for node in now.heads) else None

    return stop


def _now(tree: Tree) -> _Salvage:
    return tree.keep("salvage", _Salvage)
