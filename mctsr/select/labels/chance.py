"""One child of the root by chance: GroundedPRM as released."""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, NONE, PLANTED, UNSCORED
from mctsr.parts import Ask
from mctsr.tree import Tree

ROOT = 0


def fresh(tree: Tree, family: Sequence[int]) -> int | None:
    """Return the first of siblings that can grow and was not simulated from yet, None when there is none."""
    for node in family:
        judged = len(tree.states[node].samples) + len(tree.states[node].unscored)
        if not tree.has(node, DONE | UNSCORED | PLANTED) and judged < 2:
            return node
    return None


@dataclass(frozen=True, slots=True)
class AnyChildOfRoot:
    """Take a child of the root by chance; grow it, or simulate from below it when it has grown before.

    The root is grown first. A child that has children is not grown again: the first of them that was not simulated
    from is, or else the child itself. Nothing lies deeper than two levels below the root.
    Source: GroundedPRM as released (JerryPlain/GroundedPRMCode, `pipeline/MCTS/mcts.py`), where a child that has
    grown is sampled from once more all the same, and the samples are thrown away. Finished children are left out
    here; there they take rounds that change no value.

    Attributes:
        n: Drafts an ask.
    """

    n: int = 3
    roots: int = 1
    barrier: bool = False

    def __post_init__(self) -> None:
        if self.n < 1:
            raise RecipeError(f"n is {self.n}; it is the number of children of a node, at least 1")

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one ask, or none when every child of the root is finished or in flight."""
        if not len(tree) or tree.has(ROOT, UNSCORED | PLANTED):
            return ()
        below = tree.children(ROOT)
        if not below:
            shut = tree.has(ROOT, DONE) or tree.nodes["in_flight"][ROOT] > 0
            return () if shut else (Ask(ROOT, self.n),)
        open_ones = [
            node
            for node in below
            if not tree.has(node, DONE | UNSCORED | PLANTED) and not tree.nodes["in_flight"][node]
        ]
        if not open_ones:
            return ()
        node = open_ones[int(rng.integers(len(open_ones)))]
        if tree.nodes["first"][node] == NONE:
            return (Ask(node, self.n),)
        other = fresh(tree, tree.children(node))
        return (Ask(node if other is None else other, 0, again=True),)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Nothing to remember: everything is in the tree."""
