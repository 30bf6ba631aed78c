"""OmegaPRM's search for the first errors of wrong solutions."""

from mctsr.answer import majority
from mctsr.backup.rollouts import ShareOfRollouts
from mctsr.errors import RecipeError
from mctsr.expand.boundary import read_boundary
from mctsr.expand.completions import Completions
from mctsr.judge.outcome import OutcomeReward
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import check_counts
from mctsr.select.labels.first_error import FirstError, searches_done
from mctsr.select.pools import OmegaPrm


def omega_prm(
    *,
    completions: int = 8,
    searches: int = 100,
    alpha: float = 0.5,
    beta: float = 0.9,
    length: float = 500.0,
    c: float = 0.125,
    uses_gold: bool = False,
    boundary: str = "paragraph",
    most_steps: int = 16,
    max_tokens: int | None = None,
    temperature: float | None = 0.8,
) -> Recipe:
    """OmegaPRM: labels for steps, by binary search for first errors. Luo et al. 2024, arXiv:2406.06592, section 3.

    Makes training data: `mctsr export` writes the labels. A state is the beginning of a solution, MC(s) the share of
    its completions that are right. Of the wrong completions of states with 0 < MC(s) < 1 the one with the largest
    alpha^(1 - MC(s)) beta^(tokens / length) + c sqrt(sum of N) / (1 + N(s)) is cut in the middle: if nothing that
    begins so comes out right its first error lies before the cut, else behind it. The states that are met on the way
    get labels, and their wrong completions join the pool. A problem ends when the pool is empty, after `searches`, or
    at once when the first completions are all right or all wrong. Calls: completions for the problem, and as many for
    each cut, log2(most_steps) = 4 a search at most: up to 3,208 with the defaults, usually far fewer, as pools run
    dry; `--max-calls` makes sure.

    With uses_gold right means equal to the known answer, and the answers of such a run are no test result. Without,
    right means what most completions of the problem itself say, the first on ties; those of states have no vote, as
    many would be written behind a mistake. The same vote is the recipe's answer: neither known answers nor values have
    a say in it.

    Constants and 8 completions are the paper's; its search limit of 100 is reported, not verified. Not kept: problems
    are dropped by the first 8 completions, not by 32 of their own; a whole wrong solution is not completed once more;
    of equal wrong solutions one is searched, and one that was cut off counts as wrong and is not; a beginning that two
    solutions share is estimated for each. Bugs of a known reimplementation (openreasoner/openr) are not reproduced: one
    pair chosen again and again, priorities that go stale, N(s) counted by completions.

    Args:
        completions: Solutions written for a state, k.
        searches: Stop when so many wrong solutions were searched; 0 is off.
        alpha: Weight of states that are mostly right, above 0.
        beta: Weight of short solutions, above 0.
        length: L, the tokens by which beta counts.
        c: Exploration constant.
        uses_gold: Compare with the known answers; only to make labels.
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        most_steps: Steps that a solution is cut into; of more, neighbours are taken together. 0 for any number.
        max_tokens: Longest completion; none leaves it to the settings.
        temperature: Of the completions; none leaves it to the settings, and the command line wins.
    """
    check_counts(completions=completions)
    for name, value in {"alpha": alpha, "beta": beta, "length": length}.items():
        if not value > 0.0:
            raise RecipeError(f"{name} is {value}; it must be above 0")
    if not c >= 0.0:
        raise RecipeError(f"c is {c}; it must be at least 0")
    expander = Completions(
        read_boundary(boundary), most_steps=most_steps, temperature=temperature, max_tokens=max_tokens
    )
    return Recipe(
        expander,
        OutcomeReward(uses_gold),
        FirstError(completions, OmegaPrm(alpha, beta, length, c)),
        ShareOfRollouts(),
        searches_done(searches),
        majority,
    )
