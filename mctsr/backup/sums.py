"""Backups that add each new sample once, in `value_sum` of the nodes of a path."""

from dataclasses import dataclass
from typing import ClassVar

from mctsr.kernels import credit
from mctsr.kernels.node import DONE
from mctsr.tree import Tree

from .own import evaluated, mean, news


@dataclass(frozen=True, slots=True)
class Mean:
    """value = sum / N, with N += 1 and sum += r on the path of each new sample.

    Source: AlphaZero, arXiv:1712.01815; rStar-Math, arXiv:2501.04519 (rounds 1 and 2); MASPRM, arXiv:2510.24803
    (search for targets); I-MCTS, arXiv:2502.14693.

    With `births_count=False` a node's first evaluation is no reward: it is shown as its value until something was
    earned at the node or below (first-play value), as the critic's in TS-LLM, arXiv:2309.17179.

    Attributes:
        flip: What a reward is multiplied by with each level up: 1 for one agent, -1 for two players in turn.
        births_count: Whether a node's first evaluation is a reward.
    """

    wide: ClassVar[bool] = False

    flip: float = 1.0
    births_count: bool = True

    def __call__(self, tree: Tree, node: int) -> None:
        """Add the new samples of `node` to its path."""
        samples, first = news(tree, node)
        if self.births_count or not first:
            for sample in samples:
                credit.mean(tree.nodes, node, float(sample.value), float(self.flip))
        elif samples and tree.nodes["visits"][node] == 0:
            tree.nodes["value"][node] = mean(samples)


@dataclass(frozen=True, slots=True)
class MeanOfEnds:
    """As `Mean` for nodes that are finished; a step's samples stay with the step.

    Source: rStar-Math, arXiv:2501.04519, from round 3 on: a step's score is its own first visit. With
    `steps_count=False` a step's score is shown while nothing below it was finished, and is no visit: first-play
    value, as in TS-LLM, arXiv:2309.17179, and MASPRM, arXiv:2510.24803, at inference.

    Attributes:
        steps_count: Whether the samples of an unfinished node are visits of that node.
    """

    wide: ClassVar[bool] = False

    steps_count: bool = True

    def __call__(self, tree: Tree, node: int) -> None:
        """Add the new samples of `node` to its path if it is finished, else to itself at most."""
        samples = evaluated(tree, node, mean).samples
        for sample in samples:
            if tree.has(node, DONE):
                credit.mean(tree.nodes, node, float(sample.value), 1.0)
            elif self.steps_count:
                credit.mean_alone(tree.nodes, node, float(sample.value))
        if tree.nodes["visits"][node] == 0:
            tree.nodes["value"][node] = tree.own_array("own")[node]


@dataclass(frozen=True, slots=True)
class DecayedSum:
    """V(node) += r; V += decay^d r and N += 1 at the ancestor at distance d.

    Sums, not means. r is made of the verdicts on the steps and of the outcome: `grounded_prm_code`.
    Source: GroundedPRM, arXiv:2510.14942, as released (JerryPlain/GroundedPRMCode, `pipeline/MCTS/mcts.py`).
    """

    wide: ClassVar[bool] = False

    decay: float = 0.9

    def __call__(self, tree: Tree, node: int) -> None:
        """Add the new samples of `node` to its path."""
        for sample in news(tree, node).samples:
            credit.decayed_sum(tree.nodes, node, float(sample.value), float(self.decay))


@dataclass(frozen=True, slots=True)
class DeepSearch:
    """q(s_i) += max(i / l, floor) r under a sign constraint; value = q / N.

    A step on a path with r > 0 becomes positive, one with r < 0 takes nothing from a positive step. A sample of 0
    of a step that is no end is a visit of its own and nothing for its path. q is kept in `value_sum`.
    Source: DeepSearch, arXiv:2509.25454 (constrained update).

    Attributes:
        floor: Least weight.
    """

    wide: ClassVar[bool] = False

    floor: float = 0.1

    def __call__(self, tree: Tree, node: int) -> None:
        """Spread the new samples of `node` over its path."""
        for sample in news(tree, node).samples:
            credit.signed_sum(tree.nodes, node, float(sample.value), 0.0, float(self.floor))


@dataclass(frozen=True, slots=True)
class DeepSearchCode:
    """q(s_i) += max((i + 1) / (l + 1), floor) r, else as `DeepSearch`.

    Source: DeepSearch, arXiv:2509.25454, as released (smiles724/DeepSearch, `deepsearch/utils/mcts.py`).

    Attributes:
        floor: Least weight.
    """

    wide: ClassVar[bool] = False

    floor: float = 0.1

    def __call__(self, tree: Tree, node: int) -> None:
        """Spread the new samples of `node` over its path."""
        for sample in news(tree, node).samples:
            credit.signed_sum(tree.nodes, node, float(sample.value), 1.0, float(self.floor))
