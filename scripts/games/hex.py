"""Hex 7x7. The first player joins the top and bottom rows, the second the left and right columns.

State: first player's stones, second player's, mover. Cells are row * 8 + column; column 7 stays empty, so
shifts need no masks. A cell (r, c) touches (r, c±1), (r±1, c), (r-1, c+1) and (r+1, c-1). No swap rule.
"""

import numpy as np
from numba import njit, uint64

from .bits import EIGHT, ONE, SEVEN, below, lowest, mixed, popcount, step
from .game import WORD, Game, cell_codes

SIZE = 7
BOARD = uint64(sum(0x7F << 8 * row for row in range(SIZE)))
TOP, BOTTOM = uint64(0x7F), uint64(0x7F << 48)
LEFT = uint64(sum(1 << 8 * row for row in range(SIZE)))
RIGHT = uint64(sum(1 << 8 * row + 6 for row in range(SIZE)))


@njit(cache=True, error_model="numpy")
def joins(stones, start, goal):
    """Say whether a chain of `stones` leads from `start` to `goal`."""
    reached = stones & start
    while True:
        more = reached | (reached << EIGHT) | (reached >> EIGHT)
        more |= (reached << SEVEN) | (reached >> SEVEN)
        more = (more | (reached << ONE) | (reached >> ONE)) & stones
        more |= ((more << ONE) | (more >> ONE)) & stones
        if more & goal:
            return True
        if more == reached:
            return False
        reached = more


@njit(cache=True, error_model="numpy")
def moves(state, out):
    """List the empty cells."""
    empty = BOARD & ~(state[0] | state[1])
    mover = np.int64(state[2]) << 6
    n = 0
    while empty:
        out[n] = mover | lowest(empty)
        empty &= empty - ONE
        n += 1
    return n


@njit(cache=True, error_model="numpy")
def play(state, move):
    """Place a stone."""
    state[move >> 6] |= ONE << uint64(move & 63)
    state[2] ^= ONE


@njit(cache=True, error_model="numpy")
def winner(state):
    """Say whether the player who moved last has joined his sides."""
    if state[2] == ONE:
        return 1 if joins(state[0], TOP, BOTTOM) else 0
    return -1 if joins(state[1], LEFT, RIGHT) else 0


@njit(cache=True, error_model="numpy")
def write_codes(bits, base, of, trace, n):
    """Append the code of a move for each cell of `bits`."""
    while bits:
        trace[n] = of[base | lowest(bits)]
        bits &= bits - ONE
        n += 1
    return n


@njit(cache=True, error_model="numpy")
def playout(state, rng, trace, n, of):
    """Fill the board: a random half of the empty cells to each player, the mover's half the larger.

    Half of the bits of a random word, then single cells given back or taken until the number is right: every
    subset of that size is as likely as any other. The order of the moves is not random, only the sets are.
    """
    empty = BOARD & ~(state[0] | state[1])
    want = (popcount(empty) + ONE) >> ONE
    s = step(rng[0])
    mine = mixed(s) & empty
    have = popcount(mine)
    while have != want:
        s = step(s)
        bit = ONE << below(s, uint64(64))
        if have > want and bit & mine:
            mine ^= bit
            have -= ONE
        elif have < want and bit & empty & ~mine:
            mine |= bit
            have += ONE
    rng[0] = s
    theirs = empty ^ mine
    if len(of):
        mover = np.int64(state[2]) << 6
        n = write_codes(mine, mover, of, trace, n)
        n = write_codes(theirs, 64 - mover, of, trace, n)
    first = state[0] | (theirs if state[2] else mine)
    return n, (1 if joins(first, TOP, BOTTOM) else -1)


def game() -> Game:
    """Return Hex 7x7; exact codes are mover + cell, abstract ones mover + 2x2 block."""
    start = np.zeros(3, dtype=WORD)
    cells = SIZE * SIZE
    exact, abstract = cell_codes(SIZE, 1), cell_codes(SIZE, 2)
    return Game("hex7", start, moves, play, winner, playout, exact, abstract, cells, cells)
