"""What a game is to the search: five compiled functions and two ways to name its moves.

A state is a small uint64 array. A move is an integer that holds its mover, so it also names the move in a
playout. The first player is +1, the second -1, everywhere.

    moves(state, out) -> n          legal moves into `out`, int64; only asked while the game runs
    play(state, move)               in place
    winner(state) -> +1, -1 or 0    0 while the game runs; looks only at what the last move can have decided
    playout(state, rng, trace, n, of) -> (n, result)
                                    uniformly random moves to the end, `state` kept; the codes `of[move]` of
                                    both players are appended to `trace` from place `n` on; none if `of` is empty
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WORD = np.uint64


class Codes(NamedTuple):
    """A naming of moves for AMAF and permutation statistics.

    `of` int32[number of raw moves] gives a move's code, -1 where no such move exists; `signs` int8[codes] the
    sign that turns a result into the mover's view.
    """

    of: NDArray[np.int32]
    signs: NDArray[np.int8]


class Game(NamedTuple):
    """One game: its start position, functions, codes and bounds."""

    name: str
    start: NDArray[np.uint64]
    moves: Callable
    play: Callable
    winner: Callable
    playout: Callable
    exact: Codes
    abstract: Codes
    max_moves: int
    max_length: int


def name_moves(keys: list[tuple[int, ...] | None]) -> Codes:
    """Number the distinct keys; a key begins with its mover (0 or 1), None is no move."""
    distinct = sorted({key for key in keys if key is not None})
    number = {key: i for i, key in enumerate(distinct)}
    of = np.array([-1 if key is None else number[key] for key in keys], dtype=np.int32)
    return Codes(of, np.array([1 - 2 * key[0] for key in distinct], dtype=np.int8))


def cell_codes(size: int, block: int) -> Codes:
    """Name placements `mover * 64 + row * 8 + column` by mover and square block of cells."""
    keys: list[tuple[int, ...] | None] = []
    for move in range(128):
        mover, row, column = move >> 6, move >> 3 & 7, move & 7
        on_board = row < size and column < size
        keys.append((mover, row // block, column // block) if on_board else None)
    return name_moves(keys)


def new_rng(seed: int | list[int]) -> NDArray[np.uint64]:
    """Return the state of the generator of `bits.draw` for `seed`."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64) | WORD(1)
