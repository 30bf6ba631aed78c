"""The reasoner in steps does what its numbers say, in-process and over HTTP."""

import math
import subprocess
import sys

import aiohttp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.caller import Caller
from mctsr.engine import Outcome, search
from mctsr.errors import UsageError
from mctsr.expand.boundary import split
from mctsr.grading import extract_answer
from mctsr.judge.trial import try_protocol
from mctsr.lm.base import LM, Message, Place, Pooling, Request
from mctsr.lm.gate import Gate
from mctsr.lm.options import RoleOptions
from mctsr.lm.roles import Models, Seat
from mctsr.lm.server import Server
from mctsr.prompting import Prompts
from mctsr.recipes.registry import choose
from mctsr.testing.puzzles import Puzzle, Step, read_puzzle
from mctsr.testing.step_reasoner import Said, SimulatedSteps, StepReasoner
from mctsr.testing.steps.chains import make_chains, standing, wrong_steps
from mctsr.testing.steps.judge import StepJudge
from mctsr.testing.steps.policy import StepWriter
from mctsr.testing.steps.serving import step_server

PROMPTS = Prompts()
PROBLEMS = make_chains(400, 5)
PROBLEM, GOLD = PROBLEMS[0]
TEXT = (
    "Ada has 12 coins. Then Ada finds 8 more. After a trade Ada has 3 times as many. Then Ada gives 10 away. "
    "How many coins are there in the end?"
)
PUZZLE = Puzzle(12, (Step("+", 8), Step("*", 3), Step("-", 10)))
FAULTLESS = StepWriter(p_err=0.0)
STEPS = ("12 + 8 = 20.\n\n", "Now 20 * 3 = 60.\n\n", "60 - 10 = 50. The final answer is \\boxed{50}")
SLIP = ("12 + 8 = 20.\n\n", "20 * 3 = 23.\n\n", "23 - 10 = 13. The final answer is \\boxed{13}")


def turns(prompt: str, **values: str) -> list[Message]:
    return [Message(role, text) for role, text in PROMPTS[prompt].fill({"problem": TEXT, **values})]  # type: ignore[arg-type]


def begun(text: str, prompt: str = "step") -> list[Message]:
    return [*turns(prompt), Message("assistant", text)]


def asked(question: str) -> Message:
    """Return the turn of a prompt that is asked behind a solution."""
    ((_, text),) = PROMPTS[question].fill({})
    return Message("user", text)


def puzzle_of(text: str) -> Puzzle:
    puzzle = read_puzzle(text)
    assert puzzle is not None
    return puzzle


# Problems


@given(st.integers(0, 2**20))
def test_every_problem_is_read_back_and_has_the_answer_it_is_given_with(seed: int) -> None:
    (problem, gold) = make_chains(1, seed)[0]
    puzzle = puzzle_of(problem.text)
    assert 4 <= len(puzzle.steps) <= 6
    assert puzzle.answer == gold > 0
    assert make_chains(3, seed)[0][0] == problem


def test_wrong_steps_differ_from_the_right_one_and_from_each_other() -> None:
    assert [step.result for step in wrong_steps(2, Step("*", 2))] == [14, 3, 6]
    assert [step.result for step in wrong_steps(20, Step("*", 3))] == [23, 70, 59, 62]


# The writer


def test_the_same_request_gets_the_same_reply_and_another_seed_another_one() -> None:
    reasoner = StepReasoner()
    replies = {seed: reasoner.reply(turns("step"), seed) for seed in range(20)}
    assert replies == {seed: StepReasoner().reply(turns("step"), seed) for seed in range(20)}
    assert len({said.text for said in replies.values()}) > 10


@pytest.mark.parametrize("prompt", ["step", "answer"])
def test_without_errors_a_solution_is_right_and_its_steps_are_paragraphs(prompt: str) -> None:
    text = StepReasoner(FAULTLESS).reply(turns(prompt), 1).text
    assert extract_answer(text, "number") == "50"
    assert len(split(text)) == 3
    assert standing(PUZZLE, text).wrong is None


def test_numbered_steps_stand_on_lines_of_their_own() -> None:
    text = StepReasoner(FAULTLESS).reply(turns("step_numbered"), 1).text
    assert [line.split(":")[0] for line in text.splitlines()] == ["Step 1", "Step 2", "Step 3"]


def test_a_reply_ends_at_a_stop_string_or_with_the_turn() -> None:
    reasoner = StepReasoner(FAULTLESS)
    first = reasoner.reply(turns("step"), 1, ("\n\n", "\n\n\n"))
    assert (first.stop, "\n" in first.text) == ("\n\n", False)
    last = reasoner.reply(begun("".join(STEPS[:2])), 1, ("\n\n",))
    assert last.stop == ""
    assert last.text.endswith("60 - 10 = 50. The final answer is \\boxed{50}")
    assert reasoner.reply(begun("".join(STEPS)), 1) == Said("")


