"""Breakthrough on 4x4, 6x6 or 8x8: reach the far row or take every piece.

A piece goes one row ahead, straight to an empty cell or aslant to one that is not its own side's (which takes
what stands there). The mover always has a move: his foremost piece can go aslant.

State: mover's pieces, opponent's, mover, cells with a left neighbour, cells with a right one, the far row.
The board lies in the middle rows and the left columns of an 8 x 8 word and is turned upside down after every
move, so that the mover always goes up. A move is ((mover * 3 + direction) * 64 + target as the mover sees it),
directions 0 straight, 1 to the left, 2 to the right.
"""

import numpy as np
from numba import njit, uint64

from .bits import EIGHT, NINE, ONE, SEVEN, below, lowest, nth, popcount, step, turned
from .game import WORD, Codes, Game, name_moves


@njit(cache=True, error_model="numpy", inline="always")
def targets(own, other, has_left, has_right):
    """Return where the pieces can go, by direction."""
    ahead = (own << EIGHT) & ~(own | other)
    return ahead, ((own & has_left) << SEVEN) & ~own, ((own & has_right) << NINE) & ~own


@njit(cache=True, error_model="numpy")
def write(bits, base, out, n):
    """Append a move for each cell of `bits`."""
    while bits:
        out[n] = base | lowest(bits)
        bits &= bits - ONE
        n += 1
    return n


@njit(cache=True, error_model="numpy")
def moves(state, out):
    """List the moves, straight ones first."""
    ahead, left, right = targets(state[0], state[1], state[3], state[4])
    base = np.int64(state[2]) * 192
    n = write(ahead, base, out, 0)
    n = write(left, base + 64, out, n)
    return write(right, base + 128, out, n)


@njit(cache=True, error_model="numpy")
def play(state, move):
    """Move a piece, then turn the board for the opponent."""
    direction = (move >> 6) % 3
    target = ONE << uint64(move & 63)
    back = EIGHT if direction == 0 else (SEVEN if direction == 1 else NINE)
    own = (state[0] ^ (target >> back)) | target
    state[0] = turned(state[1] & ~target)
    state[1] = turned(own)
    state[2] ^= ONE


@njit(cache=True, error_model="numpy")
def winner(state):
    """Say whether the player who moved last has reached the far row or taken everything."""
    if state[1] & turned(state[5]) or state[0] == uint64(0):
        return 1 if state[2] == ONE else -1
    return 0


@njit(cache=True, error_model="numpy")
def playout(state, rng, trace, n, of):
    """Play uniformly random moves to the end."""
    s = rng[0]
    own, other, mover = state[0], state[1], np.int64(state[2])
    has_left, has_right, far = state[3], state[4], state[5]
    while True:
        ahead, left, right = targets(own, other, has_left, has_right)
        n_ahead = popcount(ahead)
        n_left = popcount(left)
        s = step(s)
        k = below(s, n_ahead + n_left + popcount(right))
        bits, back, direction = ahead, EIGHT, 0
        if k >= n_ahead:
            bits, back, direction = left, SEVEN, 64
            k -= n_ahead
            if k >= n_left:
                bits, back, direction = right, NINE, 128
                k -= n_left
        place = nth(bits, k)
        target = ONE << place
        if len(of):
            trace[n] = of[mover * 192 + direction + np.int64(place)]
            n += 1
        own = (own ^ (target >> back)) | target
        other &= ~target
        if target & far or other == uint64(0):
            rng[0] = s
            return n, 1 - 2 * mover
        own, other = turned(other), turned(own)
        mover = 1 - mover


def codes(size: int, with_origin: bool) -> Codes:
    """Name moves by mover and target, with or without the direction they came from."""
    offset = (8 - size) // 2
    keys: list[tuple[int, ...] | None] = []
    for move in range(384):
        mover, direction, row, column = move // 192, move // 64 % 3, (move >> 3 & 7) - offset, move & 7
        came_from = column + (0, 1, -1)[direction]
        exists = 1 <= row < size and column < size and 0 <= came_from < size
        keys.append((mover, row, column, direction * with_origin) if exists else None)
    return name_moves(keys)


def game(size: int = 6) -> Game:
    """Return Breakthrough; exact codes are mover + origin + target, abstract ones mover + target."""
    offset = (8 - size) // 2
    row = (1 << size) - 1
    rows = [row << 8 * (offset + i) for i in range(size)]
    board = sum(rows)
    left = sum(1 << 8 * i for i in range(8))
    start = [rows[0] | rows[1], rows[-1] | rows[-2], 0, board & ~left, board & ~(left << size - 1), rows[-1]]
    exact, abstract = codes(size, True), codes(size, False)
    most, longest = 6 * size, 2 * size * (2 * size - 3)
    name = f"breakthrough{size}"
    return Game(
        name, np.array(start, dtype=WORD), moves, play, winner, playout, exact, abstract, most, longest
    )
