"""The playouts of a growing tree against their definition, and the way down that is read from them."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.errors import RecipeError
from mctsr.kernels import credit, playouts, walk
from mctsr.kernels.amaf import GRAVE, MCPS
from mctsr.kernels.node import DONE, NONE, SPENT, UNSCORED, fresh
from mctsr.kernels.playouts import How, Playouts, Settings
from tests.kernels import reference_amaf as plain
from tests.kernels.reference_amaf import Played, Stat, View

BIAS, LOW = 0.01, -3.0


def code(text: str) -> int:
    return int(text)


@dataclass
class Grown:
    """A tree grown by random samples, with everything that was ever played kept as it was."""

    window: int
    ref: int
    size: int = 1
    code_of: list[int] = field(default_factory=lambda: [NONE])
    played: list[Played] = field(default_factory=list)
    frozen: dict[int, list[Played]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes = fresh(64)
        walk.link(self.nodes, 0, NONE)
        self.playouts = Playouts(Settings(code, self.window, self.ref))

    def line(self, node: int) -> list[int]:
        ids = []
        while node != NONE:
            ids.append(node)
            node = int(self.nodes["parent"][node])
        return ids[::-1]

    def add(self, parent: int, move: int) -> int:
        node, self.size = self.size, self.size + 1
        walk.link(self.nodes, node, parent)
        self.nodes["value"][node] = np.nan
        self.code_of.append(move)
        self.playouts.place(self.nodes, node, move)
        return node

    def sample(self, node: int, reward: float) -> None:
        path = self.line(node)
        self.played.append(Played(path, [self.code_of[i] for i in path[1:]], reward))
        credit.mean(self.nodes, node, reward, 1.0)
        self.playouts.record(self.nodes, node, reward)
        for above in path[1:]:
            if self.window and self.nodes["visits"][above] > self.ref and above not in self.frozen:
                self.frozen[above] = list(self.played)

    def amaf(self, node: int, move: int) -> Stat:
        return plain.amaf(self.played, node, move)

    def perm(self, node: int, move: int) -> Stat:
        """Look at what `node` froze, or at everything for the root."""
        path = [self.code_of[i] for i in self.line(node)[1:]]
        return plain.permutation(self.frozen.get(node, self.played), self.window, path, move)

    def views(self, node: int, method: int) -> View:
        line = self.line(node)
        reference = max([line[0], *(i for i in line if self.nodes["visits"][i] > self.ref)], key=line.index)
        freezer = max([line[0], *(i for i in line if i in self.frozen)], key=line.index)
        return View(
            method,
            BIAS if method == GRAVE else 0.0,
            LOW,
            lambda child: self.amaf(reference, self.code_of[child]),
            lambda child: self.perm(freezer, self.code_of[child]),
        )


# Multiples of 1/64 are exact in f4, and ties among them rare.
steps = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 40), st.integers(-200, 200).map(lambda i: i / 64)),
    max_size=40,
)
grown = st.builds(Grown, st.sampled_from([0, 4, 1000]), st.integers(0, 4))


def grow(tree: Grown, drawn: list[tuple[int, int, float]], most: int = 10**6) -> None:
    """Add or sample by lot, deep trees more often than by chance; codes up to `most`."""
    for place, move, reward in drawn:
        node = max(tree.size - 1 - place % 3, 0) if place % 2 else place % tree.size
        if move % 4:
            node = tree.add(node, move % most)
        tree.sample(node, reward)


@given(grown, steps)
@settings(max_examples=40)
def test_tables_hold_what_the_definition_counts(tree: Grown, drawn: list[tuple[int, int, float]]) -> None:
    grow(tree, drawn)
    for node in range(tree.size):
        row, frozen = tree.playouts.rows[node], tree.playouts.frozen[node]
        assert (row != 0) == (tree.nodes["first"][node] != NONE)
        assert (frozen != NONE) == (node in tree.frozen)
        for other in range(1, tree.size):
            column = tree.playouts.codes[other]
            move = tree.code_of[other]
            assert tuple(tree.playouts.table[row, column]) == (tree.amaf(node, move) if row else (0, 0))
            if frozen != NONE:
                assert tuple(tree.playouts.stats[frozen, column]) == tree.perm(node, move)
            if tree.window:
                assert tuple(tree.playouts.stats[0, column]) == tree.perm(0, move)


def leaves(tree: Grown, root: int, method: int, closed: set[int]) -> set[int] | None:
    """Return the leaves that best ways end at, ties open; None while there is no way.

    `closed` collects what a way had to be taken back from.
    """
    node = root
    while tree.nodes["first"][node] != NONE:
        open_ = plain.open_children(tree.nodes, node, closed)
        if not open_:
            if node == root:
                return None
            closed.add(node)
            return leaves(tree, root, method, closed)
        view = tree.views(node, method)
        scores = {child: plain.score(tree.nodes, node, child, view) for child in open_}
        best = [child for child, found in scores.items() if found >= max(scores.values()) - 1e-9]
        if len(best) > 1 and max(scores.values()) != np.inf:
            return set(range(tree.size))
        node = best[0]
    return {node}


@given(
    grown,
    steps,
    st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from([0, 0, DONE, SPENT, UNSCORED])), max_size=8),
    st.sampled_from([GRAVE, MCPS]),
)
@settings(max_examples=200)
def test_a_descent_ends_where_the_definition_does(
    tree: Grown, drawn: list[tuple[int, int, float]], marks: list[tuple[int, int]], method: int
) -> None:
    grow(tree, drawn, most=5)
    for place, flag in marks:
        node = place % tree.size
        if flag and node:
            tree.nodes["flags"][node] |= flag
        elif tree.nodes["first"][node] == NONE:
            walk.mark(tree.nodes, node, +1)
    if tree.window == 0:
        method = GRAVE
    before = tree.nodes.tobytes()
    how = How(method, tree.ref, BIAS, LOW)
    leaf = tree.playouts.leaf(tree.nodes, 0, how)
    assert tree.nodes.tobytes() == before
    waiting = tree.nodes["first"][0] == NONE and tree.nodes["in_flight"][0]
    expected = None if waiting else leaves(tree, 0, method, set())
    if expected is None:
        assert leaf == NONE
    else:
        assert leaf in expected


def test_a_way_that_ends_at_work_in_flight_is_left_for_the_next_best() -> None:
    tree = Grown(0, 0)
    good, bad = tree.add(0, 1), tree.add(0, 2)
    under = tree.add(good, 3)
    for node, reward in ((good, 9.0), (bad, 1.0), (under, 9.0)):
        tree.sample(node, reward)
    how = How(GRAVE, 0, BIAS, LOW)
    assert tree.playouts.leaf(tree.nodes, 0, how) == under
    walk.mark(tree.nodes, under, +1)
    assert tree.playouts.leaf(tree.nodes, 0, how) == bad
    walk.mark(tree.nodes, bad, +1)
    assert tree.playouts.leaf(tree.nodes, 0, how) == NONE
    assert not tree.nodes["flags"].any()


def test_a_path_deeper_than_any_before_is_recorded_whole() -> None:
    tree = Grown(8, 2)
    node = 0
    for depth in range(40):
        node = tree.add(node, depth)
    tree.sample(node, 1.0)
    for channel in (0, 1):
        counted = [int(tree.playouts.table[tree.playouts.rows[i], :, channel].sum()) for i in range(40)]
        assert counted == [*range(40, 0, -1)]
        assert tree.playouts.stats[0, :, channel].sum() == 40
    assert tree.playouts.placed(node)
    assert not tree.playouts.placed(node + 1)


def test_a_node_is_its_own_reference_with_more_than_ref_visits_not_with_as_many() -> None:
    tree = Grown(0, 2)
    near = tree.add(0, 1)
    first, second = tree.add(near, 2), tree.add(near, 3)
    tree.sample(tree.add(tree.add(0, 3), 4), 9.0)
    tree.sample(first, 1.0)
    tree.sample(second, 0.0)
    for _ in range(9):
        tree.sample(tree.add(0, 5), -9.0)
    for node in range(5, tree.size):
        tree.nodes["flags"][node] |= DONE
    tree.nodes["flags"][4] |= DONE
    how = How(GRAVE, 2, BIAS, LOW)
    assert tree.nodes["visits"][near] == how.ref
    assert tree.playouts.leaf(tree.nodes, 0, how) == second
    tree.sample(near, 0.0)
    assert tree.playouts.leaf(tree.nodes, 0, how) == first


def test_other_settings_are_refused_with_both_in_the_message() -> None:
    playouts = Playouts(Settings(code, 100, 5))
    playouts.agree(Settings(code, 100, 5))
    with pytest.raises(RecipeError, match=r"window=100, ref=5.*window=0, ref=0.*the same"):
        playouts.agree(Settings(code))


def test_a_finished_root_is_passed_through_and_a_finished_leaf_is_not() -> None:
    tree, how = Grown(0, 0), How(GRAVE, 0, BIAS, LOW)
    tree.nodes["flags"][0] = DONE
    assert tree.playouts.leaf(tree.nodes, 0, how) == NONE
    child = tree.add(0, 1)
    assert tree.playouts.leaf(tree.nodes, 0, how) == child
    tree.nodes["flags"][child] = DONE
    assert tree.playouts.leaf(tree.nodes, 0, how) == NONE
    grandchild = tree.add(child, 2)
    assert tree.playouts.leaf(tree.nodes, 0, how) == grandchild


def chain(tree: Grown, length: int, codes: int) -> int:
    """Grow one path below the root, with so many distinct codes; returns its end."""
    node = 0
    for depth in range(length):
        node = tree.add(node, depth % codes)
    return node


@pytest.mark.parametrize("window", [0, 1000])
def test_tables_are_refused_before_they_pass_the_bound(window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playouts, "MOST", 8 * 100 * 16)
    for codes in (300, 1):  # many codes; many inner nodes
        tree = Grown(window, 10**6)
        tree.nodes = fresh(400)
        walk.link(tree.nodes, 0, NONE)
        with pytest.raises(RecipeError, match=r"would pass .* GiB.* a code that tells fewer steps apart"):
            chain(tree, 300, codes)
        sizes = [array.nbytes for array in (tree.playouts.table, tree.playouts.stats, tree.playouts.bits)]
        assert max(sizes) <= 8 * 100 * 16
        widths = {tree.playouts.table.shape[1], tree.playouts.stats.shape[1], len(tree.playouts.bits)}
        assert widths == {len(tree.playouts.signs)}
        assert tree.size > 15, "it went on until there was no room"


def test_rows_grow_to_the_bound_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playouts, "MOST", 8 * 100 * 16)
    tree = Grown(0, 0)
    tree.nodes = fresh(200)
    walk.link(tree.nodes, 0, NONE)
    last = chain(tree, 99, 1)
    assert len(tree.playouts.table) == 100
    with pytest.raises(RecipeError, match="inner nodes times distinct codes"):
        tree.add(last, 0)
