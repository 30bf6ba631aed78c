"""Best-of-n with a process reward model: whole answers, scored step by step."""

from typing import Literal

from mctsr.backup import OwnValue
from mctsr.errors import RecipeError
from mctsr.expand.answer import Answer
from mctsr.recipe import Recipe
from mctsr.recipes.judges import MC_ESTIMATE, SELF_CERTAINTY, named_judge
from mctsr.recipes.stepping import answerer
from mctsr.select.frontier import Frontier
from mctsr.stop import all_drawn

LAST_ONLY = ("llm-judge",)
"""Judges that score the last step of a whole answer, and no earlier one."""


def best_of_n_prm(
    *,
    n: int = 8,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Literal["best", "weighted"] = "best",
) -> Recipe:
    """Best-of-n by a process reward model. Lightman et al. 2023, arXiv:2305.20050.

    `n` independent answers, cut into steps at blank lines; the one whose steps' scores make the best value. The paper
    has the product of the scores, Math-Shepherd (arXiv:2312.08935) the minimum, and later models the last one, which
    is the default. Calls: n answers, and for scores n with "qwen-prm", "seq-rm", "think-prm" (2 n) and "llm-judge",
    one a step with the others.

    Args:
        n: Independent answers.
        judge: Who scores an answer: "llm-judge", which needs no further model, "qwen-prm" and others of a reward
            model; a wrong name lists all. Judges of how a solution was or would be written cannot score whole answers.
        aggregate: How the steps' scores become one: "last", "min", "product" or "mean".
        answer: The "best" answer, or a vote "weighted" by values.
    """
    if judge in (SELF_CERTAINTY, MC_ESTIMATE):
        raise RecipeError(
            f"judge {judge!r} scores answers that are written step by step, not whole ones; choose another, or grow "
            "steps, e.g. with beam"
        )
    if judge in LAST_ONLY and aggregate != "last":
        raise RecipeError(
            f"judge {judge!r} scores the last step of a whole answer only, so aggregate={aggregate!r} has no meaning; "
            "leave it out, or choose another judge"
        )
    scorer = named_judge(judge, aggregate)
    return Recipe(Answer(), scorer, Frontier(n), OwnValue(), all_drawn(), answerer(answer, scorer))
