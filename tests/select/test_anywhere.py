"""Any node of the tree: scores of one's own, what is closed, what work in flight does."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from mctsr.backup import HalfOwnHalfBestChild, MctsrCode
from mctsr.errors import RecipeError
from mctsr.kernels.node import Floats, Ids
from mctsr.parts import Ask, Backup, Rule
from mctsr.select.anywhere import Anywhere
from mctsr.select.pools import Stored
from mctsr.select.scores import by_value, uct_mctsr
from mctsr.tree import Sample, State, Tree

RNG = np.random.default_rng(0)
Node = tuple[int, float | None]


def grown(*nodes: Node, backup: Backup | None = None) -> Tree:
    """Make nodes of a parent and a value; a value of None stays unscored."""
    tree, backup = Tree(low=-100), backup or HalfOwnHalfBestChild()
    for i, (parent, value) in enumerate(nodes):
        tree.add(parent, State(f"text {i}"))
        if value is None:
            tree.unscored(i, "no score in the reply")
        else:
            tree.judged(i, (Sample(value, value),))
            backup(tree, i)
    return tree


def fixed(*scores: float) -> Rule:
    """Score nodes by their ids."""
    return lambda tree, ids: np.array([scores[i] for i in ids])


def asked(rule: Rule, tree: Tree, **how: object) -> Sequence[Ask]:
    return Anywhere(rule, **how).ask(tree, RNG, 1)  # type: ignore[arg-type]


ROOTS = ((-1, 10.0), (-1, 20.0), (-1, 20.0))


def test_the_largest_score_wins_and_the_first_created_among_equals() -> None:
    assert asked(by_value(), grown(*ROOTS)) == (Ask(1, again=True),)
    assert asked(by_value(), grown(*ROOTS), again=False) == (Ask(1),)
    assert asked(fixed(5, 5, 5), grown(*ROOTS))[0].node == 0


@pytest.mark.parametrize(
    ("scores", "node"),
    [
        ((math.nan, 1, 2), 2),
        ((3, math.nan, 2), 0),
        ((math.nan, math.inf, 5), 1),
        ((math.nan, -math.inf, math.nan), 1),
    ],
)
def test_a_node_whose_score_is_no_number_is_passed_over(scores: tuple[float, ...], node: int) -> None:
    assert asked(fixed(*scores), grown(*ROOTS))[0].node == node


@pytest.mark.parametrize("scores", [[math.nan] * 3, [1.0], [1.0, 2.0], [1.0] * 4, [[1.0, 2.0, 3.0]], 1.0])
def test_a_score_that_is_not_one_number_an_id_is_an_error_of_the_recipe(scores: object) -> None:
    with pytest.raises(RecipeError, match="for 3 ids; it must return one number"):
        asked(lambda tree, ids: np.array(scores), grown(*ROOTS))


def test_a_score_of_ones_own_sees_the_tree_and_the_candidates_alone() -> None:
    tree = grown(*ROOTS, (1, None), (-1, 5.0))
    tree.end(0, "finished")
    seen: list[list[int]] = []

    def shortest(given: Tree, ids: Ids) -> list[int]:
        assert given is tree
        seen.append(ids.tolist())
        return [-len(given.states[i].text) - int(i) for i in ids]

    assert asked(shortest, tree)[0].node == 1  # type: ignore[arg-type]
    assert seen == [[1, 2, 4]]


def test_an_empty_or_finished_tree_is_asked_nothing_and_no_score_is_taken() -> None:
    def never(tree: Tree, ids: Ids) -> Floats:
        raise AssertionError

    assert asked(never, Tree()) == ()
    tree = grown((-1, 10.0))
    tree.end(0, "finished")
    assert asked(never, tree) == ()
    assert asked(never, grown((-1, None))) == ()


# What is closed


@pytest.mark.parametrize(
    ("children", "how", "open_nodes"),
    [
        ((), {}, [0]),
        ((70.0,), {}, [0, 1]),
        ((20.0, 30.0), {}, [0, 1, 2]),  # none is better than 50
        ((20.0, 90.0), {}, [1, 2]),
        ((20.0, 90.0), {"open_below": 3}, [0, 1, 2]),
        ((90.0,), {"open_below": 1}, [1]),
        ((20.0, 90.0), {"open_below": None}, [0, 1, 2]),
        ((None, None), {}, [0]),
        ((None, 90.0), {}, [2]),
    ],
)
def test_a_node_closes_when_it_has_enough_children_and_one_is_better(
    children: tuple[float | None, ...], how: dict[str, object], open_nodes: list[int]
) -> None:
    tree = grown((-1, 50.0), *[(0, value) for value in children])
    assert Anywhere(by_value(), **how).candidates(tree).tolist() == open_nodes  # type: ignore[arg-type]


def test_a_child_as_good_as_its_parents_own_value_closes_it_in_the_released_code() -> None:
    tree = grown((-1, 50.0), (0, 50.0), (0, 10.0), backup=MctsrCode())
    assert Anywhere(by_value(), closed_by="as good").candidates(tree).tolist() == [1, 2]
    assert Anywhere(by_value(), closed_by="better").candidates(tree).tolist() == [0, 1, 2]


def test_asks_in_flight_count_as_children() -> None:
    tree = grown((-1, 50.0), (0, 90.0))
    selector = Anywhere(by_value())
    assert selector.candidates(tree).tolist() == [0, 1]
    tree.mark(0, +1)
    assert selector.candidates(tree).tolist() == [1]
    tree.mark(0, -1)
    tree.mark(1, +1)  # in flight below the root, not at it
    assert selector.candidates(tree).tolist() == [0, 1]


@pytest.mark.parametrize("make", [uct_mctsr, by_value])
def test_work_in_flight_makes_a_node_look_worse(make: Callable[[], Rule]) -> None:
    tree = grown((-1, 50.0), (-1, 45.0))
    rule, ids = make(), np.array([0, 1])
    before = rule(tree, ids)
    tree.mark(0, +1)
    after = rule(tree, ids)
    assert (before.tolist(), after.tolist()) == ([50, 45], [-25, 45])


# Stored scores


def test_a_stored_score_is_read_as_it_stands_also_when_it_is_stale() -> None:
    tree = grown((-1, 50.0), (-1, 45.0), backup=MctsrCode())
    tree.own_array("ucb")[0] = 12.5
    assert Stored("ucb")(tree, np.array([0, 1])).tolist() == [12.5, 45]
    assert asked(Stored("ucb"), tree)[0].node == 1


def test_work_in_flight_weighs_in_a_stored_score_as_rewards_of_the_lowest_kind() -> None:
    tree = grown((-1, 50.0), (-1, 45.0), backup=MctsrCode())
    tree.judged(0, (Sample(50.0, 50.0), Sample(50.0, 50.0)))
    MctsrCode()(tree, 0)
    for _ in range(2):
        tree.mark(0, +1)
    # Three visits at 50 and two waiting at -100.
    assert Stored("ucb")(tree, np.array([0, 1])).tolist() == [(3 * 50 - 2 * 100) / 5, 45]
    assert tree.own_array("ucb")[0] == 50, "what is stored stays"


def test_a_score_that_was_never_stored_is_passed_over() -> None:
    tree = grown((-1, 50.0), (-1, 45.0))
    tree.own_array("mine")[1] = -7
    assert asked(Stored("mine"), tree)[0].node == 1


def test_as_good_without_own_values_is_an_error_not_a_node_that_never_closes() -> None:
    tree = grown(*ROOTS)
    tree.side.clear()
    with pytest.raises(RecipeError, match="needs a backup that keeps own values"):
        asked(by_value(), tree, closed_by="as good")
