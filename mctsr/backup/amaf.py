"""The mean backup, with what `Grave` and `Mcps` read beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mctsr.errors import RecipeError
from mctsr.kernels import credit
from mctsr.kernels.node import NONE
from mctsr.kernels.playouts import Playouts, Settings
from mctsr.tree import Tree

from .own import news


@dataclass(frozen=True, slots=True)
class AmafMean:
    """value = sum / N as `Mean`; each new sample is also one playout, made of the steps from the root to the node.

    Every node of the path counts the codes of the steps after it, each once: the AMAF statistics of `Grave` and `Mcps`.
    With a window, the playout is remembered for permutation statistics, and those of the nodes that now have more than
    `ref` visits are frozen: `Mcps`. One reward goes into all sums as it is, so that their means share a scale.
    Source: GRAVE, Cazenave 2015, IJCAI; Monte Carlo Permutation Search, arXiv:2510.06381.

    Attributes:
        code: Maps the text of a step to what it is counted as; the selector's.
        ref: The `ref` of `Mcps`; nothing without a window.
        window: The `window` of `Mcps`; 0 for `Grave`.
    """

    wide: ClassVar[bool] = False

    code: Callable[[str], int]
    ref: int = 8
    window: int = 0

    def __post_init__(self) -> None:
        if self.ref < 0 or self.window < 0:
            raise RecipeError(f"ref is {self.ref}, window is {self.window}; neither may be below 0")

    def __call__(self, tree: Tree, node: int) -> None:
        """Add the new samples of `node` to its path.

        Raises:
            RecipeError: The selector reads other statistics.
        """
        settings = Settings(self.code, self.window, self.ref if self.window else 0)
        playouts = tree.keep("playouts", lambda: Playouts(settings))
        playouts.agree(settings)
        self._place(tree, playouts, node)
        for sample in news(tree, node).samples:
            credit.mean(tree.nodes, node, sample.value, 1.0)
            playouts.record(tree.nodes, node, sample.value)

    def _place(self, tree: Tree, playouts: Playouts, node: int) -> None:
        """Note the codes of the path, as far up as they are new."""
        parents = tree.nodes["parent"]
        while parents[node] != NONE and not playouts.placed(node):
            playouts.place(tree.nodes, node, self.code(tree.states[node].text))
            node = int(parents[node])
