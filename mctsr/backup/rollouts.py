"""Monte Carlo estimates that are made of nodes: the value of a state is how its rollouts ended."""

from dataclasses import dataclass
from typing import ClassVar

from mctsr.kernels.node import NONE
from mctsr.tree import Tree

from .own import Statistic, mean, own_value


@dataclass(frozen=True, slots=True)
class ShareOfRollouts:
    """A node with samples has their statistic; one without has the mean of its children's, whose number is its visits.

    With rollouts judged 1 or 0 and states that no judge sees, a state's value is MC(s), the share of its rollouts
    that are right, and its visits say how many there were. A rollout's value of 0 makes it a wrong one: its length in
    tokens, or words where the server counts none, goes to the side array "length", which `select.pools.OmegaPrm`
    reads. Source: OmegaPRM, arXiv:2406.06592, section 3.1.

    Attributes:
        statistic: A rollout's own value.
    """

    wide: ClassVar[bool] = False

    statistic: Statistic = mean

    def __call__(self, tree: Tree, node: int) -> None:
        """Update `node` and the state above it."""
        own_value(tree, node, self.statistic)
        value = tree.nodes["value"][node] = tree.own_array("own")[node]
        above, state = int(tree.nodes["parent"][node]), tree.states[node]
        if above == NONE:
            return
        if value == 0.0:
            tree.own_array("length")[node] = state.tokens or len(state.text.split())
        if not tree.states[above].samples:
            self._estimate(tree, above)

    def _estimate(self, tree: Tree, state: int) -> None:
        own = tree.own_array("own")
        values = [float(own[child]) for child in tree.children(state) if tree.states[child].samples]
        tree.nodes["value"][state] = sum(values) / len(values)
        tree.nodes["visits"][state] = len(values)
