"""Who survives a generation: the largest values, or the largest of each subtree. Particles are beside this.

A survivor rule is a function of the tree, the pool (newborn and finished members, in order of birth; a node as often
as it has copies), the size n of the population and a generator; it returns the next population, copies included.
When everybody in the pool is finished there is nothing left to choose for, and the whole pool stays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, NONE
from mctsr.tree import Tree

from .sampled import top_k

Survivors = Callable[[Tree, Sequence[int], int, Generator], Sequence[int]]


def _spread(chosen: Sequence[int], n: int) -> list[int]:
    """Copy the chosen evenly to `n` places, earlier ones first."""
    if not chosen:
        return []
    each, more = divmod(n, len(chosen))
    return [node for i, node in enumerate(chosen) for _ in range(each + (i < more))]


def alive(tree: Tree, pool: Sequence[int]) -> bool:
    """Say whether anybody in the pool can grow."""
    return any(not tree.has(node, DONE) for node in pool)


@dataclass(frozen=True, slots=True)
class Beams:
    """Keep the n / m largest values and copy them to n; the first created wins ties.

    Finished beams compete by their value. When fewer than n / m are left, they share the n places evenly.
    Source: Snell et al., arXiv:2408.03314, section 5, with the released code of huggingface/search-and-learn.

    Attributes:
        m: Beam width, the drafts that each survivor is asked for.
    """

    m: int = 4

    def __post_init__(self) -> None:
        _check_width(self.m)

    def __call__(self, tree: Tree, pool: Sequence[int], n: int, rng: Generator) -> Sequence[int]:
        """Return the next population."""
        distinct = list(dict.fromkeys(pool))
        if not alive(tree, distinct):
            return distinct
        best = top_k(tree.nodes["value"][distinct], max(n // self.m, 1))
        return _spread([distinct[i] for i in best], n)


@dataclass(frozen=True, slots=True)
class Subtrees:
    """Keep the largest value of each of n / m independent subtrees, and ask each for m drafts.

    The first generation is cut into subtrees of m drafts in order of birth; which one a node belongs to is kept in
    the side array "subtree". A subtree whose survivor is finished takes no more drafts.
    Source: DVTS, Beeching et al. 2024, "Scaling test-time compute with open models" (huggingface/search-and-learn).

    Attributes:
        m: Drafts of each subtree.
    """

    m: int = 4

    def __post_init__(self) -> None:
        _check_width(self.m)

    def __call__(self, tree: Tree, pool: Sequence[int], n: int, rng: Generator) -> Sequence[int]:
        """Return the next population."""
        distinct, subtree, parents = (
            list(dict.fromkeys(pool)),
            tree.own_array("subtree"),
            tree.nodes["parent"],
        )
        new = 0
        for node in distinct:
            above = parents[node]
            if not np.isnan(subtree[node]):
                continue
            inherited = above != NONE and not np.isnan(subtree[above])
            subtree[node] = subtree[above] if inherited else new // self.m
            new += not inherited
        if not alive(tree, distinct):
            return distinct
        best: dict[float, int] = {}
        for node in distinct:
            held = best.setdefault(float(subtree[node]), node)
            if tree.value(node) > tree.value(held):
                best[float(subtree[node])] = node
        return [best[i] for i in sorted(best) for _ in range(self.m)]


def _check_width(m: int) -> None:
    if m < 1:
        raise RecipeError(f"m is {m}; it is the number of drafts of each survivor, at least 1")
