"""Beam search over steps, guided by a process reward model."""

from mctsr.backup import OwnValue
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_groups, growth
from mctsr.select.frontier import Frontier
from mctsr.select.population import Beams
from mctsr.stop import all_finished


def beam(
    *,
    n: int = 16,
    m: int = 4,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "weighted",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = 0.8,
) -> Recipe:
    """Beam search with a process reward model. Snell et al. 2024, arXiv:2408.03314, section 5.

    Each round writes a step for each of n beams and scores it; the best n / m survive, each in m copies. The search
    ends when every beam is finished. Calls: n a round, and as many for scores where the judge makes calls; with
    solutions of six steps and the default judge 12 n at most.

    Kept from the released code of huggingface/search-and-learn: M = 4, 40 rounds, temperature 0.8. Differences:
    the last round is a step like any other, not written to its end; finished beams stay and compete by value;
    no lookahead.

    Args:
        n: Beams, the budget: the papers have 4 to 256.
        m: Beam width: copies of each survivor. n is a multiple of it.
        judge: Who scores a partial solution: "llm-judge", which needs no further model, "self-certainty", which makes
            no call, "qwen-prm" and others of a reward model; a wrong name lists all.
        aggregate: How the steps' scores become one: "last", "min", "product" or "mean".
        answer: Among the beams left: "weighted" vote (paper), "best" or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    check_groups(n, m)
    expander, scorer = growth(
        judge=judge,
        aggregate=aggregate,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    survive = Frontier(n, Beams(m), opened=1)
    return Recipe(expander, scorer, survive, OwnValue(), all_finished(), answerer(answer, scorer))
