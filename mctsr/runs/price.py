"""What a problem is going to cost, found by running the recipe on replies of typical length.

Knows typical lengths. Contacts nothing.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from mctsr.engine import search
from mctsr.errors import MctsrError, RecipeError
from mctsr.lm.base import Completion, Place, Request, Tally, Usage
from mctsr.lm.scripted import Scripted
from mctsr.parts import Problem
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.recipes.source import told
from mctsr.stop import Limits

from .settings import Settings

REPLY_TOKENS = 300
JUDGEMENT_TOKENS = 60
CHARACTERS_A_TOKEN = 4

_MOST_PROBLEMS = 20


class Estimate(NamedTuple):
    """Expected cost: means over the problems that were tried, and the total for all.

    Attributes:
        problems: Problems of the run.
        tried: Problems that were run on made-up replies.
        calls: Calls a problem.
        prompt_tokens: Prompt tokens a problem.
        completion_tokens: Reply tokens a problem.
    """

    problems: int
    tried: int
    calls: float
    prompt_tokens: float
    completion_tokens: float

    @property
    def total_calls(self) -> int:
        """Calls of the whole run."""
        return round(self.calls * self.problems)

    @property
    def total_tokens(self) -> int:
        """Prompt and reply tokens of the whole run."""
        return round((self.prompt_tokens + self.completion_tokens) * self.problems)


def price(problems: Sequence[Problem], recipe: Recipe, prompts: Prompts, settings: Settings) -> Estimate:
    """Run `recipe` on the first problems with made-up replies, and count.

    Limits on calls and tokens apply, those on time do not. Must not be called from a running event loop.

    Raises:
        RecipeError: The recipe's own code raises an error; says where.
    """
    tried = problems[:_MOST_PROBLEMS]
    try:
        total = asyncio.run(_spent(tried, recipe, prompts, settings))
    except MctsrError:
        raise
    except Exception as error:
        raise RecipeError(f"recipe {settings.recipe!r} broke: {told(error)}") from error
    usage, n = total.usage, max(len(tried), 1)
    return Estimate(
        len(problems),
        len(tried),
        total.calls / n,
        usage.prompt_tokens / n,
        usage.completion_tokens / n,
    )


async def _spent(problems: Sequence[Problem], recipe: Recipe, prompts: Prompts, settings: Settings) -> Tally:
    lengths = {
        "policy": min(REPLY_TOKENS, settings.policy.max_tokens),
        "judge": min(JUDGEMENT_TOKENS, settings.judge_max_tokens),
    }
    lm = Scripted(lambda place, request: _reply(place, request, lengths[request.role]), offers=recipe.needs)
    limits, total = Limits(settings.max_calls, settings.token_limit), Tally()
    for problem in problems:
        found = await search(problem, recipe, lm, seed=settings.seed, prompts=prompts, limits=limits)
        # A run asks for it, too: what breaks there is to break here.
        recipe.answerer(found.tree)
        total.add(found.ledger.tally)
    return total


def _reply(place: Place, request: Request, tokens: int) -> Completion:
    """Make up a reply that can be read: an answer, or a score that differs from call to call."""
    filler = "step " * (tokens * CHARACTERS_A_TOKEN // len("step "))
    number = place.seed(0) % 90
    if request.role == "judge":
        text = f'{{"reason": "{filler}", "score": {number}}}'
    else:
        text = f"{filler}The final answer is \\boxed{{{number}}}"
    prompt = sum(len(turn.content) for turn in request.messages) // CHARACTERS_A_TOKEN
    return Completion(text, usage=Usage(prompt, tokens))
