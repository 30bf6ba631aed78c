"""Models that review in words: GenPRM's turns, ThinkPRM's thought, and any chat model."""

from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from mctsr.caller import Caller
from mctsr.errors import PromptError, RecipeError, ServerError
from mctsr.expand.drafts import plain_answer
from mctsr.expand.step import Steps
from mctsr.judge.aggregate import minimum
from mctsr.judge.llm_judge import LlmJudge, marked
from mctsr.judge.process.gen_prm import GenPrm
from mctsr.judge.process.think_prm import ThinkPrm
from mctsr.judge.steps import steps_of
from mctsr.lm.base import Completion, Message, Place, Request
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Judge, Unscored, Verdict
from mctsr.prompting import Prompts
from mctsr.testing.laws import check_judge
from tests.support.judging import (
    PROBLEM,
    PROMPTS,
    answered,
    judged,
    label,
    node,
    path,
    scripted,
    the_sample,
    token,
)

BUSY = ServerError("busy for ever", status=503)
TURN = (
    "<analyze>\nLet's analyze the Paragraph 1 step by step: Fine.\n</analyze>\n"
    "<output>\n**Judgement**: $\\boxed{Yes}$\n</output>\n"
)

# GenPRM


def reviewing(place: Place, request: Request) -> Reply:
    """Review as a GenPRM does; P(Yes) is 0.75."""
    if place.part == "gen_prm":
        return Completion("{Yes", tokens=(token({"{": 1.0}), token({"Yes": 0.75, "No": 0.25})))
    return " Fine.\n</analyze>\n" if place.part == "gen_prm_analyze" else "print(14)\n```\nmore"


async def test_gen_prm_writes_the_turn_in_the_pieces_it_was_trained_on() -> None:
    lm = scripted(reviewing)
    sample = the_sample(await judged(GenPrm(), path("3*4 = 12.\n\n"), lm))
    (analysis, first), (judgement, second) = lm.calls
    assert (analysis.part, judgement.part) == ("gen_prm_analyze", "gen_prm")
    assert [turn.role for turn in first.messages] == ["system", "user"]
    assert first.messages[1].content == "What is 2+3*4?\n3*4 = 12."
    assert first.begun == "<analyze>\nLet's analyze the Paragraph 1 step by step: "
    assert first.stop == ("</analyze>\n",)
    assert second.begun == f"{first.begun} Fine.\n</analyze>\n<output>\n**Judgement**: $\\boxed"
    assert (second.logprobs, second.temperature, second.role) == (20, 0.0, "prm")
    assert sample.value == pytest.approx(0.75)
    assert sample.text == TURN.replace(": Fine", ":  Fine")


async def test_gen_prm_is_told_what_it_said_of_earlier_steps_and_not_asked_again() -> None:
    lm = scripted(reviewing)
    where = path(node("3*4 = 12.", 0.5, said=TURN), "2+12 = 14.")
    sample = the_sample(await judged(GenPrm(aggregate=minimum), where, lm))
    assert len(lm.calls) == 2
    turns = lm.calls[0][1].messages
    assert turns[2:] == (Message("assistant", TURN), Message("user", "2+12 = 14."))
    assert "Paragraph 2" in lm.calls[0][1].begun
    assert (sample.value, sample.raw) == pytest.approx((0.5, 0.75))


async def test_gen_prm_reviews_an_earlier_step_that_has_no_review() -> None:
    lm = scripted(reviewing)
    the_sample(await judged(GenPrm(), path("a", "b"), lm))
    assert [place.sample for place, _ in lm.calls] == [0, 0, 1, 1]
    assert [turn.role for turn in lm.calls[2][1].messages] == ["system", "user", "assistant", "user"]