def test_growing_step_by_step_ends_in_a_whole_solution() -> None:
    text, reasoner = "", StepReasoner(FAULTLESS)
    for seed in range(3):
        said = reasoner.reply(begun(text) if text else turns("step"), seed, ("\n\n",))
        text += said.text + said.stop
    assert extract_answer(text, "number") == "50"


@given(st.integers(0, 2**31))
def test_a_wrong_result_is_carried_on_whatever_comes_after_it(seed: int) -> None:
    text = "".join(SLIP[:2])
    rest = StepReasoner(FAULTLESS).reply(begun(text), seed).text
    assert "23 - 10 = 13" in rest
    assert extract_answer(rest, "number") == "13"
    whole = standing(PUZZLE, text + StepReasoner(StepWriter(p_err=0.5)).reply(begun(text), seed).text)
    assert whole.wrong == 1
    assert whole.equations[2].left == 23


def test_only_branching_before_the_mistake_brings_the_right_answer_back() -> None:
    reasoner = StepReasoner()

    def found(text: str) -> set[str | None]:
        replies = (reasoner.reply(begun(text), seed).text for seed in range(100))
        return {extract_answer(reply, "number") for reply in replies}

    assert "50" in found(STEPS[0])
    assert "50" not in found("".join(SLIP[:2]))


def test_a_quoted_solution_is_continued_like_one_begun_by_the_assistant() -> None:
    system, user = turns("step")
    quoted = f"{user.content}\n\nSo far:\n\n<begun>\n{STEPS[0]}\n</begun>\n\nGo on."
    for seed in range(10):
        reply = StepReasoner().reply([system, Message("user", quoted)], seed)
        assert reply == StepReasoner().reply(begun(STEPS[0]), seed)


def test_steps_go_wrong_as_often_as_asked_but_not_all_alike() -> None:
    writer = StepWriter(p_err=0.2)
    rates, slips = [], []
    for problem, _ in PROBLEMS:
        puzzle = puzzle_of(problem.text)
        rates += [writer.error_rate(puzzle, at) for at in range(len(puzzle.steps))]
        slips.append(standing(puzzle, writer.go_on(puzzle, "", 7)).wrong == 0)
    assert np.mean(rates) == pytest.approx(0.2, abs=4 * float(np.std(rates)) / math.sqrt(len(rates)))
    assert np.mean(slips) == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / len(slips)))
    assert np.quantile(rates, 0.5) < 0.15
    assert np.quantile(rates, 0.95) > 0.6
    even = StepWriter(p_err=0.2, evenness=1e6)
    assert even.error_rate(PUZZLE, 1) == pytest.approx(0.2, abs=0.01)


def test_what_is_no_puzzle_is_not_understood() -> None:
    assert "no puzzle" in StepReasoner().reply([Message("user", "What is love?")], 0).text


@pytest.mark.parametrize(
    ("part", "numbers"),
    [
        (StepWriter, {"p_err": 1.0}),
        (StepWriter, {"evenness": 0.0}),
        (StepJudge, {"auc": 0.5}),
        (StepJudge, {"shared": 1.5}),
        (StepJudge, {"overlooked": -0.1}),
        (StepJudge, {"kind": "tired"}),
    ],
)
def test_a_number_out_of_range_is_refused_by_name(part: type, numbers: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="judge" if "kind" in numbers else next(iter(numbers))):
        part(**numbers)


# Over HTTP


async def searched(lm: LM, name: str, **arguments: object) -> Outcome:
    recipe = choose(name, arguments).build()
    outcome = await search(PROBLEM, recipe, lm, seed=3, prompts=PROMPTS)
    assert not outcome.failed, outcome.reason
    return outcome


def tree_of(outcome: Outcome) -> list[tuple[str, list[float]]]:
    """Return texts and scores, in order of birth."""
    return [(state.text, [sample.value for sample in state.samples]) for state in outcome.tree.states]


async def served(server: Server) -> Models:
    await server.check()
    await server.find_way()
    seat = Seat(server, RoleOptions())
    return Models(seat, prm=seat, gate=Gate(16), seed=3)


@pytest.mark.parametrize(("prefill", "way"), [(True, "prefill"), (False, "quoted")])
async def test_a_search_over_http_is_the_search_in_process_whatever_the_way_of_continuing(
    prefill: bool, way: str
) -> None:
    here = await searched(SimulatedSteps(seed=3), "particle-filter", n=4, judge="qwen-prm")
    async with step_server(prefill=prefill) as url, Server(url) as server:
        models = await served(server)
        assert server.info is not None
        assert server.info.way == way
        there = await searched(models, "particle-filter", n=4, judge="qwen-prm")
    assert tree_of(there) == tree_of(here)
    assert here.tree.states[here.tree.front[0]].answer is not None


async def test_the_judge_in_words_says_the_same_as_the_reward_model() -> None:
    async with step_server() as url, Server(url) as server:
        models = await served(server)
        by_word = await searched(models, "beam", n=4, judge="llm-judge")
        by_score = await searched(models, "beam", n=4, judge="qwen-prm")
    said, scored = tree_of(by_word), tree_of(by_score)
    assert [text for text, _ in said] == [text for text, _ in scored]
    assert len(said) > 10
    for (_, first), (_, second) in zip(said, scored, strict=True):
        assert first == pytest.approx(second, abs=1e-9)


