"""The model grades its own answer: what it is asked, how often, and what counts."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.caller import Caller
from mctsr.errors import ContextOverflow, RecipeError, Refused, ServerError
from mctsr.judge.score import read_score
from mctsr.judge.self_reward import SelfReward, fifty_from_95, lose_50_above_95, read_reply
from mctsr.lm.base import Completion, Place, Tally
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Path, PathNode, Problem, Unscored, Verdict
from mctsr.prompting import Prompts

PATH = Path(
    Problem("p", "How much is 6 times 7?"),
    (
        PathNode(0, "An older text.", None, {}, (), False),
        PathNode(-1, "It is 42.", "42", {"critique": "a secret critique"}, (), False),
    ),
)
PROMPTS = Prompts()
BUSY = ServerError("busy for ever", status=503)


async def judged(
    judge: SelfReward, reply: Callable[[Place], Reply], draft: int = 0
) -> tuple[Verdict | Unscored, Scripted, Tally]:
    lm = Scripted(lambda place, request: reply(place))
    llm = Caller(lm, PROMPTS, "p", 2)
    return await judge.judge(PATH, draft, llm), lm, llm.tally


def cut(text: str) -> Completion:
    return Completion(text, finish="length")


# What is asked


async def test_the_judge_is_asked_about_the_last_answer_with_a_schema() -> None:
    _, lm, _ = await judged(
        SelfReward(temperature=0.1), lambda place: '{"reason": "x", "score": 7}', draft=-1
    )
    ((place, request),) = lm.calls
    assert place == Place("p", 2, "self_reward", -1)
    assert (request.role, request.temperature) == ("judge", 0.1)
    assert request.schema == PROMPTS["self_reward"].schema
    assert "It is 42." in request.messages[-1].content
    assert "How much is 6 times 7?" in request.messages[-1].content
    assert not any("older" in turn.content or "secret" in turn.content for turn in request.messages)


async def test_each_sample_and_each_attempt_has_a_place_of_its_own() -> None:
    _, lm, _ = await judged(SelfReward(samples=2, attempts=2), lambda place: "no")
    assert sorted((place.sample, place.attempt) for place, _ in lm.calls) == [(0, 0), (0, 1), (1, 0), (1, 1)]


# What counts


async def test_a_sample_keeps_what_was_said_beside_what_counts() -> None:
    verdict, _, _ = await judged(SelfReward(), lambda place: "Flawless.\nScore: 98")
    assert isinstance(verdict, Verdict)
    (sample,) = verdict.samples
    assert (sample.value, sample.raw, sample.text) == (48, 98, "Flawless.\nScore: 98")


@pytest.mark.parametrize(
    ("score", "paper", "code"), [(94, 94, 94), (95, 95, 50), (96, 46, 50), (100, 50, 50), (-100, -100, -100)]
)
async def test_full_marks_are_suppressed_as_the_recipe_says(score: int, paper: float, code: float) -> None:
    assert (lose_50_above_95(score), fifty_from_95(score)) == (paper, code)
    for suppress, value in ((lose_50_above_95, paper), (fifty_from_95, code), (lambda raw: raw, score)):
        verdict, _, _ = await judged(SelfReward(suppress=suppress), lambda place: f"Score: {score}")
        assert isinstance(verdict, Verdict)
        assert [(sample.value, sample.raw) for sample in verdict.samples] == [(value, score)]


@given(st.floats(-100, 100))
def test_suppression_stays_on_the_scale(score: float) -> None:
    for suppress in (lose_50_above_95, fifty_from_95):
        assert -100 <= suppress(score) <= min(score, 95)


async def test_samples_stand_in_the_order_of_their_numbers() -> None:
    lm = Scripted(
        lambda place, request: f"Score: {10 * place.sample}", delay=lambda place: 0.006 - 0.002 * place.sample
    )
    verdict = await SelfReward(samples=3).judge(PATH, 0, Caller(lm, PROMPTS, "p", 2))
    assert isinstance(verdict, Verdict)
    assert [sample.value for sample in verdict.samples] == [0, 10, 20]


# What is lost


@pytest.mark.parametrize(("attempts", "good", "calls"), [(3, 2, 3), (3, 0, 1), (1, 0, 1)])
async def test_it_is_asked_again_until_a_score_can_be_read(attempts: int, good: int, calls: int) -> None:
    verdict, lm, _ = await judged(
        SelfReward(attempts=attempts), lambda place: "Score: 5" if place.attempt == good else "Hm."
    )
    assert isinstance(verdict, Verdict)
    assert ([sample.value for sample in verdict.samples], verdict.unscored) == ([5], ())
    assert [place.attempt for place, _ in lm.calls] == list(range(calls))


@pytest.mark.parametrize("attempts", [1, 2])
async def test_after_the_last_attempt_the_sample_is_lost_and_is_no_number(attempts: int) -> None:
    verdict, lm, tally = await judged(SelfReward(attempts=attempts), lambda place: "I would rather not say.")
    assert verdict == Unscored(f"no score in the reply: {attempts} tries")
    assert len(lm.calls) == tally.calls == attempts


async def test_lost_samples_are_counted_beside_those_that_were_read() -> None:
    replies: dict[int, Reply] = {0: "Score: 1", 1: "Hm.", 2: BUSY, 3: "Score: 4"}
    verdict, _, tally = await judged(SelfReward(samples=4, attempts=2), lambda place: replies[place.sample])
    assert isinstance(verdict, Verdict)
    assert [sample.value for sample in verdict.samples] == [1, 4]
    assert verdict.unscored == (
        Unscored("no score in the reply: 2 tries"),
        Unscored("server error: busy for ever", server=True),
    )
    assert (tally.calls, tally.failed) == (5, 1)


@pytest.mark.parametrize(
    "text", ["Score: 8", '{"reason": "fine", "score": -8', "Right in part.\n[Score] -1", '{"score": 4']
)
async def test_a_score_cut_inside_its_digits_is_not_believed(text: str) -> None:
    verdict, lm, _ = await judged(SelfReward(), lambda place: cut(text))
    assert verdict == Unscored("truncated score: 3 tries")
    assert len(lm.calls) == 3


@pytest.mark.parametrize(
    "text", ["Score: 85\nThe first step is", '{"score": 85, "reason": "the first st', "Score: 85.\n"]
)
async def test_a_whole_score_before_the_cut_is_believed(text: str) -> None:
    verdict, lm, _ = await judged(SelfReward(), lambda place: cut(text))
    assert isinstance(verdict, Verdict)
    assert [sample.value for sample in verdict.samples] == [85]
    assert len(lm.calls) == 1


async def test_a_reply_that_was_cut_before_its_score_says_so() -> None:
    verdict, _, _ = await judged(SelfReward(), lambda place: cut("The first step is"))
    assert verdict == Unscored("truncated score: 3 tries")


async def test_the_same_digits_are_believed_when_the_model_ended_by_itself() -> None:
    verdict, _, _ = await judged(SelfReward(), lambda place: "Score: 8")
    assert isinstance(verdict, Verdict)


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (BUSY, Unscored("server error: busy for ever", server=True)),
        (ContextOverflow("too long"), Unscored("context overflow: too long")),
    ],
)
async def test_a_failed_call_loses_its_sample_and_is_not_tried_again(
    error: ServerError, lost: Unscored
) -> None:
    verdict, lm, _ = await judged(SelfReward(), lambda place: error)
    assert (verdict, len(lm.calls)) == (lost, 1)


async def test_what_ends_the_run_is_raised_and_cancels_the_other_samples() -> None:
    def reply(place: Place) -> Reply:
        return Refused("bad key", status=401) if place.sample == 1 else "Score: 1"

    lm = Scripted(lambda place, request: reply(place), delay=lambda place: 0.0 if place.sample == 1 else 60.0)
    with pytest.raises(Refused, match="bad key"):
        await SelfReward(samples=3).judge(PATH, 0, Caller(lm, PROMPTS, "p", 2))
    assert len(asyncio.all_tasks()) == 1


@pytest.mark.parametrize("arguments", [{"samples": 0}, {"attempts": 0}, {"samples": -1}])
def test_numbers_below_one_are_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(RecipeError, match="both are at least 1"):
        SelfReward(**arguments)  # type: ignore[arg-type]


def test_the_scale_is_the_one_that_the_prompt_names() -> None:
    schema = PROMPTS["self_reward"].schema
    assert schema is not None
    score = schema["properties"]["score"]  # type: ignore[index]
    assert (SelfReward().low, SelfReward().high) == (score["minimum"], score["maximum"]) == (-100, 100)


JSON_PIECES = [
    '{"reason": "',
    '", "score": ',
    "}",
    "{",
    ",",
    '"',
    "\\",
    "\\n",
    "{'score': 8}",
    '{"score": 8}',
]
NUMBER_PIECES = ["-", "0", "7", "100", "-100", "101", "007", "4.5", "\u0663"]
TEXT_PIECES = ["\n", " ", "<think>", "</think>", "score: 3", "```py\n", "```", "because"]
PIECES = st.sampled_from([*JSON_PIECES, *NUMBER_PIECES, *TEXT_PIECES])


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=6), st.lists(PIECES, max_size=4), st.integers(-130, 130))
def test_a_reply_that_is_just_what_was_asked_for_is_read_as_any_other(
    reason: list[str], around: list[str], score: int
) -> None:
    text = f'{{"reason": "{"".join(reason)}", "score": {score}}}{"".join(around)}'
    assert repr(read_reply(text)) == repr(read_score(text, -100, 100))


@given(st.lists(PIECES, max_size=12))
def test_any_reply_is_read_as_the_reader_reads_it(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert repr(read_reply(text)) == repr(read_score(text, -100, 100))
