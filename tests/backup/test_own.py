"""What a new evaluation changes, by hand: statistics of samples, own values, counts."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.backup import (
    Blended,
    DecayedSum,
    DeepSearch,
    DeepSearchCode,
    HalfOwnHalfBestChild,
    LlamaBerry,
    MctsrCode,
    Mean,
    MeanOfEnds,
    OwnValue,
    VisitWeighted,
    half_min_mean,
    mean,
)
from mctsr.errors import RecipeError
from mctsr.parts import Backup
from mctsr.tree import Sample, State, Tree

REWARDS = st.lists(st.integers(-100, 100), min_size=1, max_size=6)


def samples(*values: float) -> tuple[Sample, ...]:
    return tuple(Sample(value, value) for value in values)


def chain(*rewards: Sequence[float]) -> Tree:
    """Make a path of nodes, each below the one before, with their samples but no backup yet."""
    tree = Tree(low=-100)
    for node, values in enumerate(rewards):
        tree.add(node - 1, State(f"text {node}"))
        if values:
            tree.judged(node, samples(*values))
    return tree


def test_the_papers_value_is_half_the_minimum_and_half_the_mean() -> None:
    assert half_min_mean(samples(-50, 20, 40)) == pytest.approx(-23.333333, abs=1e-6)
    assert half_min_mean(samples(7)) == 7
    assert mean(samples(-50, 20, 40)) == pytest.approx(10 / 3)


@given(REWARDS)
def test_the_papers_value_lies_between_minimum_and_mean_and_knows_no_order(values: list[int]) -> None:
    value = half_min_mean(samples(*values))
    assert min(values) <= value <= sum(values) / len(values) + 1e-9
    assert value == pytest.approx(half_min_mean(samples(*values[::-1])), abs=1e-9)


def test_suppressed_values_count_and_not_what_the_judge_said() -> None:
    assert half_min_mean((Sample(48.0, 98.0),)) == mean((Sample(48.0, 98.0),)) == 48


@pytest.mark.parametrize("backup", [OwnValue(), OwnValue(half_min_mean), HalfOwnHalfBestChild(), MctsrCode()])
@given(rewards=st.lists(REWARDS, min_size=1, max_size=4))
def test_visits_are_the_number_of_samples_of_each_node(backup: Backup, rewards: list[list[int]]) -> None:
    tree = chain(*rewards)
    for _ in range(2):
        for node in range(len(tree)):
            backup(tree, node)
        assert tree.nodes["visits"][: len(tree)].tolist() == [len(values) for values in rewards]


def test_an_own_value_is_spread_to_nobody() -> None:
    tree = chain([10], [90])
    for node in range(2):
        OwnValue()(tree, node)
    assert tree.nodes["value"][:2].tolist() == [10, 90]
    tree.judged(1, samples(-90))
    OwnValue()(tree, 1)
    assert tree.nodes["value"][:2].tolist() == [10, 0]
    assert tree.own_array("own")[:2].tolist() == [10, 0]


def test_half_own_and_half_the_best_child_reach_the_root() -> None:
    tree = chain([20, 40], [0], [90])
    for node in range(3):
        HalfOwnHalfBestChild()(tree, node)
    # own: ½ (20 + 30) = 25, 0, 90; values from below: 90, ½ (0 + 90) = 45, ½ (25 + 45) = 35
    assert tree.nodes["value"][:3].tolist() == [35, 45, 90]
    assert tree.own_array("own")[:3].tolist() == [25, 0, 90]


def test_the_papers_vector_of_a_node_with_two_children() -> None:
    tree = Tree(low=-100)
    for parent, values in ((-1, (-50, 20, 40)), (0, (10,)), (0, (35,))):
        node = tree.add(parent, State(f"text {len(tree)}"))
        tree.judged(node, samples(*values))
        HalfOwnHalfBestChild()(tree, node)
    assert tree.value(0) == pytest.approx(5.833333, abs=1e-6)


def test_a_value_is_computed_anew_and_can_fall() -> None:
    backup, tree = HalfOwnHalfBestChild(), chain([50], [80])
    for node in (0, 1, 0, 1, 0):
        backup(tree, node)
    assert tree.value(0) == 65
    tree.judged(1, samples(-100))
    backup(tree, 1)
    # The child falls to ½ (-100 - 10) = -55.
    assert (tree.value(1), tree.value(0)) == (-55, -2.5)


def test_an_unscored_child_changes_nothing_above_it() -> None:
    tree = chain([50], [])
    tree.unscored(1, "no score in the reply")
    HalfOwnHalfBestChild()(tree, 0)
    assert tree.value(0) == 50
    assert math.isnan(tree.value(1))
    assert tree.nodes["visits"][:2].tolist() == [1, 0]


def test_an_unscored_node_hands_on_what_is_below_it() -> None:
    tree = chain([50], [], [90])
    tree.unscored(1, "no score in the reply")
    for node in (0, 2):
        HalfOwnHalfBestChild()(tree, node)
    assert tree.nodes["value"][:3].tolist() == [50, 90, 90]


def test_the_released_code_leaves_inner_nodes_above_inner_nodes_stale() -> None:
    backup, tree = MctsrCode(), chain([50], [0])
    for node in range(2):
        backup(tree, node)
    assert tree.value(0) == 25
    tree.add(1, State("text 2"))
    tree.judged(2, samples(90))
    backup(tree, 2)
    assert tree.nodes["value"][:3].tolist() == [25, 45, 90]
    assert tree.own_array("ucb")[0] == 25


@pytest.mark.parametrize(
    "backup", [Mean(), MeanOfEnds(), DecayedSum(), DeepSearch(), DeepSearchCode(), LlamaBerry()]
)
def test_whole_numbers_are_rewards_like_any_other(backup: Backup) -> None:
    whole, real = chain([1], [0, 1]), chain([1.0], [0.0, 1.0])
    for tree in (whole, real):
        for node in range(2):
            backup(tree, node)
    assert whole.nodes["value"][:2].tolist() == real.nodes["value"][:2].tolist()


def test_a_node_judged_again_adds_one_visit_for_each_new_sample() -> None:
    backup, tree = Mean(), chain([10], [20, 30])
    for node in range(2):
        backup(tree, node)
    assert (tree.nodes["visits"][:2].tolist(), tree.nodes["value"][:2].tolist()) == ([3, 2], [20, 25])
    tree.judged(1, samples(40, 50))
    backup(tree, 1)
    assert (tree.nodes["visits"][:2].tolist(), tree.nodes["value"][:2].tolist()) == ([5, 4], [30, 35])


def test_a_first_play_value_gives_way_to_the_first_reward() -> None:
    backup, tree = Mean(births_count=False), chain([10], [20])
    for node in range(2):
        backup(tree, node)
    assert (tree.nodes["visits"][:2].tolist(), tree.nodes["value"][:2].tolist()) == ([0, 0], [10, 20])
    tree.judged(1, samples(60))
    backup(tree, 1)
    assert (tree.nodes["visits"][:2].tolist(), tree.nodes["value"][:2].tolist()) == ([1, 1], [60, 60])


@pytest.mark.parametrize("counts", [True, False])
def test_a_step_stays_with_itself_until_an_end_is_reached(counts: bool) -> None:
    backup, tree = MeanOfEnds(steps_count=counts), chain([10], [80])
    for node in (1, 0):
        backup(tree, node)
    assert tree.nodes["visits"][:2].tolist() == [counts, counts]
    assert tree.nodes["value"][:2].tolist() == [10, 80]
    end = tree.add(1, State("end"))
    tree.end(end, "finished")
    tree.judged(end, samples(100))
    backup(tree, end)
    n = 2 if counts else 1
    assert tree.nodes["visits"][:3].tolist() == [n, n, 1]
    assert tree.nodes["value"][:3].tolist() == ([55, 90, 100] if counts else [100, 100, 100])


def test_a_blend_begins_with_the_first_sample_and_mixes_in_each_later_one() -> None:
    assert Blended()(samples(0.6)) == 0.6
    assert Blended()(samples(0.6, 0.9)) == pytest.approx(0.75)
    assert Blended(0.25)(samples(0.8, 0.4, 0.0)) == pytest.approx(0.525)
    with pytest.raises(RecipeError, match=r"alpha is 1\.5; it is the share"):
        Blended(1.5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1))
def test_a_blend_lies_between_its_samples(values: list[float], alpha: float) -> None:
    assert min(values) - 1e-12 <= Blended(alpha)(samples(*values)) <= max(values) + 1e-12


def test_a_child_that_was_never_judged_again_weighs_nothing_in_its_parent() -> None:
    tree, backup = chain([0.5]), VisitWeighted(Blended(), births_count=False)
    backup(tree, 0)
    for value in (0.6, 0.2):
        node = tree.add(0, State(f"{value}"))
        tree.judged(node, samples(value))
        backup(tree, node)
    assert tree.nodes["value"][:3].tolist() == [0.5, 0.6, 0.2]
    tree.judged(1, samples(0.8))
    backup(tree, 1)
    assert tree.nodes["value"][:3] == pytest.approx([0.7, 0.7, 0.2])
    assert tree.nodes["visits"][:3].tolist() == [1, 1, 0]
