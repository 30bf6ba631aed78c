"""What holds of every tree at every moment of every search, whatever parts, faults and widths it has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator

from mctsr.answer import best_value
from mctsr.backup import HalfOwnHalfBestChild, Mean, OwnValue
from mctsr.backup.amaf import AmafMean
from mctsr.caller import Caller
from mctsr.engine import search
from mctsr.kernels.node import NONE
from mctsr.lm.scripted import Scripted
from mctsr.parts import Ask, Backup, Draft, Fault, Path, Problem, Selector, Unscored, Verdict
from mctsr.recipe import Recipe
from mctsr.select.anywhere import Anywhere
from mctsr.select.chain import Chain
from mctsr.select.descent import Descent, Widening
from mctsr.select.frontier import Frontier
from mctsr.select.grave import Grave, Mcps
from mctsr.select.gumbel import Gumbel
from mctsr.select.particles import Particles, Weight
from mctsr.select.population import Beams, Subtrees
from mctsr.select.scores import puct_alphazero, uct, uct_mctsr
from mctsr.select.thompson import thompson_beta
from mctsr.stop import rollouts_done
from mctsr.testing.laws import check_shape
from mctsr.tree import Sample, Tree


def by_letter(text: str) -> int:
    return ord(text[:1] or " ")


#: Every selector, with the backup that it needs.
PAIRS: list[tuple[Selector, Backup]] = [
    (Descent(uct(), n=3), Mean()),
    (Descent(puct_alphazero(), widening=Widening()), Mean()),
    (Anywhere(uct_mctsr()), HalfOwnHalfBestChild()),
    (Anywhere(uct_mctsr(), open_below=1, closed_by="number"), OwnValue()),
    (Grave(by_letter, ref=2), AmafMean(by_letter)),
    (Mcps(by_letter, ref=2, window=100), AmafMean(by_letter, ref=2, window=100)),
    (Gumbel(20, considered=4, first=4, branch=3), Mean()),
    (thompson_beta(), Mean()),
    (Frontier(4, Beams(2), opened=1), OwnValue()),
    (Frontier(4, Subtrees(2), opened=1), OwnValue()),
    (Frontier(4, Particles(Weight()), opened=1), OwnValue()),
    (Chain(), OwnValue()),
]


@dataclass(frozen=True)
class Fickle:
    """Grows what chance says: nothing, faults, finished, planted and ordinary drafts, a few equal texts."""

    rng: Generator
    needs: frozenset[str] = frozenset()

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        return [Draft(f"root {i}") for i in range(n)]

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        if self.rng.random() < 0.05:
            return []
        return [self._draft() for _ in range(n)]

    def _draft(self) -> Draft | Fault:
        chance = self.rng.random()
        if chance < 0.1:
            return (
                Fault("server error: HTTP 500") if chance < 0.07 else Fault("context overflow", server=False)
            )
        text = "abcdefgh"[self.rng.integers(8)]
        return Draft(text, text, prior=float(self.rng.random()), done=chance < 0.25, planted=chance > 0.97)


@dataclass(frozen=True)
class Moody:
    """Scores what chance says; every eighth evaluation gives no number."""

    rng: Generator
    needs: frozenset[str] = frozenset()
    low: float = 0.0
    high: float = 1.0

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        if self.rng.random() < 0.125:
            return Unscored("no score in the reply")
        value = float(self.rng.integers(5)) / 4
        lost = (Unscored("no score in the reply"),) if self.rng.random() < 0.2 else ()
        return Verdict((Sample(value, value),), lost)


@dataclass
class Watched:
    """A selector whose tree is looked at whenever it is asked or told."""

    inner: Selector
    look: Callable[[Tree], None]
    roots: int = field(init=False)
    barrier: bool = field(init=False)

    def __post_init__(self) -> None:
        self.roots, self.barrier = self.inner.roots, self.inner.barrier

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        self.look(tree)
        return self.inner.ask(tree, rng, room)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        self.inner.tell(tree, rng, born)
        self.look(tree)


def counts_of_mean(tree: Tree) -> None:
    """Check N = own samples + N of the children, and the same for the sums that values are made of."""
    used = tree.nodes[: len(tree)]
    for node in range(len(tree)):
        children = np.flatnonzero(used["parent"] == node)
        own = [sample.value for sample in tree.states[node].samples]
        assert used["visits"][node] == len(own) + used["visits"][children].sum()
        assert used["value_sum"][node] == pytest.approx(sum(own) + used["value_sum"][children].sum())
        if used["visits"][node]:
            assert used["value"][node] == pytest.approx(used["value_sum"][node] / used["visits"][node])


def own_counts(tree: Tree) -> None:
    """Check that N is the number of samples, as in MCTSr."""
    used = tree.nodes[: len(tree)]
    assert used["visits"].tolist() == [len(state.samples) for state in tree.states]


@pytest.mark.parametrize(("selector", "backup"), PAIRS, ids=lambda part: type(part).__name__)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from([1, 1, 3]), again=st.booleans())
async def test_a_tree_stays_whole_at_every_moment(
    selector: Selector, backup: Backup, seed: int, width: int, again: bool
) -> None:
    rng = np.random.default_rng(seed)
    if again and isinstance(selector, Anywhere | Descent | Chain):
        selector = replace(selector, again=True)

    def look(tree: Tree) -> None:
        check_shape(tree)
        (own_counts if isinstance(backup, OwnValue | HalfOwnHalfBestChild) else counts_of_mean)(tree)

    watched = Watched(selector, look)
    what = Recipe(Fickle(rng), Moody(rng), watched, backup, rollouts_done(40), best_value, width)
    outcome = await search(Problem("p", "?"), what, Scripted(["unused"]), seed=seed)
    look(outcome.tree)
    assert not outcome.tree.nodes["in_flight"].any()
    assert outcome.reason
    assert (outcome.tree.nodes["parent"][: selector.roots] == NONE).all()
