"""Words of 64 bits: counting, finding, and the random generator. An 8 x 8 board is one word, row by row."""

from llvmlite import ir
from numba import njit, types, uint64
from numba.extending import intrinsic

ONE, SEVEN, EIGHT, NINE = (uint64(i) for i in (1, 7, 8, 9))


@intrinsic
def popcount(context, x):
    """Count the set bits of a uint64."""

    def build(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@intrinsic
def lowest(context, x):
    """Return the place of the lowest set bit of a uint64 (64 for 0)."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), build


@intrinsic
def turned(context, x):
    """Turn a board upside down: row i becomes row 7 - i."""

    def build(context, builder, signature, arguments):
        return builder.bswap(arguments[0])

    return types.uint64(types.uint64), build


@njit(cache=True, error_model="numpy", inline="always")
def step(s):
    """Return the next state of xorshift64 (Marsaglia 2003), never 0."""
    s ^= s << uint64(13)
    s ^= s >> uint64(7)
    return s ^ (s << uint64(17))


@njit(cache=True, error_model="numpy", inline="always")
def mixed(s):
    """Return the output of xorshift64* for the state `s`; its high bits are the better ones."""
    return s * uint64(0x2545F4914F6CDD1D)


@njit(cache=True, error_model="numpy", inline="always")
def below(s, n):
    """Map the state `s` to 0 .. n - 1, n < 2**31."""
    return ((mixed(s) >> uint64(32)) * n) >> uint64(32)


@njit(cache=True, error_model="numpy", inline="always")
def nth(x, k):
    """Return the place of set bit number `k` (from 0) of `x`, which has more than `k`."""
    while k > uint64(0):
        x &= x - ONE
        k -= ONE
    return uint64(lowest(x))
