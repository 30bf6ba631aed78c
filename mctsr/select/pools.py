"""Scores over a pool of nodes that need more than a node, its parent and two constants."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mctsr.kernels import pools
from mctsr.kernels.node import NONE, Floats, Ids
from mctsr.tree import Tree


def nash(tree: Tree, ids: Ids) -> Floats:
    """1 / (number of the root's children) for each child of a root, 0 for every other node: `Anywhere.strategy`.

    Source: MC-NEST's released code (corei5/MC_NEST_GPT). No game is solved: the paper's equilibrium is uniform.
    """
    parents = tree.nodes["parent"][ids]
    below = (parents != NONE) & (tree.nodes["depth"][ids] == 1)
    counts = np.where(below, tree.nodes["n_children"][np.maximum(parents, 0)], 1)
    return np.where(below, 1.0 / counts, 0.0)


@dataclass(frozen=True, slots=True)
class FrontierDeepSearch:
    """l1 tanh(Q(parent)) + l2 H + l3 sqrt(d / d_max), over leaves.

    Source: DeepSearch, arXiv:2509.25454, global frontier selection. H is the mean entropy of the step that led to the
    leaf, from the side array "entropy" (0 where none was written); the released code estimates it by -mean log p.

    Attributes:
        parent: l1.
        entropy: l2; off by default, 0.4 in the paper's ablation.
        depth: l3.
        max_depth: d_max.
    """

    parent: float = 0.4
    entropy: float = 0.0
    depth: float = 0.01
    max_depth: int = 64

    def __call__(self, tree: Tree, ids: Ids) -> Floats:
        """Score `ids`; f8 of the same length."""
        out = np.empty(len(ids))
        k = (self.parent, self.entropy, self.depth, float(self.max_depth))
        pools.deepsearch_frontier(tree.nodes, ids, tree.own_array("entropy"), k, tree.low, out)
        return out


@dataclass(frozen=True, slots=True)
class OmegaPrm:
    """alpha^(1 - MC(s)) beta^(length / L) + c sqrt(sum of all N) / (1 + N(s)), over wrong rollouts of states s.

    A rollout is a child of its state that is asked once, to be searched for its first error; its length is in tokens in
    the side array "length". MC(s) is the value of the state, N(s) the number of its rollouts that were asked. Use
    `Anywhere(OmegaPrm(), open_below=1, closed_by="number")`; states, and rollouts of states that are always right or
    wrong, are passed over.
    Source: OmegaPRM, arXiv:2406.06592, section 3.3.

    Attributes:
        alpha: Weight of being mostly right.
        beta: Weight of being short.
        scale: L, tokens.
        c: Exploration.
    """

    alpha: float = 0.5
    beta: float = 0.9
    scale: float = 500.0
    c: float = 0.125
    partial: ClassVar[bool] = True

    def __call__(self, tree: Tree, ids: Ids) -> Floats:
        """Score `ids`, rollouts; f8 of the same length."""
        out = np.empty(len(ids))
        k = (self.alpha, self.beta, self.scale, self.c)
        pools.omega_prm(tree.nodes, len(tree), ids, tree.own_array("length"), k, out)
        return out


@dataclass(frozen=True, slots=True)
class Stored:
    """A score that the backup keeps in the side array `name`; nodes not refreshed keep a stale one."""

    name: str

    def __call__(self, tree: Tree, ids: Ids) -> Floats:
        """Read the scores of `ids`, f8 of the same length; work in flight counts as rewards of `tree.low`."""
        n, waiting = tree.nodes["visits"][ids], tree.nodes["in_flight"][ids]
        scores: Floats = (tree.own_array(self.name)[ids] * n + tree.low * waiting) / (n + waiting)
        return scores
