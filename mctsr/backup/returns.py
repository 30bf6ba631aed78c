"""What taking a step in a state has brought, over all rollouts that took it there."""

from dataclasses import dataclass, field
from typing import ClassVar

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE
from mctsr.tree import Tree

from .own import mean, news


@dataclass(slots=True)
class _Group:
    """Equal steps behind equal steps: their nodes, and the discounted returns of the rollouts through them."""

    nodes: list[int] = field(default_factory=list)
    total: float = 0.0
    rollouts: int = 0


def _nothing() -> dict[int, _Group]:
    return {}


@dataclass(frozen=True, slots=True)
class MeanReturn:
    """Value of a step = mean of gamma^k R over the finished rollouts that took it in the same state; visits: how many.

    R is the value of the rollout's end, k the number of steps from this one to the end: the return-to-go. With
    `from_start` k counts from the first step instead. The state is the text so far, so that twins share their value.
    An unfinished step shows its own value until a rollout through it has ended; the root shows the mean R.
    Source: AgentPRM, arXiv:2502.10325 (Q targets); from the start, as released (sanjibanc/agent_prm,
    `compute_prm_target.py`), where the first step is not discounted and the later a failure, the higher its target.

    Attributes:
        gamma: Discount, in (0, 1].
        from_start: Where k counts from.

    Raises:
        RecipeError: `gamma` is out of range.
    """

    wide: ClassVar[bool] = True

    gamma: float = 0.95
    from_start: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.gamma <= 1.0:
            raise RecipeError(f"gamma is {self.gamma}; it must be above 0, at most 1")

    def __call__(self, tree: Tree, node: int) -> None:
        """Add the new samples of `node` to the steps of its path if it is finished."""
        samples = news(tree, node).samples
        if not tree.has(node, DONE):
            if tree.nodes["visits"][node] == 0:
                tree.nodes["value"][node] = mean(tree.states[node].samples)
            return
        root, *steps = tree.line(node)
        for sample in samples:
            self._add(tree, root, sample.value)
            for age, step in enumerate(steps):
                k = age if self.from_start else len(steps) - 1 - age
                self._add(tree, step, self.gamma**k * sample.value)

    def _add(self, tree: Tree, node: int, reward: float) -> None:
        """Add one return to a step and its twins."""
        twin = tree.states[node].twin
        group = tree.keep("returns", _nothing).setdefault(node if twin is None else twin, _Group())
        if node not in group.nodes:
            group.nodes.append(node)
        group.total += reward
        group.rollouts += 1
        tree.nodes["visits"][group.nodes] = group.rollouts
        tree.nodes["value"][group.nodes] = group.total / group.rollouts
