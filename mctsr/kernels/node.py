"""The 64-byte node, its picture and its sentinels.

     0       8        12          16      20     24      28      32
     ├ value ┼ visits ┼ in_flight ┼ first ┼ next ┼ prior ┼ flags ┤   what selection reads
     32          40       44     48           52      56          60    64
     ├ value_sum ┼ parent ┼ last ┼ n_children ┼ depth ┼ n_rewards ┼ initial ┤

One record is one cache line, where `fresh` lays them. Kernels take the whole array and read columns
(`nodes["visits"]`), the only style that compiles, runs without JIT and passes strict typing alike.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

NONE = -1

#: Flag bits. A node with any of DONE, UNSCORED or UNJUDGED is never chosen by a value.
DONE = 1  # never asked again: it gets no further child; those it has may grow on
UNSCORED = 2  # judged, but no reward could be read
UNJUDGED = 4  # no verdict has come yet, or the recipe has no judge
PLANTED = 8  # written by the recipe, not by the model; never an answer
TRUNCATED = 16  # the model was cut off
TWIN = 32  # the same text as an earlier node
SPENT = 64  # has children, and none of them leads to a leaf that can grow; descents turn away

NODE = np.dtype(
    [
        ("value", "f8"),
        ("visits", "i4"),
        ("in_flight", "i4"),
        ("first", "i4"),
        ("next", "i4"),
        ("prior", "f4"),
        ("flags", "u4"),
        ("value_sum", "f8"),
        ("parent", "i4"),
        ("last", "i4"),
        ("n_children", "i4"),
        ("depth", "i4"),
        ("n_rewards", "i4"),
        ("initial", "f4"),
    ]
)

Nodes: TypeAlias = NDArray[np.void]
Ids: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
#: What a rule needs besides the tree: up to four numbers, in the order that the rule says.
Constants: TypeAlias = tuple[float, float, float, float]


def fresh(n: int) -> Nodes:
    """Return `n` zeroed records, the first at the start of a cache line; NumPy alone aligns to 16 bytes."""
    raw = np.zeros(n * NODE.itemsize + NODE.itemsize, dtype=np.uint8)
    skip = -raw.ctypes.data % NODE.itemsize
    return raw[skip : skip + n * NODE.itemsize].view(NODE)
