"""The toy worlds of steps: their best solution is best, their texts are read, their calls are all paid for."""

import subprocess
import sys
from itertools import permutations
from pathlib import Path as File

import numpy as np
import pytest

from mctsr.answer import best_value
from mctsr.backup import Mean, OwnValue
from mctsr.backup.amaf import AmafMean
from mctsr.engine import Outcome, search
from mctsr.lm.base import Message, Place, Request
from mctsr.recipe import Recipe
from mctsr.select.descent import Descent
from mctsr.select.frontier import Frontier
from mctsr.select.grave import Grave, Mcps
from mctsr.select.scores import uct
from mctsr.select.step_code import step_code, step_form
from mctsr.stop import Limits, never
from mctsr.testing.laws import check_expander, check_judge
from mctsr.testing.order_parts import NextStep, StepJudge, WholeSolution
from mctsr.testing.orders import WORDINGS, Order, StepWorld, step_world

ORDERS: tuple[Order, ...] = ("free", "half", "matters")
BENCH = File(__file__).parents[2] / "scripts" / "bench_orders"


@pytest.fixture(params=ORDERS)
def world(request: pytest.FixtureRequest) -> StepWorld:
    order: Order = request.param
    return step_world(order, 3)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(4))
def test_no_solution_is_worth_more_than_the_best_one(order: Order, seed: int) -> None:
    world = step_world(order, seed, steps=6, length=3)
    values = [world.value(steps) for steps in permutations(range(6), 3)]
    assert max(values) == pytest.approx(1.0)
    assert world.value(world.best) == 1.0


def test_order_is_free_where_it_is_said_to_be() -> None:
    world = step_world("free", 0)
    values = [world.value(steps) for steps in permutations(world.best)]
    assert np.allclose(values, 1.0)


def test_a_step_that_builds_on_another_counts_after_it_alone() -> None:
    world = step_world("half", 0)
    step = next(i for i, needed in enumerate(world.needs) if needed >= 0)
    base = world.needs[step]
    assert world.sum([base, step]) == pytest.approx(world.worth[base][0] + world.worth[step][1])
    assert world.sum([step, base]) == pytest.approx(world.worth[base][1])


def test_a_step_costs_anywhere_but_at_its_place_where_order_matters() -> None:
    world = step_world("matters", 0)
    for row in world.worth:
        assert sum(worth > 0 for worth in row) == 1
        assert max(row) == pytest.approx(-4 * min(row))


def test_every_wording_of_a_step_has_one_code_and_no_other_step_has_it(world: StepWorld) -> None:
    codes = [{step_code(text) for text in world.texts(step)} for step in range(len(world.worth))]
    assert all(len(code) == 1 for code in codes)
    assert len(set.union(*codes)) == len(world.worth)
    assert {step_form(text) for text in world.texts(0)} == {step_form(world.texts(0)[0])}
    assert len(set(world.texts(0))) == len(WORDINGS)


def test_what_is_hoped_of_a_full_solution_is_its_value(world: StepWorld) -> None:
    assert world.hoped(world.best) == 1.0
    assert world.hoped([]) < 1.0


async def test_the_siblings_of_one_ask_are_different_steps_by_their_prior(world: StepWorld) -> None:
    first = []
    for ask in range(300):
        drafts = [
            (await world.complete(Place("p", ask, "step", draft), Request((Message("user", ""),)))).text
            for draft in range(4)
        ]
        steps = [world.read(text)[0] for text in drafts]
        assert len(set(steps)) == 4
        first.append(steps[0])
    likeliest = int(np.argmax(world.prior))
    assert first.count(likeliest) / 300 == pytest.approx(world.chance(likeliest, []), abs=0.1)


async def test_the_judge_is_right_on_average(world: StepWorld) -> None:
    lines = "\n".join(world.texts(step)[0] for step in world.best[:3])
    request = Request((Message("user", lines),), "judge")
    said = [float((await world.complete(Place("p", 0, "score", i), request)).text) for i in range(400)]
    assert np.mean(said) == pytest.approx(0.2 + 0.6 * world.hoped(world.best[:3]), abs=0.02)
    assert np.std(said) == pytest.approx(0.6 * world.noise, rel=0.15)


async def test_a_full_solution_is_judged_with_less_noise(world: StepWorld) -> None:
    lines = "\n".join(world.texts(step)[0] for step in world.best)
    request = Request((Message("user", lines),), "judge")
    said = [float((await world.complete(Place("p", 0, "score", i), request)).text) for i in range(400)]
    assert np.mean(said) == pytest.approx(0.8, abs=0.01)
    assert np.std(said) == pytest.approx(0.6 * world.final_noise, rel=0.15)


async def test_the_parts_keep_the_laws(world: StepWorld) -> None:
    await check_expander(NextStep(world), problem=world.problem, lm=lambda: world, n=1)
    await check_expander(WholeSolution(world), problem=world.problem, lm=lambda: world)
    await check_judge(StepJudge())


async def grow(world: StepWorld, recipe: Recipe, calls: int = 120) -> Outcome:
    outcome = await search(world.problem, recipe, world, limits=Limits(calls=calls))
    assert not outcome.failed
    return outcome


async def test_every_step_and_every_score_is_one_call(world: StepWorld) -> None:
    recipe = Recipe(NextStep(world), StepJudge(), Descent(uct(0.1), n=4), Mean(), never(), best_value)
    outcome = await grow(world, recipe)
    assert (
        outcome.ledger.tally.calls == 2 * len(outcome.tree) - 1
    )  # the empty root is judged and not proposed
    again = await grow(world, recipe)
    assert [state.text for state in again.tree.states] == [state.text for state in outcome.tree.states]


async def test_whole_solutions_cost_a_call_a_step_and_are_not_all_the_same(world: StepWorld) -> None:
    recipe = Recipe(WholeSolution(world), StepJudge(), Frontier(8), OwnValue(), never(), best_value)
    outcome = await grow(world, recipe)
    assert outcome.ledger.tally.calls == 8 * (world.length + 1)
    assert len({state.answer for state in outcome.tree.states}) > 4


@pytest.mark.parametrize("order", ORDERS)
async def test_a_judge_without_noise_leads_every_search_near_the_best_solution(order: Order) -> None:
    world = step_world(order, 1, noise=0.0, final_noise=0.0)
    for selector, backup in (
        (Descent(uct(0.1), n=4), Mean()),
        (Grave(step_code, n=4), AmafMean(step_code)),
        (Mcps(step_code, n=4), AmafMean(step_code, window=10_000)),
    ):
        recipe = Recipe(NextStep(world), StepJudge(), selector, backup, never(), best_value)
        answer = best_value((await grow(world, recipe, 400)).tree).answer
        assert answer is not None
        assert world.value([int(step) for step in answer.split()]) > 0.6


def test_the_benchmark_prints_a_row_a_method_and_budget() -> None:
    command = [sys.executable, str(BENCH), "--seeds", "2", "--worlds", "free", "--budgets", "40", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line for line in done.stdout.splitlines() if "[" in line]
    assert len(rows) == 2 * 8
    assert {row[:11].strip() for row in rows} == {
        *("uct", "puct", "grave", "rave", "mcps", "best first", "random", "best of n")
    }
