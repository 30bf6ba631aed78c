"""A made-up tree that costs nothing to ask: numbers of children, priors and rewards are hashes of a node's id.

The loop is short on purpose: everything it measures is the product's own kernel. `reference.c` does the same in C.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from mctsr.kernels import credit, descent, rules, walk
from mctsr.kernels.node import NODE, NONE, Nodes, fresh

GOLDEN, FIRST, SECOND = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)
CHILDREN, PRIOR, REWARD = 1, 2, 3


@dataclass(frozen=True, slots=True)
class World:
    """What a tree looks like and by which rule it grows.

    Attributes:
        name: As printed.
        rule: Code of `mctsr.kernels.rules`.
        k: Its constants.
        fewest: Children of a node at least.
        choices: Number of equally likely numbers of children from there up.
        deepest: Depth below which nothing grows.
        sims: Simulations of one run.
        seed: Of the hash.
    """

    name: str
    rule: int
    k: tuple[float, float, float, float]
    fewest: int
    choices: int
    deepest: int
    sims: int
    seed: int = 7

    @property
    def shape(self) -> tuple[int, int, int]:
        """What `grow` needs to know."""
        return self.fewest, self.choices, self.deepest

    @property
    def capacity(self) -> int:
        """More records than a run can fill."""
        return 1 + self.sims * (self.fewest + self.choices - 1)


UCB1 = (1.4, 0.0, 0.0, 0.0)
#: AlphaZero's rule: init, base, value of what nobody has seen; init makes (a) broad and (b) deep.
SMALL_UCT = World("a: branching 3-16, depth <= 8, 1 000 sims, UCT", rules.UCB1, UCB1, 3, 14, 8, 1_000)
SMALL_PUCT = World("a: the same, PUCT", rules.PUCT_ALPHAZERO, (2.0, 19652.0, 0.0, 0.0), 3, 14, 8, 1_000)
BIG_PUCT = World(
    "b: branching 8, 125 000 sims, PUCT",
    rules.PUCT_ALPHAZERO,
    (0.43, 19652.0, 0.0, 0.0),
    8,
    1,
    10_000,
    125_000,
)
BIG_UCT = World("b: the same, UCT", rules.UCB1, UCB1, 8, 1, 10_000, 125_000)


@njit(cache=True, error_model="numpy", inline="always")
def draw(seed: np.uint64, node: int, salt: int) -> np.uint64:
    """Hash a node's id; `salt` says what for."""
    z = seed + np.uint64(node * 4 + salt) * GOLDEN
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    return z ^ (z >> np.uint64(31))


@njit(cache=True, error_model="numpy", inline="always")
def unit(bits: np.uint64) -> float:
    """Make a number of [0, 1) of 64 bits."""
    return np.float64(bits >> np.uint64(11)) * 2.0**-53


@njit(cache=True, error_model="numpy")
def grow(nodes: Nodes, size: int, node: int, seed: np.uint64, fewest: int, choices: int) -> int:
    """Make all children of `node`, with priors that sum to 1; return how many."""
    n = fewest + np.int64(draw(seed, node, CHILDREN) % np.uint64(choices))
    descent.expand(nodes, size, node, n)
    total = 0.0
    for child in range(size, size + n):
        total += unit(draw(seed, child, PRIOR)) + 0.01
    for child in range(size, size + n):
        nodes[child]["prior"] = (unit(draw(seed, child, PRIOR)) + 0.01) / total
    return n


@njit(cache=True, error_model="numpy")
def simulate(
    nodes: Nodes,
    size: int,
    sims: int,
    rule: int,
    k: tuple[float, float, float, float],
    low: float,
    seed: np.uint64,
    shape: tuple[int, int, int],
) -> int:
    """Run `sims` simulations on a tree of `size` nodes; return its new size."""
    fewest, choices, deepest = shape
    for _ in range(sims):
        leaf = descent.descend(nodes, 0, rule, k, low)
        walk.mark(nodes, leaf, 1)
        if nodes[leaf]["depth"] < deepest:
            size += grow(nodes, size, leaf, seed, fewest, choices)
        credit.mean(nodes, leaf, unit(draw(seed, leaf, REWARD)), 1.0)
        walk.mark(nodes, leaf, -1)
    return size


def start(nodes: Nodes) -> None:
    """Make an empty tree of `nodes`: one root, everything behind it as `fresh` leaves it."""
    nodes.view(np.uint8)[:] = 0
    for name in ("first", "next", "parent", "last"):
        nodes[name][0] = NONE
    nodes["value"][0] = np.nan
    nodes["prior"][0] = 1.0


def run_ours(world: World, nodes: Nodes, size: int = 1, sims: int = 0) -> int:
    """Grow the tree with the product's kernels; return its size."""
    sims = sims or world.sims
    return int(simulate(nodes, size, sims, world.rule, world.k, 0.0, np.uint64(world.seed), world.shape))


def room(world: World) -> Nodes:
    """Allocate records for one run."""
    return fresh(world.capacity)


assert NODE.itemsize == 64
