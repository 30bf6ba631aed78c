"""The rules of the arena's games, written a second time: dictionaries, sets and no bits.

A cell is (row, column); players are 0 and 1. A placement is a cell, a Breakthrough move a pair of cells.
"""

from collections.abc import Iterator
from typing import Protocol

Cell = tuple[int, int]
Move = tuple[Cell, ...]


class Position(Protocol):
    """One position of one game."""

    mover: int

    def moves(self) -> list[Move]:
        """Every legal move, none when the game is over."""

    def after(self, move: Move) -> "Position":
        """Return the position after `move`."""

    def winner(self) -> int:
        """Return 1 or -1, 0 while the game runs."""


def cells(size: int) -> list[Cell]:
    """Every cell of a square board."""
    return [(row, column) for row in range(size) for column in range(size)]


def group(start: Cell, stones: dict[Cell, int], steps: list[Cell]) -> set[Cell]:
    """Return the cells of the colour of `start` that hang together with it."""
    found, waiting = {start}, [start]
    while waiting:
        row, column = waiting.pop()
        for down, right in steps:
            cell = (row + down, column + right)
            if cell not in found and stones.get(cell) == stones[start]:
                found.add(cell)
                waiting.append(cell)
    return found


class Hex:
    """Hex: player 0 joins top and bottom, player 1 left and right."""

    STEPS: tuple[Cell, ...] = ((0, 1), (0, -1), (1, 0), (-1, 0), (-1, 1), (1, -1))

    def __init__(self, size: int = 7, stones: dict[Cell, int] | None = None) -> None:
        self.size, self.stones = size, stones or {}
        self.mover = len(self.stones) % 2

    def moves(self) -> list[Move]:
        if self.winner():
            return []
        return [(cell,) for cell in cells(self.size) if cell not in self.stones]

    def after(self, move: Move) -> "Hex":
        return Hex(self.size, {**self.stones, move[0]: self.mover})

    def winner(self) -> int:
        for player in (0, 1):
            for i in range(self.size):
                start = (0, i) if player == 0 else (i, 0)
                if self.stones.get(start) == player:
                    chain = group(start, self.stones, list(self.STEPS))
                    if any(cell[player] == self.size - 1 for cell in chain):
                        return 1 - 2 * player
        return 0


class AtariGo:
    """AtariGo: the first capture wins, suicide is illegal, a player without a move loses."""

    STEPS: tuple[Cell, ...] = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def __init__(self, size: int = 7, stones: dict[Cell, int] | None = None, captured_by: int = -1) -> None:
        self.size, self.stones, self.captured_by = size, stones or {}, captured_by
        self.mover = len(self.stones) % 2

    def _beside(self, cell: Cell) -> Iterator[Cell]:
        for down, right in self.STEPS:
            other = (cell[0] + down, cell[1] + right)
            if min(other) >= 0 and max(other) < self.size:
                yield other

    def _choked(self, cell: Cell, stones: dict[Cell, int]) -> bool:
        whole = group(cell, stones, list(self.STEPS))
        return not any(other not in stones for member in whole for other in self._beside(member))

    def _captures(self, cell: Cell) -> bool:
        stones = {**self.stones, cell: self.mover}
        return any(
            stones.get(other) == 1 - self.mover and self._choked(other, stones)
            for other in self._beside(cell)
        )

    def _legal(self, cell: Cell) -> bool:
        return self._captures(cell) or not self._choked(cell, {**self.stones, cell: self.mover})

    def moves(self) -> list[Move]:
        if self.captured_by >= 0:
            return []
        return [(cell,) for cell in cells(self.size) if cell not in self.stones and self._legal(cell)]

    def after(self, move: Move) -> "AtariGo":
        captured_by = self.mover if self._captures(move[0]) else -1
        return AtariGo(self.size, {**self.stones, move[0]: self.mover}, captured_by)

    def winner(self) -> int:
        if self.captured_by >= 0:
            return 1 - 2 * self.captured_by
        return 0 if self.moves() else 2 * self.mover - 1


class Breakthrough:
    """Breakthrough: player 0 starts on rows 0 and 1 and goes to the last row."""

    def __init__(self, size: int = 6, pieces: dict[Cell, int] | None = None, mover: int = 0) -> None:
        self.size, self.mover = size, mover
        self.pieces = pieces or {
            cell: int(cell[0] > 1) for cell in cells(size) if cell[0] < 2 or cell[0] >= size - 2
        }

    def moves(self) -> list[Move]:
        if self.winner():
            return []
        found: list[Move] = []
        for row, column in (cell for cell in cells(self.size) if self.pieces.get(cell) == self.mover):
            for right in (-1, 0, 1):
                to = (row + 1 - 2 * self.mover, column + right)
                stands = self.pieces.get(to)
                if 0 <= to[1] < self.size and (stands is None if right == 0 else stands != self.mover):
                    found.append(((row, column), to))
        return found

    def after(self, move: Move) -> "Breakthrough":
        pieces = {cell: player for cell, player in self.pieces.items() if cell not in move}
        return Breakthrough(self.size, {**pieces, move[1]: self.mover}, 1 - self.mover)

    def winner(self) -> int:
        for player, goal in ((0, self.size - 1), (1, 0)):
            mine = [cell for cell, owner in self.pieces.items() if owner == player]
            if any(row == goal for row, _ in mine) or len(mine) == len(self.pieces):
                return 1 - 2 * player
        return 0


def perft(position: Position, depth: int) -> int:
    """Count the lines of `depth` moves."""
    if depth == 0:
        return 1
    return sum(perft(position.after(move), depth - 1) for move in position.moves())
