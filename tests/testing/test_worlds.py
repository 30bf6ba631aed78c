"""Recipes in worlds with a known best answer, each with the success that it must reach over fixed seeds."""

from collections.abc import Callable

import pytest

from mctsr.engine import search
from mctsr.grading import extract_answer
from mctsr.lm.base import Completion, Message, Place, Request
from mctsr.parts import Problem
from mctsr.prompting import Prompts
from mctsr.testing.worlds import HiddenWord, Urn, World
from tests.testing.replies import recipe

SEEDS = 40


async def successes(name: str, arguments: dict[str, int], world: Callable[[int], World]) -> int:
    """Count the seeds under which the optimum is returned."""
    what, prompts, found = recipe(name, **arguments), Prompts(), 0
    for seed in range(SEEDS):
        place = world(seed)
        outcome = await search(place.problem, what, place, seed=seed, prompts=prompts)
        found += what.answerer(outcome.tree).answer == place.optimum
    return found


@pytest.mark.parametrize(
    ("name", "arguments", "low", "high"),
    [
        ("zero-shot", {}, 0, 1),  # 8^-5
        ("best-of-n", {"n": 60}, 0, 2),  # drawing alone finds no word
        ("self-refine", {"rollouts": 60}, 12, 33),  # right when it happens to end on the word
        ("mctsr", {"rollouts": 60}, 38, 40),
        ("mctsr", {"rollouts": 60, "width": 4}, 38, 40),
        ("mctsr-code", {"rollouts": 60}, 38, 40),
    ],
)
async def test_refining_finds_a_hidden_word_and_drawing_does_not(
    name: str, arguments: dict[str, int], low: int, high: int
) -> None:
    found = await successes(name, arguments, lambda seed: HiddenWord(seed=seed))
    assert low <= found <= high


@pytest.mark.parametrize(
    ("name", "arguments", "low", "high"),
    [
        ("zero-shot", {}, 2, 16),  # 1/5
        ("self-consistency", {"n": 12}, 2, 16),  # votes know nothing of values
        ("best-of-n", {"n": 12}, 33, 40),  # 1 - 0.8^12 = 0.93
        # As many draws, but a best answer that was refined into worse ones has the mean of both as its value, and
        # an untouched second best may then be returned.
        ("mctsr", {"rollouts": 11}, 25, 38),
        ("mctsr-code", {"rollouts": 11}, 25, 38),
    ],
)
async def test_in_the_urn_only_the_number_of_draws_counts(
    name: str, arguments: dict[str, int], low: int, high: int
) -> None:
    found = await successes(name, arguments, lambda seed: Urn(seed=seed))
    assert low <= found <= high


async def ask(world: HiddenWord | Urn, prompt: str, ask: int = 0, **values: str) -> Completion:
    filled = Prompts()[prompt]
    turns = tuple(Message(role, text) for role, text in filled.fill(values))  # type: ignore[arg-type]
    return await world.complete(Place("p", ask, prompt), Request(turns, schema=filled.schema))


async def test_the_word_gets_the_best_score_and_a_wrong_one_the_worst() -> None:
    world = HiddenWord("badge")
    assert (world.score("badge"), world.score("cccca")) == (90, -90)
    assert world.score("baccc") == round(90 * (2 * 2 / 5 - 1))


async def test_a_refinement_changes_one_letter_at_most_and_can_reach_the_word() -> None:
    world, guess = HiddenWord("badge", p_fix=1.0, p_break=0.0), "hhhhh"
    for step in range(5):
        problem = world.problem.text
        reply = await ask(
            world, "rewrite", step, problem=problem, answer=f"\\boxed{{{guess}}}", critique="Look again."
        )
        refined = extract_answer(reply.text)
        assert refined is not None
        assert sum(a != b for a, b in zip(guess, refined, strict=True)) == 1
        guess = refined
    assert guess == "badge"


async def test_the_same_place_gets_the_same_reply_and_another_seed_another() -> None:
    texts = [(await ask(HiddenWord(seed=seed), "answer", problem="?")).text for seed in (0, 0, 1, 2)]
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3


def test_a_world_shows_no_answer_in_its_problem() -> None:
    for world in (HiddenWord(), Urn()):
        assert isinstance(world.problem, Problem)
        assert world.optimum not in world.problem.text
