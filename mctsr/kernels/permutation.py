"""Permutation statistics: playouts that contain the moves of a path in any order, anywhere.

The last `window` playouts are kept as one bit set a code (u64, shape [codes, words], bit t of word t // 64 set when
playout t contains the code) and one result a playout (f8, shape [window]), in a ring. Nothing here knows trees.
Source: Monte Carlo Permutation Search, arXiv:2510.06381; it publishes no code.
"""

from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from .amaf import Row, Signs
from .jit import kernel
from .node import Floats, Ids

#: u64, shape [codes, words].
Bits: TypeAlias = NDArray[np.uint64]

ONE = np.uint64(1)
VISIT = np.float32(1.0)


def lowest(word: np.uint64) -> int:
    """Return the number of the lowest bit set in `word`, which is not 0; one instruction once compiled."""
    number = int(word)
    return (number & -number).bit_length() - 1


def _count_zeros(_: object, word: types.Type) -> object:
    """Give numba the instruction: the result's type and what builds it."""

    def build(_: object, builder: ir.IRBuilder, __: object, arguments: tuple[ir.Value]) -> ir.Value:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(word), build


_zeros = cast(Callable[[np.uint64], int], intrinsic(_count_zeros))


@overload(lowest)
def _compiled(word: np.uint64) -> Callable[[np.uint64], int]:
    def instruction(word: np.uint64) -> int:
        return _zeros(word)

    return instruction


@kernel
def remember(
    bits: Bits,
    results: Floats,
    seen: int,
    codes: Ids,
    length: int,
    signs: Signs,
    result: float,
    root_row: Row,
) -> int:
    """Write one playout over the oldest, and keep the statistics of the empty path up to date.

    Args:
        bits: u64, shape [codes, words], words >= window / 64.
        results: f8, shape [window].
        seen: Playouts remembered so far, those overwritten included.
        codes: int64, shape [>= length]; every move of the playout, from the root on.
        length: Moves.
        signs: int8, shape [codes].
        result: In the view of codes with sign +1.
        root_row: f4, shape [codes, 2]; count and sum of results of every code over the window.

    Returns:
        The new `seen`.
    """
    slot = seen % len(results)
    word = slot >> 6
    bit = ONE << np.uint64(slot & 63)
    if seen >= len(results):
        old = results[slot]
        for code in range(len(bits)):
            if bits[code, word] & bit:
                bits[code, word] ^= bit
                root_row[code, 0] -= VISIT
                root_row[code, 1] -= np.float32(signs[code] * old)
    results[slot] = result
    for t in range(length):
        code = codes[t]
        if not bits[code, word] & bit:
            bits[code, word] |= bit
            root_row[code, 0] += VISIT
            root_row[code, 1] += np.float32(signs[code] * result)
    return seen + 1


@kernel
def freeze(
    bits: Bits, results: Floats, path: Ids, length: int, signs: Signs, mask: Bits, words: Ids, row: Row
) -> None:
    """Compute count and sum of results of every code over the remembered playouts that contain the whole path.

    Args:
        bits: u64, shape [codes, words].
        results: f8, shape [window].
        path: int64, shape [>= length]; codes from the root to the node.
        length: Codes of the path, at least 1; the root's statistics are kept by `remember`.
        signs: int8, shape [codes].
        mask: u64, shape [words]; overwritten.
        words: int64, shape [words]; overwritten.
        row: f4, shape [codes, 2]; receives count and sum, in each code's view.
    """
    count = 0
    for word in range(bits.shape[1]):
        common = bits[path[0], word]
        for i in range(1, length):
            common &= bits[path[i], word]
        if common:
            mask[count], words[count] = common, word
            count += 1
    for code in range(len(bits)):
        number, total = 0, 0.0
        for j in range(count):
            left = mask[j] & bits[code, words[j]]
            start = words[j] << 6
            while left:
                total += results[start + lowest(left)]
                number += 1
                left &= left - ONE
        row[code, 0] = number
        row[code, 1] = signs[code] * total
