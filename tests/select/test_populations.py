"""The front: who stays in a generation, and where a chain goes on."""

from collections.abc import Mapping

import numpy as np
import pytest

from mctsr.errors import RecipeError
from mctsr.parts import Ask
from mctsr.select.chain import Chain
from mctsr.select.frontier import Frontier
from mctsr.tree import Sample, State, Tree

RNG = np.random.default_rng(0)
GOOD, UNSCORED, PLANTED, EMPTY, UNJUDGED = "good", "unscored", "planted", "empty", "unjudged"
UNFIT = (UNSCORED, PLANTED, EMPTY)


def bear(tree: Tree, *kinds: str, parent: int = -1) -> list[int]:
    """Add nodes of these kinds."""
    born = []
    for kind in kinds:
        text = " \n" if kind == EMPTY else f"text {len(tree)}"
        node = tree.add(parent, State(text), planted=kind == PLANTED)
        if kind == UNSCORED:
            tree.unscored(node, "no score in the reply")
        elif kind in (GOOD, PLANTED):
            tree.judged(node, (Sample(5.0, 5.0),))
        born.append(node)
    return born


# Frontier


def test_a_generation_is_opened_at_once_and_never_grows() -> None:
    selector, tree = Frontier(4), Tree()
    selector.tell(tree, RNG, bear(tree, GOOD, GOOD, UNJUDGED, GOOD))
    assert (selector.roots, tree.front) == (4, [0, 1, 2, 3])
    assert selector.ask(tree, RNG, 8) == ()


def test_what_has_no_score_or_was_planted_leaves_the_generation() -> None:
    tree = Tree()
    Frontier(3).tell(tree, RNG, bear(tree, UNSCORED, GOOD, PLANTED, GOOD))
    assert tree.front == [1, 3]
    tree = Tree()
    Frontier(3).tell(tree, RNG, bear(tree, UNSCORED, PLANTED))
    assert tree.front == []


@pytest.mark.parametrize("n", [0, -1])
def test_a_generation_has_somebody(n: int) -> None:
    with pytest.raises(RecipeError, match=f"n is {n}; it is the number of answers"):
        Frontier(n)


# Chain


def test_a_chain_goes_on_from_each_new_state() -> None:
    selector, tree = Chain(), Tree()
    selector.tell(tree, RNG, bear(tree, UNJUDGED))
    for state in range(3):
        assert selector.ask(tree, RNG, 1) == (Ask(state),)
        selector.tell(tree, RNG, bear(tree, UNJUDGED, parent=state))
    assert tree.front == [3]


@pytest.mark.parametrize("kind", UNFIT)
def test_a_chain_stays_where_it_is_when_the_newborn_is_no_state(kind: str) -> None:
    selector, tree = Chain(again=True), Tree()
    selector.tell(tree, RNG, bear(tree, GOOD))
    selector.tell(tree, RNG, bear(tree, kind, parent=0))
    assert selector.ask(tree, RNG, 1) == (Ask(0, again=True),)
    selector.tell(tree, RNG, bear(tree, GOOD, parent=0))
    assert selector.ask(tree, RNG, 1) == (Ask(2, again=True),)


def test_a_chain_stays_when_an_ask_brought_nothing() -> None:
    tree = Tree()
    Chain().tell(tree, RNG, bear(tree, GOOD))
    Chain().tell(tree, RNG, [])
    assert tree.front == [0]


@pytest.mark.parametrize(
    ("kinds", "front"),
    [
        ((GOOD, PLANTED), [0]),
        ((GOOD, GOOD), [1]),
        ((GOOD, GOOD, *UNFIT), [1]),
        (UNFIT, []),
    ],
)
def test_the_last_fit_root_begins_a_chain(kinds: tuple[str, ...], front: list[int]) -> None:
    tree = Tree()
    Chain().tell(tree, RNG, bear(tree, *kinds))
    assert tree.front == front
    assert Chain().ask(tree, RNG, 1) == tuple(Ask(node) for node in front)


def test_a_finished_state_ends_a_chain() -> None:
    tree = Tree()
    Chain().tell(tree, RNG, bear(tree, GOOD))
    tree.end(0, "context overflow: too long")
    assert Chain().ask(tree, RNG, 1) == ()


def test_both_wait_for_all_of_an_ask() -> None:
    found: Mapping[str, bool] = {"chain": Chain().barrier, "frontier": Frontier(2).barrier}
    assert all(found.values())
