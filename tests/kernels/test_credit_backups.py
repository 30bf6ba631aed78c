"""Every backup against plain Python, after every judgement of random histories, and the published vectors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from mctsr import backup as b
from mctsr.kernels import credit, credit_climbs, walk
from mctsr.kernels.node import NONE, UNJUDGED, UNSCORED, Nodes, fresh
from mctsr.parts import Backup
from mctsr.tree import Sample, State, Tree
from tests.kernels import reference_backup as plain
from tests.kernels.reference_backup import Event, Rule, Thing, histories

PAIRS: list[tuple[Backup, Rule]] = [
    (b.OwnValue(), plain.own),
    (b.HalfOwnHalfBestChild(), plain.half_own_half_best),
    (b.Mean(), plain.mean(1)),
    (b.Mean(flip=-1.0), plain.mean(-1)),
    (b.Mean(births_count=False), plain.mean(1, births_count=False)),
    (b.MeanOfEnds(), plain.mean_of_ends(True)),
    (b.MeanOfEnds(steps_count=False), plain.mean_of_ends(False)),
    (b.Max(), plain.highest),
    (b.McNest(), plain.mc_nest),
    (b.LlamaBerry(), plain.llama_berry(0.1)),
    (b.LlamaBerry(g=0.5), plain.llama_berry(0.5)),
    (b.VisitWeighted(), plain.visit_weighted(True)),
    (b.VisitWeighted(births_count=False), plain.visit_weighted(False)),
    (b.MedS3Comp(), plain.med_s3_comp),
    (b.DecayedSum(), plain.decayed(0.9)),
    (b.DeepSearch(), plain.deep_search(0, 0.1)),
    (b.DeepSearchCode(), plain.deep_search(1, 0.1)),
    (b.MinimumOfSteps(), plain.steps(min)),
    (b.ProductOfSteps(), plain.steps(math.prod)),
]
NAMES = [f"{type(backup).__name__}-{i}" for i, (backup, _) in enumerate(PAIRS)]


def numbers(tree: Tree) -> tuple[list[float], list[int]]:
    used = tree.nodes[: len(tree)]
    return used["value"].tolist(), used["visits"].tolist()


@pytest.mark.parametrize(("backup", "rule"), PAIRS, ids=NAMES)
@settings(max_examples=30)
@given(events=histories())
def test_backups_equal_plain_python_after_every_judgement(
    backup: Backup, rule: Rule, events: list[Event]
) -> None:
    tree, things = Tree(low=-1), list[Thing]()
    for event in events:
        node = plain.follow(tree, things, event)
        if event.rewards:
            backup(tree, node)
            rule(things[node], event.rewards)
        values, visits = numbers(tree)
        assert visits == [thing.n for thing in things]
        assert values == pytest.approx([thing.value for thing in things], rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("backup", [backup for backup, _ in PAIRS], ids=NAMES)
@settings(max_examples=15)
@given(events=histories())
def test_a_backup_changes_its_path_alone_unless_it_says_so(backup: Backup, events: list[Event]) -> None:
    tree, things = Tree(low=-1), list[Thing]()
    for event in events:
        node = plain.follow(tree, things, event)
        before = tree.nodes.copy()
        if not event.rewards:
            continue
        backup(tree, node)
        off = np.ones(len(tree.nodes), dtype=bool)
        off[tree.line(node)] = False
        if not getattr(backup, "wide", True):
            assert tree.nodes[off].tobytes() == before[off].tobytes()
        for name in set(tree.nodes.dtype.names or ()) - {"value", "visits", "value_sum"}:
            np.testing.assert_array_equal(tree.nodes[name], before[name])


@pytest.mark.parametrize("backup", [backup for backup, _ in PAIRS], ids=NAMES)
@settings(max_examples=15)
@given(events=histories())
def test_a_backup_without_a_new_sample_changes_nothing(backup: Backup, events: list[Event]) -> None:
    tree, things = Tree(low=-1), list[Thing]()
    for event in events:
        node = plain.follow(tree, things, event)
        if event.rewards:
            backup(tree, node)
            before = numbers(tree)
            backup(tree, node)
            np.testing.assert_array_equal(numbers(tree), before)


COUNTING = [b.Mean(), b.Mean(flip=-1.0), b.Max(), b.LlamaBerry(), b.VisitWeighted(), b.MedS3Comp()]


@pytest.mark.parametrize("backup", COUNTING, ids=lambda backup: type(backup).__name__)
@settings(max_examples=15)
@given(events=histories())
def test_a_parents_visits_are_its_own_samples_and_its_childrens_visits(
    backup: Backup, events: list[Event]
) -> None:
    tree, things = Tree(low=-1), list[Thing]()
    for event in events:
        node = plain.follow(tree, things, event)
        if event.rewards:
            backup(tree, node)
        visits = numbers(tree)[1]
        for i, thing in enumerate(things):
            assert visits[i] == len(thing.rewards) + sum(visits[things.index(child)] for child in thing.below)


@settings(max_examples=15)
@given(events=histories())
def test_decayed_sums_count_the_samples_below_a_node_and_not_its_own(events: list[Event]) -> None:
    tree, things = Tree(low=-1), list[Thing]()
    for event in events:
        node = plain.follow(tree, things, event)
        if event.rewards:
            b.DecayedSum()(tree, node)
    for i, thing in enumerate(things):
        assert tree.nodes["visits"][i] == sum(len(below.rewards) for below in thing.under[1:])


def line(length: int) -> Nodes:
    nodes = fresh(length)
    for node in range(length):
        walk.link(nodes, node, node - 1 if node else NONE)
    return nodes


def test_a_reward_changes_sides_with_every_level_between_two_players() -> None:
    nodes = line(3)
    credit.mean(nodes, 2, 1.0, -1.0)
    credit.mean(nodes, 1, 0.5, -1.0)
    assert nodes["visits"].tolist() == [2, 2, 1]
    assert nodes["value"].tolist() == [(1 - 0.5) / 2, (-1 + 0.5) / 2, 1]


def test_a11_deepsearch_code_backup() -> None:
    nodes = line(4)
    credit.signed_sum(nodes, 3, 1.0, 1.0, 0.1)
    assert nodes["value_sum"].tolist() == [0.25, 0.5, 0.75, 1]
    assert nodes["value"].tolist() == [0.25, 0.5, 0.75, 1]


def test_a12_deepsearch_paper_backup() -> None:
    nodes = line(4)
    credit.signed_sum(nodes, 3, 1.0, 0.0, 0.1)
    assert nodes["value_sum"] == pytest.approx([0.1, 0.3333, 0.6667, 1], abs=5e-5)


@pytest.mark.parametrize("rewards", [(1.0, -1.0), (-1.0, 1.0)])
def test_a13_deepsearch_constraint(rewards: tuple[float, float]) -> None:
    nodes = line(4)
    for reward in rewards:
        credit.signed_sum(nodes, 3, reward, 1.0, 0.1)
    assert nodes["value_sum"].tolist() == [0.25, 0.5, 0.75, 1]
    assert nodes["value"].tolist() == [0.125, 0.25, 0.375, 0.5]


def test_a_step_that_is_no_end_is_a_visit_of_its_own_alone() -> None:
    nodes = line(3)
    credit.signed_sum(nodes, 2, 0.0, 1.0, 0.1)
    assert nodes["visits"].tolist() == [0, 0, 1]
    assert nodes["value_sum"].tolist() == [0, 0, 0]


def family(value: float, children: list[tuple[float, int]]) -> Nodes:
    nodes = fresh(1 + len(children))
    walk.link(nodes, 0, NONE)
    nodes["value"][0] = value
    for node, (below, visits) in enumerate(children, 1):
        walk.link(nodes, node, 0)
        nodes["value"][node], nodes["visits"][node] = below, visits
    return nodes


def test_a19_meds3_comp() -> None:
    nodes = family(0.4, [(0.8, 3), (0.2, 1)])
    assert credit_climbs.child_mean(nodes, 0) == pytest.approx(0.65)
    credit_climbs.half_visit_weighted(nodes, 1, 0)
    assert nodes["value"][0] == pytest.approx(0.525)


def test_a_child_without_visits_weighs_nothing() -> None:
    nodes = family(0.4, [(0.8, 0), (0.2, 1)])
    credit_climbs.visit_weighted(nodes, nodes["value"].copy(), 2, 1)
    assert nodes["value"].tolist() == [0.2, 0.8, 0.2]
    assert nodes["visits"].tolist() == [1, 0, 2]


def test_a21_grounded_prm_code() -> None:
    assert b.grounded_prm_code([1, 1, -1], -1) == pytest.approx(0.111111, abs=5e-7)
    assert b.grounded_prm_code([], -1) == -1


def test_the_papers_fusion_is_a_mean_of_weighted_verdicts_and_the_outcome() -> None:
    assert b.grounded_prm([1, 1, -1], -1, weights=[1, 0.5, 0.25], beta=2) == pytest.approx(1.25 / 3 - 2)
    assert b.grounded_prm([], -1, weights=[], beta=2) == -2
    with pytest.raises(ValueError, match="argument 2"):
        b.grounded_prm([1, 1], 1, weights=[1], beta=1)


def test_mc_nest_compounds_and_judging_again_overwrites() -> None:
    tree, backup = Tree(low=-100), b.McNest()
    for parent, value in ((NONE, 10.0), (0, 50.0), (0, 30.0)):
        node = tree.add(parent, State(f"text {len(tree)}"))
        tree.judged(node, (Sample(value, value),))
        backup(tree, node)
    # 10, then ½ (10 + 50) = 30, then ½ (30 + 50) = 40; one evaluation and two climbs.
    assert (tree.value(0), tree.nodes["visits"][0]) == (40, 3)
    tree.judged(0, (Sample(20.0, 20.0),))
    backup(tree, 0)
    # ½ (10 + 15): its own samples, whatever the children are worth.
    assert (tree.value(0), tree.nodes["visits"][0]) == (12.5, 4)


@pytest.mark.parametrize("flag", [UNSCORED, UNJUDGED])
def test_climbs_pass_over_a_node_without_a_score(flag: int) -> None:
    nodes = line(3)
    nodes["flags"][1] = flag
    nodes["value"][:] = [0.5, math.nan, 0.9]
    credit_climbs.moving(nodes, 2, 0.1, 1)
    assert nodes["value"] == pytest.approx([0.9 * 0.5 + 0.1 * 0.9, 0.9, 0.9])
    nodes["value"][:] = [0.5, math.nan, 0.9]
    credit_climbs.mc_nest(nodes, 2)
    assert nodes["value"] == pytest.approx([0.7, 0.9, 0.9])
    own = np.array([0.5, math.nan, 0.9])
    credit_climbs.path_values(nodes, own, 0, credit_climbs.PRODUCT)
    assert nodes["value"] == pytest.approx([0.5, math.nan, 0.45], nan_ok=True)
