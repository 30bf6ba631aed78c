"""DeepSearch's two choices: the best newborn, and the jump to the frontier once a path has ended."""

import math

import numpy as np
import pytest

from mctsr.backup import DeepSearch
from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE, Floats, Ids
from mctsr.parts import Ask, Rule
from mctsr.select.deepsearch import DeepSearchJump
from mctsr.testing.laws import check_selector
from mctsr.tree import Sample, State, Tree


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize(
    "selector", [DeepSearchJump(), DeepSearchJump(n=2), DeepSearchJump(n=3, max_depth=4)]
)
def test_it_keeps_the_laws(selector: DeepSearchJump, judged: bool, width: int) -> None:
    check_selector(selector, judged=judged, width=width)


def told(tree: Tree, ids: Ids) -> Floats:
    """Score a node by the number that its text ends with."""
    return np.array([float(tree.states[i].text) for i in ids])


def bear(tree: Tree, parent: int, *texts: str, ended: str = "") -> list[int]:
    """Add unjudged children; the text that is `ended` is a terminal."""
    born = [tree.add(parent, State(text)) for text in texts]
    for node in born:
        if tree.states[node].text == ended:
            tree.end(node, "finished")
    return born


def always(scores: Floats) -> Rule:
    return lambda tree, ids: scores


def asked(tree: Tree, selector: DeepSearchJump) -> list[int]:
    return [ask.node for ask in selector.ask(tree, np.random.default_rng(0), 1)]


def test_a_walk_worked_out_by_hand() -> None:
    tree, selector, backup = Tree(low=-1.0), DeepSearchJump(n=2, max_depth=4), DeepSearch()
    bear(tree, NONE, "root")
    assert selector.ask(tree, np.random.default_rng(0), 1) == (Ask(0, 2),)
    bear(tree, 0, "1", "2")
    assert asked(tree, selector) == [1], "both unknown, Q and bonus 0: the first"
    bear(tree, 1, "3", "4", ended="3")
    tree.judged(3, (Sample(-1.0, -1.0),))
    backup(tree, 3)
    # A terminal came. Frontier: 2 below the root (value < 0, depth 1), 4 below 1 (value < 0, depth 2). The wrong path
    # weighs more the deeper a node lies, so the root's tanh is the larger one: .4 tanh(q) + .01 sqrt(d / 64).
    q = {node: tree.value(node) for node in (0, 1)}
    assert q[1] < q[0] < 0
    assert 0.4 * math.tanh(q[0]) + 0.01 * math.sqrt(1 / 64) > 0.4 * math.tanh(q[1]) + 0.01 * math.sqrt(2 / 64)
    assert asked(tree, selector) == [2]
    bear(tree, 2, "5", "6")
    assert asked(tree, selector) == [5], "no terminal: on to the newborn"
    bear(tree, 5, "7", "8", ended="8")
    tree.judged(8, (Sample(1.0, 1.0),))
    backup(tree, 8)
    # Frontier: 4 below 1 (still wrong), 6 below 2, 7 below 5, the last two on the right path; 5 is nearer to the end.
    assert tree.value(5) > tree.value(2) > 0 > tree.value(1)
    assert asked(tree, selector) == [7]
    bear(tree, 7, "9", "10")
    assert tree.nodes["depth"][9] == 4
    assert asked(tree, selector) == [6], "9 and 10 lie at the greatest depth"
    tree.prune(6, "pruned")
    assert asked(tree, selector) == [4]
    tree.end(4, "finished")
    assert asked(tree, selector) == [], "nothing is left"


def test_the_best_newborn_is_chosen_by_the_local_score_and_the_first_wins_ties() -> None:
    tree, selector = Tree(), DeepSearchJump(told, lambda tree, ids: -told(tree, ids))
    bear(tree, NONE, "0")
    bear(tree, 0, "1", "7", "7", "3")
    assert asked(tree, selector) == [2]


def test_a_terminal_newborn_sends_the_search_to_the_frontier_even_if_others_are_better_here() -> None:
    tree, selector = Tree(), DeepSearchJump(told, lambda tree, ids: -told(tree, ids))
    bear(tree, NONE, "0")
    bear(tree, 0, "1", "7", "3")
    bear(tree, 2, "5", "6", "9", ended="6")
    assert asked(tree, selector) == [1], "the lowest number of the frontier 1, 3, 5, 9"
    bear(tree, 1, "8", "4")
    assert asked(tree, selector) == [7]


def test_unscored_newborn_are_passed_over_and_are_no_terminals() -> None:
    tree, selector = Tree(), DeepSearchJump(told, lambda tree, ids: -told(tree, ids))
    bear(tree, NONE, "0")
    bear(tree, 0, "1", "7", "3")
    tree.unscored(2, "no score in the reply")
    assert asked(tree, selector) == [3]


def test_the_root_waits_is_grown_once_and_never_when_it_is_finished() -> None:
    tree, selector = Tree(), DeepSearchJump()
    assert asked(tree, selector) == []
    bear(tree, NONE, "root")
    tree.mark(0, +1)
    assert asked(tree, selector) == [], "its first children are on the way"
    tree.mark(0, -1)
    bear(tree, 0, "1", ended="1")
    assert asked(tree, selector) == [], "the root is no part of the frontier"
    finished = Tree()
    bear(finished, NONE, "root", ended="root")
    assert asked(finished, selector) == []


def test_with_several_asks_in_flight_the_next_best_newborn_and_then_the_frontier_are_grown() -> None:
    tree, selector = Tree(), DeepSearchJump(told, told)
    bear(tree, NONE, "0")
    bear(tree, 0, "1", "2")
    bear(tree, 2, "3", "4")
    order = []
    while found := asked(tree, selector):
        order += found
        tree.mark(found[0], +1)
    assert order == [4, 3, 1]


def test_an_ask_that_brought_nothing_is_repeated() -> None:
    tree, selector = Tree(), DeepSearchJump()
    bear(tree, NONE, "0")
    bear(tree, 0, "1", "2")
    selector.tell(tree, np.random.default_rng(0), [])
    assert asked(tree, selector) == [1]


def test_impossible_settings_and_scores_are_refused() -> None:
    for n, max_depth in ((0, 64), (8, 0)):
        with pytest.raises(RecipeError, match="both must be at least 1"):
            DeepSearchJump(n=n, max_depth=max_depth)
    tree = Tree()
    bear(tree, NONE, "0")
    bear(tree, 0, "1", "2")
    for returned in (np.zeros(3), np.full(2, math.nan)):
        with pytest.raises(RecipeError, match="must return one number for each"):
            asked(tree, DeepSearchJump(always(returned)))
    half = np.array([math.nan, -math.inf])
    assert asked(tree, DeepSearchJump(always(half))) == [2]
