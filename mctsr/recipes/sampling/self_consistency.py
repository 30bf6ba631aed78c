"""Self-consistency: many answers, one vote."""

from mctsr.answer import majority
from mctsr.backup import OwnValue
from mctsr.expand.answer import Answer
from mctsr.recipe import Recipe
from mctsr.select.frontier import Frontier
from mctsr.stop import all_drawn


def self_consistency(*, n: int = 8) -> Recipe:
    """Self-consistency: the most frequent of `n` final answers. Wang et al. 2022, arXiv:2203.11171.

    Args:
        n: Independent answers; one call each.
    """
    return Recipe(Answer(), None, Frontier(n), OwnValue(), all_drawn(), majority)
