"""Backups that look at the best child."""

from dataclasses import dataclass
from typing import ClassVar

from mctsr.kernels import credit, credit_climbs
from mctsr.tree import Tree

from .own import Statistic, evaluated, half_min_mean, mean, own_value


@dataclass(frozen=True, slots=True)
class HalfOwnHalfBestChild:
    """½ (own + best child's value), from the judged node up to its root.

    Source: MCTSr, arXiv:2406.07394, section 3.3.
    """

    wide: ClassVar[bool] = False

    statistic: Statistic = half_min_mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update the path of `node`."""
        own_value(tree, node, self.statistic)
        credit.half_own_half_best(tree.nodes, tree.own_array("own"), node)


@dataclass(frozen=True, slots=True)
class MctsrCode:
    """½ (own + best child's own), for leaves and parents of leaves; the rest stays stale.

    Keeps the scores in the side array "ucb", to be read by `Stored("ucb")`.
    Source: MCTSr, arXiv:2406.07394, as released (trotsky1997/MathBlackBox, `update_ucb`).

    Attributes:
        c: Exploration constant.
        eps: Added to the visits.
    """

    wide: ClassVar[bool] = True

    c: float = 1.4
    eps: float = 1e-5

    def __call__(self, tree: Tree, node: int) -> None:
        """Update every leaf and every parent of a leaf."""
        own_value(tree, node, half_min_mean)
        own, ucb = tree.own_array("own"), tree.own_array("ucb")
        credit.mctsr_code(tree.nodes, len(tree), own, ucb, self.c, self.eps)


@dataclass(frozen=True, slots=True)
class Max:
    """V = best child's value, own for a leaf.

    Each new sample is a visit of the path.
    Source: RAP, arXiv:2305.14992 (back-propagation: the highest future reward).
    """

    wide: ClassVar[bool] = False

    statistic: Statistic = mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update the path of `node`."""
        news = evaluated(tree, node, self.statistic)
        credit_climbs.highest(tree.nodes, tree.own_array("own"), node, len(news.samples))


@dataclass(frozen=True, slots=True)
class McNest:
    """Q(p) <- ½ (Q(p) + max child Q), N(p) += 1 above a new node: it compounds.

    Judging a node overwrites its Q and adds a visit for each new sample. Only its first evaluation climbs. So an
    iteration that judges the chosen node again and bears one child counts the chosen node twice, as the source does;
    with more children it climbs once for each.
    Source: MC-NEST, arXiv:2411.15645, as released (corei5/MC_NEST_GPT, `MC_NEST_.py`).
    """

    wide: ClassVar[bool] = False

    statistic: Statistic = half_min_mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Overwrite `node`; after its first evaluation, update its ancestors."""
        news = evaluated(tree, node, self.statistic)
        if not news.samples:
            return
        tree.nodes["visits"][node] += len(news.samples)
        tree.nodes["value"][node] = tree.own_array("own")[node]
        if news.first:
            credit_climbs.mc_nest(tree.nodes, node)
