"""Wider or deeper by Thompson sampling: AB-MCTS-A."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels import posterior as kernels
from mctsr.kernels.node import DONE, NONE, PLANTED, Floats
from mctsr.parts import Ask
from mctsr.tree import Tree


class Posterior(Protocol):
    """What is believed of the mean score of an arm."""

    def draw(self, seen: Floats, rng: Generator) -> Floats:
        """Draw a mean for each arm.

        Args:
            seen: f8, shape [k, 3]; number, sum and sum of squares of the arm's scores in [0, 1].
            rng: The randomness.

        Returns:
            f8, shape [k].
        """


@dataclass(frozen=True, slots=True)
class Gaussian:
    """s2 ~ InvGamma(nu_n / 2, nu_n tau2_n / 2), mean ~ N(m_n, s2 / kappa_n); see `kernels.posterior.gaussian`.

    Source: AB-MCTS, arXiv:2503.04412; defaults of the released code (SakanaAI/treequest), which adds no predictive
    noise.

    Attributes:
        m: Prior mean, in [0, 1].
        kappa: Scores that the prior mean is worth.
        nu: Scores that the prior variance is worth.
        tau2: Prior variance.
    """

    m: float = 0.0
    kappa: float = 1.0
    nu: float = 1.0
    tau2: float = 0.1

    def __post_init__(self) -> None:
        if not (min(self.kappa, self.nu, self.tau2) > 0 and math.isfinite(self.m)):
            raise RecipeError(f"{self}: m must be finite, kappa, nu and tau2 must be above 0")

    def draw(self, seen: Floats, rng: Generator) -> Floats:
        """Draw a mean for each arm; f8, shape [k]."""
        said = np.empty((len(seen), 4))
        kernels.gaussian(seen, (self.m, self.kappa, self.nu, self.tau2), said)
        m, kappa, nu, tau2 = said.T
        variance = 0.5 * nu * tau2 / rng.standard_gamma(0.5 * nu)
        drawn: Floats = rng.normal(m, np.sqrt(variance / kappa))
        return drawn


@dataclass(frozen=True, slots=True)
class Beta:
    """Mean ~ Beta(a + sum y, b + sum (1 - y)); see `kernels.posterior.beta`.

    Source: AB-MCTS, arXiv:2503.04412; defaults of the released code (SakanaAI/treequest).

    Attributes:
        a: Prior successes.
        b: Prior failures.
    """

    a: float = 0.5
    b: float = 0.5

    def __post_init__(self) -> None:
        if not min(self.a, self.b) > 0:
            raise RecipeError(f"{self}: a and b must be above 0")

    def draw(self, seen: Floats, rng: Generator) -> Floats:
        """Draw a mean for each arm; f8, shape [k]."""
        said = np.empty((len(seen), 2))
        kernels.beta(seen, (self.a, self.b), said)
        drawn: Floats = rng.beta(said[:, 0], said[:, 1])
        return drawn


@dataclass(frozen=True, slots=True)
class Thompson:
    """At each node draw GEN against CONT; GEN asks for one more child there, CONT goes to the child drawn highest.

    Scores are mapped to [0, 1] by (score - low) / (high - low); state the judge's scale. What the arms of a node
    have seen is in `kernels.posterior`; a node's score is the mean of its samples when it is born. Work in flight
    counts as scores of 0. Where nothing below may be entered the choice is GEN. A finished node gets no further
    child: there it is CONT, as long as a child of it is open. Among several roots the one drawn highest is entered,
    since no ask can make a root.
    Source: AB-MCTS-A, arXiv:2503.04412, section 3, with the released code (SakanaAI/treequest) for one action.

    Attributes:
        posterior: `Gaussian()` (the default of the source) or `Beta()`.
        low: Lower bound of the judge's scale.
        high: Upper bound of the judge's scale.
        roots: Drafts that the opening asks for.
    """

    posterior: Posterior = Gaussian()
    low: float = 0.0
    high: float = 1.0
    roots: int = 1
    barrier: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise RecipeError(f"the judge's scale is {self.low} to {self.high}; low must be below high")

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one ask, or none when nothing in the tree can grow."""
        node = self._root(tree, rng)
        while node != NONE:
            below = self._below(tree, node, rng)
            if below == NONE:
                return (Ask(node),)
            node = below
        return ()

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Count the scores of the newborn, on the way to the root; the totals live in side arrays.

        Raises:
            RecipeError: A score lies outside `low` to `high`.
        """
        own, subtree, children = _counted(tree)
        for node in born:
            if tree.scored(node) and not tree.has(node, PLANTED):
                own[node] = self._unit(tree, node)
                kernels.observe(tree.nodes, node, own[node], subtree, children)

    def _unit(self, tree: Tree, node: int) -> float:
        samples = tree.states[node].samples
        score = sum(sample.value for sample in samples) / len(samples)
        if not self.low <= score <= self.high:
            raise RecipeError(
                f"node {node} scored {score}, outside {self.low} to {self.high}; give Thompson the judge's scale "
                "as low and high"
            )
        return (score - self.low) / (self.high - self.low)

    def _root(self, tree: Tree, rng: Generator) -> int:
        """Return where to begin; roots are the first nodes of a tree."""
        parents, ids = tree.nodes["parent"], list[int]()
        while len(ids) < len(tree) and parents[len(ids)] == NONE:
            ids.append(len(ids))
        fit = [node for node in ids if kernels.may_grow(tree.nodes, node)]
        if len(fit) < 2:
            return fit[0] if fit else NONE
        seen = np.nan_to_num(np.stack([column[fit] for column in _counted(tree).subtree], axis=1))
        seen[:, 0] += tree.nodes["in_flight"][fit]
        return fit[int(np.argmax(self.posterior.draw(seen, rng)))]

    def _below(self, tree: Tree, node: int, rng: Generator) -> int:
        """Return the child to go to, or NONE to ask for a new one."""
        nodes, n = tree.nodes, int(tree.nodes["n_children"][node])
        if n == 0:
            return NONE
        own, subtree, children = _counted(tree)
        if not tree.has(node, DONE):
            seen = np.empty((2, 3))
            kernels.wider_or_deeper(nodes, node, own[node], subtree, children, seen)
            drawn = self.posterior.draw(seen, rng)
            if drawn[kernels.GEN] >= drawn[kernels.CONT]:
                return NONE
        ids, seen = np.empty(n, dtype=np.int64), np.empty((n, 3))
        n = kernels.arms(nodes, int(nodes["first"][node]), subtree, ids, seen)
        return int(ids[np.argmax(self.posterior.draw(seen[:n], rng))]) if n else NONE


class _Counted(NamedTuple):
    """The side arrays: each node's own score, and the totals of subtrees and of children; NaN for nothing."""

    own: Floats
    subtree: kernels.Totals
    children: kernels.Totals


def _counted(tree: Tree) -> _Counted:
    own, *rest = (tree.own_array(f"thompson_{name}") for name in _ARRAYS)
    return _Counted(own, (rest[0], rest[1], rest[2]), (rest[3], rest[4], rest[5]))


_ARRAYS = ("own", "count", "sum", "square", "children", "children_sum", "children_square")


def thompson_gaussian(*, low: float = 0.0, high: float = 1.0, roots: int = 1) -> Thompson:
    """AB-MCTS-A with normal-inverse-gamma posteriors, the default of arXiv:2503.04412."""
    return Thompson(Gaussian(), low, high, roots)


def thompson_beta(*, low: float = 0.0, high: float = 1.0, roots: int = 1) -> Thompson:
    """AB-MCTS-A with beta posteriors from Jeffreys' prior. arXiv:2503.04412."""
    return Thompson(Beta(), low, high, roots)
