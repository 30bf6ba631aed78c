"""Scripted replies for searches: every call gets a text that names its place, scores come from a function."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from mctsr.engine import Outcome, search
from mctsr.lm.base import Completion, Place, Request
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Problem
from mctsr.recipe import Recipe
from mctsr.recipes.registry import choose
from mctsr.rollout import Event

PROBLEM = Problem("p", "How much is 6 times 7?", "number")

Score = int | float | str | Exception | Completion


def named(place: Place) -> Reply:
    """Say where the call was made; answers end in a number that no other place has."""
    if place.part == "critique":
        return f"Critique in ask {place.ask}, draft {place.draft}."
    return f"{place.part} {place.ask}.{place.draft}\nThe final answer is \\boxed{{{100 * place.ask + place.draft}}}"


def graded(
    score: Callable[[Place], Score], text: Callable[[Place], Reply] = named
) -> Callable[[Place, Request], Reply]:
    """Reply to score calls with what `score` says, to all others with `text`."""

    def reply(place: Place, request: Request) -> Reply:
        if place.part != "self_reward":
            return text(place)
        value = score(place)
        if isinstance(value, Exception | Completion | str):
            return value
        return f'{{"reason": "because", "score": {value}}}'

    return reply


def table(scores: Mapping[tuple[int, int], Score]) -> Callable[[Place], Score]:
    """Look scores up by ask and draft; draft -1 is the asked node itself."""
    return lambda place: scores[place.ask, place.draft]


def hashed(place: Place) -> int:
    """Score every place differently, from -95 to 94, attempts alike."""
    return place._replace(attempt=0).seed(5) % 190 - 95


def recipe(name: str, *, width: int = 1, **arguments: object) -> Recipe:
    """Build a shipped recipe."""
    return replace(choose(name, arguments).build(), width=width)


async def grow(
    what: Recipe,
    replies: Callable[[Place, Request], Reply],
    *,
    delay: Callable[[Place], float] | None = None,
) -> tuple[Outcome, Scripted, list[Event]]:
    """Search `PROBLEM` and return what it left behind, the model and the events."""
    lm = Scripted(replies, delay=delay)
    events: list[Event] = []
    outcome = await search(PROBLEM, what, lm, watch=events.append)
    return outcome, lm, events
