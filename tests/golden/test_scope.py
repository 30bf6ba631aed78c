r"""Failed solutions, salvaged from their first wrong step: worked out by hand, and the laws.

puct-prm, one child    add .8, add cut .4, add cut =3 .3: path 1, the base stops. The first wrong step is cut: below add
                       cut .4 and dig .9 are written, and below them =3 .3 and =5 .7
beam, n = 2, m = 1     add .8, buy .9; buy =7 .4, add cut .3; add cut =3 .6. Both ends failed, each with one good step.
                       Below buy =7 .4 and =5 .8, below add cut .3 and =5 .9, and below that cut =3 .6
weighted vote          3: .6, 7: .4 before; 5: .8 + .9, 3: .6 + .6, 7: .4 + .4 afterwards
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from mctsr.caller import Caller
from mctsr.engine import search
from mctsr.errors import RecipeError, ServerError
from mctsr.expand.answer import Answer
from mctsr.expand.rectify import Rectify
from mctsr.judge.llm_judge import LlmJudge
from mctsr.lm.base import Completion, Place, Pooling, Request, Usage
from mctsr.lm.scripted import Scripted
from mctsr.parts import Draft, Path, Problem
from mctsr.prompting import Prompts
from mctsr.recipes.registry import choose
from mctsr.recipes.steps.scope import rectified
from mctsr.runs.price import price
from mctsr.runs.settings import Settings
from mctsr.select.frontier import Frontier
from mctsr.select.population import Beams
from mctsr.select.sweeps.salvage import Salvage
from mctsr.testing.laws import check_expander, check_recipe, check_selector
from tests.support.judging import label
from tests.support.step_story import OFFERS, PROBLEM, Story, name_of, names, recipe, told

LINE = Story(
    {"": ["add"], "add": ["cut", "dig"], "add cut": ["=3"], "add dig": ["=5"]},
    {"add": 0.8, "add cut": 0.4, "add cut =3": 0.3, "add dig": 0.9, "add dig =5": 0.7},
)
BEAMS = Story(
    {"": ["add", "buy"], "add": ["cut", "=5"], "buy": ["=7", "=5"], "add cut": ["=3"]},
    {
        **{"add": 0.8, "buy": 0.9, "buy =7": 0.4, "add cut": 0.3, "add cut =3": 0.6},
        **{"buy =5": 0.8, "add =5": 0.9},
    },
)

# Trees of steps


@pytest.mark.parametrize("width", [1, 3])
async def test_a_solution_is_written_anew_below_its_last_good_step(width: int) -> None:
    what = recipe("scope", base="puct-prm paths=1 children=1", tries=2)
    outcome, lm = await told(LINE, what, width=width)
    assert names(outcome.tree) == [
        *["", "add", "add cut", "add cut =3", "add cut", "add dig", "add cut =3", "add dig =5"],
    ]
    assert [outcome.tree.parent(node) for node in range(4, 8)] == [1, 1, 4, 5]
    assert what.answerer(outcome.tree) == ("5", 7, "best value")
    assert (outcome.reason, len(lm.calls)) == ("all finished", 2 * 7)


@pytest.mark.parametrize("more", [{"least": 2}, {"most": 0}, {"threshold": 0.2}])
async def test_nothing_is_salvaged_that_is_too_short_or_good_enough(more: dict[str, float]) -> None:
    outcome, lm = await told(LINE, recipe("scope", base="puct-prm paths=1 children=1", **more))
    assert names(outcome.tree) == ["", "add", "add cut", "add cut =3"]
    assert len(lm.calls) == 2 * 3


async def test_what_is_salvaged_joins_the_population_and_votes() -> None:
    before = recipe("beam", n=2, m=1)
    outcome, _ = await told(BEAMS, before)
    assert before.answerer(outcome.tree).answer == "3"
    what = recipe("scope", base="beam n=2 m=1", tries=2)
    outcome, lm = await told(BEAMS, what)
    tree = outcome.tree
    assert names(tree) == [
        *["", "add", "buy", "buy =7", "add cut", "add cut =3"],
        *["buy =7", "buy =5", "add cut", "add =5", "add cut =3"],
    ]
    assert [name_of(tree, node) for node in tree.front[-4:]] == ["buy =7", "buy =5", "add =5", "add cut =3"]
    assert what.answerer(tree) == ("5", 7, "weighted vote")
    assert len(lm.calls) == 2 * 10


async def test_those_with_the_longest_good_beginning_come_first() -> None:
    story = Story(
        {"": ["add", "buy"], "add": ["=3"], "buy": ["cut"], "buy cut": ["=7"]},
        {"add": 0.8, "buy": 0.9, "add =3": 0.1, "buy cut": 0.8, "buy cut =7": 0.1},
    )
    outcome, _ = await told(story, recipe("scope", base="beam n=2 m=1", most=1))
    assert names(outcome.tree)[6:] == ["buy cut =7"]


def rewarded(rewards: Mapping[str, float]) -> Callable[[Place, Pooling], list[list[float]]]:
    """Score a solution by the first of the words that it holds."""
    return lambda _, pooling: [
        [next(r for word, r in rewards.items() if word in pooling.messages[-1].content)]
    ]


@pytest.mark.parametrize("base", ["puct-prm paths=1 children=1", "rest-mcts rounds=3 children=1"])
async def test_raw_rewards_of_steps_are_held_against_the_threshold_on_their_scale(base: str) -> None:
    scores = rewarded({"boxed": -4.0, "cut": -3.0, "dig": 5.0, "add": 0.4})
    lm = Scripted(LINE, scores=scores, offers=OFFERS | {"prm", "classify"})
    outcome = await search(PROBLEM, recipe("scope", base=f"{base} judge=seq-rm"), lm)
    assert names(outcome.tree) == ["", "add", "add cut", "add cut =3", "add cut", "add cut =3"]
    assert outcome.tree.parent(4) == 1, "a reward of 0.4 is better than half"


# Whole answers

TEXTS = ["Good.\n\nBad.\n\nSo \\boxed{1}", "Fair.\n\nSo \\boxed{2}"]
SHARES = {
    "Good.": 0.9,
    "Bad.": 0.1,
    "Fair.": 0.7,
    "So \\boxed{1}": 0.2,
    "So \\boxed{2}": 0.6,
    "So \\boxed{3}": 0.8,
}


def whole(place: Place, request: Request) -> Completion:
    if place.part == "judge_label":
        last = request.messages[-2].content.strip().rpartition("\n\n")[2]
        return label(yes=SHARES[last], no=1 - SHARES[last])
    if place.part == "rectify":
        assert request.begun == "Good.\n\n"
        return Completion("Better.\n\nSo \\boxed{3}")
    return Completion(TEXTS[place.draft])


async def test_a_whole_answer_keeps_its_steps_before_the_first_wrong_one() -> None:
    what = recipe("scope", base="best-of-n-prm n=2")
    lm = Scripted(whole, offers=OFFERS)
    tree = (await search(PROBLEM, what, lm)).tree
    assert [state.text for state in tree.states] == [*TEXTS, "Good.\n\nBetter.\n\nSo \\boxed{3}"]
    assert (tree.parent(2), tree.states[2].work) == (0, {"kept": "1 of 3 steps"})
    assert what.answerer(tree) == ("3", 2, "best of the front")
    assert Counter(place.part for place, _ in lm.calls) == {
        "answer": 2,
        "judge_label": 2 + 2 + 1,
        "rectify": 1,
    }
    assert len({place for place, _ in lm.calls}) == len(lm.calls)


async def test_raw_rewards_of_a_whole_answers_steps_are_held_against_the_threshold_on_their_scale() -> None:
    scores = rewarded({"boxed": -1.0, "Bad": -3.0, "Good": 0.4})
    lm = Scripted(whole, scores=scores, offers=OFFERS | {"prm", "classify"})
    what = recipe("scope", base="best-of-n-prm n=1 judge=seq-rm", judge="seq-rm")
    tree = (await search(PROBLEM, what, lm)).tree
    assert [state.text for state in tree.states] == [TEXTS[0], "Good.\n\nBetter.\n\nSo \\boxed{3}"]


@pytest.mark.parametrize("more", [{"least": 2}, {"threshold": 0.15}])
async def test_an_answer_with_too_short_a_beginning_is_left_as_it_is(more: dict[str, float]) -> None:
    lm = Scripted(whole, offers=OFFERS)
    outcome = await search(PROBLEM, recipe("scope", base="best-of-n-prm n=2", **more), lm)
    assert len(outcome.tree) == 2
    assert not any(place.part == "rectify" for place, _ in lm.calls)


async def test_a_step_without_score_is_not_found_wrong_and_an_empty_rest_is_no_answer() -> None:
    def says(place: Place, request: Request) -> Completion:
        if place.part == "rectify":
            return Completion(" ")
        if "Bad." not in request.messages[-2].content:
            return Completion("Hm.")
        return label(yes=0.1, no=0.9)

    grown = await Rectify(Answer(), LlmJudge(attempts=1)).grow(
        Path(PROBLEM, ()).plus(Draft(TEXTS[0])), 1, Caller(Scripted(says, offers=OFFERS), Prompts(), "p", 1)
    )
    assert [(draft.text, draft.unscored) for draft in grown if isinstance(draft, Draft)] == [
        ("Good.\n\n", "empty reply")
    ]


# Laws


def hashed(place: Place, request: Request) -> Completion:
    luck = place.seed(3)
    if place.part == "judge_score":
        return Completion(f'{{"score": {luck % 10}}}')
    if place.part == "judge_label":
        share = luck % 97 / 97
        return label(yes=share, no=1 - share) if luck % 9 else Completion("Hm.")
    if place.part == "answer":
        return Completion(f"Take {luck % 4}.\n\nThen {luck % 5}.\n\nThe answer is \\boxed{{{luck % 3}}}")
    depth = request.begun.count("\n\n")
    if luck % 5 == 0:
        return Completion("", usage=Usage(1, 1), stop="")
    text = f"The answer is \\boxed{{{luck % 3}}}" if depth == 3 else f"Take {luck % 4} + {depth} = 7.\n\n"
    return Completion(text, usage=Usage(1, 1), stop="" if depth == 3 else "\n\n")


def model() -> Scripted:
    return Scripted(hashed, offers=OFFERS)


BASES = [
    *(
        "best-of-n-prm n=4",
        "beam n=4 m=2",
        "puct-prm paths=3 children=2",
        "dvts n=4 m=2",
        "particle-filter n=3",
    ),
    *("particle-gibbs n=3 sweeps=2", "rstar-math paths=3 children=2", "grave-steps rollouts=6 children=2"),
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("width", [1, 3])
async def test_after_any_recipe_a_search_ends_and_repeats_itself(base: str, width: int) -> None:
    what = replace(recipe("scope", base=base, tries=2), width=width)
    await check_recipe(what, calls=600, problem=PROBLEM, lm=model)


@pytest.mark.parametrize("base", BASES)
async def test_a_server_that_fails_at_times_ends_no_search(base: str) -> None:
    def fails(place: Place, request: Request) -> Completion | ServerError:
        return ServerError("busy", status=503) if place.seed(4) % 17 == 0 else hashed(place, request)

    outcome = await search(PROBLEM, recipe("scope", base=base), Scripted(fails, offers=OFFERS))
    assert not outcome.failed
    assert not outcome.tree.nodes["in_flight"].any()


async def test_the_base_is_the_same_search_up_to_its_end() -> None:
    for name in BASES:
        alone, *given = name.split()
        base = choose(alone, dict(pair.split("=") for pair in given)).build()
        before = (await search(PROBLEM, base, model())).tree
        after = (await search(PROBLEM, rectified(base, judge=LlmJudge()), model())).tree
        assert [state.text for state in after.states[: len(before)]] == [
            state.text for state in before.states
        ]
        assert len(after) > len(before)


def test_the_laws_of_selectors_hold() -> None:
    check_selector(Salvage(Frontier(6, Beams(2), opened=1), threshold=0.0, most=20, tries=2))
    check_selector(Salvage(Frontier(6), threshold=0.0, most=20, tries=2))


async def test_the_laws_of_expanders_hold() -> None:
    def says(place: Place, request: Request) -> Completion:
        if place.part == "judge_label":
            share = 0.1 if "Second." in request.messages[-2].content else 0.9
            return label(yes=share, no=1 - share)
        return Completion(f"First.\n\nSecond.\n\nSo \\boxed{{{place.draft}}}")

    await check_expander(Rectify(Answer(), LlmJudge()), lm=lambda: Scripted(says, offers=OFFERS))


def test_a_dry_run_prices_what_comes_after() -> None:
    problem = Problem("p", "2+2?", "number")
    base, after = (
        price([problem], recipe(name, **given), Prompts(), Settings()).calls
        for name, given in (("best-of-n-prm", {"n": 8}), ("scope", {"base": "best-of-n-prm n=8"}))
    )
    assert base < after <= base + 4 * (2 + 2)
    assert recipe("scope").needs == {"steps"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"base": "best-of-m"}, "no recipe 'best-of-m'"),
        ({"base": ""}, "no recipe ''"),
        ({"base": "beam 8"}, "base is 'beam 8'; behind the recipe's name '8' must be name=value"),
        ({"base": "beam k=8"}, "no argument 'k'"),
        ({"base": "self-consistency"}, "the base has no judge"),
        ({"base": "mctsr"}, "the base rewrites its solutions itself"),
        ({"base": "deepsearch"}, "the base judges finished solutions alone"),
        ({"base": "scope"}, "the base rewrites its solutions itself"),
        ({"threshold": 1.5}, "threshold is 1.5"),
        ({"tries": 0}, "tries is 0"),
        ({"least": -1}, "least is -1"),
        ({"most": -1}, "most is -1"),
        ({"judge": "self-certainty"}, "judge 'self-certainty' scores steps as they are written"),
        ({"judge": "prm"}, "judge 'prm' is unknown"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError) as caught:
        choose("scope", given).build()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
