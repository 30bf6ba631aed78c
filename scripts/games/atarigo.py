"""AtariGo 7x7: Go in which the first capture wins.

State: first player's stones, second player's, mover, winner (0 none, 1 first, 2 second). Cells are row * 8 +
column; column 7 stays empty. A move that leaves its own group without liberties is illegal unless it captures.
There is no passing: a player with no legal move loses.
"""

import numpy as np
from numba import njit, uint64

from .bits import EIGHT, ONE, below, lowest, step
from .game import WORD, Game, cell_codes

SIZE = 7
BOARD = uint64(sum(0x7F << 8 * row for row in range(SIZE)))
NOTHING = uint64(0)
ILLEGAL, QUIET, CAPTURE = 0, 1, 2


@njit(cache=True, error_model="numpy", inline="always")
def around(x):
    """Return the cells beside those of `x`."""
    return ((x << ONE) | (x >> ONE) | (x << EIGHT) | (x >> EIGHT)) & BOARD


@njit(cache=True, error_model="numpy")
def breathe(stones, empty, asked):
    """Say whether every stone of `asked` is in a group of `stones` with a liberty."""
    alive = stones & around(empty)
    while asked & ~alive:
        more = alive | (around(alive) & stones)
        if more == alive:
            return False
        alive = more
    return True


@njit(cache=True, error_model="numpy")
def kind(own, other, bit):
    """Say what a stone of `own` at the empty cell `bit` does."""
    beside = around(bit)
    empty = BOARD & ~(own | other | bit)
    if beside & other and not breathe(other, empty, beside & other):
        return CAPTURE
    if beside & empty or breathe(own | bit, empty, bit):
        return QUIET
    return ILLEGAL


@njit(cache=True, error_model="numpy")
def moves(state, out):
    """List the cells where the mover may place a stone."""
    mover = np.int64(state[2])
    own, other = state[mover], state[1 - mover]
    empty = BOARD & ~(own | other)
    n = 0
    while empty:
        place = lowest(empty)
        if kind(own, other, ONE << uint64(place)) != ILLEGAL:
            out[n] = (mover << 6) | place
            n += 1
        empty &= empty - ONE
    return n


@njit(cache=True, error_model="numpy")
def play(state, move):
    """Place a stone; a capture is kept as the end of the game, the prisoners stay on the board."""
    mover = move >> 6
    bit = ONE << uint64(move & 63)
    if kind(state[mover], state[1 - mover], bit) == CAPTURE:
        state[3] = uint64(1 + mover)
    state[mover] |= bit
    state[2] ^= ONE


@njit(cache=True, error_model="numpy")
def stuck(own, other):
    """Say whether `own` has no legal move."""
    empty = BOARD & ~(own | other)
    while empty:
        if kind(own, other, empty & (~empty + ONE)) != ILLEGAL:
            return False
        empty &= empty - ONE
    return True


@njit(cache=True, error_model="numpy")
def winner(state):
    """Return who captured, or the other player when the mover has no legal move."""
    if state[3]:
        return 1 if state[3] == ONE else -1
    mover = np.int64(state[2])
    if stuck(state[mover], state[1 - mover]):
        return 2 * mover - 1
    return 0


@njit(cache=True, error_model="numpy")
def playout(state, rng, trace, n, of):
    """Play uniformly random legal moves to the first capture."""
    s = rng[0]
    mover = np.int64(state[2])
    own, other = state[mover], state[1 - mover]
    left = BOARD & ~(own | other)
    while left:
        s = step(s)
        place = below(s, uint64(56))
        bit = ONE << place
        if not bit & left:
            continue
        found = kind(own, other, bit)
        if found == ILLEGAL:
            left ^= bit
            continue
        if len(of):
            trace[n] = of[(mover << 6) | np.int64(place)]
            n += 1
        if found == CAPTURE:
            rng[0] = s
            return n, 1 - 2 * mover
        own, other = other, own | bit
        mover = 1 - mover
        left = BOARD & ~(own | other)
    rng[0] = s
    return n, 2 * mover - 1


def game() -> Game:
    """Return AtariGo 7x7; exact codes are mover + cell, abstract ones mover + 2x2 block."""
    start = np.zeros(4, dtype=WORD)
    cells = SIZE * SIZE
    exact, abstract = cell_codes(SIZE, 1), cell_codes(SIZE, 2)
    return Game("atarigo7", start, moves, play, winner, playout, exact, abstract, cells, cells)
