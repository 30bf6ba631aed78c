"""The drawing of a tree can be read back, and grows with forks only."""

import math

from hypothesis import given
from hypothesis import strategies as st

from mctsr.view.graph import ASCII, UNICODE, Glyphs, draw


@st.composite
def forests(draw: st.DrawFn, most: int = 40) -> list[int | None]:
    """Make parents of random forests, sometimes bushy and sometimes deep."""
    n = draw(st.integers(1, most))
    parents: list[int | None] = [None]
    for node in range(1, n):
        near = draw(st.booleans())
        parents.append(draw(st.one_of(st.none(), st.integers(max(node - 2, 0) if near else 0, node - 1))))
    return parents


def path_to(parents: list[int | None], node: int) -> list[int]:
    path = [node]
    while (parent := parents[path[-1]]) is not None:
        path.append(parent)
    return path


def read_back(parents: list[int | None], chosen: list[int], glyphs: Glyphs) -> list[int | None]:
    """Find every node's parent by looking at the picture alone."""
    found: list[int | None] = [None] * len(parents)
    newest: dict[int, int | None] = {0: None}
    for joint in draw(parents, chosen, glyphs):
        at = len(joint.graph) - 1
        assert joint.graph[at] == (glyphs.chosen if joint.id in chosen else glyphs.other)
        branches = joint.graph[at - 2 : at] in (glyphs.fork, glyphs.last)
        found[joint.id] = newest[at - 2] if branches else newest[at]
        newest[at] = joint.id
        assert len(joint.below) == len(joint.graph)
    return found


@given(forests(), st.data(), st.sampled_from([UNICODE, ASCII]))
def test_a_drawing_shows_every_node_once_below_its_parent(
    parents: list[int | None], data: st.DataObject, glyphs: Glyphs
) -> None:
    chosen = path_to(parents, data.draw(st.integers(0, len(parents) - 1)))
    joints = draw(parents, chosen, glyphs)
    assert sorted(joint.id for joint in joints) == list(range(len(parents)))
    assert read_back(parents, chosen, glyphs) == parents


@given(forests(200), st.data())
def test_a_drawing_is_as_wide_as_its_forks_are_nested(parents: list[int | None], data: st.DataObject) -> None:
    chosen = path_to(parents, data.draw(st.integers(0, len(parents) - 1)))
    widest = max(len(joint.graph) for joint in draw(parents, chosen))
    assert widest <= 2 * (math.log2(len(parents)) + 2) + 1


@given(forests(), st.data())
def test_the_chosen_path_stands_in_one_column(parents: list[int | None], data: st.DataObject) -> None:
    chosen = path_to(parents, data.draw(st.integers(0, len(parents) - 1)))
    columns = {len(joint.graph) for joint in draw(parents, chosen) if joint.id in chosen}
    assert len(columns) == 1


def test_a_chain_of_many_thousands_is_drawn_in_one_column() -> None:
    joints = draw([None, *range(49_999)], [0])
    assert {len(joint.graph) for joint in joints} == {3}


def test_further_lines_go_on_below_a_node_that_has_children_only() -> None:
    first, side, last = draw([None, 0, 0], [0, 2])
    assert (first.graph, first.below) == ("╰─●", "  │")
    assert (side.graph, side.below) == ("  ├─○", "  │  ")
    assert (last.graph, last.below) == ("  ●", "   ")
