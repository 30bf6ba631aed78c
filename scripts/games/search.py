"""One tree search per game, made of the library's kernels and the game's functions.

Every iteration goes down the tree, plays one random playout and credits it. A leaf gets all its moves as
children, in random order, when it is reached for the third time (the root at once); it gets its AMAF row then
too, so the two playouts before are missing from it. Results are +1 and -1; a node's value is in the view of the
player who moved into it. Statistics of the reference node are those of the closest node with more than `ref`
visits (the root when there is none); permutation statistics are frozen when a node is first entered with more
than `ref` visits, and the root's are always current.

The search kernels are compiled anew in every process: numba's disk cache does not notice a change in a kernel
that they call.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit, uint64

from mctsr.kernels import amaf, descent
from mctsr.kernels.amaf import MCPS, credit_playout
from mctsr.kernels.credit import mean
from mctsr.kernels.descent import expand
from mctsr.kernels.node import NODE, NONE
from mctsr.kernels.permutation import freeze, remember
from mctsr.kernels.rules import UCB1

from .bits import below, step
from .game import Game

RECORD = NODE.itemsize
LOSS = -1.0
YOUNG = 2  # visits that a leaf has had when it gets its children
best_ucb1, best_amaf = descent.best_child, amaf.best_child


class Search(NamedTuple):
    """The compiled searches of one game; both return the number of nodes."""

    uct: Callable  # (memory, start, rng, playouts, c)
    amaf: Callable  # (memory, statistics, start, rng, playouts, (method, ref, bias))


@njit(error_model="numpy")
def plant(memory, start):
    """Make row 0 a root without children; returns the number of nodes."""
    memory.raw[:RECORD] = 0
    memory.nodes["parent"][0] = NONE
    memory.nodes["first"][0] = NONE
    memory.state[:] = start
    return 1


@njit(error_model="numpy")
def clear(stats):
    """Forget what the search of another move left behind."""
    stats.frozen[0] = 0.0
    stats.bits[:] = uint64(0)


@njit(error_model="numpy")
def most_visited(nodes):
    """Return the child of the root with the most visits, the first created of several."""
    best = nodes["first"][0]
    child = best
    while child != NONE:
        if nodes["visits"][child] > nodes["visits"][best]:
            best = child
        child = nodes["next"][child]
    return best


def _make_grow(game: Game) -> Callable:
    moves = game.moves

    @njit(error_model="numpy")
    def grow(memory, size, node, rng):
        out = memory.moves
        n = moves(memory.state, out)
        memory.raw[size * RECORD : (size + n) * RECORD] = 0
        expand(memory.nodes, size, node, n)
        s = rng[0]
        for i in range(n):
            s = step(s)
            j = i + np.int64(below(s, uint64(n - i)))
            memory.move_of[size + i] = out[j]
            out[j] = out[i]
        rng[0] = s
        return size + n

    return grow


def _make_uct(game: Game, grow: Callable) -> Callable:
    play, winner, playout = game.play, game.winner, game.playout

    @njit(error_model="numpy")
    def uct(memory, start, rng, playouts, c):
        nodes, state, move_of = memory.nodes, memory.state, memory.move_of
        firsts, visits = nodes["first"], nodes["visits"]
        k = (c, 0.0, 0.0, 0.0)
        size = plant(memory, start)
        for _ in range(playouts):
            state[:] = start
            node = 0
            while firsts[node] != NONE:
                node = best_ucb1(nodes, node, UCB1, k, LOSS)
                play(state, move_of[node])
            result = winner(state)
            if result == 0 and (visits[node] >= YOUNG or node == 0):
                size = grow(memory, size, node, rng)
                node = firsts[node]  # unvisited, so the best under UCB1
                play(state, move_of[node])
                result = winner(state)
            if result == 0:
                _, result = playout(state, rng, memory.moves, 0, memory.no_codes)
            mean(nodes, node, float(result if state[2] == uint64(1) else -result), -1.0)
        return size

    return uct


@njit(error_model="numpy")
def entered(stats, node, depth, method, taken):
    """Freeze the permutation statistics of `node`, which has passed `ref`, if it has none; count rows in use."""
    if method != MCPS or stats.frozen_of[node] != NONE:
        return taken
    stats.frozen_of[node] = taken
    row = stats.frozen[taken]
    freeze(stats.bits, stats.results, stats.trace, depth, stats.signs, stats.mask, stats.words, row)
    return taken + 1


def _make_amaf(game: Game, grow: Callable) -> Callable:
    play, winner, playout = game.play, game.winner, game.playout

    @njit(error_model="numpy")
    def search(memory, stats, start, rng, playouts, settings):
        method, ref, bias = settings
        nodes, state, trace, rows = memory.nodes, memory.state, stats.trace, stats.rows
        firsts, visits = nodes["first"], nodes["visits"]
        size, given, taken, seen = plant(memory, start), 0, 1, 0
        clear(stats)
        for _ in range(playouts):
            state[:] = start
            node, depth, amaf_row, frozen, grown = 0, 0, 0, 0, False
            result = 0
            while not grown:
                if firsts[node] == NONE:
                    result = winner(state)
                    if result != 0 or (visits[node] < YOUNG and node != 0):
                        break
                    old = size
                    size = grow(memory, size, node, rng)
                    for child in range(old, size):
                        stats.code_of[child] = stats.of[memory.move_of[child]]
                    stats.frozen_of[node] = NONE if node else 0
                    grown = True
                if visits[node] > ref:
                    taken = entered(stats, node, depth, method, taken)
                    frozen = stats.frozen_of[node]
                    if not grown:
                        amaf_row = stats.row_of[node]
                if grown:
                    stats.row_of[node] = given
                    stats.table[given] = 0.0
                    given += 1
                rows[depth] = stats.row_of[node]
                node = best_amaf(
                    nodes,
                    node,
                    stats.code_of,
                    method,
                    bias,
                    LOSS,
                    stats.table[amaf_row],
                    stats.frozen[frozen],
                )
                play(state, memory.move_of[node])
                trace[depth] = stats.code_of[node]
                depth += 1
            if grown:
                result = winner(state)
            length = depth
            if result == 0:
                length, result = playout(state, rng, trace, depth, stats.of)
            view = float(result)
            credit_playout(stats.table, rows, depth, trace, length, stats.signs, view, stats.scratch)
            if method == MCPS:
                seen = remember(
                    stats.bits, stats.results, seen, trace, length, stats.signs, view, stats.frozen[0]
                )
            mean(nodes, node, view if state[2] == uint64(1) else -view, -1.0)
        return size

    return search


def build(game: Game) -> Search:
    """Compile (on first use) the searches of `game`."""
    grow = _make_grow(game)
    return Search(_make_uct(game, grow), _make_amaf(game, grow))
