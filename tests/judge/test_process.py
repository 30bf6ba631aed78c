"""Process reward models: the words of each protocol, what is read, and what is said of a model of the wrong kind."""

import math
from collections.abc import Callable

import pytest

from mctsr.errors import ContextOverflow, Refused, ServerError, UsageError
from mctsr.judge.aggregate import mean, minimum
from mctsr.judge.process.chat_token import ChatTokenPrm
from mctsr.judge.process.qwen import QwenPrm
from mctsr.judge.process.shepherd import TokenPrm, openr_prm
from mctsr.judge.seq_rm import SeqRm
from mctsr.lm.base import Completion, Message, Place, Pooled, Request
from mctsr.lm.scripted import Scripted
from mctsr.parts import Judge, Path, Unscored, Verdict
from mctsr.testing.laws import check_judge
from tests.support.judging import answered, judged, label, node, path, scripted, the_sample, token

TWO = path("3*4 = 12.\n\n", "2+12 = 14, so \\boxed{14}.")
LABELLERS: list[Judge] = [TokenPrm(), openr_prm(), ChatTokenPrm()]
POOLERS: list[Judge] = [QwenPrm(), SeqRm()]

# Qwen


async def test_qwen_is_asked_as_its_card_says() -> None:
    lm = scripted(scores=[((0.02, 0.98), (0.25, 0.75))])
    sample = the_sample(await judged(QwenPrm(), TWO, lm, draft=3))
    ((place, pooling),) = lm.pools
    assert place == Place("p", 2, "qwen_prm", 3)
    assert [turn.role for turn in pooling.messages] == ["system", "user", "assistant"]
    assert (
        pooling.messages[0].content
        == "Please reason step by step, and put your final answer within \\boxed{}."
    )
    assert pooling.messages[1].content == "What is 2+3*4?"
    assert pooling.messages[2].content == "3*4 = 12.<extra_0>2+12 = 14, so \\boxed{14}.<extra_0>"
    assert (pooling.task, pooling.role, pooling.raw) == ("pooling", "prm", False)
    assert (sample.value, sample.raw) == (0.75, 0.75)


async def test_one_call_gives_the_aggregate_of_all_steps() -> None:
    lm = scripted(scores=[((0.5, 0.5), (0.1, 0.9))])
    sample = the_sample(await judged(QwenPrm(aggregate=minimum), TWO, lm))
    assert (sample.value, sample.raw) == (0.5, 0.9)


async def test_the_steps_of_a_whole_answer_are_scored_in_one_call() -> None:
    lm = scripted(scores=[((0.5, 0.5), (0.1, 0.9), (0.3, 0.7))])
    sample = the_sample(await judged(QwenPrm(aggregate=mean), answered("a\n\nb\n\nc"), lm))
    assert lm.pools[0][1].messages[-1].content == "a<extra_0>b<extra_0>c<extra_0>"
    assert sample.value == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("where", "rows", "reason"),
    [
        (path("a", "b", "c"), [(0.1, 0.9), (0.1, 0.9)], "wrong number of scores: 2 for 3 steps"),
        (path("a", "b"), [(0.1, 0.9)] * 7, "wrong number of scores: 7 for 2 steps"),
        (path("a", "b"), [(0.1, 0.9), (math.nan, math.nan)], "no probability: the score is nan"),
        (path("a", "b"), [(0.1, 0.9), (1.5, -0.5)], "no probability: -0.5"),
    ],
)
async def test_one_odd_path_gives_no_score_and_no_more(
    where: Path, rows: list[tuple[float, float]], reason: str
) -> None:
    assert await judged(QwenPrm(), where, scripted(scores=[rows])) == Unscored(reason)


@pytest.mark.parametrize(
    ("where", "rows", "said"),
    [
        (path("a"), [(0.1, 0.9)] * 5, "gave 5 scores for 1 step"),
        (path("a"), [], "gave 0 scores for 1 step"),
        (path("a", "b"), [(0.1, 0.9)], "gave 1 score for 2 steps"),
        (path("a"), [(0.5,) * 1536], "gave rows of 1536 numbers, not 2"),
        (path("a"), [(0.5,)], "gave rows of 1 number, not 2"),
        (path("a", "b"), [(0.5,), (0.5, 0.5)], "gave rows of 1 to 2 numbers, not 2"),
        (path("a"), [(0.0, 1.0011)], "gave 1.0011 as a probability"),
        (path("a", "b"), [(0.1, 7.0), (1.0, -0.0010001)], "gave 7.0 as a probability"),
        (path("a"), [(-3.5, 4.5)], "gave 4.5 as a probability"),
    ],
)
async def test_a_model_of_the_wrong_kind_stops_the_run_at_its_first_step(
    where: Path, rows: list[tuple[float, ...]], said: str
) -> None:
    with pytest.raises(
        UsageError, match=rf"the model of the prm role {said}; serve .*--prm-base-url"
    ) as error:
        await judged(QwenPrm(), where, scripted(scores=[rows]))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("said", "value"),
    [(1.001, 1.0), (1.0000001, 1.0), (-0.001, 0.0), (-1e-9, 0.0), (0.0, 0.0), (1.0, 1.0), (0.9996, 0.9996)],
)
async def test_a_probability_rounded_just_beyond_its_range_counts_as_the_end(
    said: float, value: float
) -> None:
    sample = the_sample(await judged(QwenPrm(), path("a"), scripted(scores=[((1 - said, said),)])))
    assert (sample.value, sample.raw) == (value, value)


