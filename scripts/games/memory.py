"""The arrays that a search works in."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mctsr.kernels.node import fresh

from .game import Codes, Game

WINDOW = 10_000


class Memory(NamedTuple):
    """What one tree lives in; reused from move to move."""

    nodes: NDArray[np.void]  # NODE
    raw: NDArray[np.uint8]  # the same bytes
    move_of: NDArray[np.int32]  # by node: the move that leads to it
    state: NDArray[np.uint64]
    moves: NDArray[np.int64]
    no_codes: NDArray[np.int32]  # empty


class Statistics(NamedTuple):
    """What AMAF and permutation statistics need besides the tree."""

    of: NDArray[np.int32]  # by move: its code
    signs: NDArray[np.int8]
    code_of: NDArray[np.int64]  # by node
    row_of: NDArray[np.int32]  # by node with children: row of `table`
    frozen_of: NDArray[np.int32]  # by node with children: row of `frozen`, NONE before it has one
    table: NDArray[np.float32]
    frozen: NDArray[np.float32]  # row 0 is the root's
    bits: NDArray[np.uint64]
    results: NDArray[np.float64]
    trace: NDArray[np.int64]  # codes of one playout, from the root on
    rows: NDArray[np.int64]  # by depth: row of `table`
    scratch: NDArray[np.int64]
    mask: NDArray[np.uint64]
    words: NDArray[np.int64]


def make_memory(game: Game, playouts: int) -> Memory:
    """Return room for a tree that `playouts` iterations grow."""
    room = 1 + playouts * game.max_moves
    nodes = fresh(room)
    state, moves = np.zeros_like(game.start), np.zeros(game.max_moves, dtype=np.int64)
    move_of, no_codes = np.zeros(room, dtype=np.int32), np.zeros(0, dtype=np.int32)
    return Memory(nodes, nodes.view(np.uint8), move_of, state, moves, no_codes)


def make_statistics(game: Game, codes: Codes, playouts: int, permutation: bool) -> Statistics:
    """Return empty statistics for a tree that `playouts` iterations grow; pages are touched only when used."""
    room, n = 1 + playouts * game.max_moves, len(codes.signs)
    window = min(WINDOW, playouts) if permutation else 1
    words = (window + 63) // 64
    return Statistics(
        of=codes.of,
        signs=codes.signs,
        code_of=np.zeros(room, dtype=np.int64),
        row_of=np.zeros(room, dtype=np.int32),
        frozen_of=np.zeros(room, dtype=np.int32),
        table=np.zeros((playouts + 1, n, 2), dtype=np.float32),
        frozen=np.zeros((playouts + 1 if permutation else 1, n, 2), dtype=np.float32),
        bits=np.zeros((n, words), dtype=np.uint64),
        results=np.zeros(window),
        trace=np.zeros(2 * game.max_length, dtype=np.int64),
        rows=np.zeros(game.max_length + 1, dtype=np.int64),
        scratch=np.zeros((2, n), dtype=np.int64),
        mask=np.zeros(words, dtype=np.uint64),
        words=np.zeros(words, dtype=np.int64),
    )
