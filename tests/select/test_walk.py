"""Walks to an end: where they begin, how they go on, and when they are over."""

import numpy as np
import pytest

from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE
from mctsr.parts import Ask
from mctsr.select.anywhere import Anywhere
from mctsr.select.descent import Descent
from mctsr.select.frontier import Frontier
from mctsr.select.scores import by_value, uct_rap
from mctsr.select.sweeps.walk import Walk
from mctsr.testing.laws import check_selector
from mctsr.tree import Sample, State, Tree

RNG = np.random.default_rng(0)


def bear(tree: Tree, parent: int, *values: float | None, ended: int | None = None) -> list[int]:
    born = []
    for i, value in enumerate(values):
        born.append(tree.add(parent, State(f"text {len(tree)}")))
        if value is None:
            tree.unscored(born[-1], "no score in the reply")
        else:
            tree.judged(born[-1], (Sample(value, value),))
            tree.nodes["value"][born[-1]] = value
        if i == ended:
            tree.end(born[-1], "finished")
    return born


def begun() -> tuple[Walk, Tree]:
    rule, tree = Walk(Descent(by_value(), 2), 2), Tree()
    rule.tell(tree, RNG, bear(tree, NONE, 0.5))
    assert rule.ask(tree, RNG, 1) == (Ask(0, 2),)
    return rule, tree


def test_a_walk_goes_on_at_the_best_newborn_and_the_next_begins_at_the_root() -> None:
    rule, tree = begun()
    rule.tell(tree, RNG, bear(tree, 0, 0.9, 0.3))
    assert list(rule.ask(tree, RNG, 1)) == [Ask(1, 2)]
    rule.tell(tree, RNG, bear(tree, 1, None, 0.1, 0.1))
    assert list(rule.ask(tree, RNG, 1)) == [Ask(4, 2)], "the first of the best, whatever is better elsewhere"
    rule.tell(tree, RNG, bear(tree, 4, 0.2, 0.4, ended=1))
    assert list(rule.ask(tree, RNG, 1)) == [Ask(6, 2)], (
        "the best newborn is an end: from the root by the best value"
    )


def test_a_walk_that_led_nowhere_is_over() -> None:
    rule, tree = begun()
    rule.tell(tree, RNG, bear(tree, 0, 0.9, 0.3))
    rule.tell(tree, RNG, bear(tree, 1, None, None))
    assert list(rule.ask(tree, RNG, 1)) == [Ask(2, 2)]


def test_what_brought_nothing_is_asked_again_and_what_can_no_longer_grow_is_not() -> None:
    rule, tree = begun()
    rule.tell(tree, RNG, bear(tree, 0, 0.9, 0.3))
    rule.tell(tree, RNG, [])
    assert list(rule.ask(tree, RNG, 1)) == [Ask(1, 2)]
    tree.end(1, "context overflow")
    rule.tell(tree, RNG, [])
    assert list(rule.ask(tree, RNG, 1)) == [Ask(2, 2)]


def test_walks_in_flight_do_not_end_each_other() -> None:
    rule, tree = begun()
    rule.tell(tree, RNG, bear(tree, 0, 0.9, 0.3))
    assert list(rule.ask(tree, RNG, 2)) == [Ask(1, 2)]
    tree.mark(1, +1)
    assert list(rule.ask(tree, RNG, 1)) == [Ask(2, 2)], "a second walk, where the inner selector says"
    tree.mark(2, +1)
    tree.mark(1, -1)
    rule.tell(tree, RNG, bear(tree, 1, 0.5, 0.1))
    tree.mark(2, -1)
    rule.tell(tree, RNG, bear(tree, 2, 0.2, 0.4))
    assert list(rule.ask(tree, RNG, 2)) == [Ask(3, 2), Ask(6, 2)]
    assert list(rule.ask(tree, RNG, 1)) == [Ask(3, 2)]
    rule.tell(tree, RNG, bear(tree, 3, 0.5, ended=0))
    assert list(rule.ask(tree, RNG, 2)) == [Ask(6, 2)]


def test_the_laws_of_selectors_hold() -> None:
    check_selector(Walk(Descent(uct_rap(), 3), 3))
    check_selector(Walk(Anywhere(by_value()), 2), judged=False)


def test_what_cannot_walk_is_refused() -> None:
    with pytest.raises(RecipeError, match="Frontier waits for whole generations"):
        Walk(Frontier(4))
    with pytest.raises(RecipeError, match="n is 0; it is the number of children"):
        Walk(Descent(by_value()), 0)
