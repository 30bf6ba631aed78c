"""The mean backup that also counts playouts."""

import numpy as np
import pytest

from mctsr.backup import Mean
from mctsr.backup.amaf import AmafMean
from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE
from mctsr.kernels.playouts import Playouts, Settings
from mctsr.testing.laws import check_backup
from mctsr.testing.tree_laws import samples_below
from mctsr.tree import Sample, State, Tree


def code(text: str) -> int:
    return ord(text[0])


def means(tree: Tree) -> list[float]:
    """Mean of all samples at a node and below it."""
    below: list[list[float]] = [[] for _ in range(len(tree))]
    for node in range(len(tree)):
        for above in tree.line(node):
            below[above] += [sample.value for sample in tree.states[node].samples]
    return [sum(values) / len(values) if values else float("nan") for values in below]


@pytest.mark.parametrize("window", [0, 7])
def test_values_are_the_means_of_all_samples_below(window: int) -> None:
    check_backup(AmafMean(code, 3, window), means, visits=samples_below)


def kept(tree: Tree, settings: Settings) -> Playouts:
    return tree.keep("playouts", lambda: Playouts(settings))


def tree_of(*texts: str, values: tuple[float, ...], backup: AmafMean | Mean) -> Tree:
    """Make a line of steps, each judged once where there is a value for it."""
    tree = Tree(low=-9.0)
    parent = NONE
    for text, value in zip(("", *texts), values, strict=True):
        parent = tree.add(parent, State(text))
        if not np.isnan(value):
            tree.judged(parent, (Sample(value, value),))
            backup(tree, parent)
    return tree


def stat(playouts: Playouts, node: int, of: int) -> tuple[float, float]:
    count, total = playouts.table[playouts.rows[node], playouts.codes[of]]
    return float(count), float(total)


def test_each_sample_is_one_playout_of_the_steps_that_lead_to_it() -> None:
    tree = tree_of("a", "b", "a", values=(1.0, 2.0, 3.0, 4.0), backup=AmafMean(code))
    playouts = kept(tree, Settings(code))
    assert stat(playouts, 0, 1) == (3.0, 9.0), "a came in all three playouts below the root, once in the last"
    assert stat(playouts, 0, 2) == (2.0, 7.0)
    assert stat(playouts, 1, 3) == (1.0, 4.0), "below the first step only the last playout has another a"
    assert stat(playouts, 2, 2) == (0.0, 0.0)


def test_several_samples_at_once_and_again_count_once_each() -> None:
    backup = AmafMean(code)
    tree = tree_of("a", values=(1.0, 2.0), backup=backup)
    tree.judged(1, (Sample(3.0, 3.0), Sample(4.0, 4.0)))
    backup(tree, 1)
    assert stat(kept(tree, Settings(code)), 0, 1) == (3.0, 9.0)
    assert tree.nodes["visits"][1] == 3
    assert tree.value(1) == 3.0
    assert tree.value(0) == 2.5


def test_steps_that_nobody_judged_are_still_part_of_the_playout() -> None:
    tree = tree_of("a", "b", values=(float("nan"), float("nan"), 5.0), backup=AmafMean(code))
    playouts = kept(tree, Settings(code))
    assert stat(playouts, 0, 1) == (1.0, 5.0)
    assert stat(playouts, 1, 2) == (1.0, 5.0)


def test_permutation_statistics_freeze_when_a_node_has_more_than_ref_visits() -> None:
    backup = AmafMean(code, ref=1, window=10)
    tree = tree_of("a", "b", values=(0.0, 1.0, 2.0), backup=backup)
    other = tree.add(tree.add(0, State("b")), State("a"))
    tree.judged(other, (Sample(4.0, 4.0),))
    backup(tree, other)
    playouts = kept(tree, Settings(code, 10, 1))
    assert [playouts.frozen[node] != NONE for node in range(5)] == [False, True, False, False, False]
    frozen, b = playouts.stats[playouts.frozen[1]], playouts.codes[2]
    assert frozen[b].tolist() == [1.0, 2.0], "of the playouts until then one had both a and b"
    assert playouts.stats[0, b].tolist() == [2.0, 6.0]


def test_a_tree_that_keeps_other_playouts_is_refused() -> None:
    tree = tree_of("a", values=(1.0, 2.0), backup=AmafMean(code))
    tree.judged(1, (Sample(3.0, 3.0),))
    with pytest.raises(RecipeError, match="give both the same code"):
        AmafMean(code, window=5)(tree, 1)


@pytest.mark.parametrize("given", [{"ref": -1}, {"window": -1}])
def test_impossible_settings_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(RecipeError, match="neither may be below 0"):
        AmafMean(code, **given)
