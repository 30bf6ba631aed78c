"""What a problem is going to cost, found by running the recipe on replies of typical length.

Contacts nothing. A recipe that would go on for ever, or nearly so, is followed for a while:
what it costs is then at least what was counted.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from mctsr.engine import search
from mctsr.errors import MctsrError, RecipeError
from mctsr.lm.base import Completion, Place, Pooled, Pooling, Request, Role, Tally, Usage
from mctsr.lm.scripted import Scripted
from mctsr.parts import Problem
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.recipes.source import told
from mctsr.stop import Limits

from .made_up.replies import (
    CHARACTERS_A_TOKEN,
    JUDGEMENT_TOKENS,
    REPLY_TOKENS,
    STEPS,
    every,
    half,
    reply,
    scores,
    step_of,
)
from .settings import Settings

__all__ = [
    "CHARACTERS_A_TOKEN", "JUDGEMENT_TOKENS", "MOST_CALLS", "REPLY_TOKENS", "SECONDS", "STEPS", "Estimate", "price",
]  # fmt: skip

MOST_CALLS = 10_000
"""Calls after which a problem is not followed any further."""

SECONDS = 4.0
"""After them, what was counted so far stands for the rest."""

_REHEARSED, _REHEARSAL = 500, 60.0
"""Calls and seconds of a rehearsal, which loads the kernels of all parts, or compiles them for the first time."""

_MOST_PROBLEMS = 20
_MOST_TASKS = 4 * MOST_CALLS
_MOST_WIDTH = 1000
_LIMITS = ("call limit", "token limit")


class Estimate(NamedTuple):
    """Expected cost: means over the problems that were tried, and the total for all.

    Attributes:
        problems: Problems of the run.
        tried: Problems that were run on made-up replies.
        calls: Calls a problem.
        prompt_tokens: Prompt tokens a problem.
        completion_tokens: Reply tokens a problem.
        at_least: Whether a problem was not followed to its end, so that all costs are more than is said.
        steps: Steps that a solution was taken to have, at most `STEPS`; 0 where none is grown by steps.
        at_most: Whether it costs less where solutions are shorter, or agree.
        limit: Which limit of the settings ended a problem, "call limit" or "token limit"; "" for none.
        roles: Whom the recipe asks, in alphabetic order.
    """

    problems: int
    tried: int
    calls: float
    prompt_tokens: float
    completion_tokens: float
    at_least: bool = False
    steps: int = 0
    at_most: bool = False
    limit: str = ""
    roles: tuple[Role, ...] = ()

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
    No problem is followed beyond `MOST_CALLS` calls, and all of it takes `SECONDS` or little more.

    Raises:
        RecipeError: The recipe's own code raises an error; says where.
    """
    recipe = replace(recipe, width=min(recipe.width, _MOST_WIDTH))
    try:
        return _price(problems, recipe, prompts, settings)
    except MctsrError:
        raise
    except Exception as error:
        raise RecipeError(f"recipe {settings.recipe!r} broke: {told(error)}") from error


def _price(problems: Sequence[Problem], recipe: Recipe, prompts: Prompts, settings: Settings) -> Estimate:
    # Whom a recipe asks is seen where no limit ends it. Compiling takes longer than all the rest, and would be
    # counted as if the search did.
    free = replace(settings, max_calls=None, token_limit=None)
    rehearsal = _Meter(free, _REHEARSED, _REHEARSAL)
    for problem in problems[:1]:
        asyncio.run(rehearsal.follow(problem, recipe, prompts))
    meter = _Meter(settings, MOST_CALLS, SECONDS)
    tallies, at_least = list[Tally](), False
    for problem in problems[:_MOST_PROBLEMS]:
        whole = asyncio.run(meter.follow(problem, recipe, prompts))
        if not whole and meter.late and tallies:
            break
        tallies.append(meter.tally)
        at_least |= not whole
        if meter.late:
            break
    n = max(len(tallies), 1)
    return Estimate(
        len(problems),
        len(tallies),
        sum(tally.calls for tally in tallies) / n,
        sum(tally.usage.prompt_tokens for tally in tallies) / n,
        sum(tally.usage.completion_tokens for tally in tallies) / n,
        at_least,
        _steps(recipe) if rehearsal.grown or meter.grown else 0,
        at_most=bool(tallies) and not at_least and _less(problems[0], recipe, prompts, settings, tallies[0]),
        limit=meter.limit,
        roles=tuple(sorted(rehearsal.roles | meter.roles)),
    )


