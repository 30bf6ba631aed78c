"""Laws of the recipes over steps: they end, repeat themselves, cost what they say, and run with one server."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from zlib import crc32

import pytest

from mctsr.engine import search
from mctsr.errors import RecipeError, ServerError
from mctsr.expand.priors import LikelihoodPriors
from mctsr.expand.step import Steps
from mctsr.judge.aggregate import last, minimum
from mctsr.judge.mc_estimate import McEstimate
from mctsr.lm.base import Completion, Place, Pooling, Request, Token, Usage
from mctsr.lm.scripted import Scripted
from mctsr.parts import Problem
from mctsr.prompting import Prompts
from mctsr.recipes.judges import OF_PREFIXES, OF_SCORES, named_judge
from mctsr.recipes.registry import choose
from mctsr.runs.price import STEPS, price
from mctsr.runs.settings import Settings
from mctsr.testing.laws import check_recipe
from tests.support.judging import label
from tests.support.step_story import PROBLEM, recipe

SMALL: Mapping[str, dict[str, int]] = {
    "beam": {"n": 4, "m": 2},
    "dvts": {"n": 4, "m": 2},
    "particle-filter": {"n": 4},
    "particle-gibbs": {"n": 3, "sweeps": 2},
    "tot": {"breadth": 2, "children": 2, "votes": 2},
    "puct-prm": {"paths": 3, "children": 2},
    "ts-llm": {"paths": 3, "children": 2},
    "rstar-math": {"paths": 3, "children": 2},
    "rest-mcts": {"rounds": 6, "children": 2},
    "deepsearch": {"trajectories": 4, "children": 2},
    "deepsearch-code": {"trajectories": 4, "children": 2},
    "agentprm": {"n": 8},
    "agentprm-code": {"n": 8},
    "grave-steps": {"rollouts": 9, "children": 2},
    "mcps-steps": {"rollouts": 9, "children": 2},
}
JUDGED = [name for name in SMALL if name != "tot"]
ENDS = ("deepsearch", "deepsearch-code", "agentprm", "agentprm-code")
"""Recipes that judge ends alone."""
STEP_BY_STEP = [name for name in JUDGED if name not in (*ENDS, "rest-mcts")]
LIKELIHOODS = ("ts-llm", "deepsearch", "deepsearch-code")
OFFERS = frozenset({"steps", "logprobs", "prefill", "prm", "pooling", "classify"})


def says(place: Place, request: Request) -> Completion:
    """Write three steps and an answer; every fifth reply says nothing, and one label in nine is unreadable."""
    luck = place.seed(3)
    if place.part == "judge_score":
        return Completion(f'{{"score": {luck % 10}}}')
    if place.part == "judge_label":
        share = luck % 97 / 97
        return label(yes=share, no=1 - share) if luck % 9 else Completion("Hm.")
    depth = request.begun.count("\n\n")
    if luck % 5 == 0:
        return Completion("", usage=Usage(1, 1), stop="")
    text = f"The answer is \\boxed{{{luck % 3}}}" if depth == 3 else f"Take {luck % 4} + {depth} = 7.\n\n"
    tokens = (Token(text, -0.1 - luck % 7 / 10),)
    return Completion(text, usage=Usage(1, 1), stop="" if depth == 3 else "\n\n", tokens=tokens)


def model() -> Scripted:
    return Scripted(says, offers=OFFERS)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("width", [1, 3])
async def test_a_search_ends_repeats_itself_and_answers_with_what_was_written(name: str, width: int) -> None:
    what = replace(recipe(name, **SMALL[name]), width=width)
    await check_recipe(what, calls=300, problem=PROBLEM, lm=model)


@pytest.mark.parametrize("name", SMALL)
async def test_only_finished_solutions_are_answers(name: str) -> None:
    what = recipe(name, **SMALL[name])
    for seed in range(5):
        outcome = await search(PROBLEM, what, Scripted(says, offers=OFFERS), seed=seed)
        said = what.answerer(outcome.tree)
        finished = [state.answer for state in outcome.tree.states if state.answer is not None]
        assert (said.answer in finished) if finished else said.node is None
        if said.node is not None:
            assert outcome.tree.states[said.node].ended == "finished"


@pytest.mark.parametrize("name", SMALL)
def test_one_generation_server_is_enough(name: str) -> None:
    more = {"logprobs"} if name in LIKELIHOODS else set()
    assert recipe(name).needs == {"steps"} | more
    if name in JUDGED:
        assert recipe(name, judge="self-certainty").needs == {"steps", "logprobs"}
        assert recipe(name, judge="qwen-prm").needs == {"steps", "prm", "pooling"} | more


@pytest.mark.parametrize("name", STEP_BY_STEP)
async def test_a_reward_model_scores_each_new_step_once(name: str) -> None:
    def scored(place: Place, pooling: Pooling) -> list[list[float]]:
        steps = pooling.messages[-1].content.split("<extra_0>")[:-1]
        scores = [crc32(step.encode()) % 97 / 97 for step in steps]
        return [[1 - score, score] for score in scores]

    lm = Scripted(says, scores=scored, offers=OFFERS)
    outcome = await search(PROBLEM, recipe(name, judge="qwen-prm", aggregate="min", **SMALL[name]), lm)
    judged = [state for state in outcome.tree.states if state.samples]
    assert len(lm.pools) == len(judged)
    assert {place.part for place, _ in lm.calls} == {"step"}
    for node, state in enumerate(outcome.tree.states):
        if state.samples:
            raw = [outcome.tree.states[i].samples[0].raw for i in outcome.tree.line(node)[1:]]
            assert state.samples[0].value == min(raw)


@pytest.mark.parametrize("name", ENDS)
async def test_where_ends_alone_count_a_judge_sees_each_finished_solution_once(name: str) -> None:
    lm = Scripted(says, scores=lambda place, pooling: [[0.3, 0.7]] * 4, offers=OFFERS)
    outcome = await search(PROBLEM, recipe(name, judge="qwen-prm", **SMALL[name]), lm)
    ends = [state for state in outcome.tree.states if state.samples and state.answer is not None]
    assert len(lm.pools) == len(ends) > 0
    assert {place.part for place, _ in lm.calls} == {"step"}
    assert {round(state.samples[0].value, 9) for state in ends} == {0.4}, ".7 of 1, on the scale from -1 to 1"


@pytest.mark.parametrize("name", ENDS)
async def test_where_ends_alone_count_known_answers_ask_no_judge(name: str) -> None:
    async def right(answer: str) -> bool:
        return answer == "1"

    what = recipe(name, uses_gold=True, **SMALL[name])
    assert what.uses_gold
    assert not recipe(name).uses_gold
    lm = Scripted(says, offers=OFFERS)
    outcome = await search(PROBLEM, what, lm, referee=right)
    assert {place.part for place, _ in lm.calls} == {"step"}
    for state in outcome.tree.states:
        if state.samples and state.answer is not None:
            assert state.samples[0].value == (1.0 if state.answer == "1" else -1.0)


@pytest.mark.parametrize("name", SMALL)
async def test_a_server_that_fails_at_times_ends_no_search(name: str) -> None:
    def fails(place: Place, request: Request) -> Completion | ServerError:
        return ServerError("busy", status=503) if place.seed(4) % 11 == 0 else says(place, request)

    outcome = await search(PROBLEM, recipe(name, **SMALL[name]), Scripted(fails, offers=OFFERS))
    assert not outcome.failed
    assert not outcome.tree.nodes["in_flight"].any()


# What they cost


@pytest.mark.parametrize(
    ("name", "arguments", "calls"),
    [
        ("beam", {"n": 8}, 2 * 8 * STEPS),
        ("beam", {"n": 8, "judge": "self-certainty"}, 8 * STEPS),
        ("dvts", {"n": 8}, 2 * 8 * STEPS),
        ("particle-filter", {"n": 8}, 2 * 8 * STEPS),
        ("particle-gibbs", {"n": 4, "sweeps": 3}, 2 * (4 + 3 + 3) * STEPS),
        ("tot", {"breadth": 2, "children": 3, "votes": 2}, 3 * 6 * STEPS),
        ("puct-prm", {"paths": 1, "children": 3}, 2 * 3 * STEPS),
        ("ts-llm", {"paths": 1, "children": 3}, 2 * 3 * STEPS),
        ("rstar-math", {"paths": 1, "children": 3}, 2 * 3 * STEPS),
        ("rest-mcts", {"rounds": 3, "children": 2, "forward": 2}, 3 * 2 * (2 + 2)),
        ("deepsearch", {"trajectories": 1, "children": 3}, 3 * STEPS + 3),
        ("deepsearch-code", {"trajectories": 1, "children": 3}, 3 * STEPS + 3),
        ("agentprm", {"n": 5}, 5 * STEPS + 5),
        ("agentprm-code", {"n": 5}, 5 * STEPS + 5),
        ("grave-steps", {"rollouts": 5, "children": 2}, 2 * 2 * 5),
        ("mcps-steps", {"rollouts": 5, "children": 2}, 2 * 2 * 5),
        ("best-of-n-prm", {"n": 5}, 2 * 5),
        ("puct-prm", {"paths": 1, "children": 3, "judge": "chat-token-prm"}, 2 * 3 * STEPS),
        ("puct-prm", {"paths": 1, "children": 3, "judge": "think-prm"}, 3 * 3 * STEPS),
        ("puct-prm", {"paths": 1, "children": 3, "judge": "gen-prm"}, 3 * 3 * STEPS),
        ("puct-prm", {"paths": 1, "children": 3, "judge": "seq-rm"}, 2 * 3 * STEPS),
        ("puct-prm", {"paths": 1, "children": 3, "judge": "tool-verify"}, 3 * STEPS),
        ("puct-prm", {"paths": 1, "children": 1, "judge": "mc-estimate"}, STEPS + 8 * (STEPS - 1)),
    ],
)
def test_a_dry_run_follows_a_search_to_its_end(
    name: str, arguments: dict[str, int | str], calls: int
) -> None:
    found = price([Problem("p", "2+2?", "number")], recipe(name, **arguments), Prompts(), Settings())
    assert (found.calls, found.at_least) == (calls, False)


# Judges by name


def test_a_judge_is_named_and_told_how_to_aggregate() -> None:
    assert len({*OF_SCORES, *OF_PREFIXES}) == 10
    for name in OF_SCORES:
        judge = named_judge(name, "min")
        assert getattr(judge, "aggregate", None) is minimum
        assert getattr(named_judge(name), "aggregate", None) is last
        assert (judge.low, judge.high) == (0.0, 1.0)
    for name in OF_PREFIXES:
        assert (named_judge(name).low, named_judge(name).high) == (0.0, 1.0)
    estimate = named_judge("mc-estimate", prompt="step_numbered", temperature=0.3)
    assert estimate == McEstimate(prompt="step_numbered", temperature=0.3)


def test_the_expander_fits_the_judge_and_the_boundary() -> None:
    steps = recipe("beam", judge="mc-estimate", boundary="numbered", temperature=0.5)
    assert steps.judge == McEstimate(prompt="step_numbered", temperature=0.5)
    assert isinstance(steps.expander, Steps)
    assert (steps.expander.logprobs, steps.expander.prompt_name) == (None, "step_numbered")
    sure = recipe("beam", judge="self-certainty").expander
    assert isinstance(sure, Steps)
    assert sure.logprobs == 0
    priors = recipe("ts-llm").expander
    assert isinstance(priors, LikelihoodPriors)
    assert isinstance(priors.inner, Steps)
    assert priors.inner.logprobs == 0


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("beam", {"judge": "prm"}, "judge 'prm' is unknown; choose one of qwen-prm, token-prm"),
        ("beam", {"aggregate": "max"}, "aggregation 'max' is unknown; choose one of last, min"),
        ("beam", {"judge": "seq-rm", "aggregate": "min"}, "so aggregate='min' has no meaning"),
        ("beam", {"n": "6"}, "n is 6 and m is 4; n must be a multiple of m"),
        ("dvts", {"m": "0"}, "n is 16 and m is 0"),
        ("particle-filter", {"n": "0"}, "n is 0"),
        ("particle-filter", {"weight_temperature": "0"}, "weight_temperature is 0"),
        ("particle-gibbs", {"n": "1"}, "n is 1"),
        ("particle-gibbs", {"sweeps": "0"}, "sweeps is 0"),
        ("tot", {"children": "0"}, "children is 0"),
        ("tot", {"votes": "0"}, "votes is 0"),
        ("puct-prm", {"paths": "-1"}, "paths is -1"),
        ("puct-prm", {"children": "0"}, "n is 0"),
        ("puct-prm", {"boundary": ""}, "boundary is empty"),
        ("rstar-math", {"max_steps": "0"}, "max_steps is 0"),
        ("rest-mcts", {"forward": "0"}, "forward is 0"),
        ("rest-mcts", {"rounds": "0"}, "rounds is 0"),
        ("rest-mcts", {"alpha": "2"}, "alpha is 2.0"),
        ("deepsearch", {"trajectories": "-1"}, "trajectories is -1"),
        ("deepsearch", {"max_steps": "0"}, "max_steps is 0"),
        ("deepsearch-code", {"wrong": "last"}, "argument 'wrong' is 'last'"),
        ("agentprm", {"n": "0"}, "n is 0"),
        ("agentprm-code", {"gamma": "0"}, "gamma is 0"),
        ("grave-steps", {"ref": "-1"}, "ref is -1"),
        ("mcps-steps", {"window": "0"}, "window is 0"),
        ("best-of-n-prm", {"judge": "self-certainty"}, "written step by step, not whole ones"),
        ("best-of-n-prm", {"judge": "mc-estimate"}, "written step by step, not whole ones"),
        ("best-of-n-prm", {"aggregate": "min"}, "the last step of a whole answer only"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    name: str, given: dict[str, object], message: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        choose(name, given).build()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# Whole answers


async def test_best_of_n_takes_the_answer_whose_weakest_step_is_best() -> None:
    texts = ["Good.\n\nBad.\n\n\\boxed{1}", "Fair.\n\nFair.\n\n\\boxed{2}"]
    scores = {"Good.": 0.9, "Bad.": 0.1, "Fair.": 0.6}

    def scored(place: Place, pooling: Pooling) -> list[list[float]]:
        steps = pooling.messages[-1].content.split("<extra_0>")[:-1]
        return [[0.0, scores.get(step, 0.8 if step.endswith("1}") else 0.5)] for step in steps]

    answers = {}
    for aggregate in ("last", "min", "product"):
        lm = Scripted(lambda place, _: texts[place.draft], scores=scored, offers=OFFERS)
        what = recipe("best-of-n-prm", n=2, judge="qwen-prm", aggregate=aggregate)
        answers[aggregate] = what.answerer((await search(PROBLEM, what, lm)).tree).answer
        assert Counter(place.part for place, _ in lm.calls) == {"answer": 2}
        assert len(lm.pools) == 2
    assert answers == {"last": "1", "min": "2", "product": "2"}


async def test_best_of_n_adds_up_the_scores_of_equal_answers_when_asked_to() -> None:
    numbers, shares = [1, 2, 2], [0.8, 0.45, 0.4]

    def reply(place: Place, request: Request) -> Completion:
        if place.part == "judge_label":
            return label(yes=shares[place.draft], no=1 - shares[place.draft])
        return Completion(f"So \\boxed{{{numbers[place.draft]}}}")

    for answer, found in (("best", "1"), ("weighted", "2")):
        what = recipe("best-of-n-prm", n=3, answer=answer)
        outcome = await search(PROBLEM, what, Scripted(reply, offers=OFFERS))
        assert what.answerer(outcome.tree).answer == found


@pytest.mark.parametrize("name", [*SMALL, "best-of-n-prm"])
def test_every_argument_is_explained(name: str) -> None:
    chosen = choose(name)
    doc = chosen.function.__doc__ or ""
    assert len(doc.partition("\n")[0]) < 120
    assert all(f"        {argument}: " in doc for argument in chosen.arguments)
    assert "Calls: " in " ".join(doc.split())
