"""Best-of-n by self-evaluation: the best-scored answer, or a vote weighted by scores."""

from mctsr.answer import best_value, weighted_vote
from mctsr.backup import OwnValue
from mctsr.expand.answer import Answer
from mctsr.judge.self_reward import HIGH, LOW, SelfReward
from mctsr.parts import Answerer
from mctsr.recipe import Recipe
from mctsr.select.frontier import Frontier
from mctsr.stop import all_drawn


def best_of_n(*, n: int = 8, samples: int = 1, attempts: int = 3) -> Recipe:
    """Best-of-n: `n` independent answers, the one that the model itself scores highest. Cobbe et al. 2021.

    Args:
        n: Independent answers.
        samples: Scores an answer; their mean counts.
        attempts: Tries at one readable score.
    """
    return _scored(n, samples, attempts, best_value)


def weighted_best_of_n(*, n: int = 8, samples: int = 1, attempts: int = 3) -> Recipe:
    """Weighted best-of-n: equal answers add up their scores, mapped to [0, 1]. Li et al. 2022, arXiv:2206.02336.

    Args:
        n: Independent answers.
        samples: Scores an answer; their mean counts.
        attempts: Tries at one readable score.
    """
    return _scored(n, samples, attempts, weighted_vote(LOW, HIGH))


def _scored(n: int, samples: int, attempts: int, answerer: Answerer) -> Recipe:
    judge = SelfReward(samples=samples, attempts=attempts)
    return Recipe(Answer(), judge, Frontier(n), OwnValue(), all_drawn(), answerer)
