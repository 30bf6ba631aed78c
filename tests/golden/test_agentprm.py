r"""AgentPRM's targets, worked out by hand: three solutions, gamma = .9, 5 is the known answer.

add cut =5 right, R = 1; add cut =3 wrong, R = -1; buy =5 right. Two drafts say add: two nodes, one state.

paper    add: (.81 - .81) / 2 = 0 (2), add cut (.9 - .9) / 2 = 0 (2), add cut =5 1 (1), add cut =3 -1 (1),
         buy .9 (1), buy =5 1 (1); root (1 - 1 + 1) / 3 (3)
code     add (1 - 1) / 2 = 0 (2), add cut 0 (2), add cut =5 .81 (1), add cut =3 -.81 (1), buy 1 (1), buy =5 .9 (1)
"""

import pytest

from mctsr.engine import Outcome, search
from mctsr.errors import RecipeError
from mctsr.lm.base import Completion, Place, Request
from mctsr.lm.scripted import Scripted
from mctsr.recipe import Recipe
from tests.support.step_story import PROBLEM, Story, model, name_of, recipe

STORY = Story(
    {"": ["add", "add", "buy"], "add": ["cut"], "buy": ["=5"]},
    {"add cut =5": 0.9, "add cut =3": 0.3, "buy =5": 0.6},
)
ENDS = {"add cut =5": (1.0, 1), "add cut =3": (-1.0, 1), "buy =5": (1.0, 1)}


async def grown(what: Recipe) -> tuple[Outcome, Scripted]:
    ends = iter(["=5", "=3"])

    def said(place: Place, request: Request) -> Completion:
        known = STORY if request.begun != "add\n\ncut\n\n" else Story({"add cut": [next(ends)]}, STORY.score)
        return known(place, request)

    async def right(answer: str) -> bool:
        return answer == "5"

    lm = Scripted(said, offers=model(STORY).offers)
    return await search(PROBLEM, what, lm, referee=right if what.uses_gold else None), lm


def numbers(outcome: Outcome) -> dict[str, tuple[float, int]]:
    """Return value and visits by name; equal names must have equal numbers."""
    tree, found = outcome.tree, dict[str, tuple[float, int]]()
    for node in range(len(tree)):
        row = (float(tree.nodes["value"][node]), int(tree.nodes["visits"][node]))
        assert found.setdefault(name_of(tree, node), row) == row
    return found


def near(wanted: dict[str, tuple[float, int]]) -> dict[str, object]:
    return {name: (pytest.approx(value, abs=1e-9), visits) for name, (value, visits) in wanted.items()}


async def test_a_step_is_worth_what_solutions_through_it_came_to_discounted_by_what_was_left() -> None:
    outcome, lm = await grown(recipe("agentprm", n=3, gamma=0.9, uses_gold=True))
    wanted = {"": (1 / 3, 3), "add": (0.0, 2), "add cut": (0.0, 2), "buy": (0.9, 1), **ENDS}
    assert numbers(outcome) == near(wanted)
    assert (outcome.reason, len(lm.calls)) == ("all finished", 3 + 3 + 2)


async def test_the_released_code_discounts_from_the_start() -> None:
    outcome, _ = await grown(recipe("agentprm-code", n=3, gamma=0.9, uses_gold=True))
    wanted = {"": (1 / 3, 3), "add": (0.0, 2), "add cut": (0.0, 2), "buy": (1.0, 1)}
    ends = {"add cut =5": (0.81, 1), "add cut =3": (-0.81, 1), "buy =5": (0.9, 1)}
    assert numbers(outcome) == near({**wanted, **ends})


async def test_without_known_answers_a_judge_says_how_right_an_end_is() -> None:
    what = recipe("agentprm", n=3, gamma=0.9)
    outcome, lm = await grown(what)
    found = numbers(outcome)
    assert found["buy =5"][0] == pytest.approx(0.2), ".6 of 1"
    assert found["add"][0] == pytest.approx(0.81 * (0.8 - 0.4) / 2)
    assert sum(place.part == "judge_label" for place, _ in lm.calls) == 3
    assert what.answerer(outcome.tree).answer == "5"
    assert what.answerer(outcome.tree).by == "majority"


@pytest.mark.parametrize("name", ["agentprm", "agentprm-code"])
def test_completions_cannot_judge_ends_since_an_end_has_none_and_would_agree_with_itself(name: str) -> None:
    with pytest.raises(RecipeError, match="judge 'mc-estimate' compares an answer with completions"):
        recipe(name, judge="mc-estimate")
