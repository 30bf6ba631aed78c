"""MC-NEST's three ways to choose, on a tree whose numbers are worked out on paper."""

from collections import Counter

import numpy as np
import pytest

from mctsr.backup import McNest
from mctsr.kernels.node import NONE
from mctsr.select.anywhere import Anywhere, Choose, greedy
from mctsr.select.pools import nash
from mctsr.select.sampled import importance, pairwise_importance
from mctsr.select.scores import uct_mc_nest
from mctsr.tree import Sample, State, Tree


def grown(*nodes: tuple[int, float]) -> Tree:
    tree, backup = Tree(low=-100.0), McNest()
    for i, (parent, reward) in enumerate(nodes):
        tree.add(parent, State(f"answer {i}"))
        tree.judged(i, (Sample(reward, reward),))
        backup(tree, i)
    return tree


def chosen(tree: Tree, choose: Choose, draws: int = 400) -> Counter[int]:
    selector = Anywhere(uct_mc_nest(), closed_by="either", choose=choose, strategy=nash)
    rng = np.random.default_rng(3)
    return Counter(selector.ask(tree, rng, 1)[0].node for _ in range(draws))


ROOT = (NONE, 0.0)


@pytest.mark.parametrize("choose", [greedy, importance, pairwise_importance])
def test_at_the_start_there_is_only_the_root(choose: Choose) -> None:
    assert chosen(grown(ROOT), choose, 3) == {0: 3}


def test_greedy_takes_the_root_as_long_as_it_is_open() -> None:
    assert chosen(grown(ROOT, (0, -20.0)), greedy, 3) == {0: 3}


def test_one_better_child_closes_a_node() -> None:
    assert chosen(grown(ROOT, (0, 20.0)), greedy, 3) == {1: 3}


def test_the_strategy_breaks_a_tie_between_depths() -> None:
    # two children of the root are worse than it and close it by number; below the second hangs a worse third
    tree = grown(ROOT, (0, -50.0), (0, -50.0), (1, -60.0))
    tree.nodes["value"][1:4] = -50.0
    tree.nodes["visits"][0:4] = 1
    assert chosen(tree, greedy, 3) == {1: 3}


def test_importance_draws_from_the_roots_children_alone_by_their_scores() -> None:
    tree = grown(ROOT, (0, 60.0), (0, 20.0), (1, 90.0))
    tree.nodes["visits"][:4] = 1_000_000  # no bonus to speak of
    tree.nodes["value"][:4] = [0.0, 60.0, 20.0, 50.0]
    counts = chosen(tree, importance)
    assert set(counts) == {1, 2}
    assert counts[1] / 400 == pytest.approx(0.75, abs=0.07)


def test_pairwise_importance_returns_the_better_of_two_children_of_the_root() -> None:
    tree = grown(ROOT, (0, 60.0), (0, 20.0), (1, 50.0))
    tree.nodes["visits"][:4] = 1_000_000
    tree.nodes["value"][:4] = [0.0, 60.0, 20.0, 50.0]
    assert chosen(tree, pairwise_importance) == {1: 400}


def test_below_depth_one_alone_every_candidate_counts_alike() -> None:
    tree = grown(ROOT, (0, 10.0), (1, 20.0), (1, 5.0))
    counts = chosen(tree, importance)
    assert set(counts) == {2, 3}
    assert counts[2] / 400 == pytest.approx(0.5, abs=0.08)
