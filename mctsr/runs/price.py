"""What a problem is going to cost, found by running the recipe on replies of typical length.

Knows typical lengths. Contacts nothing. A recipe that would go on for ever, or nearly so, is followed for a while:
what it costs is then at least what was counted.
"""

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from mctsr.engine import search
from mctsr.errors import MctsrError, RecipeError
from mctsr.lm.base import Completion, Place, Pooled, Pooling, Request, Tally, Token, Usage
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
STEPS = 6
"""Steps of a solution that is grown step by step."""

_STEP_END = "<extra_0>"

MOST_CALLS = 10_000
"""Calls after which a problem is not followed any further."""

SECONDS = 4.0
"""After them, what was counted so far stands for the rest."""

_MOST_PROBLEMS = 20
_MOST_TASKS = 4 * MOST_CALLS
_MOST_WIDTH = 1000


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
    """

    problems: int
    tried: int
    calls: float
    prompt_tokens: float
    completion_tokens: float
    at_least: bool = False
    steps: int = 0

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
    meter, tallies, at_least = _Meter(settings), list[Tally](), False
    try:
        for problem in problems[:_MOST_PROBLEMS]:
            whole = asyncio.run(meter.follow(problem, recipe, prompts))
            if not whole and meter.late and tallies:
                break
            tallies.append(meter.tally)
            at_least |= not whole
            if meter.late:
                break
    except MctsrError:
        raise
    except Exception as error:
        raise RecipeError(f"recipe {settings.recipe!r} broke: {told(error)}") from error
    n = max(len(tallies), 1)
    return Estimate(
        len(problems),
        len(tallies),
        sum(tally.calls for tally in tallies) / n,
        sum(tally.usage.prompt_tokens for tally in tallies) / n,
        sum(tally.usage.completion_tokens for tally in tallies) / n,
        at_least,
        min(meter.steps, STEPS),
    )


class _Enough(BaseException):
    """A problem was followed long enough; no recipe's `except Exception` keeps it."""


class _Meter:
    """Makes up replies, counts them, and ends a search that takes too many.

    Attributes:
        tally: What the last problem has cost.
        steps: The last step that was asked for, in any problem.
    """

    def __init__(self, settings: Settings) -> None:
        self.tally, self.steps = Tally(), 0
        self._settings = settings
        self._end = time.monotonic() + SECONDS
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
        try:
            found = await search(
                problem, recipe, lm, seed=seed, prompts=prompts, limits=limits, referee=_sometimes
            )
        except _Enough:
            self._fill(problem)
            return False
        finally:
            loop.set_task_factory(None)
        # A run asks for it, too: what breaks there is to break here.
        recipe.answerer(found.tree)
        return True

    def _said(self, place: Place, request: Request) -> Completion:
        if self.tally.calls >= MOST_CALLS or self.late:
            raise _Enough
        completion = _reply(place, request, self._lengths[request.role])
        self.steps = max(self.steps, _step(request))
        self.tally.count(completion)
        return completion

    def _scored(self, place: Place, pooling: Pooling) -> Pooled:
        if self.tally.calls >= MOST_CALLS or self.late:
            raise _Enough
        texts = [*(turn.content for turn in pooling.messages), pooling.text]
        usage = Usage(sum(map(len, texts)) // CHARACTERS_A_TOKEN)
        score = place.seed(0) % 90 / 100
        steps = max(1, sum(text.count(_STEP_END) for text in texts))
        rows = ((score,),) if pooling.task == "classify" else ((1 - score, score),) * steps
        pooled = Pooled(rows, usage)
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


async def _sometimes(answer: str) -> bool:
    """Call half of the made-up answers right."""
    return len(answer) + sum(map(ord, answer)) & 1 == 0


def _reply(place: Place, request: Request, tokens: int) -> Completion:
    """Make up a reply that can be read: an answer, its next step, or a score that differs from call to call."""
    tokens, number = min(tokens, request.max_tokens or tokens), place.seed(0) % 10**6
    if request.role != "policy" and request.logprobs is not None:
        return Completion("", usage=Usage(_prompt_tokens(request), tokens), tokens=(_label(number),))
    if step := _step(request):
        tokens, end = min(tokens, REPLY_TOKENS // STEPS), request.stop[0]
        if step < STEPS:  # the last one holds the answer
            return _written(request, f"Step {number}: {_filler(tokens)}{end}", tokens, end)
    if request.role == "judge":
        # Such a number lies on every judge's scale.
        text = f'{{"reason": "{_filler(tokens)}", "score": {number % 90 / 10}}}'
    else:
        left = max(STEPS - request.begun.count("\n\n"), 1)
        lines = (_filler(tokens // STEPS) + "\n\n") * (left - 1)
        text = f"{lines}The final answer is \\boxed{{{number % 90}}}"
    return _written(request, text, tokens, "" if request.begun or request.stop else None)


def _step(request: Request) -> int:
    """Say which step of a solution is asked for, from 1; 0 for anything else."""
    grown = request.stop and request.role == "policy"
    return 1 + sum(map(request.begun.count, request.stop)) if grown else 0


def _written(request: Request, text: str, tokens: int, end: str | None) -> Completion:
    """Make a reply of a text, as one token if any are asked for: nobody counts them."""
    whole = () if request.logprobs is None else (Token(text, -0.1 * tokens * (1 + len(text) % 7)),)
    return Completion(text, usage=Usage(_prompt_tokens(request), tokens), stop=end, tokens=whole)


def _label(number: int) -> Token:
    """Make a token that any judge's labels are read from."""
    good = (1 + number % 90) / 100
    top = tuple(
        (text, math.log(chance))
        for chance, pair in ((good, "Yes +"), (1 - good, "No -"))
        for text in pair.split()
    )
    return Token("Yes", top[0][1], None, top)


def _filler(tokens: int) -> str:
    return "step " * (tokens * CHARACTERS_A_TOKEN // len("step "))


def _prompt_tokens(request: Request) -> int:
    texts = [*(turn.content for turn in request.messages), request.begun]
    return sum(map(len, texts)) // CHARACTERS_A_TOKEN
