"""Monte Carlo Tree Self-refine, as in the paper."""

from mctsr.answer import best_value
from mctsr.backup import HalfOwnHalfBestChild
from mctsr.expand.refine import REFUSAL, SelfRefine
from mctsr.judge.self_reward import SelfReward
from mctsr.recipe import Recipe
from mctsr.select.anywhere import Anywhere
from mctsr.select.scores import uct_mctsr
from mctsr.stop import first_of, max_depth, no_gain, rollouts_done


def mctsr(
    *,
    rollouts: int = 8,
    max_children: int = 2,
    c: float = 1.4,
    samples: int = 1,
    attempts: int = 3,
    patience: int = 0,
    depth: int = 0,
) -> Recipe:
    """Monte Carlo Tree Self-refine. Zhang et al. 2024, arXiv:2406.07394, section 3.

    Two roots (a first answer and a planted refusal); each rollout takes the node with the largest UCT among all
    that are not fully expanded, judges it once more, refines it (critique, then rewrite) and judges the child.
    The answer is the one with the best value. Calls: 3 + 4 a rollout.

    The paper leaves c, the child limit and the constants of full-score suppression open; c and one sample a
    visit are the released code's. Differences from that code (recipe `mctsr-code`): the rewrite sees the answer
    it improves, the bonus is (ln N + 1), values are backed up to the root, and gold answers are never consulted.

    Args:
        rollouts: Asks after the opening.
        max_children: Children a node needs, one of them better, before it is fully expanded.
        c: Exploration constant on the scale [-100, 100].
        samples: Scores a visit.
        attempts: Tries at one readable score.
        patience: Stop when the best value has not risen for so many rollouts; 0 is off.
        depth: Stop when a node lies so many refinements deep; 0 is off.
    """
    return Recipe(
        SelfRefine(planted=REFUSAL),
        SelfReward(samples=samples, attempts=attempts),
        Anywhere(uct_mctsr(c), open_below=max_children),
        HalfOwnHalfBestChild(),
        first_of(rollouts_done(rollouts), no_gain(patience), max_depth(depth)),
        best_value,
    )
