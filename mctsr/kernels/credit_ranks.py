"""Preferences between pairs, made transitive."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .jit import kernel

Beats: TypeAlias = NDArray[np.bool_]


@kernel
def close(beats: Beats) -> None:
    """Add i > j wherever i > k and k > j, until nothing is missing: the transitive closure.

    All members of a cycle come to beat each other and themselves.
    Source: S. Warshall, A theorem on Boolean matrices, 1962; used by LLaMA-Berry, arXiv:2410.02884.

    Args:
        beats: bool, shape [n, n]; beats[i, j] says i > j. Changes.
    """
    n = len(beats)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                beats[i, j] |= beats[i, k] and beats[k, j]
