"""What recipes over steps have in common: the expander and the judge that fit together, and the rules for answers.

Knows the arguments that all of them take. Which method it is, the recipe says.
"""

from dataclasses import replace
from typing import Literal, NamedTuple

from mctsr.answer import best_finalist, majority, weighted_vote
from mctsr.errors import RecipeError
from mctsr.expand.boundary import read_boundary
from mctsr.expand.step import Steps
from mctsr.judge.outcome import Ends, OutcomeReward
from mctsr.parts import Answerer, Judge

from .judges import MC_ESTIMATE, SELF_CERTAINTY, named_judge

Choice = Literal["best", "weighted", "majority"]


class Growth(NamedTuple):
    """How steps are written and judged."""

    expander: Steps
    judge: Judge


def growth(
    *,
    judge: str,
    aggregate: str,
    boundary: str,
    max_steps: int,
    max_step_tokens: int,
    temperature: float | None,
    distinct: bool = False,
) -> Growth:
    """Return an expander of steps and the judge of that name.

    The log-probabilities that self-certainty reads are asked for only then.

    Raises:
        RecipeError: A name is unknown or a number out of range; says what is allowed.
    """
    expander = Steps(
        read_boundary(boundary),
        max_step_tokens=max_step_tokens,
        max_steps=max_steps,
        temperature=temperature,
        distinct=distinct,
    )
    said = named_judge(judge, aggregate, prompt=expander.prompt_name, temperature=temperature)
    return Growth(replace(expander, logprobs=0) if judge == SELF_CERTAINTY else expander, said)


def answerer(choice: Choice, judge: Judge) -> Answerer:
    """Return the rule for the answer: the best value, a vote weighted by values on the judge's scale, or a vote."""
    if choice == "weighted":
        return weighted_vote(judge.low, judge.high)
    return best_finalist if choice == "best" else majority


def judge_of_ends(name: str, scorer: Judge, *, uses_gold: bool, unfinished: float = 0.0) -> Ends:
    """Return a judge of ends alone, from -1 to 1: by the known answer, or else what the scorer of that name says.

    Raises:
        RecipeError: The scorer completes what it judges, and an end has no completions: all would be right.
    """
    if uses_gold:
        return Ends(OutcomeReward(uses_gold=True), unfinished)
    if name == MC_ESTIMATE:
        raise RecipeError(
            f"judge {name!r} compares an answer with completions, and an end has none; take another"
        )
    return Ends(scorer, unfinished)


def check_counts(**counts: int) -> None:
    """Refuse a recipe's arguments that are below 1, by the recipe's own names; its parts may call them otherwise.

    Raises:
        RecipeError: One is below 1.
    """
    for name, count in counts.items():
        if count < 1:
            raise RecipeError(f"{name} is {count}; it must be at least 1")


def check_limits(**limits: int) -> None:
    """Refuse a recipe's arguments that are below 0, by the recipe's own names.

    Raises:
        RecipeError: One is below 0.
    """
    for name, limit in limits.items():
        if limit < 0:
            raise RecipeError(f"{name} is {limit}; it must be at least 0")


def check_shares(**shares: float) -> None:
    """Refuse a recipe's arguments that are no shares, by the recipe's own names.

    Raises:
        RecipeError: One lies outside [0, 1].
    """
    for name, share in shares.items():
        if not 0.0 <= share <= 1.0:
            raise RecipeError(f"{name} is {share}; it must be a number from 0 to 1")


def check_groups(n: int, m: int) -> None:
    """Refuse a budget that does not come in groups of `m`.

    Raises:
        RecipeError: `n` is no multiple of `m`, or either is below 1.
    """
    if m < 1 or n < 1 or n % m:
        raise RecipeError(f"n is {n} and m is {m}; n must be a multiple of m, both at least 1")