async def test_a_text_that_holds_the_step_mark_is_not_sent() -> None:
    lm = scripted(scores=[])
    found = await judged(QwenPrm(), path("a<extra_0>b"), lm)
    assert found == Unscored("the text holds the step mark: <extra_0>")
    assert lm.pools == []


# Labels after steps


async def test_shepherd_reads_text_without_a_template_up_to_the_step_token() -> None:
    lm = scripted(lambda place, request: label(good=0.9, bad=0.1))
    sample = the_sample(await judged(TokenPrm(), TWO, lm))
    ((place, request),) = lm.calls
    assert request.messages == ()
    assert request.begun == "What is 2+3*4? Step 1: 3*4 = 12. ки\nStep 2: 2+12 = 14, so \\boxed{14}. ки"
    assert (request.role, request.max_tokens, request.temperature, request.logprobs) == ("prm", 1, 0.0, 20)
    assert place == Place("p", 2, "token_prm", 0, 1)
    assert sample.value == pytest.approx(0.9)


async def test_openr_has_a_tag_of_line_breaks() -> None:
    lm = scripted(lambda place, request: Completion("", tokens=(token({" -": 0.75, " +": 0.25}),)))
    sample = the_sample(await judged(openr_prm(), TWO, lm))
    tag = " \n\n\n\n\n"
    assert (
        lm.calls[0][1].begun
        == f"What is 2+3*4? Step 1: 3*4 = 12.{tag}Step 2: 2+12 = 14, so \\boxed{{14}}.{tag}"
    )
    assert sample.value == pytest.approx(0.25)


async def test_rlhflow_gets_a_turn_a_step_with_good_labels_between() -> None:
    lm = scripted(lambda place, request: label(good=0.5, bad=0.5))
    await judged(ChatTokenPrm(), TWO, lm)
    assert lm.calls[0][1].messages == (
        Message("user", "What is 2+3*4? 3*4 = 12."),
        Message("assistant", "+"),
        Message("user", "2+12 = 14, so \\boxed{14}."),
    )


@pytest.mark.parametrize("make", [TokenPrm, ChatTokenPrm])
async def test_what_a_parent_was_given_is_not_asked_for_again(make: Callable[..., Judge]) -> None:
    lm = scripted(lambda place, request: label(good=0.5, bad=0.5))
    where = path(node("a", 0.25), "b", node("c", 0.75), "d")
    sample = the_sample(await judged(make(aggregate=minimum), where, lm))
    assert [place.sample for place, _ in lm.calls] == [1, 3]
    assert (sample.value, sample.raw) == (0.25, 0.5)


@pytest.mark.parametrize("judge", [*LABELLERS, *POOLERS], ids=lambda judge: type(judge).__name__)
async def test_a_node_that_was_judged_is_not_asked_about_again(judge: Judge) -> None:
    lm = scripted(scores=[])
    again = path("a", node("b", 0.125))
    assert await judged(judge, again, lm, draft=-1) == Verdict(again.last.samples)
    assert await judged(judge, path("a", " \n\n"), lm) == Unscored("empty step")
    assert lm.calls == []
    assert lm.pools == []


@pytest.mark.parametrize("judge", LABELLERS, ids=lambda judge: type(judge).__name__)
async def test_a_chat_model_at_the_first_step_is_no_reward_model(judge: Judge) -> None:
    lm = scripted(lambda place, request: label(Step=0.8, So=0.2))
    with pytest.raises(UsageError, match=r"of the prm role does not label steps .*most likely is 'step'"):
        await judged(judge, path("a"), lm)
    deeper = await judged(judge, path(node("a", 0.5), "b"), lm)
    assert isinstance(deeper, Unscored)
    assert not deeper.server


