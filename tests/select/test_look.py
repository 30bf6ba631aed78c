"""Rounds of two asks: which newborn is looked at, when, and when the rounds are over."""

import numpy as np
import pytest

from mctsr.backup import VisitWeighted
from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE
from mctsr.parts import Ask, Ledger
from mctsr.select.descent import Descent
from mctsr.select.frontier import Frontier
from mctsr.select.rounds.look import GrowThenLook, rounds_done
from mctsr.select.scores import uct_rest_mcts
from mctsr.testing.laws import check_selector
from mctsr.tree import Sample, State, Tree

SELECTOR = GrowThenLook(Descent(uct_rest_mcts(), 2))
BACKUP = VisitWeighted(births_count=False)


def ask(tree: Tree, room: int = 1) -> list[Ask]:
    return list(SELECTOR.ask(tree, np.random.default_rng(0), room))


def judge(tree: Tree, node: int, score: float) -> None:
    tree.judged(node, (Sample(score, score),))
    BACKUP(tree, node)


def bear(tree: Tree, parent: int, *scores: float | None) -> list[int]:
    born = [tree.add(parent, State(f"{len(tree) + i}")) for i in range(len(scores))]
    for node, score in zip(born, scores, strict=True):
        if score is None:
            tree.unscored(node, "no score in the reply")
        else:
            judge(tree, node, score)
    SELECTOR.tell(tree, np.random.default_rng(0), born)
    return born


def rooted() -> Tree:
    tree = Tree()
    tree.add(NONE, State(""))
    SELECTOR.tell(tree, np.random.default_rng(0), [0])
    return tree


@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("width", [1, 3])
def test_it_keeps_the_laws(width: int, judged: bool) -> None:
    check_selector(SELECTOR, judged=judged, width=width)


def test_after_growth_the_best_newborn_is_looked_at_once() -> None:
    tree = rooted()
    assert ask(tree) == [Ask(0, 2)]
    bear(tree, 0, 0.4, 0.7, 0.7)
    assert ask(tree) == [Ask(2, 0, again=True)], "the first of the best"
    tree.mark(2, +1)
    assert ask(tree) == [Ask(3, 2)], "what is in flight is not asked twice"
    tree.mark(2, -1)
    judge(tree, 2, 0.1)
    assert ask(tree) == [Ask(3, 2)], "the look is over: .7 + 1 without a visit"


def test_a_look_that_brought_no_value_is_over_too() -> None:
    tree = rooted()
    bear(tree, 0, 0.4, 0.7)
    tree.unscored(2, "server error: busy")
    assert ask(tree) == [Ask(2, 2)]


def test_a_finished_newborn_is_looked_at_when_it_is_the_best() -> None:
    tree = rooted()
    bear(tree, 0, 0.4, 0.7)
    tree.end(2, "finished")
    assert ask(tree) == [Ask(2, 0, again=True)]


def test_a_family_without_scores_is_not_looked_at() -> None:
    tree = rooted()
    bear(tree, 0, None, None)
    assert ask(tree) == []
    bear(tree, 0, None, 0.2)
    assert ask(tree) == [Ask(4, 0, again=True)], "the unscored one takes no part"


def test_with_room_for_several_all_looks_come_before_any_growth() -> None:
    tree = rooted()
    bear(tree, 0, 0.4, 0.7)
    judge(tree, 2, 0.7)
    bear(tree, 1, 0.2, 0.3)
    bear(tree, 2, 0.9, 0.3)
    assert ask(tree, 5) == [Ask(4, 0, again=True), Ask(5, 0, again=True)]
    assert ask(tree, 1) == [Ask(4, 0, again=True)]


def test_a_round_is_over_after_its_look() -> None:
    tree, stop = rooted(), rounds_done(2)
    assert stop(tree, Ledger()) is None
    bear(tree, 0, 0.4, 0.7)
    assert stop(tree, Ledger(folds=1)) is None
    judge(tree, 2, 0.7)
    assert stop(tree, Ledger(folds=2)) is None
    bear(tree, 2, 0.9, 0.3)
    assert stop(tree, Ledger(folds=3)) is None
    assert stop(tree, Ledger(folds=4)) == "rounds"


def test_growth_that_brought_nothing_is_a_round_of_one_ask() -> None:
    tree = rooted()
    SELECTOR.tell(tree, np.random.default_rng(0), [])
    assert rounds_done(1)(tree, Ledger(folds=1)) == "rounds"


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(RecipeError, match="rounds is -1"):
        rounds_done(-1)
    with pytest.raises(RecipeError, match="Frontier waits for whole generations"):
        GrowThenLook(Frontier(2))
