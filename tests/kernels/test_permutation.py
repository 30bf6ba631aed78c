"""Statistics of playouts that contain a path in any order."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.kernels import permutation
from mctsr.kernels.amaf import Row, Signs
from tests.kernels import reference_amaf as plain
from tests.kernels.reference_amaf import Played

CODES = 5

playouts = st.lists(
    st.builds(
        Played,
        st.just(()),
        st.lists(st.integers(0, CODES - 1), max_size=7),
        st.integers(-3, 3).map(float),
    ),
    max_size=150,
)
views = st.lists(st.sampled_from([1, -1]), min_size=CODES, max_size=CODES)


class Ring:
    """The arrays of one ring, filled by the kernels."""

    def __init__(self, window: int, signs: Signs) -> None:
        words = -(-window // 64)
        self.bits = np.zeros((CODES, words), dtype=np.uint64)
        self.results = np.zeros(window)
        self.root = np.zeros((CODES, 2), dtype=np.float32)
        self.signs, self.seen = signs, 0
        self.mask, self.words = np.zeros(words, dtype=np.uint64), np.zeros(words, dtype=np.int64)

    def add(self, played: Played) -> None:
        moves = np.array(played.moves, dtype=np.int64)
        self.seen = permutation.remember(
            self.bits, self.results, self.seen, moves, len(moves), self.signs, played.result, self.root
        )

    def frozen(self, path: list[int]) -> Row:
        row = np.full((CODES, 2), np.nan, dtype=np.float32)
        moves = np.array(path, dtype=np.int64)
        permutation.freeze(self.bits, self.results, moves, len(path), self.signs, self.mask, self.words, row)
        return row


@given(
    playouts,
    views,
    st.sampled_from([1, 3, 64, 100]),
    st.lists(st.integers(0, CODES - 1), min_size=1, max_size=4),
)
@settings(max_examples=60)
def test_counts_and_sums_are_those_of_the_playouts_in_the_window(
    played: list[Played], view: list[int], window: int, path: list[int]
) -> None:
    ring = Ring(window, np.array(view, dtype=np.int8))
    for one in played:
        ring.add(one)
    assert ring.seen == len(played)
    expected = [plain.permutation(played, window, path, code, view[code]) for code in range(CODES)]
    assert ring.frozen(path).tolist() == [list(stat) for stat in expected]
    whole = [plain.permutation(played, window, [], code, view[code]) for code in range(CODES)]
    assert ring.root.tolist() == [list(stat) for stat in whole]


@given(st.integers(1, 2**64 - 1))
def test_lowest_is_the_number_of_the_lowest_bit(word: int) -> None:
    assert 2 ** permutation.lowest(np.uint64(word)) == word & -word


def test_a_playout_that_leaves_the_ring_leaves_every_statistic() -> None:
    ring = Ring(2, np.ones(CODES, dtype=np.int8))
    for moves in ([0, 1], [0, 2], [0, 3]):
        ring.add(Played((), moves, 1.0))
    assert ring.root[:, 0].tolist() == [2.0, 0.0, 1.0, 1.0, 0.0]
    assert ring.frozen([0])[:, 0].tolist() == [2.0, 0.0, 1.0, 1.0, 0.0]
    assert ring.frozen([1]).tolist() == [[0.0, 0.0]] * CODES