async def test_a_label_of_several_tokens_stops_the_run_before_it_is_paid_for() -> None:
    judge = ChatTokenPrm(labels=type(ChatTokenPrm().labels)("good", "bad"))
    with pytest.raises(UsageError, match="'good' is several tokens to this model"):
        await judged(judge, path("a"), scripted(lambda place, request: label(go=0.999, x=0.001)))


async def test_a_lost_score_of_an_earlier_step_takes_the_verdict_along() -> None:
    def say(place: Place, request: Request) -> Completion:
        return label(hm=0.9, good=0.1) if place.sample == 0 else label(good=1.0)

    found = await judged(ChatTokenPrm(aggregate=minimum), path("a", "b"), scripted(say))
    assert isinstance(found, Unscored)


@pytest.mark.parametrize("judge", LABELLERS, ids=lambda judge: type(judge).__name__)
async def test_a_reply_without_log_probabilities_is_no_score(judge: Judge) -> None:
    found = await judged(judge, path("a"), scripted(lambda place, request: "+"))
    assert found == Unscored("no log-probabilities in the reply")


async def test_a_step_of_ten_thousand_characters_is_sent_whole() -> None:
    lm = scripted(lambda place, request: label(good=1.0), scores=[((0.0, 1.0),)])
    long = "x + 1 = " * 1250
    for judge in (QwenPrm(), ChatTokenPrm()):
        assert the_sample(await judged(judge, path(long), lm)).value == 1.0
    assert long.strip() in lm.pools[0][1].messages[-1].content
    assert long.strip() in lm.calls[0][1].messages[-1].content


# Reward models of whole solutions


async def test_a_reward_is_asked_raw_and_squashed() -> None:
    lm = scripted(scores=[[[4.0]]])
    sample = the_sample(await judged(SeqRm(temperature=4.0), TWO, lm))
    ((_, pooling),) = lm.pools
    assert pooling.messages[-1] == Message("assistant", "3*4 = 12.\n\n2+12 = 14, so \\boxed{14}.")
    assert (pooling.task, pooling.raw) == ("classify", True)
    assert (sample.value, sample.raw) == pytest.approx((1 / (1 + math.exp(-1)), 4.0))


@pytest.mark.parametrize(("reward", "value"), [(-1e6, 0.0), (0.0, 0.5), (1e6, 1.0)])
async def test_rewards_of_any_size_stay_on_the_scale(reward: float, value: float) -> None:
    assert the_sample(await judged(SeqRm(), path("a"), scripted(scores=[[[reward]]]))).value == value


async def test_a_reward_that_is_no_number_is_no_score() -> None:
    found = await judged(SeqRm(), path("a"), scripted(scores=[[[math.nan]]]))
    assert found == Unscored("no number: the reward is nan")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[0.2, 0.8]], "gave 2 numbers in 1 row"),
        ([[1.0], [2.0]], "gave 2 numbers in 2 rows"),
        ([[1.0], []], "gave 1 number in 2 rows"),
        ([], "gave 0 numbers in 0 rows"),
    ],
)
async def test_a_classifier_with_several_labels_is_no_reward_model(
    rows: list[list[float]], said: str
) -> None:
    with pytest.raises(UsageError, match=f"{said} for one solution; serve a reward model with one label"):
        await judged(SeqRm(), path("a"), scripted(scores=[rows]))


# Faults and laws


@pytest.mark.parametrize("judge", [*LABELLERS, *POOLERS], ids=lambda judge: type(judge).__name__)
@pytest.mark.parametrize(
    "fault", [ServerError("bad request", status=400), ContextOverflow("too long"), Refused("no")]
)
async def test_what_the_server_says_reaches_the_engine(judge: Judge, fault: ServerError) -> None:
    lm = Scripted(lambda place, request: fault, scores=lambda place, pooling: fault)
    with pytest.raises(type(fault)):
        await judged(judge, path("a"), lm)


async def test_judges_of_labels_keep_the_laws() -> None:
    for judge in LABELLERS:
        await check_judge(judge, lm=lambda: scripted(lambda place, request: label(good=0.75, bad=0.25)))


async def test_judges_of_pooled_scores_repeat_themselves_and_stay_on_their_scale() -> None:
    for judge in POOLERS:
        row: tuple[float, ...] = (0.25, 0.75) if isinstance(judge, QwenPrm) else (2.5,)
        found = [
            await judged(judge, path(text), scripted(scores=[Pooled((row,))]))
            for text in ("a", "a", "x" * 5000)
        ]
        assert found[0] == found[1] == found[2]
        assert judge.low <= the_sample(found[0]).value <= judge.high
