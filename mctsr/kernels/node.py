"""The 64-byte node, its picture and its sentinels.

     0        8         16      20         24      28      32
     ├ value ─┼ value_sum┼ visits┼ in_flight┼ parent┼ first ┤   what selection reads
     32     36     40           44      48          52      56    60      64
     ├ last ─┼ next ┼ n_children ┼ depth ┼ n_rewards ┼ prior ┼ raw ┼ flags ┤

One record is one cache line. Kernels take the whole array and read columns (`nodes["visits"]`), the only style
that compiles, runs without JIT and passes strict typing alike.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

NONE = -1

#: Flag bits. A node with any of DONE, UNSCORED or UNJUDGED is never chosen by a value.
DONE = 1  # never asked again: it cannot grow any more
UNSCORED = 2  # judged, but no reward could be read
UNJUDGED = 4  # no verdict has come yet, or the recipe has no judge
PLANTED = 8  # written by the recipe, not by the model; never an answer
TRUNCATED = 16  # the model was cut off
TWIN = 32  # the same text as an earlier node

NODE = np.dtype(
    [
        ("value", "f8"),
        ("value_sum", "f8"),
        ("visits", "i4"),
        ("in_flight", "i4"),
        ("parent", "i4"),
        ("first", "i4"),
        ("last", "i4"),
        ("next", "i4"),
        ("n_children", "i4"),
        ("depth", "i4"),
        ("n_rewards", "i4"),
        ("prior", "f4"),
        ("raw", "f4"),
        ("flags", "u4"),
    ]
)

Nodes: TypeAlias = NDArray[np.void]
Ids: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
