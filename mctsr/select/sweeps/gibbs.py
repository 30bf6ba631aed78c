"""Particle Gibbs: particle filters one after the other, each around a solution that the one before has chosen."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, PLANTED, UNSCORED, Floats
from mctsr.parts import Ask
from mctsr.select.frontier import MOST
from mctsr.select.particles import Weight, resample, resample_around, weighed
from mctsr.tree import Tree


@dataclass(slots=True)
class _Sweep:
    """The sweep that is under way.

    Attributes:
        number: How many are over.
        line: The reference, ids from the root to its end; empty in the first sweep.
        at: The generation, also how far along the reference is.
        writing: Where the particles stand that have a step to write, as often as there are particles.
        before: The last particles of the sweeps that are over, in their order.
    """

    number: int = 0
    line: list[int] = field(default_factory=list)
    at: int = 0
    writing: list[int] = field(default_factory=list)
    before: list[int] = field(default_factory=list)

    @property
    def here(self) -> list[int]:
        """Where the reference stands; it waits at its end."""
        return self.line[self.at :][:1] or self.line[-1:]

    @property
    def arrived(self) -> bool:
        """Whether the reference is at its end."""
        return self.at >= len(self.line) - 1


@dataclass(frozen=True, slots=True)
class Gibbs:
    """Sweep over the tree from its root: particle filters, all but the first around a reference.

    A sweep writes a step for each unfinished particle and draws the next n by weight, finished ones included, until
    all are finished. One of the last particles, drawn by weight, is the reference of the next sweep: it keeps one of
    the n places, in generation k it is its own first k steps, with the score that they had, and others may become
    copies of it and go on from there. Its steps are not written again. The front is the population, in later sweeps
    the end of the reference first: a sweep that is broken off has at least that to answer with.
    Source: Andrieu, Doucet and Holenstein 2010, "Particle Markov chain Monte Carlo methods"; over steps Puri et al.,
    arXiv:2502.01618. Its released code looks at the reference one step late.

    Attributes:
        n: Particles, the reference included; at least 2.
        sweeps: How many, at least 1; one is a particle filter.
        weight: How a value becomes a log weight: of the score as it stands.
        method: The resampler; around a reference its conditional form.
        pooled: Whether the front is, at the end, the last particles of all sweeps, not those of the last one.
    """

    n: int
    sweeps: int = 4
    weight: Weight = field(default_factory=Weight)
    method: Literal["multinomial", "systematic"] = "systematic"
    pooled: bool = False
    roots: int = 1
    barrier: bool = True

    def __post_init__(self) -> None:
        if not 2 <= self.n <= MOST:
            raise RecipeError(f"n is {self.n}; it is the number of particles, 2 to {MOST}")
        if self.sweeps < 1:
            raise RecipeError(f"sweeps is {self.sweeps}; it must be at least 1")

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out an ask for each place where particles stand, whatever the room; the reference writes nothing."""
        return [Ask(node, copies) for node, copies in Counter(_sweep(tree).writing).items()]

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Make the next population; where nobody in it has a step to write, go on to one that has."""
        sweep = _sweep(tree)
        fit = [node for node in born if not tree.has(node, UNSCORED | PLANTED)]
        if sweep.writing:
            wrote = set(sweep.writing)
            others = [node for node in _others(tree) if node not in wrote]
            self._follow(tree, sweep, sorted(fit + others), rng)
        else:
            tree.front = fit[:1] * self.n
        while not (living := [node for node in _others(tree) if not tree.has(node, DONE)]):
            if not sweep.arrived:
                self._follow(tree, sweep, _others(tree), rng)
            elif tree.front and sweep.number + 1 < self.sweeps:
                self._begin(tree, sweep, rng)
            else:
                tree.front = [*sweep.before, *tree.front] if self.pooled else tree.front
                break
        sweep.writing = living

    def _follow(self, tree: Tree, sweep: _Sweep, others: Sequence[int], rng: Generator) -> None:
        """Draw the next generation from the others and the reference, unless all are finished."""
        sweep.at += 1
        pool = [*sweep.here, *others]
        if pool and not (sweep.arrived and all(tree.has(node, DONE) for node in others)):
            weights = self._weights(tree, pool)
            draw = resample_around if sweep.line else resample
            pool = [pool[i] for i in draw(self.method, weights, self.n, rng)]
        tree.front = [*sweep.line[-1:], *pool[len(sweep.here) :]]

    def _begin(self, tree: Tree, sweep: _Sweep, rng: Generator) -> None:
        """Choose the reference among those who are left, and send everybody back to its root."""
        sweep.before += tree.front
        chosen = int(resample(self.method, self._weights(tree, tree.front), 1, rng)[0])
        sweep.number, sweep.line, sweep.at = sweep.number + 1, tree.line(tree.front[chosen]), 0
        tree.front = [sweep.line[-1], *sweep.line[:1] * (self.n - 1)]

    def _weights(self, tree: Tree, pool: Sequence[int]) -> Floats:
        return weighed(self.weight(tree.nodes["value"][list(pool)]))


def _sweep(tree: Tree) -> _Sweep:
    return tree.keep("gibbs", _Sweep)


def _others(tree: Tree) -> list[int]:
    """Return the population without the reference."""
    return tree.front[bool(_sweep(tree).line) :]