async def test_no_program_is_asked_for_or_run_unless_a_runner_is_given() -> None:
    plain, programs = scripted(reviewing), list[str]()

    async def run(program: str) -> str:
        programs.append(program)
        return "14\n"

    await judged(GenPrm(), path("a"), plain)
    assert not any("python" in request.begun for _, request in plain.calls)
    lm = scripted(reviewing)
    sample = the_sample(await judged(GenPrm(run=run), path("a"), lm))
    assert programs == ["print(14)"]
    assert "```python\nprint(14)\n```\n\n[Code Output]\n\n```\n14\n```\n</verify>\n<output>" in sample.text
    assert [place.part for place, _ in lm.calls] == ["gen_prm_analyze", "gen_prm_verify", "gen_prm"]


def test_programs_are_executed_by_nothing_but_a_runner() -> None:
    with pytest.raises(RecipeError, match="executed only by a sandbox of your own"):
        GenPrm(run=True)  # type: ignore[arg-type]


async def test_a_review_that_is_lost_takes_no_other_along() -> None:
    def say(place: Place, request: Request) -> Reply:
        return BUSY if place.sample == 1 else reviewing(place, request)

    found = await judged(GenPrm(samples=3), path("a"), scripted(say))
    assert isinstance(found, Verdict)
    assert (len(found.samples), len(found.unscored)) == (2, 1)
    assert found.unscored[0].server


# ThinkPRM


def thinking(place: Place, request: Request) -> Reply:
    """Verify as a ThinkPRM does; P(yes) is 0.8."""
    if place.part == "think_prm":
        return label(yes=0.8, no=0.2)
    return "Step 1 is \\boxed{correct}.\nIs the solution correct?"


async def test_think_prm_verifies_and_then_answers() -> None:
    lm = scripted(thinking)
    sample = the_sample(await judged(ThinkPrm(), path("3*4 = 12.\n\n", "Step 2: 2+12 = 14."), lm))
    (_, first), (_, second) = lm.calls
    (turn,) = first.messages
    assert turn.content == (
        "You are given a math problem and a proposed step-by-step solution:\n\n[Math Problem]\n\nWhat is 2+3*4?\n\n"
        "[Solution]\n\nStep 1: 3*4 = 12.\nStep 2: 2+12 = 14.\n\nReview and critique each step in the proposed "
        "solution to determine whether each step is correct. If the solution is incomplete, only verify the provided "
        "steps."
    )
    assert first.stop == ("Is the solution correct?", "</think>", "Step 3:")
    assert (first.begun, first.max_tokens, first.temperature) == ("", 8192, 0.6)
    assert second.begun == "Step 1 is \\boxed{correct}.\nIs the solution correct? "
    assert (second.messages, second.max_tokens, second.logprobs) == (first.messages, 1, 20)
    assert sample.value == pytest.approx(0.8)
    assert sample.text == "Step 1 is \\boxed{correct}."


async def test_a_suffix_and_a_thought_of_its_own_field_belong_to_the_turn() -> None:
    lm = scripted(
        lambda place, request: (
            Completion("", thought="All is well.</think>")
            if place.part == "think_prm_verify"
            else label(yes=1.0)
        )
    )
    await judged(ThinkPrm(suffix="\nLet's verify step by step:"), path("a"), lm)
    assert lm.calls[0][1].begun == "\nLet's verify step by step:"
    assert lm.calls[1][1].begun == "\nLet's verify step by step:All is well.\nIs the solution correct? "


@pytest.mark.parametrize(
    "make", [lambda: GenPrm(samples=0), lambda: ThinkPrm(samples=0), lambda: ThinkPrm(max_tokens=0)]
)
def test_numbers_below_one_are_refused(make: Callable[[], Judge]) -> None:
    with pytest.raises(RecipeError, match="at least 1"):
        make()


@pytest.mark.parametrize(("judge", "say"), [(GenPrm(), reviewing), (ThinkPrm(), thinking)])
async def test_generative_judges_keep_the_laws(judge: Judge, say: Callable[[Place, Request], Reply]) -> None:
    await check_judge(judge, lm=lambda: scripted(say))
    assert await judged(judge, path("a", "\n"), scripted(say)) == Unscored("empty step")


