"""Self-refine: one answer, improved again and again."""

from mctsr.answer import last
from mctsr.backup import OwnValue
from mctsr.expand.refine import SelfRefine
from mctsr.recipe import Recipe
from mctsr.select.chain import Chain
from mctsr.stop import rollouts_done


def self_refine(*, rollouts: int = 4) -> Recipe:
    """Self-Refine. Madaan et al. 2023, arXiv:2303.17651.

    A chain of critique and rewrite; the last answer counts. No judge: the paper's stop on the model's own
    "good enough" is left out, so that cost is fixed. Calls: 1 + 2 a rollout.

    Args:
        rollouts: Refinements after the first answer.
    """
    return Recipe(SelfRefine(), None, Chain(), OwnValue(), rollouts_done(rollouts), last)
