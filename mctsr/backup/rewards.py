"""Births that are no rewards: what a node is worth before anything was tried from it."""

from dataclasses import dataclass

from mctsr.kernels.node import DONE
from mctsr.parts import Backup
from mctsr.tree import Tree

from .own import mean, news


@dataclass(frozen=True, slots=True)
class AfterBirth:
    """Pass on to `inner` what was earned: the samples of finished nodes, and those that others got after their first.

    The first evaluation of a node that can grow is shown as its value, and neither a visit nor a reward of anybody.
    Source: GroundedPRM, arXiv:2510.14942: steps are verified when they are written, and rewarded by simulations.

    Attributes:
        inner: What spreads the rewards, e.g. `DecayedSum`.
    """

    inner: Backup

    @property
    def wide(self) -> bool:
        """Whether the inner backup leaves the path."""
        return getattr(self.inner, "wide", True)

    def __call__(self, tree: Tree, node: int) -> None:
        """Count the birth of `node`, or spread what was earned there since."""
        if tree.has(node, DONE) or node in tree.keep("backed", dict[int, int]):
            self.inner(tree, node)
        else:
            tree.nodes["value"][node] = mean(news(tree, node).samples)