# Any chat model


def opinions(*said: Reply) -> Scripted:
    return scripted(lambda place, request: said[place.attempt], offers=frozenset({"logprobs"}))


async def test_the_share_of_yes_is_the_score() -> None:
    lm = opinions(label(yes=0.6, no=0.2, x=0.2))
    sample = the_sample(await judged(LlmJudge(), path("3*4 = 12.\n\n", "2+12 = 14."), lm))
    ((place, request),) = lm.calls
    assert (place, request.role, request.max_tokens) == (Place("p", 2, "judge_label", 0), "judge", 1)
    assert sample.value == pytest.approx(0.75)
    assert sample.text == "Yes"


async def test_a_verdict_is_asked_for_behind_the_steps_in_their_own_conversation() -> None:
    where = path("3*4 = 12.\n\n", "2+12 = 14.\n\n")
    lm, wrote = scripted([label(yes=1.0)], offers=frozenset({"logprobs"})), Scripted(["So 14."])
    await judged(LlmJudge(), where, lm)
    await Steps().write(where, 0, Caller(wrote, PROMPTS, "p", 2))
    ((_, request),), ((_, writing),) = lm.calls, wrote.calls
    assert request.messages[:-2] == writing.messages
    assert request.messages[-2] == Message("assistant", writing.begun)
    assert [turn.role for turn in request.messages] == ["system", "user", "assistant", "user"]


async def test_a_whole_answer_is_judged_in_its_own_conversation_too() -> None:
    lm = scripted(["Score: 7", "So 14."])
    await judged(LlmJudge(), answered("12, so 14."), lm)
    await plain_answer(PROBLEM, 0, Caller(lm, PROMPTS, "p", 2))
    (_, asked), (_, writing) = lm.calls
    assert asked.messages[:-1] == (*writing.messages, Message("assistant", "12, so 14."))
    assert asked.schema == PROMPTS["judge_score"].schema


async def test_a_judge_sees_no_thought() -> None:
    lm = scripted(["Score: 7"])
    thought = node("2+12 = 14.")._replace(work={"thought": "<think>Is it 15?</think>"})
    await judged(LlmJudge(prompt="step_numbered"), path("3*4 = 12.\n\n", thought), lm)
    ((_, request),) = lm.calls
    assert request.messages[-2] == Message("assistant", "3*4 = 12.\n\n2+12 = 14.")
    assert request.messages[0].content == dict(PROMPTS["step_numbered"].sections)["system"]


async def test_a_question_that_takes_the_steps_quotes_them(tmp_path: Path) -> None:
    front = 'output = "text"\nsource = "own"\n+++\n'
    (tmp_path / "judge_score.md").write_text(
        f'+++\ninputs = ["problem", "answer"]\n{front}{{{{role "user"}}}}\n{{{{problem}}}}: {{{{answer}}}} Score?'
    )
    (tmp_path / "rude.md").write_text(
        f'+++\ninputs = []\n{front}{{{{role "system"}}}}\nJudge.\n{{{{role "user"}}}}\nScore?'
    )
    lm = scripted(["Score: 7"])
    caller = Caller(lm, Prompts(tmp_path), "p", 2)
    await LlmJudge().judge(path("a", "b"), 0, caller)
    ((_, request),) = lm.calls
    quoted = "<step_1>\na\n</step_1>\n<step_2>\nb\n</step_2>"
    assert request.messages == (Message("user", f"{PROBLEM.text}: {quoted} Score?"),)
    with pytest.raises(PromptError, match="must begin with the user's turn, not with the system's"):
        await LlmJudge(score_prompt="rude").judge(path("a"), 0, caller)


