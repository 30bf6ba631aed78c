"""Binary search for first errors: where it looks, what it does without an estimate, and what it closes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.backup.rollouts import ShareOfRollouts
from mctsr.errors import RecipeError
from mctsr.parts import Ledger
from mctsr.select.labels.first_error import FirstError, searches_done
from mctsr.testing.laws import check_backup, check_selector
from mctsr.tree import Sample, State, Tree

ROOT = 0
RNG = np.random.default_rng(0)


class World:
    """A tree under the hand of a selector and its backup, without a model."""

    def __init__(self, *outcomes: float, n: int = 2) -> None:
        """Open a tree whose first solutions come out as `outcomes` says, 1 right and 0 wrong."""
        self.tree, self.selector, self.backup = Tree(), FirstError(n), ShareOfRollouts()
        self.tree.add(-1, State("", step=True))
        self.selector.tell(self.tree, RNG, [ROOT])
        self.solve(ROOT, *outcomes)

    def asked(self) -> list[int]:
        """Return the nodes that are asked now."""
        return [ask.node for ask in self.selector.ask(self.tree, RNG, 1)]

    def solve(self, state: int, *outcomes: float) -> list[int]:
        """Complete a state; NaN is a completion that was lost."""
        born = [self.tree.add(state, State(f"solution {len(self.tree)}", tokens=10)) for _ in outcomes]
        for node, outcome in zip(born, outcomes, strict=True):
            if math.isnan(outcome):
                self.tree.unscored(node, "ungradable")
                continue
            self.tree.judged(node, (Sample(outcome, outcome),))
            self.backup(self.tree, node)
        self.selector.tell(self.tree, RNG, born)
        return born

    def cut(self, rollout: int, cuts: int) -> list[int]:
        """Take the beginnings of a solution."""
        born = [self.tree.add(rollout, State(f"{rollout}:{i}", step=True)) for i in range(cuts)]
        self.selector.tell(self.tree, RNG, born)
        return born

    def ended(self, node: int) -> str:
        """Say why a node can no longer grow."""
        return self.tree.states[node].ended


@given(st.integers(1, 40), st.data())
def test_the_first_error_is_found_in_logarithmically_many_asks(cuts: int, data: st.DataObject) -> None:
    wrong = data.draw(st.integers(0, cuts), label="first wrong step")
    world = World(1.0, 0.0)
    (rollout,) = world.asked()
    states, asks = world.cut(rollout, cuts), 0
    while not world.ended(rollout):
        (state,) = world.asked()
        world.solve(state, *([1.0, 1.0] if states.index(state) < wrong else [0.0, 0.0]))
        asks += 1
    assert world.ended(rollout) == f"first error in step {wrong + 1}"
    assert asks <= math.floor(math.log2(cuts)) + 1
    assert world.asked() == []


def test_wrong_solutions_of_states_on_the_way_are_searched_in_turn_and_counted_from_the_beginning() -> None:
    world = World(1.0, 0.0)
    (rollout,) = world.asked()
    _, state, later = world.cut(rollout, 3)
    assert world.asked() == [state]
    _, wrong = world.solve(state, 1.0, 0.0)
    assert world.asked() == [later], "a search is brought to its end first"
    world.solve(later, 0.0, 0.0)
    assert world.ended(rollout) == "first error in step 3"
    assert world.asked() == [wrong]
    (new,) = world.cut(wrong, 1)
    assert world.asked() == [new]
    world.solve(new, 0.0, 0.0)
    assert world.ended(wrong) == "first error in step 3"
    assert world.asked() == []


def test_always_right_and_always_wrong_states_have_nothing_to_search() -> None:
    assert World(1.0, 1.0).asked() == []
    assert World(0.0, 0.0).asked() == []
    assert World(math.nan, math.nan).asked() == []


def test_an_estimate_that_was_lost_ends_the_search_of_its_solution_alone() -> None:
    world = World(1.0, 0.0, 0.0)
    (first,) = world.asked()
    (state,) = world.cut(first, 1)
    world.solve(state, math.nan, math.nan)
    assert world.ended(first) == "first error not found: step 1 has no estimate"
    (second,) = world.asked()
    assert second != first


def test_an_estimate_of_those_completions_that_were_judged_is_one() -> None:
    world = World(1.0, 0.0, math.nan)
    assert (world.tree.value(ROOT), world.tree.nodes["visits"][ROOT]) == (0.5, 2)
    (first,) = world.asked()
    (state,) = world.cut(first, 1)
    world.solve(state, math.nan, 0.0)
    assert world.ended(first) == "first error in step 1"


def test_a_state_that_can_no_longer_be_asked_is_lost() -> None:
    world = World(1.0, 0.0)
    (first,) = world.asked()
    (state,) = world.cut(first, 1)
    world.tree.end(state, "context overflow: too long")
    world.selector.tell(world.tree, RNG, [])
    assert world.ended(first) == "first error not found: step 1 has no estimate"


def test_several_solutions_are_searched_at_a_time_when_there_is_room() -> None:
    world = World(1.0, 0.0, 0.0)
    (first,) = world.asked()
    (state,) = world.cut(first, 1)
    world.tree.mark(state, +1)
    (second,) = world.asked()
    assert second not in (first, state)
    world.tree.mark(second, +1)
    assert world.asked() == []
    assert not world.ended(first), "what is in flight is not lost"


def test_the_front_is_what_was_written_for_the_problem_itself() -> None:
    world = World(1.0, 0.0, math.nan)
    assert world.tree.front == [1, 2]
    (first,) = world.asked()
    (state,) = world.cut(first, 1)
    world.solve(state, 1.0, 0.0)
    assert world.tree.front == [1, 2]


def test_searches_are_counted_when_they_are_over() -> None:
    stop, world = searches_done(1), World(1.0, 0.0)
    assert stop(Tree(), Ledger()) is None
    (first,) = world.asked()
    (state,) = world.cut(first, 1)
    assert stop(world.tree, Ledger()) is None
    world.solve(state, 0.0, 0.0)
    assert stop(world.tree, Ledger()) == "searches"
    assert searches_done(0)(world.tree, Ledger()) is None
    assert searches_done(9)(World(1.0).tree, Ledger()) == "all solutions right"
    assert searches_done(9)(World(0.0).tree, Ledger()) == "no solution right"


def test_lengths_are_those_of_wrong_solutions_in_tokens_or_words() -> None:
    tree, backup = Tree(), ShareOfRollouts()
    for state in (State("", step=True), State("one two three"), State("four", tokens=7), State("five")):
        tree.add(-1 if not len(tree) else 0, state)
    for node, value in ((1, 0.0), (2, 0.0), (3, 1.0)):
        tree.judged(node, (Sample(value, value),))
        backup(tree, node)
    assert tree.own_array("length")[1:3].tolist() == [3.0, 7.0]
    assert math.isnan(tree.own_array("length")[3])


@pytest.mark.parametrize("width", [1, 3])
def test_the_laws_of_selectors_hold(width: int) -> None:
    check_selector(FirstError(2), backup=ShareOfRollouts(), width=width)


def test_the_laws_of_backups_hold() -> None:
    def expected(tree: Tree) -> list[float]:
        own = [[sample.value for sample in state.samples] for state in tree.states]
        means = [sum(values) / len(values) if values else math.nan for values in own]
        below = [[means[child] for child in tree.children(node) if own[child]] for node in range(len(tree))]
        return [
            means[node] if own[node] else sum(below[node]) / len(below[node]) if below[node] else math.nan
            for node in range(len(tree))
        ]

    check_backup(ShareOfRollouts(), expected, visits_are_rewards=False)


def test_senseless_numbers_are_refused() -> None:
    with pytest.raises(RecipeError, match="n is 0"):
        FirstError(0)
    with pytest.raises(RecipeError, match="searches is -1"):
        searches_done(-1)
