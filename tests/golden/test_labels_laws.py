"""Laws of the recipes that label: they end, repeat themselves, survive faults, and find what is to be found."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from mctsr.engine import Outcome, search
from mctsr.errors import RecipeError, ServerError, UsageError
from mctsr.grading import normal_form
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.scripted import Scripted
from mctsr.parts import Problem
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.recipes.registry import choose
from mctsr.runs.price import STEPS, price
from mctsr.runs.settings import Settings
from mctsr.testing.laws import check_recipe
from mctsr.testing.puzzles import make_problems, read_puzzle
from mctsr.testing.step_reasoner import SimulatedSteps, StepReasoner
from mctsr.testing.steps.policy import StepWriter
from tests.support.step_story import OFFERS, PROBLEM, recipe

SMALL = {"omega-prm": {"completions": 3, "searches": 4}, "math-shepherd": {"n": 2, "completions": 3}}


def says(place: Place, request: Request) -> Completion:
    """Write a step, or where nothing stops the reply up to four; every ninth reply says nothing."""
    luck = place.seed(3)
    if luck % 9 == 0:
        return Completion("", usage=Usage(1, 1), stop="")
    done = request.begun.count("\n\n")
    answer = f"The answer is \\boxed{{{luck % 3}}}"
    steps = [f"Take {(luck + i) % 4} + {i} = 7.\n\n" for i in range(done, 3 + luck % 2)]
    if request.stop and steps:
        return Completion(steps[0], usage=Usage(1, 1), stop="\n\n")
    return Completion("".join(steps) + answer, usage=Usage(1, 10 + luck % 90), stop="")


def model() -> Scripted:
    return Scripted(says, offers=OFFERS)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("width", [1, 3])
async def test_a_search_ends_repeats_itself_and_answers_with_what_was_written(name: str, width: int) -> None:
    what = replace(recipe(name, **SMALL[name]), width=width)
    await check_recipe(what, calls=300, problem=PROBLEM, lm=model)


@pytest.mark.parametrize("name", SMALL)
async def test_a_server_that_fails_at_times_ends_no_search(name: str) -> None:
    def fails(place: Place, request: Request) -> Completion | ServerError:
        return ServerError("busy", status=503) if place.seed(4) % 11 == 0 else says(place, request)

    for seed in range(5):
        lm = Scripted(fails, offers=OFFERS)
        outcome = await search(PROBLEM, recipe(name, **SMALL[name]), lm, seed=seed)
        assert not outcome.failed
        assert not outcome.tree.nodes["in_flight"].any()


@pytest.mark.parametrize("name", SMALL)
async def test_a_server_that_always_fails_fails_the_problem(name: str) -> None:
    lm = Scripted(lambda place, request: ServerError("busy", status=503), offers=OFFERS)
    outcome = await search(PROBLEM, recipe(name, **SMALL[name]), lm)
    assert outcome.failed


@pytest.mark.parametrize("name", SMALL)
async def test_a_text_server_is_enough_and_known_answers_are_asked_for_by_name(name: str) -> None:
    assert recipe(name).needs == {"steps"}
    assert not recipe(name).uses_gold
    assert recipe(name, uses_gold=True).uses_gold
    with pytest.raises(UsageError, match="referee"):
        await search(PROBLEM, recipe(name, uses_gold=True, **SMALL[name]), model())


# What they find


async def label(
    what: Recipe, look: Callable[[Problem, Outcome], None], count: int = 12, p_err: float = 0.2
) -> None:
    lm = SimulatedSteps(StepReasoner(StepWriter(p_err)))
    for problem, right in make_problems(count, 1):

        async def referee(answer: str, right: int = right) -> bool:
            return normal_form(answer) == normal_form(str(right))

        look(problem, await search(problem, what, lm, referee=referee))


def first_wrong(problem: Problem, text: str) -> int:
    """Return the number of the first wrong step of a simulated solution, from 1."""
    puzzle = read_puzzle(problem.text)
    assert puzzle is not None
    steps = text.split("\n\n")
    return next(i for i, line in enumerate(puzzle.work().lines) if line not in steps[i]) + 1


async def test_omega_prm_finds_the_step_in_which_simulated_solutions_go_wrong() -> None:
    found = Counter[bool]()

    def look(problem: Problem, outcome: Outcome) -> None:
        for state in outcome.tree.states:
            if state.ended.startswith("first error in step "):
                found[int(state.ended.split()[-1]) == first_wrong(problem, state.text)] += 1

    await label(recipe("omega-prm", completions=16, uses_gold=True), look)
    # A mistake is never mended there. A hard step behind a good beginning can fail sixteen times.
    assert found.total() >= 40
    assert found[True] / found.total() >= 0.9


async def test_math_shepherd_says_of_a_wrong_step_that_nothing_good_comes_of_it() -> None:
    hard = Counter[tuple[bool, bool]]()

    def look(problem: Problem, outcome: Outcome) -> None:
        tree = outcome.tree
        for node in range(len(tree)):
            line = [tree.states[i].text.rstrip("\n") for i in tree.line(node)[1:]]
            if not line or not tree.scored(node):
                continue
            puzzle = read_puzzle(problem.text)
            assert puzzle is not None
            good = all(right in said for right, said in zip(puzzle.work().lines, line, strict=False))
            hard[good, tree.value(node) > 0.0] += 1

    await label(recipe("math-shepherd", n=4, completions=8, uses_gold=True), look)
    assert hard[False, True] == 0
    assert hard[False, False] >= 20
    assert hard[True, True] / (hard[True, True] + hard[True, False]) >= 0.9


# What they cost, and what they refuse


@pytest.mark.parametrize(("uses_gold", "calls"), [(True, 690), (False, 698)])
def test_a_dry_run_prices_math_shepherd_by_six_steps_a_solution(uses_gold: bool, calls: int) -> None:
    what = recipe("math-shepherd", uses_gold=uses_gold)
    found = price([Problem("p", "2+2?", "number")], what, Prompts(), Settings())
    assert (found.calls, found.at_least) == (15 * (STEPS + 8 * (STEPS - 1)) + 8 * (not uses_gold), False)
    assert found.calls == calls


@pytest.mark.parametrize("uses_gold", [False, True])
def test_a_dry_run_follows_the_searches_of_omega_prm(uses_gold: bool) -> None:
    found = price(
        [Problem("p", "2+2?", "number")], recipe("omega-prm", uses_gold=uses_gold), Prompts(), Settings()
    )
    assert not found.at_least
    assert found.calls % 8 == 0
    assert 10 * 8 <= found.calls <= 3208


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("omega-prm", {"completions": "0"}, "completions is 0"),
        ("omega-prm", {"searches": "-1"}, "searches is -1"),
        ("omega-prm", {"alpha": "0"}, "alpha is 0"),
        ("omega-prm", {"beta": "-1"}, "beta is -1"),
        ("omega-prm", {"length": "-5"}, "length is -5"),
        ("omega-prm", {"c": "-1"}, "c is -1"),
        ("omega-prm", {"most_steps": "1"}, "most_steps is 1"),
        ("omega-prm", {"max_tokens": "0"}, "max_tokens is 0"),
        ("omega-prm", {"boundary": ""}, "boundary is empty"),
        ("math-shepherd", {"n": "0"}, "n is 0"),
        ("math-shepherd", {"completions": "0"}, "completions is 0"),
        ("math-shepherd", {"max_steps": "0"}, "max_steps is 0"),
        ("math-shepherd", {"answer": "last"}, "answer"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    name: str, given: dict[str, object], message: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        choose(name, given).build()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", SMALL)
def test_every_argument_is_explained(name: str) -> None:
    chosen = choose(name)
    doc = chosen.function.__doc__ or ""
    assert len(doc.partition("\n")[0]) < 120
    assert all(f"        {argument}: " in doc for argument in chosen.arguments)
    assert "Calls: " in " ".join(doc.split())
