"""Particle filtering over steps: resampling by the scores of a process reward model."""

from typing import Literal

from mctsr.backup import OwnValue
from mctsr.errors import RecipeError
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, growth
from mctsr.select.frontier import Frontier
from mctsr.select.particles import Particles, Weight
from mctsr.stop import all_finished


def particle_filter(
    *,
    n: int = 16,
    weights: Literal["logit", "softmax", "bernoulli"] = "logit",
    weight_temperature: float = 1.0,
    resampling: Literal["systematic", "multinomial"] = "systematic",
    hottest: float = 1.0,
    cooling: int = 10,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = 0.8,
) -> Recipe:
    """Particle filtering over steps. Puri et al. 2025, arXiv:2502.01618.

    Each round writes a step for each unfinished one of n particles, scores it, and draws the next n by weight, finished
    ones included: good ones are copied, bad ones usually not. It ends when all are finished. Calls: n a round, and
    as many for scores where the judge makes calls; with solutions of six steps and the default judge 12 n at most.

    The paper's box weighs by softmax(r), both released codes by softmax(logit r), which is behind the published
    numbers and the default here; "bernoulli" is in proportion to r, as in the paper's text. Weights are of the
    score as it stands, not accumulated. The published code draws "multinomial"; "systematic", which its_hub has
    now, adds less noise. `hottest` above 1 is entropic particle filtering (Giannone et al., arXiv:2510.05825) in our
    reading: its schedule could not be confirmed. Finished particles are neither extended nor scored again.

    Args:
        n: Particles, the budget: the paper has 4 to 128, mostly 32.
        weights: How a score r becomes a weight, see above.
        weight_temperature: Divides the log weights; above 1 resampling is gentler.
        resampling: "systematic" or "multinomial".
        hottest: What the weight temperature is multiplied by in the first round, where weights have low entropy;
            1 is off.
        cooling: Rounds in which that falls to 1.
        judge: Who scores a partial solution: "llm-judge", which needs no further model, "self-certainty", which makes
            no call, "qwen-prm" and others of a reward model; a wrong name lists all.
        aggregate: How the steps' scores become one: "last", "min", "product" or "mean".
        answer: Among the particles left: "best" (its_hub), "weighted" vote or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    if not weight_temperature > 0:
        raise RecipeError(f"weight_temperature is {weight_temperature}; it must be above 0")
    if not hottest >= 1:
        raise RecipeError(f"hottest is {hottest}; it must be at least 1")
    if cooling < 0:
        raise RecipeError(f"cooling is {cooling}; it is a number of rounds, at least 0")
    expander, scorer = growth(
        judge=judge,
        aggregate=aggregate,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    weight = Weight(weights, weight_temperature, scorer.low, scorer.high, hottest=hottest, until=cooling)
    survive = Frontier(n, Particles(weight, resampling), opened=1)
    return Recipe(expander, scorer, survive, OwnValue(), all_finished(), answerer(answer, scorer))
