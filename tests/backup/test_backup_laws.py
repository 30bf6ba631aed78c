"""The law of backups: it holds for the shipped ones, and one that breaks it is told so."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest

from mctsr import backup as b
from mctsr.parts import Backup
from mctsr.testing.laws import LawBroken, check_backup
from mctsr.testing.tree_laws import samples_below
from mctsr.tree import Tree


def own(tree: Tree, node: int) -> float:
    samples = tree.states[node].samples
    return b.mean(samples) if samples else math.nan


def means(tree: Tree) -> Sequence[float]:
    """Mean of the samples of each node and of all below it."""
    totals = [sum(s.value for s in state.samples) for state in tree.states]
    for node in range(len(tree) - 1, -1, -1):
        above = tree.parent(node)
        if above is not None:
            totals[above] += totals[node]
    return [total / n if n else math.nan for total, n in zip(totals, samples_below(tree), strict=True)]


def highest(tree: Tree) -> Sequence[float]:
    values = [own(tree, node) for node in range(len(tree))]
    for node in range(len(tree) - 1, -1, -1):
        below = [values[c] for c in range(len(tree)) if tree.parent(c) == node and not math.isnan(values[c])]
        values[node] = max(below, default=values[node])
    return values


def least(tree: Tree) -> Sequence[float]:
    return [
        min(own(tree, i) for i in tree.line(node) if tree.scored(i)) if tree.scored(node) else math.nan
        for node in range(len(tree))
    ]


def test_mean_and_max_count_every_sample_once_on_its_whole_path() -> None:
    check_backup(b.Mean(), means, visits=samples_below)
    check_backup(b.Max(), highest, visits=samples_below)


def test_the_minimum_over_steps_reaches_down() -> None:
    check_backup(b.MinimumOfSteps(), least)


def test_visits_of_another_kind_are_not_taken_for_rewards() -> None:
    with pytest.raises(LawBroken, match="visits are"):
        check_backup(b.Mean(), means)


@dataclass(frozen=True, slots=True)
class Wandering:
    """Claims to keep to its path, and touches the latest node."""

    wide: ClassVar[bool] = False

    def __call__(self, tree: Tree, node: int) -> None:
        b.OwnValue()(tree, node)
        if node != len(tree) - 1:
            tree.nodes["value"][len(tree) - 1] = 1.0


def test_a_narrow_backup_that_leaves_its_path_is_told_so() -> None:
    with pytest.raises(LawBroken, match=r"changed rows \[\d+\] off its path; declare `wide = True`"):
        check_backup(Wandering(), lambda tree: [own(tree, node) for node in range(len(tree))])


def test_a_backup_that_writes_what_is_not_its_own_is_told_so() -> None:
    def flagging(tree: Tree, node: int) -> None:
        b.OwnValue()(tree, node)
        tree.nodes["prior"][node] = 0.5

    with pytest.raises(LawBroken, match="changed `prior`"):
        check_backup(flagging, lambda tree: [own(tree, node) for node in range(len(tree))])


NARROW: list[Backup] = [
    *(b.OwnValue(), b.HalfOwnHalfBestChild(), b.Mean(), b.MeanOfEnds(), b.Max(), b.McNest(), b.LlamaBerry()),
    *(b.VisitWeighted(), b.MedS3Comp(), b.DecayedSum(), b.DeepSearch(), b.DeepSearchCode()),
]


def test_every_shipped_backup_says_how_far_it_reaches() -> None:
    assert not any(getattr(backup, "wide", True) for backup in NARROW)
    assert all(backup.wide for backup in (b.MctsrCode(), b.MinimumOfSteps(), b.ProductOfSteps()))
