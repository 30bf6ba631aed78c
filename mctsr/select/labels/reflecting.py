"""Answers that stay open while they seem wrong, and a score by the values on the way: MedS3."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE, NONE, Floats, Ids
from mctsr.parts import Ask, Rule, Selector
from mctsr.tree import Tree


@dataclass(frozen=True, slots=True)
class EndRight:
    """Let `inner` select, and end a new answer unless its value is below `gate`; it is grown once more then.

    Nobody knows which answers are wrong without known ones: the judge's value stands for it. An answer ends for good
    when it has been reflected on.
    Source: MedS3, arXiv:2501.12051, where a wrong answer becomes a step of reasoning.

    Attributes:
        inner: Chooses who grows.
        gate: Value from which on an answer counts as right.
    """

    inner: Selector
    gate: float = 0.5
    barrier: bool = False

    @property
    def roots(self) -> int:
        """How many drafts the opening asks for."""
        return self.inner.roots

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out what the inner selector does."""
        return self.inner.ask(tree, rng, room)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """End the new answers that seem right, and the old ones that were reflected on."""
        for node in born:
            above = tree.parent(node)
            if above is not None and tree.states[above].answer is not None:
                tree.end(above, "finished")
            answered = tree.states[node].answer is not None and tree.scored(node)
            if answered and not tree.has(node, DONE) and tree.value(node) >= self.gate:
                tree.end(node, "finished")
        self.inner.tell(tree, rng, born)


def uct_trajectory(c: float = 2.0) -> Rule:
    """Product of the own values from the root to the node + c sqrt(ln N / n); an unscored node counts as 1.

    Source: MedS3, arXiv:2501.12051, at inference, in its released code (pixas/MedSSS). Values lie in [0, 1].

    Raises:
        RecipeError: `c` is negative or not finite.
    """
    if not 0.0 <= c < math.inf:
        raise RecipeError(f"c is {c}; it must be a finite number at least 0")

    def score(tree: Tree, ids: Ids) -> Floats:
        own, used = tree.own_array("own"), tree.nodes
        found = np.empty(len(ids))
        for i, node in enumerate(ids.tolist()):
            product = float(np.nanprod(own[tree.line(node)]))
            n, above = int(used["visits"][node] + used["in_flight"][node]), int(used["parent"][node])
            above_n = 1 if above == NONE else int(used["visits"][above] + used["in_flight"][above])
            found[i] = product + c * math.sqrt(math.log(max(above_n, 1)) / max(n, 1))
        return found

    return score
