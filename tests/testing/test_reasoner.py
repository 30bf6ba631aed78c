"""The simulated reasoner does what its probabilities say, in-process and over HTTP."""

import json
import math
from collections import Counter
from collections.abc import AsyncIterator

import aiohttp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mctsr.engine import search
from mctsr.errors import UsageError
from mctsr.grading import extract_answer
from mctsr.judge.self_reward import read_score
from mctsr.lm.base import Message, Place
from mctsr.lm.gate import Gate
from mctsr.lm.options import RoleOptions
from mctsr.lm.roles import Models, Seat
from mctsr.lm.server import Server
from mctsr.prompting import Prompts
from mctsr.testing.hearing import Ear
from mctsr.testing.puzzles import Puzzle, Step, make_problems, make_puzzle, read_puzzle, wrong_workings
from mctsr.testing.reasoner import Reasoner, Simulated
from mctsr.testing.serving import simulated_server
from tests.testing.replies import recipe

PROMPTS = Prompts()
TRIES = 2000
#: Four standard errors of a probability over TRIES draws.
NEAR = 4 * math.sqrt(0.25 / TRIES)
TEXT = (
    "Ada has 12 coins. Then Ada finds 8 more. After a trade Ada has 3 times as many. Then Ada gives 10 away. "
    "How many coins are there in the end?"
)
PUZZLE = Puzzle(12, (Step("+", 8), Step("*", 3), Step("-", 10)))


def messages(prompt: str, **values: str) -> list[Message]:
    return [Message(role, text) for role, text in PROMPTS[prompt].fill({"problem": TEXT, **values})]  # type: ignore[arg-type]


def boxed(number: int | str) -> str:
    return f"So it is.\nThe final answer is \\boxed{{{number}}}"


def answers(reasoner: Reasoner, prompt: str, tries: int = TRIES, **values: str) -> Counter[str | None]:
    said = messages(prompt, **values)
    return Counter(extract_answer(reasoner.reply(said, seed), "number") for seed in range(tries))


# Puzzles


def test_a_puzzle_is_read_back_from_its_text() -> None:
    assert read_puzzle(TEXT) == PUZZLE
    assert PUZZLE.work().lines == ("12 + 8 = 20", "20 * 3 = 60", "60 - 10 = 50")
    assert PUZZLE.answer == 50


@given(st.integers(0, 2**32))
def test_every_made_puzzle_is_read_back_and_has_wrong_answers_of_its_own(seed: int) -> None:
    text, puzzle = make_puzzle(np.random.default_rng(seed))
    assert read_puzzle(text) == puzzle
    assert puzzle.answer > 0
    results = [working.result for working in wrong_workings(puzzle)]
    assert len(set(results)) == len(results) == 4
    assert puzzle.answer not in results


def test_problems_are_the_same_for_the_same_seed_and_never_show_their_answer() -> None:
    assert make_problems(5, 1) == make_problems(9, 1)[:5]
    assert make_problems(5, 1) != make_problems(5, 2)
    assert len({problem.text for problem, _ in make_problems(200, 0)}) > 195


@pytest.mark.parametrize("text", ["", "What is 6 times 7?", "Ada has 3 coins."])
def test_other_texts_hold_no_puzzle(text: str) -> None:
    assert read_puzzle(text) is None


# What it hears


def test_every_shipped_prompt_is_recognised_with_its_values() -> None:
    ear = Ear()
    for name, prompt in PROMPTS.items():
        if not prompt.inputs:
            continue
        values = {key: f"{key} with {{{{braces}}}}\n\nand lines" for key in prompt.inputs}
        heard = ear.hear([Message(role, text) for role, text in prompt.fill(values)])  # type: ignore[arg-type]
        assert heard is not None
        assert (heard.prompt.name, heard.values) == (name, values)


def test_a_question_is_recognised_behind_a_turn_of_the_assistant_alone() -> None:
    ear = Ear()
    questions = [prompt for prompt in PROMPTS.values() if not prompt.inputs]
    assert questions
    for prompt in questions:
        asked = Message("user", prompt.sections[-1][1])
        assert ear.question([Message("user", TEXT), Message("assistant", "12"), asked]) == prompt
        assert ear.question([Message("user", TEXT), asked]) is None
        assert ear.question([asked]) is None
    assert ear.question([Message("assistant", "12"), Message("user", TEXT)]) is None


def test_an_unknown_system_line_is_taken_for_a_plain_question() -> None:
    assert Ear().hear([Message("system", "Be brief."), Message("user", TEXT)]) is None
    said = Reasoner(p_solve=1.0).reply([Message("system", "Be brief."), Message("user", TEXT)], 0)
    assert extract_answer(said, "number") == "50"
    assert "boxed" not in Reasoner().reply([Message("user", "Who are you?")], 0)


# What it says


def test_a_fresh_answer_is_right_as_often_as_it_should_and_errors_repeat() -> None:
    found = answers(Reasoner(p_solve=0.3), "answer")
    assert found["50"] / TRIES == pytest.approx(0.3, abs=NEAR)
    assert len(found) == 5
    wrong = sorted((count for answer, count in found.items() if answer != "50"), reverse=True)
    assert wrong[0] / sum(wrong) == pytest.approx(8 / 15, abs=2 * NEAR)


def test_an_answer_shows_its_working() -> None:
    said = Reasoner(p_solve=1.0).reply(messages("answer"), 1)
    assert "12 + 8 = 20\n20 * 3 = 60\n60 - 10 = 50" in said
    assert said.endswith("The final answer is \\boxed{50}")


