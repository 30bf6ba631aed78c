"""Particle Gibbs over steps: particle filters around a solution that the one before has chosen."""

from typing import Literal

from mctsr.backup import OwnValue
from mctsr.errors import RecipeError
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, growth
from mctsr.select.particles import Weight
from mctsr.select.sweeps.gibbs import Gibbs
from mctsr.stop import all_finished


def particle_gibbs(
    *,
    n: int = 16,
    sweeps: int = 4,
    weights: Literal["logit", "softmax", "bernoulli"] = "logit",
    weight_temperature: float = 1.0,
    resampling: Literal["systematic", "multinomial"] = "systematic",
    pooled: bool = False,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = 0.8,
) -> Recipe:
    """Particle Gibbs over steps. Puri et al. 2025, arXiv:2502.01618.

    The first sweep is `particle-filter`. One of its solutions, drawn by weight, is the reference of the next sweep,
    which writes n - 1 solutions anew beside it: the reference keeps its place whatever its weight, after k steps with
    the score that it had after k steps, and others may become copies of it there and go on in their own way. So a good
    solution is not lost, and is improved from its middle. Calls: n a round, n - 1 from the second sweep on, and as
    many for scores where the judge makes calls; with solutions of six steps and the default judge 732 at most.

    16 particles and 4 sweeps are the paper's. Its released code reads the reference's score one step late, and drops
    the temperature after the first sweep; its_hub weighs it by its final score at every step. Both are bugs against
    the method, and not kept. Systematic resampling takes its conditional form. The answer is that of the last sweep,
    unless `pooled`; parallel tempering, also in the paper, is not shipped: its temperatures are unpublished.

    Args:
        n: Particles, the budget of a sweep; at least 2.
        sweeps: Particle filters, one after the other.
        weights: What a score counts: "logit", "softmax" or "bernoulli".
        weight_temperature: Divides the log weights; above 1 resampling is gentler.
        resampling: "systematic" or "multinomial".
        pooled: Answer with the particles of all sweeps, each counting as in its own; otherwise with those of the last.
        judge: Who scores a partial solution: "llm-judge", which needs no further model, "self-certainty", which makes
            no call, "qwen-prm" and others of a reward model; a wrong name lists all.
        aggregate: How the steps' scores become one: "last", "min", "product" or "mean".
        answer: Among the particles: "best", "weighted" vote or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    if not weight_temperature > 0:
        raise RecipeError(f"weight_temperature is {weight_temperature}; it must be above 0")
    expander, scorer = growth(
        judge=judge,
        aggregate=aggregate,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    weight = Weight(weights, weight_temperature, scorer.low, scorer.high)
    return Recipe(
        expander,
        scorer,
        Gibbs(n, sweeps, weight, resampling, pooled),
        OwnValue(),
        all_finished(),
        answerer(answer, scorer),
    )
