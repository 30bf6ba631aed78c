"""Values of whole paths, from the root down: a partial solution is as good as its steps."""

from dataclasses import dataclass
from typing import ClassVar

from mctsr.kernels import credit_climbs
from mctsr.tree import Tree

from .own import Statistic, mean, own_value


@dataclass(frozen=True, slots=True)
class MinimumOfSteps:
    """value = minimum of the own values from the root to the node.

    Judging a node again changes everything below it.
    Source: Math-Shepherd, arXiv:2312.08935 (score of a solution).
    """

    wide: ClassVar[bool] = True

    statistic: Statistic = mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update `node` and its descendants."""
        own_value(tree, node, self.statistic)
        credit_climbs.path_values(tree.nodes, tree.own_array("own"), node, credit_climbs.MINIMUM)


@dataclass(frozen=True, slots=True)
class ProductOfSteps:
    """value = product of the own values from the root to the node.

    Meant for values in [0, 1]; a statistic may map others there, e.g. to (v + 1) / 2 as MASPRM, arXiv:2510.24803,
    does. Judging a node again changes everything below it.
    Source: MedS3, arXiv:2501.12051, at inference.
    """

    wide: ClassVar[bool] = True

    statistic: Statistic = mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update `node` and its descendants."""
        own_value(tree, node, self.statistic)
        credit_climbs.path_values(tree.nodes, tree.own_array("own"), node, credit_climbs.PRODUCT)