@pytest.mark.parametrize(
    "first", ["Yes", label(think=0.9, Yes=0.1)], ids=["no log-probabilities", "another word"]
)
async def test_where_no_label_can_be_read_a_score_is_asked_for(first: Reply) -> None:
    lm = opinions(first, '{"reason": "right", "score": 7}')
    sample = the_sample(await judged(LlmJudge(), path("a"), lm))
    assert [place.part for place, _ in lm.calls] == ["judge_label", "judge_score"]
    assert lm.calls[1][1].schema == PROMPTS["judge_score"].schema
    assert sample.value == pytest.approx(0.7)


async def test_without_log_probabilities_a_score_is_asked_for_at_once() -> None:
    lm = scripted(["Score: 7"])
    assert the_sample(await judged(LlmJudge(), path("a"), lm)).value == pytest.approx(0.7)
    assert [place.part for place, _ in lm.calls] == ["judge_score"]


async def test_what_the_judges_own_server_offers_counts_and_not_the_policys() -> None:
    for offers, part in (
        ({"logprobs", "judge"}, "judge_score"),
        ({"judge", "judge logprobs"}, "judge_label"),
    ):
        lm = scripted([label(yes=0.7, no=0.3) if part == "judge_label" else "7"], offers=frozenset(offers))
        assert the_sample(await judged(LlmJudge(), path("a"), lm)).value == pytest.approx(0.7)
        assert [place.part for place, _ in lm.calls] == [part]


async def test_a_score_is_read_from_free_text_last() -> None:
    sample = the_sample(await judged(LlmJudge(labels=False), path("a"), opinions("It holds.\nScore: 9/10")))
    assert sample.value == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (["Hm.", "Hm.", "Hm."], "no score in the reply: 3 tries"),
        (["Hm.", "Hm.", "Score: 70"], "no score in the reply: 3 tries"),
        (["Hm.", "Hm.", Completion("Score: 1", finish="length")], "truncated score: 3 tries"),
    ],
)
async def test_what_cannot_be_read_is_no_score(said: list[Reply], reason: str) -> None:
    assert await judged(LlmJudge(), path("a"), opinions(*said)) == Unscored(reason)


async def test_json_that_is_whole_counts_though_the_reply_was_cut_off_behind_it() -> None:
    lm = opinions(Completion('{"reason": "x", "score": 4}', finish="length"))
    assert the_sample(await judged(LlmJudge(labels=False), path("a"), lm)).value == pytest.approx(0.4)


async def test_earlier_steps_count_as_they_were_judged() -> None:
    lm = opinions(label(yes=1.0))
    sample = the_sample(await judged(LlmJudge(aggregate=minimum), path(node("a", 0.25), "b", "c"), lm))
    assert (sample.value, sample.raw, len(lm.calls)) == (0.25, 1.0, 1)


async def test_samples_are_opinions_of_their_own() -> None:
    lm = scripted(lambda place, request: BUSY if place.sample == 1 else f"Score: {place.sample}")
    found = await judged(LlmJudge(labels=False, samples=3), path("a"), lm)
    assert isinstance(found, Verdict)
    assert ([s.raw for s in found.samples], len(found.unscored)) == ([0.0, 0.2], 1)


async def test_a_chat_model_as_judge_keeps_the_laws() -> None:
    for judge in (LlmJudge(), LlmJudge(labels=False)):
        await check_judge(judge, lm=lambda: scripted(lambda place, request: "Score: 3"))
    with pytest.raises(RecipeError, match="at least 1"):
        LlmJudge(attempts=0)


def test_quoted_steps_show_where_the_last_step_begins() -> None:
    assert marked(steps_of(path("a\n\n", "b"))) == "<step_1>\na\n</step_1>\n<step_2>\nb\n</step_2>"


def test_the_schema_of_a_step_score_holds_a_tenth() -> None:
    schema = PROMPTS["judge_score"].schema
    assert schema is not None
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid({"reason": "x", "score": 10})
    assert not validator.is_valid({"reason": "x", "score": 11})
    assert not validator.is_valid({"score": 1})
