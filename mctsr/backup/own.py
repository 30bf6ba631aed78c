"""A node's own value: the statistic of its samples, which of them are new, and what follows for its visits.

Own values live in the side array "own" (NaN where a node has no sample), the number of samples that a backup
has already counted in "backed". Nothing here looks at another node.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from mctsr.errors import RecipeError
from mctsr.tree import Sample, Tree

Statistic = Callable[[Sequence[Sample]], float]


def half_min_mean(samples: Sequence[Sample]) -> float:
    """½ (min + mean) of the samples' values. MCTSr, arXiv:2406.07394, section 3.3."""
    values = [sample.value for sample in samples]
    return 0.5 * (min(values) + sum(values) / len(values))


def mean(samples: Sequence[Sample]) -> float:
    """Mean of the samples' values; of samples that are 0 or 1 it is the success rate of an MC estimate."""
    return sum(sample.value for sample in samples) / len(samples)


@dataclass(frozen=True, slots=True)
class Blended:
    """v <- (1 - alpha) v + alpha r for each sample r after the first, whose value is v.

    Source: ReST-MCTS*, arXiv:2406.03816, as released (THUDM/ReST-MCTS): what the simulation saw is mixed into the
    value of the new child. Meant for a judge that gives one sample a visit.

    Attributes:
        alpha: Share of the new sample, in [0, 1].

    Raises:
        RecipeError: `alpha` is out of range.
    """

    alpha: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 <= self.alpha <= 1.0:
            raise RecipeError(f"alpha is {self.alpha}; it is the share of a new sample, from 0 to 1")

    def __call__(self, samples: Sequence[Sample]) -> float:
        """Return the blend of the samples' values."""
        value = samples[0].value
        for sample in samples[1:]:
            value += self.alpha * (sample.value - value)
        return value


def own_value(tree: Tree, node: int, statistic: Statistic) -> None:
    """Write the statistic of `node` to the side array "own"; its visits become the number of its samples."""
    tree.own_array("own")[node] = statistic(tree.states[node].samples)
    tree.nodes["visits"][node] = tree.nodes["n_rewards"][node]


class News(NamedTuple):
    """What no backup has counted yet: the new samples of a node, and whether it had none before."""

    samples: Sequence[Sample]
    first: bool


def _nothing() -> dict[int, int]:
    return {}


def news(tree: Tree, node: int) -> News:
    """Return the samples of `node` that came since the last call for it, and remember that they were seen."""
    backed, samples = tree.keep("backed", _nothing), tree.states[node].samples
    seen = backed.get(node, 0)
    backed[node] = len(samples)
    return News(samples[seen:], seen == 0)


def evaluated(tree: Tree, node: int, statistic: Statistic) -> News:
    """Write the statistic of `node` to the side array "own" and return its news; visits stay as they are."""
    tree.own_array("own")[node] = statistic(tree.states[node].samples)
    return news(tree, node)


@dataclass(frozen=True, slots=True)
class OwnValue:
    """value = own: a node's value is its own statistic; nothing is spread."""

    wide: ClassVar[bool] = False

    statistic: Statistic = mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update `node` alone."""
        own_value(tree, node, self.statistic)
        tree.nodes["value"][node] = tree.own_array("own")[node]
