"""Players, one game between two of them, and how many playouts a second a search makes.

How the settings were chosen (1 000 playouts a move, `scripts/arena --pilot`): UCT's c from 0.1, 0.2, 0.4, 0.7, 1 and
1.4 by 200 games a game against c = 0.4 and 100 against GRAVE. Against c = 0.4, 0.7 won 56 % at Hex, 57 % at
Breakthrough and 53 % at AtariGo; 1.0 won 54, 60 and 45 %, all others 50 % or less; against GRAVE only Breakthrough
tells values of c apart, 0.7 and 1.0 winning 48 and 47 %. So c = 0.7 everywhere. `ref` 15, 50, 150 and `bias` 1e-7 to
1e-2 made no difference to GRAVE and RAVE that 100 games against UCT show, so they keep the published 50 and 1e-5.
"""

import time
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mctsr.kernels.amaf import GRAVE, MCPS

from . import atarigo, breakthrough, hex
from .game import Game, new_rng
from .memory import make_memory, make_statistics
from .search import Search, build, most_visited

GAMES = {
    "hex7": hex.game,
    "breakthrough6": breakthrough.game,
    "breakthrough8": lambda: breakthrough.game(8),
    "atarigo7": atarigo.game,
}


C, REF, BIAS = 0.7, 50, 1e-5


class Method(NamedTuple):
    """One way to search: `c` for UCT, `ref` and `bias` for the others (MCPS has no bias, RAVE is ref 0)."""

    name: str
    kind: int = -1
    c: float = 0.0
    ref: int = 0
    bias: float = 0.0
    abstract: bool = False

    def label(self) -> str:
        """Return the name with its settings."""
        if self.kind < 0:
            return f"{self.name}(c={self.c:g})"
        bias = "" if self.kind == MCPS else f", bias={self.bias:g}"
        return f"{self.name}(ref={self.ref}{bias})"


def methods() -> dict[str, Method]:
    """Return the contestants by name."""
    grave, mcps = Method("grave", GRAVE, ref=REF, bias=BIAS), Method("mcps", MCPS, ref=REF)
    every = [
        Method("uct", c=C),
        Method("rave", GRAVE, bias=BIAS),
        grave,
        mcps,
        grave._replace(name="grave-abstract", abstract=True),
        mcps._replace(name="mcps-abstract", abstract=True),
    ]
    return {method.name: method for method in every}


@cache
def load(name: str) -> tuple[Game, Search]:
    """Return a game by name, with its searches."""
    game = GAMES[name]()
    return game, build(game)


class Player:
    """A method at a board, with the memory its trees use one after the other."""

    def __init__(self, game: str, method: Method, playouts: int) -> None:
        self.method, self.playouts = method, playouts
        self.game, self.search = load(game)
        self.memory = make_memory(self.game, playouts)
        codes = self.game.abstract if method.abstract else self.game.exact
        self.statistics = (
            make_statistics(self.game, codes, playouts, method.kind == MCPS) if method.kind >= 0 else None
        )

    def grow(self, state: NDArray[np.uint64], rng: NDArray[np.uint64]) -> None:
        """Search a new tree from `state`."""
        m = self.method
        if self.statistics is None:
            self.search.uct(self.memory, state, rng, self.playouts, m.c)
        else:
            settings = (m.kind, m.ref, m.bias)
            self.search.amaf(self.memory, self.statistics, state, rng, self.playouts, settings)

    def choose(self, state: NDArray[np.uint64], rng: NDArray[np.uint64]) -> int:
        """Return the most visited move of a new tree."""
        self.grow(state, rng)
        return int(self.memory.move_of[most_visited(self.memory.nodes)])


class Outcome(NamedTuple):
    """Result in the first player's view, and how many moves were played."""

    result: int
    moves: int


def play_game(first: Player, second: Player, seed: int | list[int]) -> Outcome:
    """Play one game; the same seed gives the same game."""
    game = first.game
    state, rng = game.start.copy(), new_rng(seed)
    n = 0
    while game.winner(state) == 0:
        game.play(state, (first, second)[n % 2].choose(state, rng))
        n += 1
    return Outcome(game.winner(state), n)


def playouts_per_second(game: str, method: str, playouts: int, seed: int) -> float:
    """Return playouts per second of CPU time of one search from the start position, compiled before."""
    player = Player(game, methods()[method], playouts)
    rng = new_rng(seed)
    warm = Player(game, methods()[method], 100)
    warm.grow(player.game.start, rng)
    player.grow(player.game.start, rng)
    before = time.thread_time()
    player.grow(player.game.start, rng)
    return playouts / (time.thread_time() - before)
