"""A dead server is no result: a search that faults alone have emptied has failed, and is tried again."""

from dataclasses import replace

import pytest

from mctsr.engine import Outcome, search
from mctsr.errors import RecipeError, ServerError
from mctsr.lm.base import Completion, Place, Request
from mctsr.lm.scripted import Scripted
from mctsr.parts import Problem
from mctsr.recipes.registry import choose
from mctsr.select.frontier import MOST, Frontier
from mctsr.select.population import Beams
from tests.support.step_story import OFFERS

POPULATIONS = ("beam", "dvts", "particle-filter", "tot")
ARGUMENTS = {
    "beam": {"n": 4, "m": 2},
    "dvts": {"n": 4, "m": 2},
    "particle-filter": {"n": 4},
    "tot": {"breadth": 2, "children": 2},
}
STEP = Completion("Add 1 and 2.\n\n", stop="\n\n")


async def grown(name: str, *, dead: str) -> Outcome:
    """Search with a server on which every call of the parts that begin with `dead` fails."""

    def reply(place: Place, request: Request) -> Completion | Exception:
        if place.part.startswith(dead):
            return ServerError("answered 500", retries=1)
        return STEP

    what = replace(choose(name, ARGUMENTS.get(name, {})).build())
    return await search(Problem("p", "1 + 2?", "number"), what, Scripted(reply, offers=OFFERS))


@pytest.mark.parametrize("name", [*POPULATIONS, "puct-prm", "grave-steps"])
@pytest.mark.parametrize("dead", ["step", "judge"])
async def test_a_search_that_server_faults_have_emptied_has_failed(name: str, dead: str) -> None:
    outcome = await grown(name, dead=dead)
    assert outcome.failed
    assert "answered 500" in outcome.reason


async def test_a_search_that_unreadable_replies_have_emptied_is_over() -> None:
    outcome = await search(
        Problem("p", "1 + 2?", "number"),
        choose("beam", ARGUMENTS["beam"]).build(),
        Scripted(
            lambda place, request: STEP if place.part == "step" else Completion("No idea."), offers=OFFERS
        ),
    )
    assert (outcome.failed, outcome.reason) == (False, "all unscored")


def test_a_population_that_no_memory_holds_is_refused() -> None:
    with pytest.raises(RecipeError, match=f"n is {10**9}; .* at most {MOST} members"):
        Frontier(10**9, Beams(4), opened=1)
    with pytest.raises(RecipeError, match="at most"):
        choose("beam", {"n": 10**9}).build()