def test_a_wrong_answer_is_fixed_as_often_as_it_should_and_else_stays() -> None:
    wrong = str(wrong_workings(PUZZLE)[1].result)
    found = answers(Reasoner(p_fix=0.2), "rewrite", answer=boxed(wrong), critique="Look again.")
    assert set(found) == {"50", wrong}
    assert found["50"] / TRIES == pytest.approx(0.2, abs=NEAR)


def test_a_right_answer_is_broken_as_often_as_it_should() -> None:
    found = answers(Reasoner(p_break=0.2), "rewrite", answer=boxed(50), critique="Look again.")
    assert found["50"] / TRIES == pytest.approx(0.8, abs=NEAR)


def test_a_refined_refusal_is_a_fresh_answer() -> None:
    reasoner, refusal = Reasoner(p_solve=0.7), "I don't know the answer to this problem."
    critique = reasoner.reply(messages("critique", answer=refusal), 3)
    seen = answers(reasoner, "rewrite", critique=critique, answer=refusal)
    unseen = answers(reasoner, "rewrite_unseen", critique=critique)
    for found in (seen, unseen):
        assert found["50"] / TRIES == pytest.approx(0.7, abs=NEAR)


def test_a_critique_quotes_the_answer_so_that_a_rewrite_without_it_knows_it() -> None:
    reasoner = Reasoner(p_fix=0.0, p_break=0.0)
    for number in (50, wrong_workings(PUZZLE)[0].result):
        critique = reasoner.reply(messages("critique", answer=boxed(number)), 3)
        assert f"\\boxed{{{number}}}" in critique
        assert set(answers(reasoner, "rewrite_unseen", 50, critique=critique)) == {str(number)}


@pytest.mark.parametrize("auc", [0.5, 0.75, 0.95])
@pytest.mark.parametrize("structured", [True, False])
def test_the_judge_ranks_right_above_wrong_with_its_auc(auc: float, structured: bool) -> None:
    reasoner = Reasoner(auc=auc)

    def scores(answer: str) -> NDArray[np.float64]:
        said = messages("self_reward", answer=answer)
        replies = [reasoner.reply(said, seed, structured=structured) for seed in range(TRIES)]
        return np.array([read_score(reply) for reply in replies], dtype=float)

    right, wrong = scores(boxed(50)), scores(boxed(51))
    pairs = np.sign(right[:, None] - wrong[None, :])
    assert (pairs.mean() + 1) / 2 == pytest.approx(auc, abs=0.04)
    assert np.abs(np.concatenate([right, wrong])).max() <= 95
    assert len(np.unique(right)) > 50


def test_scores_of_one_answer_under_two_seeds_are_independent() -> None:
    said = messages("self_reward", answer=boxed(50))
    scores = np.array([read_score(Reasoner().reply(said, seed)) for seed in range(TRIES)], dtype=float)
    assert abs(np.corrcoef(scores[:-1], scores[1:])[0, 1]) < 4 / math.sqrt(TRIES)


def test_the_same_request_gets_the_same_reply() -> None:
    for prompt, values in (("answer", {}), ("self_reward", {"answer": boxed(50)})):
        said = messages(prompt, **values)
        assert Reasoner().reply(said, 7) == Reasoner().reply(said, 7)
        assert len({Reasoner().reply(said, seed) for seed in range(30)}) > 5


@pytest.mark.parametrize(
    "bad", [{"p_solve": 1.5}, {"p_fix": -0.1}, {"p_break": 2.0}, {"auc": 1.0}, {"auc": 0.0}]
)
def test_an_impossible_probability_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(bad))} is .*; allowed is"):
        Reasoner(**bad)  # type: ignore[arg-type]


# Over HTTP


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with simulated_server(Reasoner(p_solve=0.5)) as base:
        yield base


async def test_a_search_over_http_is_the_search_in_process(url: str) -> None:
    problem, _ = make_problems(1, 3)[0]
    what = recipe("mctsr", rollouts=4)
    async with Server(url) as server:
        await server.check()
        models = Models(Seat(server, RoleOptions()), gate=Gate(4), seed=9)
        over_http = await search(problem, what, models, seed=9)
    inside = await search(problem, what, Simulated(Reasoner(p_solve=0.5), seed=9), seed=9)
    assert over_http.tree.states == inside.tree.states
    assert over_http.tree.nodes[: len(inside.tree)].tolist() == inside.tree.nodes[: len(inside.tree)].tolist()
    assert over_http.ledger.tally.usage == inside.ledger.tally.usage


async def test_the_protocol_counts_words_cuts_at_the_limit_and_splits_choices(url: str) -> None:
    turns = [{"role": turn.role, "content": turn.content} for turn in messages("answer")]
    async with aiohttp.ClientSession() as session:

        async def chat(**fields: object) -> dict[str, object]:
            async with session.post(f"{url}/chat/completions", json={"messages": turns, **fields}) as reply:
                return {"status": reply.status, **await reply.json()}

        whole = await chat(seed=5)
        cut = await chat(seed=5, max_tokens=3)
        both = await chat(seed=5, n=2)
        broken = await chat(messages="hello")
    texts = [choice["message"]["content"] for choice in both["choices"]]  # type: ignore[attr-defined]
    assert texts[0] == whole["choices"][0]["message"]["content"]  # type: ignore[index]
    words = sum(len(turn["content"].split()) for turn in turns)
    said = sum(len(text.split()) for text in texts)
    assert both["usage"] == {"prompt_tokens": words, "completion_tokens": said, "total_tokens": words + said}
    choice = cut["choices"][0]  # type: ignore[index]
    assert (choice["finish_reason"], len(choice["message"]["content"].split())) == ("length", 3)
    assert broken["status"] == 400
    assert "messages must be a list" in json.dumps(broken)


def test_seeds_of_places_differ_between_runs() -> None:
    assert Place("p", 0, "answer").seed(1) != Place("p", 0, "answer").seed(2)
