"""Backups that weigh children against each other or against what was there before."""

from dataclasses import dataclass
from typing import ClassVar

from mctsr.kernels import credit_climbs
from mctsr.tree import Tree

from .own import Statistic, evaluated, mean


@dataclass(frozen=True, slots=True)
class LlamaBerry:
    """Q(s) <- (1 - g) Q(s) + g Q(child), from the parent up to the root.

    Judging a node sets its Q to the statistic of all its samples and adds a visit to its path for each new one. That
    a node judged again starts anew from its statistic, and climbs again, is this library's reading: no code of the
    method is public.
    Source: LLaMA-Berry, arXiv:2410.02884 (backpropagation).

    Attributes:
        g: Share of the child, in [0, 1].
        statistic: A node's own value.
    """

    wide: ClassVar[bool] = False

    g: float = 0.1
    statistic: Statistic = mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update the path of `node`."""
        news = evaluated(tree, node, self.statistic)
        if not news.samples:
            return
        tree.nodes["value"][node] = tree.own_array("own")[node]
        credit_climbs.moving(tree.nodes, node, float(self.g), len(news.samples))


@dataclass(frozen=True, slots=True)
class VisitWeighted:
    """V = sum(V_c N_c) / sum(N_c) over the children, own where none was visited.

    Each new sample is a visit of the path.
    Source: MedS3, arXiv:2501.12051, update rule "default" of its released code; ReST-MCTS*, arXiv:2406.03816, with
    `births_count=False`: its new children get a value without a visit, and weigh nothing until they are simulated.

    Attributes:
        statistic: A node's own value.
        births_count: Whether a node's first evaluation counts as visits.
    """

    wide: ClassVar[bool] = False

    statistic: Statistic = mean
    births_count: bool = True

    def __call__(self, tree: Tree, node: int) -> None:
        """Update the path of `node`."""
        news = evaluated(tree, node, self.statistic)
        visits = len(news.samples) if self.births_count or not news.first else 0
        credit_climbs.visit_weighted(tree.nodes, tree.own_array("own"), node, visits)


@dataclass(frozen=True, slots=True)
class MedS3Comp:
    """V <- ½ (V + sum(V_c N_c) / sum(N_c)) along the path: it compounds.

    Each new sample is a visit of the path, and each call one climb. The source judges no node twice; here a node
    judged again starts anew from its statistic.
    Source: MedS3, arXiv:2501.12051, update rule "comp" of its released code (pixas/MedSSS).
    """

    wide: ClassVar[bool] = False

    statistic: Statistic = mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update the path of `node`."""
        news = evaluated(tree, node, self.statistic)
        if not news.samples:
            return
        tree.nodes["value"][node] = tree.own_array("own")[node]
        credit_climbs.half_visit_weighted(tree.nodes, node, len(news.samples))
