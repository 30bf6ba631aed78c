"""Many games between two methods: who plays whom, one record a game, and the table at the end."""

import math
import zlib
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from .play import Method, Player, methods, play_game

PAIRINGS = (
    ("grave", "uct"),
    ("rave", "uct"),
    ("mcps", "uct"),
    ("mcps", "grave"),
    ("grave-abstract", "grave"),
    ("mcps-abstract", "mcps"),
)
ARENA = ("hex7", "breakthrough6", "atarigo7")
Z = 1.959964


class Pair(NamedTuple):
    """Two methods at one game."""

    game: str
    a: Method
    b: Method
    playouts: int

    def key(self) -> str:
        """Return what identifies the pair, settings included."""
        return f"{self.game} {self.a.label()} - {self.b.label()} @{self.playouts}"


class Record(NamedTuple):
    """One finished game."""

    pair: str
    number: int
    won: int  # 1 when `a` won
    moves: int


def pairs(playouts: int) -> list[Pair]:
    """Return every pairing of the arena."""
    found = []
    for game in ARENA:
        known = methods()
        found += [Pair(game, known[a], known[b], playouts) for a, b in PAIRINGS]
    return found


def pilot(playouts: int) -> list[Pair]:
    """Return the pairings that choose the settings: UCT's c against c = 0.4 and GRAVE, the others against UCT."""
    found = []
    for game in ARENA:
        known = methods()
        uct, grave, rave = known["uct"], known["grave"], known["rave"]
        ucts = [uct._replace(c=c) for c in (0.1, 0.2, 0.4, 0.7, 1.0, 1.4)]
        found += [Pair(game, a, b, playouts) for b in (uct._replace(c=0.4), grave) for a in ucts if a != b]
        others = [grave._replace(bias=bias) for bias in (1e-7, 1e-5, 1e-3, 1e-2)]
        others += [grave._replace(ref=ref) for ref in (15, 150)]
        others += [rave._replace(bias=bias) for bias in (1e-5, 1e-3, 1e-2)]
        found += [Pair(game, a, uct, playouts) for a in others]
    return found


@cache
def _player(game: str, method: Method, playouts: int) -> Player:
    return Player(game, method, playouts)


def play(task: tuple[Pair, int]) -> Record:
    """Play game `number` of a pair; `a` has the first move in even ones. The number fixes the seed."""
    pair, number = task
    a = _player(pair.game, pair.a, pair.playouts)
    b = _player(pair.game, pair.b, pair.playouts)
    swapped = number % 2 == 1
    seed = [zlib.crc32(pair.key().encode()), number]
    outcome = play_game(b, a, seed) if swapped else play_game(a, b, seed)
    return Record(pair.key(), number, int((outcome.result == 1) != swapped), outcome.moves)


def wilson(won: int, games: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate; Wilson 1927."""
    if games == 0:
        return 0.0, 1.0
    rate, z2 = won / games, Z * Z
    middle = (rate + z2 / (2 * games)) / (1 + z2 / games)
    half = Z * math.sqrt(rate * (1 - rate) / games + z2 / (4 * games * games)) / (1 + z2 / games)
    return middle - half, middle + half


def table(chosen: Iterable[Pair], records: Iterable[Record]) -> str:
    """Lay out wins of `a` by pair, with the interval, the wins by colour, and the mean length."""
    by_pair: dict[str, list[Record]] = {}
    for record in records:
        by_pair.setdefault(record.pair, []).append(record)
    lines = ["| game | A | B | games | A wins | 95 % | A first | A second | moves |", "|---" * 9 + "|"]
    for pair in chosen:
        mine = by_pair.get(pair.key(), [])
        if not mine:
            continue
        won, n = sum(record.won for record in mine), len(mine)
        low, high = wilson(won, n)
        colours = []
        for odd in (0, 1):
            half = [record.won for record in mine if record.number % 2 == odd]
            colours.append(f"{100 * sum(half) / max(len(half), 1):.0f} %")
        moves = sum(record.moves for record in mine) / n
        lines.append(
            f"| {pair.game} | {pair.a.label()} | {pair.b.label()} | {n} | {100 * won / n:.1f} % "
            f"| {100 * low:.1f}-{100 * high:.1f} | {colours[0]} | {colours[1]} | {moves:.1f} |"
        )
    return "\n".join(lines)
