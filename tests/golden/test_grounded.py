r"""GroundedPRM's two searches, worked out by hand; two children a node. V (n): value and visits.

The root grows A, checked as right, and B, checked as wrong; neither is a visit. From A a simulation writes steps that
are right, right and wrong, and an end with the wrong answer: v = 1, 1, -1 and F = -1.

as released: V = (1 * 3 + 1 * 2 - 1 * 1) / 9 - 1 / 3 = 1 / 9; A 1/9 (0), root .1 (1).

as published, c = 1.8: V = 1 / 3 - 1 = -2 / 3; A -2/3 (1), root -.6 (1).
  round 2  B was never visited: B. Its children: "left", not checkable, and the right answer, F = 1 at its birth.
           answer 1 (1), B .9 (1), root (-.6 + .81) / 2 = .105 (2). From "left" the first simulated step is the right
           answer: no verdict is left but F, V = 1: left 1 (1), B .9 (2), root (-.6 + .81 + .81) / 3 = .34 (3).
  round 3  A -.667 + 1.8 sqrt(ln 3) = 1.22, B .9 + 1.8 sqrt(ln 3 / 2) = 2.23: B, whose answer is finished: left.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from mctsr.engine import Outcome, search
from mctsr.errors import RecipeError, ServerError, UsageError
from mctsr.judge.grounded.rollout import rollouts_of
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.base.reply import Finish
from mctsr.lm.scripted import Scripted
from mctsr.parts import Ask
from mctsr.prompting import Prompts
from mctsr.recipes.labels.grounded import majority_of_ends
from mctsr.rollout import Asked
from mctsr.runs.price import price
from mctsr.runs.settings import Settings
from mctsr.select.labels.chance import AnyChildOfRoot
from mctsr.select.rounds.look import GrowThenLook, first_open
from mctsr.testing.laws import check_recipe, check_selector
from mctsr.tree import Tree
from tests.support.judging import label
from tests.support.step_story import PROBLEM, recipe

NAMES = ["grounded-prm", "grounded-prm-code"]
OFFERS = frozenset({"steps", "logprobs"})
A, B, LEFT = "A: 1 + 1 = 2.", "B: 1 + 1 = 3.", "There is more to do."
RIGHT, WRONG = "The answer is \\boxed{2}", "The answer is \\boxed{6}"

#: What is written behind a last step: by a node that grows, and in a simulation.
GROWN: Mapping[str, Sequence[str]] = {"": [A, B], B: [LEFT, RIGHT], LEFT: [RIGHT, WRONG], A: [LEFT, WRONG]}
SIMULATED = {
    **{A: "2 + 1 = 3.", "2 + 1 = 3.": "3 + 1 = 4.", "3 + 1 = 4.": "4 + 1 = 6.", "4 + 1 = 6.": WRONG},
    LEFT: RIGHT,
    B: WRONG,
}


def says(place: Place, request: Request) -> Completion:
    if place.part == "judge_label":
        good = RIGHT in request.messages[-2].content
        return label(yes=0.9 if good else 0.2, no=0.1 if good else 0.8)
    last = (["", *(text for text in request.begun.split("\n\n") if text)])[-1]
    text = GROWN[last][place.draft % 2] if place.draft >= 0 else SIMULATED[last]
    if text in (RIGHT, WRONG):
        return Completion(text, usage=Usage(1, 1), stop="")
    return Completion(f"{text}\n\n", usage=Usage(1, 1), stop="\n\n")


async def known(answer: str) -> bool:
    return answer == "2"


async def told(name: str, *, seed: int = 0, **arguments: object) -> tuple[Outcome, Scripted, list[Asked]]:
    lm, asked = Scripted(says, offers=OFFERS), list[Asked]()
    what = recipe(name, children=2, **arguments)
    watch = lambda event: asked.append(event) if isinstance(event, Asked) else None  # noqa: E731
    referee = known if what.uses_gold else None
    return await search(PROBLEM, what, lm, seed=seed, watch=watch, referee=referee), lm, asked


def same(tree: Tree, wanted: Sequence[tuple[float, int]]) -> None:
    used = tree.nodes[: len(tree)]
    assert used["value"].tolist() == pytest.approx([value for value, _ in wanted], abs=1e-6)
    assert used["visits"].tolist() == [visits for _, visits in wanted]


async def test_a_simulation_is_worth_its_verdicts_and_its_outcome_as_released() -> None:
    outcome, lm, asked = await told("grounded-prm-code", rounds=1, uses_gold=True)
    same(outcome.tree, [(0.1, 1), (0.111111, 0), (-1.0, 0)])
    assert [(ask.node, ask.n, ask.again) for ask in asked[1:]] == [(0, 2, False), (1, 0, True)]
    assert outcome.reason == "rounds"
    assert Counter(place.part for place, _ in lm.calls) == {"step": 2 + 4}
    (rollout,) = rollouts_of(outcome.tree.states[1].samples)
    assert rollout.verdicts == [1.0, 1.0, -1.0, 0.0]
    assert (rollout.outcome, rollout.answer, rollout.complete) == (-1.0, "6", True)
    assert "".join(rollout.steps).endswith(WRONG)
    assert majority_of_ends(outcome.tree) == ("6", None, "majority of the simulations")


async def test_published_it_follows_uct_over_discounted_means() -> None:
    outcome, lm, asked = await told("grounded-prm", rounds=2, uses_gold=True)
    texts = [state.text.strip() for state in outcome.tree.states]
    assert texts == ["", A, B, LEFT, RIGHT]
    same(outcome.tree, [(0.34, 3), (-2 / 3, 1), (0.9, 2), (1.0, 1), (1.0, 1)])
    assert [(ask.node, ask.n) for ask in asked[1:]] == [(0, 2), (1, 0), (2, 2), (3, 0)]
    assert len(lm.calls) == 2 + 4 + 2 + 1
    assert majority_of_ends(outcome.tree) == ("2", 4, "majority of the simulations")
    outcome, _, asked = await told("grounded-prm", rounds=3, uses_gold=True)
    assert (asked[5].node, asked[5].n) == (3, 2)


@pytest.mark.parametrize("name", NAMES)
async def test_without_known_answers_a_judge_says_what_an_end_is_worth(name: str) -> None:
    outcome, lm, _ = await told(name, rounds=1)
    (rollout,) = rollouts_of(outcome.tree.states[1].samples)
    assert rollout.outcome == pytest.approx(2 * 0.2 - 1)
    assert Counter(place.part for place, _ in lm.calls) == {"step": 2 + 4, "judge_label": 1}


@pytest.mark.parametrize("name", NAMES)
async def test_the_judge_of_ends_reads_no_verdict_on_the_steps_before(name: str) -> None:
    # Verdicts and rewards are below 0 at times, and no judge's score is.
    outcome, _, _ = await told(name, rounds=6, negative=0)
    assert not outcome.ledger.unscored
    assert any(sample.value < 0 for state in outcome.tree.states for sample in state.samples)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("uses_gold", [True, False])
async def test_a_model_with_nothing_to_add_has_ended_where_it_stands(name: str, uses_gold: bool) -> None:
    def silent(place: Place, request: Request) -> Completion:
        ends = place.draft < 0 and place.part == "step"
        return Completion("", usage=Usage(1, 1), stop="") if ends else says(place, request)

    what = recipe(name, children=2, rounds=1, uses_gold=uses_gold)

    async def right(answer: str) -> bool:
        return "2" in answer

    lm, referee = Scripted(silent, offers=OFFERS), right if uses_gold else None
    outcome = await search(PROBLEM, what, lm, referee=referee)
    (rollout,) = rollouts_of(outcome.tree.states[1].samples)
    # "1 + 1 = 2." is where the model ended its turn: the answer is read from there.
    assert rollout.answer is not None
    assert (rollout.complete, rollout.verdicts, rollout.steps) == (True, [], [])
    assert rollout.outcome == (1.0 if uses_gold else pytest.approx(2 * 0.2 - 1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("finish", ["length", "other"])
async def test_a_simulation_of_which_the_server_sent_nothing_is_lost_and_no_wrong_end(
    name: str, finish: Finish
) -> None:
    def broken(place: Place, request: Request) -> Completion:
        lost = place.draft < 0 and place.part == "step"
        return Completion("", usage=Usage(1, 1), finish=finish) if lost else says(place, request)

    lm = Scripted(broken, offers=OFFERS)
    outcome = await search(PROBLEM, recipe(name, children=2, rounds=1, uses_gold=True), lm, referee=known)
    assert outcome.tree.states[1].unscored == ["empty reply"]
    assert [len(state.samples) for state in outcome.tree.states] == [0, 1, 1]
    assert not outcome.tree.nodes["visits"][: len(outcome.tree)].any()
    assert outcome.reason == "rounds"


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_is_labelled_where_nobody_knows_the_answers(name: str) -> None:
    what = recipe(name, uses_gold=True)
    assert what.uses_gold
    assert not recipe(name).uses_gold
    with pytest.raises(UsageError):
        await search(PROBLEM, what, Scripted(says, offers=OFFERS))


@pytest.mark.parametrize("name", NAMES)
async def test_a_simulation_that_does_not_end_has_no_answer_and_is_no_complete_path(name: str) -> None:
    outcome, lm, _ = await told(name, rounds=1, depth=2, uses_gold=True)
    (rollout,) = rollouts_of(outcome.tree.states[1].samples)
    assert (rollout.outcome, rollout.answer, rollout.complete) == (-1.0, None, False)
    assert len(lm.calls) == 2 + 2
    # One right step counts, the last one stands for the outcome.
    assert outcome.tree.value(1) == pytest.approx(1.0 - 1.0)


@pytest.mark.parametrize("name", NAMES)
async def test_enough_right_and_wrong_paths_end_the_search(name: str) -> None:
    outcome, _, _ = await told(name, rounds=50, positive=1, negative=1, uses_gold=True)
    assert outcome.reason == "paths"
    ends = [end for state in outcome.tree.states for end in rollouts_of(state.samples)]
    assert {end.outcome for end in ends} == {1.0, -1.0}


async def test_as_released_chance_takes_a_child_of_the_root() -> None:
    first = Counter[int]()
    for seed in range(30):
        outcome, _, asked = await told("grounded-prm-code", seed=seed, rounds=6, negative=0, uses_gold=True)
        first[asked[3].node] += 1
        assert outcome.tree.nodes["depth"][: len(outcome.tree)].max() <= 2
        for ask in asked[3:]:
            assert ask.node in (1, 2) or outcome.tree.parent(ask.node) in (1, 2)
    assert set(first) == {1, 2}
    assert min(first.values()) >= 8


async def test_a_child_that_has_grown_is_simulated_from_when_nothing_below_it_is_left() -> None:
    tree = (await told("grounded-prm-code", rounds=2, uses_gold=True, seed=1))[0].tree
    selector = AnyChildOfRoot(2)
    grown = next(node for node in (1, 2) if tree.nodes["first"][node] >= 0)
    other = 3 - grown
    tree.end(other, "finished")
    assert selector.ask(tree, np.random.default_rng(0), 1) == (Ask(grown, 0, again=True),)


@pytest.mark.parametrize("name", NAMES)
async def test_a_server_that_fails_at_times_ends_no_search(name: str) -> None:
    def fails(place: Place, request: Request) -> Completion | ServerError:
        return ServerError("busy", status=503) if place.seed(4) % 7 == 0 else says(place, request)

    for seed in range(4):
        outcome = await search(PROBLEM, recipe(name, children=2), Scripted(fails, offers=OFFERS), seed=seed)
        assert not outcome.tree.nodes["in_flight"].any()
        assert outcome.reason in ("rounds", "paths", "exhausted") or outcome.failed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [1, 3])
async def test_a_search_ends_repeats_itself_and_answers_with_what_was_written(name: str, width: int) -> None:
    what = replace(recipe(name, children=2), width=width)
    await check_recipe(what, calls=150, problem=PROBLEM, lm=lambda: Scripted(says, offers=OFFERS))


def test_the_selector_keeps_the_laws() -> None:
    check_selector(GrowThenLook(AnyChildOfRoot(2), first_open))


async def test_a_verification_is_no_simulation() -> None:
    tree = (await told("grounded-prm", rounds=1, uses_gold=True))[0].tree
    assert [len(state.samples) for state in tree.states] == [0, 2, 1]
    assert [len(rollouts_of(state.samples)) for state in tree.states] == [0, 1, 0]
    assert [sample.value for sample in tree.states[1].samples] == [1.0, pytest.approx(-2 / 3)]


@pytest.mark.parametrize("name", NAMES)
def test_a_dry_run_prices_rounds(name: str) -> None:
    found = price([PROBLEM], recipe(name, rounds=4, negative=0, uses_gold=True), Prompts(), Settings())
    assert not found.at_least
    assert 4 * (3 + 1) <= found.calls <= 4 * (3 + 5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"children": "0"}, "children is 0"),
        ({"decay": "1.5"}, "decay is 1.5; it "),
        ({"depth": "0"}, "depth is 0"),
        ({"rounds": "-1"}, "rounds is -1; it "),
        ({"judge": "prm"}, "judge 'prm' is unknown"),
        ({"judge": "mc-estimate"}, "an end has none"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(name: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        recipe(name, **given)