def _less(problem: Problem, recipe: Recipe, prompts: Prompts, settings: Settings, spent: Tally) -> bool:
    """Say whether brief replies, which all agree, take fewer calls of a recipe than were counted."""
    brief = _Meter(settings, spent.calls, SECONDS, brief=True)
    return asyncio.run(brief.follow(problem, recipe, prompts)) and brief.tally.calls < spent.calls


def _steps(recipe: Recipe) -> int:
    """Return how many steps a made-up solution has: the expander may end it sooner."""
    steps = getattr(recipe.expander, "steps", recipe.expander)
    most = getattr(steps, "max_steps", STEPS)
    return min(most, STEPS) if isinstance(most, int) else STEPS


class _Enough(BaseException):
    """A problem was followed long enough; no recipe's `except Exception` keeps it."""


class _Meter:
    """Makes up replies, counts them, and ends a search that takes too many.

    Attributes:
        tally: What the last problem has cost.
        grown: Whether a solution was grown by steps, in any problem.
        limit: Which limit of the settings ended a problem; "" for none.
        roles: Who was asked.
    """

    def __init__(self, settings: Settings, calls: int, seconds: float, *, brief: bool = False) -> None:
        self._calls, self._end, self._brief = calls, time.monotonic() + seconds, brief
        self.tally, self.grown, self.limit, self.roles = Tally(), False, "", set[Role]()
        self._settings = settings
        self._lengths = {
            "policy": min(REPLY_TOKENS, settings.policy.max_tokens),
            "judge": min(JUDGEMENT_TOKENS, settings.judge_max_tokens),
            "prm": min(JUDGEMENT_TOKENS, settings.judge_max_tokens),
        }

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._end

    async def follow(self, problem: Problem, recipe: Recipe, prompts: Prompts) -> bool:
        """Run a recipe on one problem; says whether it came to its end."""
        self.tally, self._tasks = Tally(), 0
        loop = asyncio.get_running_loop()
        loop.set_task_factory(self._task)
        limits, seed = Limits(self._settings.max_calls, self._settings.token_limit), self._settings.seed
        lm = Scripted(self._said, scores=self._scored, offers=recipe.needs | recipe.wishes)
        right = every if self._brief else half
        try:
            found = await search(
                problem, recipe, lm, seed=seed, prompts=prompts, limits=limits, referee=right
            )
        except _Enough:
            self._fill(problem)
            return False
        finally:
            loop.set_task_factory(None)
        # A run asks for it, too: what breaks there is to break here.
        recipe.answerer(found.tree)
        if found.reason in _LIMITS:
            self.limit = found.reason
        return True

    def _said(self, place: Place, request: Request) -> Completion:
        if self.tally.calls >= self._calls or self.late:
            raise _Enough
        completion = reply(place, request, self._lengths[request.role], brief=self._brief)
        self.grown |= step_of(request) > 0
        self.roles.add(request.role)
        self.tally.count(completion)
        return completion

    def _scored(self, place: Place, pooling: Pooling) -> Pooled:
        if self.tally.calls >= self._calls or self.late:
            raise _Enough
        pooled = scores(place, pooling, brief=self._brief)
        self.roles.add(pooling.role)
        self.tally.count(pooled)
        return pooled

    def _task(self, loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> "asyncio.Task[Any]":
        """Make a task, as long as there are not far too many: a population has all of them before its first call."""
        self._tasks += 1
        if self._tasks > _MOST_TASKS:
            work.close()
            raise _Enough
        return asyncio.Task(work, loop=loop, **more)

    def _fill(self, problem: Problem) -> None:
        """Count the calls that a population was about to make, by what each costs at least."""
        if self._tasks > _MOST_TASKS and (missing := MOST_CALLS - self.tally.calls) > 0:
            prompt = len(problem.text) // CHARACTERS_A_TOKEN
            usage = Usage(missing * prompt, missing * min(self._lengths.values()))
            self.tally.add(Tally(missing, usage))
