"""The playouts of one tree that grows node by node: what AMAF and permutation statistics are counted in.

Codes get columns and nodes get rows as they turn up; both dimensions double. One agent: every code sees a result
as it is. Nothing here knows texts, samples or selectors; two players on a board use the kernels alone.
A table takes 8 bytes x inner nodes x distinct codes, up to four times that after doubling, and is refused before it
passes 2 GiB. A sum of a million results of one sign, in f4, has drifted by about 1e-2 of itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mctsr.errors import RecipeError

from .amaf import Row, Signs, Table, best_child, credit_playout, trail
from .descent import closed
from .jit import kernel
from .node import NONE, SPENT, Floats, Ids, Nodes
from .permutation import Bits, freeze, remember

T = TypeVar("T", bound=np.generic)
MOST = 2 << 30  # bytes that no array of playouts may pass


@dataclass(frozen=True, slots=True)
class Settings:
    """What a selector and a backup that share playouts must agree on.

    Attributes:
        code: Maps the text of a step to its code.
        window: Playouts that permutation statistics look back on; 0 keeps none.
        ref: Visits after which a node's permutation statistics are frozen; 0 where none are kept.
    """

    code: Callable[[str], int]
    window: int = 0
    ref: int = 0


class Book(NamedTuple):
    """What a descent reads besides the nodes; see `Playouts` for the shapes."""

    codes: Ids
    rows: Ids
    frozen: Ids
    table: Table
    stats: Table


class How(NamedTuple):
    """How a descent chooses: a method of `amaf.best_child`, ref, bias, and what work in flight counts as."""

    method: int
    ref: int
    bias: float
    low: float


@kernel
def ripe(nodes: Nodes, path: Ids, length: int, ref: int, frozen: Ids) -> int:
    """Return the place of the first node below the root with more than `ref` visits and nothing frozen, or NONE."""
    for i in range(1, length + 1):
        if nodes["visits"][path[i]] > ref and frozen[path[i]] == NONE:
            return i
    return NONE


@kernel
def follow(nodes: Nodes, book: Book, root: int, how: How) -> int:
    """Follow the best child from `root` to a leaf, or to a node without a child that may be entered.

    The reference of a node is the deepest node above or at it with more than `ref` visits, else the root;
    permutation statistics are those of the deepest node that has some.
    """
    firsts, visits = nodes["first"], nodes["visits"]
    node, row, permuted = root, book.rows[root], 0
    while firsts[node] != NONE:
        if visits[node] > how.ref:
            row = book.rows[node]
        if book.frozen[node] != NONE:
            permuted = book.frozen[node]
        child = best_child(
            nodes, node, book.codes, how.method, how.bias, how.low, book.table[row], book.stats[permuted]
        )
        if child == NONE:
            break
        node = child
    return int(node)


@kernel
def descend(nodes: Nodes, book: Book, root: int, how: How, turned: Ids) -> int:
    """Return the leaf to grow below `root`, or NONE while all are in flight or closed.

    A way that ends at work in flight, or at a dead end that nobody has flagged, is left for the next best one: its
    last node counts as spent until the kernel returns. The nodes are then as they were.

    Args:
        nodes: NODE, shape [capacity].
        book: Codes, rows and tables.
        root: Where to begin.
        how: Method and constants.
        turned: int64, shape [capacity]; overwritten.
    """
    flags, firsts, in_flight = nodes["flags"], nodes["first"], nodes["in_flight"]
    if closed(nodes, root) or (firsts[root] == NONE and in_flight[root] > 0):
        return NONE
    count = 0
    node = follow(nodes, book, root, how)
    while firsts[node] != NONE and node != root:
        flags[node] |= SPENT
        turned[count] = node
        count += 1
        node = follow(nodes, book, root, how)
    for i in range(count):
        flags[turned[i]] ^= SPENT
    return node if firsts[node] == NONE else NONE


class Playouts:
    """Codes, rows and tables of one tree.

    Attributes:
        settings: What its users agreed on.
        codes: int64, shape [nodes]; column of the move into each node, NONE where nobody has said.
        rows: int64, shape [nodes]; row of `table`. Row 0 stays empty: a node without children has no more.
        frozen: int64, shape [nodes]; row of `stats`, NONE before statistics are frozen. Row 0 is the root's.
        table: f4, shape [rows, columns, 2]; AMAF counts and sums.
        stats: f4, shape [rows, columns, 2]; permutation counts and sums.
        bits: u64, shape [columns, words].
        results: f8, shape [window].
        signs: int8, shape [columns]; all 1.
        seen: Playouts remembered.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.codes: Ids = np.full(16, NONE, dtype=np.int64)
        self.rows: Ids = np.zeros(16, dtype=np.int64)
        self.frozen: Ids = np.full(16, NONE, dtype=np.int64)
        self.table: Table = np.zeros((16, 16, 2), dtype=np.float32)
        self.stats: Table = np.zeros((4, 16, 2), dtype=np.float32)
        self.bits: Bits = np.zeros((16, -(-settings.window // 64)), dtype=np.uint64)
        self.results: Floats = np.zeros(settings.window)
        self.signs: Signs = np.ones(16, dtype=np.int8)
        self.seen = 0
        self._columns: dict[int, int] = {}
        self._given = self._taken = 1
        self._scratch: Ids = np.zeros((2, 16), dtype=np.int64)
        self._path: Ids = np.zeros((3, 16), dtype=np.int64)
        self._turned: Ids = np.zeros(16, dtype=np.int64)
        self._mask: Bits = np.zeros(self.bits.shape[1], dtype=np.uint64)
        self._words: Ids = np.zeros(self.bits.shape[1], dtype=np.int64)

    def agree(self, settings: Settings) -> None:
        """Refuse other settings than these playouts were made with.

        Raises:
            RecipeError: They differ.
        """
        if settings != self.settings:
            raise RecipeError(
                f"selector and backup keep different playouts: {self.settings} and {settings}; give both the same "
                "code, and for permutation search the same ref and window"
            )

    def placed(self, node: int) -> bool:
        """Say whether the code of `node` is known."""
        return node < len(self.codes) and bool(self.codes[node] != NONE)

    def place(self, nodes: Nodes, node: int, code: int) -> None:
        """Say what move leads to `node`, which has a parent; its parent gets a row. RecipeError beyond 2 GiB."""
        self._fit(len(nodes))
        column = self._columns.setdefault(code, len(self._columns))
        if column == len(self.signs):
            self._widen()
        self.codes[node] = column
        parent = nodes["parent"][node]
        if self.rows[parent] == 0:
            self.rows[parent], self._given = self._given, self._given + 1
            self.table = _room(self.table, self._given)

    def record(self, nodes: Nodes, node: int, result: float) -> None:
        """Count one playout that ended at `node` with `result`, after visits and values were backed up.

        Every node of the path but its root has been placed.
        """
        self._fit(len(nodes))
        if (depth := int(nodes["depth"][node])) >= self._path.shape[1]:
            self._path = np.zeros((3, 2 * depth), dtype=np.int64)
        length = trail(nodes, node, self.codes, self.rows, self._path)
        path, rows, moves = self._path
        credit_playout(self.table, rows, length, moves, length, self.signs, result, self._scratch)
        if not self.settings.window:
            self.seen += 1
            return
        self.seen = remember(
            self.bits, self.results, self.seen, moves, length, self.signs, result, self.stats[0]
        )
        while (i := ripe(nodes, path, length, self.settings.ref, self.frozen)) != NONE:
            self._freeze(path[i], moves, i)

    def leaf(self, nodes: Nodes, root: int, how: How) -> int:
        """Return the leaf to grow below `root`, or NONE; `descend`."""
        self._fit(len(nodes))
        book = Book(self.codes, self.rows, self.frozen, self.table, self.stats)
        return descend(nodes, book, root, how, self._turned)

    def _freeze(self, node: int, moves: Ids, length: int) -> None:
        self.frozen[node], self._taken = self._taken, self._taken + 1
        self.stats = _room(self.stats, self._taken)
        row: Row = self.stats[self.frozen[node]]
        freeze(self.bits, self.results, moves, length, self.signs, self._mask, self._words, row)

    def _fit(self, n: int) -> None:
        """Make room for `n` nodes."""
        if n > len(self.codes):
            self.codes, self.frozen = _room(self.codes, n, NONE), _room(self.frozen, n, NONE)
            self.rows, self._turned = _room(self.rows, n), _room(self._turned, n)

    def _widen(self) -> None:
        have = len(self.signs)
        n = min(_length(array, have, have + 1) for array in (self.table, self.stats, self.bits))
        self.table, self.stats = _padded(self.table, n, axis=1), _padded(self.stats, n, axis=1)
        self.bits, self.signs = _padded(self.bits, n), _padded(self.signs, n, 1)
        self._scratch = _padded(self._scratch, n, axis=1)


def _room(array: "NDArray[T]", n: int, fill: int = 0) -> "NDArray[T]":
    return array if n <= len(array) else _padded(array, _length(array, len(array), n), fill)


def _padded(array: "NDArray[T]", n: int, fill: int = 0, axis: int = 0) -> "NDArray[T]":
    width: list[Any] = [(0, 0)] * array.ndim
    width[axis] = (0, n - array.shape[axis])
    return np.pad(array, width, constant_values=fill)


def _length(array: "NDArray[T]", have: int, need: int) -> int:
    """Return what to lengthen an axis of `have` to: twice that, at least `need`, all within `MOST` bytes."""
    most = MOST * have // max(array.nbytes, 1)
    if need > most:
        raise RecipeError(
            f"statistics of playouts would pass {MOST / 2**30:g} GiB: they grow as inner nodes times distinct codes, "
            f"{array.shape} now; give a code that tells fewer steps apart, or stop after fewer rollouts"
        )
    return min(max(need, 2 * have), most)
