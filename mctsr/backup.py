"""What a new evaluation changes: a tree in front, a kernel behind.

Every backup first takes the statistic of all samples of the judged node (its own value, in the side array
"own") and then computes `value` from own values and children, never from an earlier `value`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mctsr.kernels import credit
from mctsr.tree import Sample, Tree

Statistic = Callable[[Sequence[Sample]], float]


def half_min_mean(samples: Sequence[Sample]) -> float:
    """½ (min + mean) of the samples' values. MCTSr, arXiv:2406.07394, section 3.3."""
    values = [sample.value for sample in samples]
    return 0.5 * (min(values) + sum(values) / len(values))


def mean(samples: Sequence[Sample]) -> float:
    """Mean of the samples' values."""
    return sum(sample.value for sample in samples) / len(samples)


def own_value(tree: Tree, node: int, statistic: Statistic) -> None:
    """Write the statistic of `node` to the side array "own"; its visits become the number of its samples."""
    tree.own_array("own")[node] = statistic(tree.states[node].samples)
    tree.nodes["visits"][node] = tree.nodes["n_rewards"][node]


@dataclass(frozen=True, slots=True)
class OwnValue:
    """A node's value is its own statistic; nothing is spread."""

    statistic: Statistic = mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update `node` alone."""
        own_value(tree, node, self.statistic)
        tree.nodes["value"][node] = tree.own_array("own")[node]


@dataclass(frozen=True, slots=True)
class HalfOwnHalfBestChild:
    """½ (own + best child's value), from the judged node up to its root. MCTSr, arXiv:2406.07394, section 3.3."""

    statistic: Statistic = half_min_mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update the path of `node`."""
        own_value(tree, node, self.statistic)
        credit.half_own_half_best(tree.nodes, tree.own_array("own"), node)


@dataclass(frozen=True, slots=True)
class MctsrCode:
    """The released code of MCTSr (`update_ucb`): leaves and parents of leaves are refreshed, the rest stays stale.

    Keeps the scores in the side array "ucb", to be read by `Stored("ucb")`.

    Attributes:
        c: Exploration constant.
        eps: Added to the visits.
    """

    c: float = 1.4
    eps: float = 1e-5

    def __call__(self, tree: Tree, node: int) -> None:
        """Update every leaf and every parent of a leaf."""
        own_value(tree, node, half_min_mean)
        own, ucb = tree.own_array("own"), tree.own_array("ucb")
        credit.mctsr_code(tree.nodes, len(tree), own, ucb, self.c, self.eps)
