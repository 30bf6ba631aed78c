"""The drawing of a tree can be read back, and stays as narrow as it is told to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.view.graph import ASCII, UNICODE, Glyphs, draw, fitting


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


def read_back(parents: list[int | None], chosen: list[int], glyphs: Glyphs, most: int) -> list[int | None]:
    """Find every node's parent by looking at the picture alone; only a piece's heads are told theirs."""
    found: list[int | None] = [None] * len(parents)
    newest: dict[int, int | None] = {}
    for joint in draw(parents, chosen, glyphs, most=most):
        graph = joint.graph.removesuffix(glyphs.more)
        at = len(graph) - 1
        assert graph[at] == (glyphs.chosen if joint.id in chosen else glyphs.other)
        assert at <= 2 * most
        if joint.heads:
            newest = {0: parents[joint.id]}
        if at:
            assert graph[at - 2 : at] in (glyphs.fork, glyphs.last)
            found[joint.id] = newest[at - 2]
        newest[at] = joint.id
    return found


@given(forests(), st.data(), st.sampled_from([UNICODE, ASCII]), st.integers(1, 50))
def test_a_drawing_shows_every_node_once_below_its_parent(
    parents: list[int | None], data: st.DataObject, glyphs: Glyphs, most: int
) -> None:
    chosen = path_to(parents, data.draw(st.integers(0, len(parents) - 1)))
    joints = draw(parents, chosen, glyphs, most=most)
    assert sorted(joint.id for joint in joints) == list(range(len(parents)))
    assert read_back(parents, chosen, glyphs, most) == parents


@given(forests())
def test_without_a_limit_a_step_to_the_right_is_a_generation(parents: list[int | None]) -> None:
    for joint in draw(parents, []):
        assert len(joint.graph) == 2 * len(path_to(parents, joint.id)) - 1
        assert len(joint.below) == len(joint.graph)
        assert not joint.heads


@given(forests(), st.integers(1, 5))
def test_nodes_without_room_for_their_children_end_in_a_sign_and_head_a_later_piece(
    parents: list[int | None], most: int
) -> None:
    joints = draw(parents, [], most=most)
    cut = [joint.id for joint in joints if joint.graph.endswith("…")]
    assert [parents[joint.id] for joint in joints if joint.heads] == cut


@given(forests())
def test_siblings_stand_in_the_order_of_creation(parents: list[int | None]) -> None:
    drawn = [joint.id for joint in draw(parents, [])]
    for parent in (None, *range(len(parents))):
        below = [node for node in drawn if parents[node] == parent]
        assert below == sorted(below)


def test_a_chain_of_many_thousands_is_drawn_in_pieces() -> None:
    joints = draw([None, *range(49_999)], [0], most=10)
    assert [joint.id for joint in joints] == list(range(50_000))
    assert max(len(joint.graph) for joint in joints) == 22
    assert [joint.id for joint in joints if joint.heads][:2] == [11, 21]


def test_further_lines_go_on_below_a_node_that_has_children_only() -> None:
    first, side, last = draw([None, 0, 0], [0, 2])
    assert (first.graph, first.below) == ("●", "│")
    assert (side.graph, side.below) == ("├─○", "│  ")
    assert (last.graph, last.below) == ("╰─●", "   ")


def test_a_picture_without_a_step_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        draw([None], [], most=0)


@given(st.integers(8, 400), st.integers(1, 10**6))
def test_what_fits_into_the_room_is_not_wider(room: int, nodes: int) -> None:
    steps = fitting(room, nodes)
    assert steps == 3 or 2 * steps + len("● ") + len(str(nodes)) + len("…") <= room
