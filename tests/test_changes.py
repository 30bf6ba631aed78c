"""What a fold changed: the narrow look at a path finds what a look at the whole tree finds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.backup import HalfOwnHalfBestChild, OwnValue
from mctsr.changes import Before
from mctsr.kernels.node import NONE
from mctsr.lm.base import Place
from mctsr.parts import Ask, Backup
from mctsr.recipe import Recipe
from mctsr.rollout import Folded
from mctsr.select.chain import Chain
from mctsr.select.frontier import Frontier
from mctsr.tree import Sample, State, Tree
from tests.testing.replies import Score, graded, grow, recipe

VALUES = st.sampled_from([-60.0, -10.0, 0.0, 10.0, 10.0, 70.0])
#: A fold: which node is asked, whether it is judged again, and for each child its value, None for unscored.
FOLDS = st.lists(
    st.tuples(st.integers(0, 99), st.booleans(), st.lists(st.none() | VALUES, max_size=3)), max_size=12
)


@given(FOLDS, VALUES, st.sampled_from([HalfOwnHalfBestChild(), OwnValue()]))
def test_the_path_holds_all_that_a_narrow_backup_changes(
    folds: list[tuple[int, bool, list[float | None]]], first: float, backup: Backup
) -> None:
    tree, best = Tree(low=-100.0), float("-inf")

    def judge(node: int, value: float | None) -> None:
        if value is None:
            tree.unscored(node, "no score in the reply")
        else:
            tree.judged(node, (Sample(value, value),))
            backup(tree, node)

    for number, again, children in [(NONE, False, [first, None]), *folds]:
        asked = NONE if number == NONE else number % len(tree)
        narrow, wide = (Before(tree, asked, wide=wide) for wide in (False, True))
        if again and tree.scored(asked):
            judge(asked, -float(number % 7))
        for node, value in [(tree.add(asked, State("text")), value) for value in children]:
            judge(node, value)
        assert repr(narrow.changed(tree)) == repr(wide.changed(tree))
        top = narrow.best(tree, best)
        assert top == wide.best(tree, best)
        highest = tree.best()
        assert highest is not None
        best = tree.value(highest)
        assert top == best


@dataclass(frozen=True, slots=True)
class Unsaid:
    """A backup that does not say how far it reaches."""

    inner: Backup

    def __call__(self, tree: Tree, node: int) -> None:
        self.inner(tree, node)


@settings(max_examples=25)
@given(st.data(), st.sampled_from(["mctsr", "mctsr-code", "best-of-n"]), st.integers(1, 3))
async def test_a_search_is_recorded_alike_whether_its_backup_is_narrow_or_not(
    data: st.DataObject, name: str, width: int
) -> None:
    scores: list[Score] = [-50, 0, 30, 30, "none"]
    table = data.draw(st.lists(st.sampled_from(scores), min_size=8, max_size=8))

    def score(place: Place) -> Score:
        return table[(5 * place.ask + place.draft) % len(table)]

    what = recipe(name, width=width)
    told = replace(what, backup=Unsaid(what.backup))
    (narrow, _, events), (wide, _, expected) = [await grow(one, graded(score)) for one in (what, told)]
    assert repr(events) == repr(expected)
    assert narrow.ledger == wide.ledger


# Endings


@dataclass(frozen=True, slots=True)
class Pruning:
    """A backup that also prunes the whole tree once it has `size` nodes, from the judged node's root on."""

    inner: Backup
    size: int

    def __call__(self, tree: Tree, node: int) -> None:
        self.inner(tree, node)
        if len(tree) >= self.size:
            for root in [i for i in range(len(tree)) if tree.parent(i) is None]:
                tree.prune(root, "hopeless")


def chain() -> Recipe:
    return replace(recipe("mctsr", rollouts=50), selector=Chain(again=True))


def frontier() -> Recipe:
    def survive(tree: Tree, pool: Sequence[int], n: int, rng: object) -> Sequence[int]:
        return sorted(pool)[-n:]

    return replace(recipe("mctsr", rollouts=50), selector=Frontier(3, survive))


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize(
    "what",
    [recipe("mctsr", rollouts=50), recipe("mctsr-code", rollouts=50), chain(), frontier()],
    ids=["anywhere", "anywhere by the code", "chain", "frontier"],
)
async def test_a_pruned_tree_ends_its_search_with_a_reason_and_every_ending_is_told(
    what: Recipe, width: int
) -> None:
    what = replace(what, width=width, backup=Pruning(what.backup, 5))
    outcome, _, events = await grow(what, graded(lambda place: place.ask))
    assert (outcome.reason, outcome.failed) == ("exhausted", False)
    assert outcome.ledger.asks < 50
    told = [node for event in events if isinstance(event, Folded) for node in event.ended]
    assert sorted(told) == list(range(len(outcome.tree)))
    assert {state.ended for state in outcome.tree.states} == {"hopeless"}
    assert not outcome.tree.nodes["in_flight"].any()


@pytest.mark.parametrize("name", ["mctsr", "best-of-n", "self-refine"])
async def test_what_the_selector_ends_when_it_is_told_is_recorded_too(name: str) -> None:
    @dataclass(frozen=True, slots=True)
    class Weary:
        inner: object
        roots: int
        barrier: bool

        def ask(self, tree: Tree, rng: object, room: int) -> Sequence[Ask]:
            return self.inner.ask(tree, rng, room)  # type: ignore[attr-defined, no-any-return]

        def tell(self, tree: Tree, rng: object, born: Sequence[int]) -> None:
            self.inner.tell(tree, rng, born)  # type: ignore[attr-defined]
            tree.prune(born[0], "seen enough")

    what = recipe(name)
    inner = what.selector
    what = replace(what, selector=Weary(inner, inner.roots, inner.barrier))
    outcome, _, events = await grow(what, graded(lambda place: 10))
    told = [node for event in events if isinstance(event, Folded) for node in event.ended]
    assert sorted(told) == sorted(outcome.tree.ended)
    assert outcome.tree.states[0].ended == "seen enough"
