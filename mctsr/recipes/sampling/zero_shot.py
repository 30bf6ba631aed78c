"""One answer, nothing else."""

from mctsr.answer import first
from mctsr.backup import OwnValue
from mctsr.expand.answer import Answer
from mctsr.recipe import Recipe
from mctsr.select.frontier import Frontier
from mctsr.stop import all_drawn


def zero_shot() -> Recipe:
    """Ask once; the baseline of everything, and the first call of every recipe of whole answers."""
    return Recipe(Answer(), None, Frontier(1), OwnValue(), all_drawn(), first)