async def test_a_score_is_asked_for_in_json() -> None:
    reasoner = StepReasoner(judge=StepJudge("perfect"))
    solution = begun("".join(SLIP))
    assert '"score": 0' in reasoner.reply([*solution, asked("judge_score")], 0).text
    lm = SimulatedSteps(reasoner)
    request = Request((*solution, asked("judge_label")), logprobs=20)
    completion = await lm.complete(Place("p", 0, "judge_label"), request)
    assert completion.text == "No"
    assert [text for text, _ in completion.tokens[0].top] == ["No", "Yes"]


@pytest.mark.parametrize("prompt", ["step", "step_numbered", "answer"])
def test_the_last_step_of_the_turn_before_the_question_is_judged(prompt: str) -> None:
    reasoner = StepReasoner(judge=StepJudge("perfect"))
    heads = [f"Step {i}: " if prompt == "step_numbered" else "" for i in (1, 2, 3)]
    texts = [head + step for head, step in zip(heads, SLIP, strict=True)]
    said = [
        reasoner.reply([*begun("".join(texts[:depth]), prompt), asked("judge_label")], 0).text
        for depth in (1, 2, 3)
    ]
    assert said == ["Yes", "No", "No"]
    heard = reasoner.ear.asked([*begun("".join(texts), prompt), asked("judge_label")])
    assert [step.strip() for step in heard.steps] == [text.strip() for text in texts]


def test_the_words_of_a_question_without_a_solution_before_them_are_no_verdict() -> None:
    assert StepReasoner().reply([*turns("step"), asked("judge_label")], 0).p_yes is None


async def test_the_protocol_has_a_row_a_step_and_refuses_what_it_cannot_read() -> None:
    turn = "".join(f"{step.strip()}<extra_0>" for step in STEPS)
    messages = [{"role": "user", "content": TEXT}, {"role": "assistant", "content": turn}]
    async with (
        step_server(StepReasoner(judge=StepJudge("perfect"))) as url,
        aiohttp.ClientSession() as session,
    ):
        root = url.removesuffix("/v1")
        async with session.post(f"{root}/pooling", json={"messages": messages}) as reply:
            data = (await reply.json())["data"]
        assert data[0]["data"] == [[pytest.approx(0.001), 0.999]] * 3
        unreadable: list[dict[str, object]] = [
            {"messages": messages[:1]},
            {"messages": []},
            {"input": ["12"]},
        ]
        for body in unreadable:
            async with session.post(f"{root}/pooling", json=body) as reply:
                assert reply.status == 400
        chat = {"messages": messages[:1], "n": 2, "stop": "\n\n", "max_tokens": 3, "seed": 1}
        async with session.post(f"{url}/chat/completions", json=chat) as reply:
            choices = (await reply.json())["choices"]
    assert [choice["finish_reason"] for choice in choices] == ["length", "length"]
    assert [len(choice["message"]["content"].split()) for choice in choices] == [3, 3]


async def test_marked_steps_of_what_is_no_puzzle_get_scores_that_say_nothing() -> None:
    messages = [
        {"role": "user", "content": "What is 2 + 3 * 4?"},
        {"role": "assistant", "content": "12.<extra_0>14.<extra_0>"},
    ]
    async with step_server() as url, aiohttp.ClientSession() as session:
        root = url.removesuffix("/v1")
        async with session.post(f"{root}/pooling", json={"messages": messages}) as reply:
            assert (await reply.json())["data"][0]["data"] == [[0.5, 0.5]] * 2


async def test_the_doctor_finds_the_simulated_reward_model_usable() -> None:
    async with step_server() as url, Server(url, None) as server:
        await server.check()
        seat = Seat(server, RoleOptions(None, url))
        llm = Caller(Models(seat, prm=seat, gate=Gate(4), seed=0), PROMPTS, "doctor", 0)
        trial = await try_protocol("qwen-prm", llm)
    assert (trial.scores, trial.fault) == ((0.5, 0.5, 0.5), "")


async def test_the_module_serves_what_its_options_say() -> None:
    command = [sys.executable, "-m", "mctsr.testing.step_reasoner", "--judge", "perfect", "--p-err", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            async with Server(child.stdout.readline().strip()) as server:
                models = await served(server)
                outcome = await searched(models, "beam", n=1, m=1, judge="qwen-prm")
        finally:
            child.terminate()
    front = outcome.tree.front[0]
    assert outcome.tree.states[front].answer == str(GOLD)
    assert outcome.tree.states[front].samples[0].value == 0.999


async def test_without_a_reward_model_scores_are_refused() -> None:
    lm = SimulatedSteps(scores=False)
    assert "pooling" not in lm.offers
    with pytest.raises(UsageError, match="prm"):
        await lm.pool(Place("p", 0, "qwen_prm"), Pooling())
