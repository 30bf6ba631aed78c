"""Judges that need no reward model: the policy's certainty, and how its completions end."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RecipeError, ServerError
from mctsr.judge.aggregate import mean, product
from mctsr.judge.certainty import SelfCertainty
from mctsr.judge.mc_estimate import McEstimate, agreement
from mctsr.lm.base import Completion, Place, Request
from mctsr.parts import Path, PathNode, Unscored, Verdict
from mctsr.testing.laws import check_judge
from tests.support.judging import PROBLEM, ROOT, judged, node, path, scripted, the_sample

BUSY = ServerError("busy for ever", status=503)


def written(text: str, logprob: float | None, tokens: int) -> PathNode:
    return node(text)._replace(logprob=logprob, tokens=tokens)


# Certainty


async def test_certainty_is_the_geometric_mean_of_the_tokens() -> None:
    where = path(written("a", math.log(0.25), 2), written("b", math.log(0.9), 1))
    assert the_sample(await judged(SelfCertainty(), where, scripted())).value == pytest.approx(0.9)
    assert the_sample(await judged(SelfCertainty(mean), where, scripted())).value == pytest.approx(0.7)
    assert the_sample(await judged(SelfCertainty(product), where, scripted())).value == pytest.approx(0.45)


@pytest.mark.parametrize(("logprob", "tokens"), [(None, 3), (-1.0, 0), (math.nan, 3)])
async def test_without_log_probabilities_there_is_no_certainty(logprob: float | None, tokens: int) -> None:
    found = await judged(SelfCertainty(), path(written("a", logprob, tokens)), scripted())
    assert found == Unscored("no log-probabilities of the step")


async def test_a_whole_answer_has_its_own_certainty_alone() -> None:
    old = written("old", math.log(0.5), 1)._replace(step=False)
    new = written("new", math.log(0.25), 1)._replace(step=False)
    sample = the_sample(await judged(SelfCertainty(mean), Path(PROBLEM, (old, new)), scripted()))
    assert sample.value == pytest.approx(0.25)


@given(st.floats(-1e9, 1), st.integers(1, 10_000))
async def test_certainty_is_a_probability(logprob: float, tokens: int) -> None:
    sample = the_sample(await judged(SelfCertainty(), path(written("a", logprob, tokens)), scripted()))
    assert 0 <= sample.value <= 1


# Completions


async def test_completions_go_on_from_the_path() -> None:
    lm = scripted(lambda place, request: "The answer is \\boxed{14}.")
    first = node("3*4 = 12.\n\n")._replace(ids=(1, 2))
    where = path(first, node("Add 2.\n\n")._replace(ids=(3,)))
    await judged(McEstimate(completions=2, temperature=0.9, max_tokens=99), where, lm, draft=1)
    (place, request), (other, _) = lm.calls
    assert (place, other.sample) == (Place("p", 2, "mc_estimate", 1, 0), 1)
    assert (request.begun, request.begun_ids) == ("3*4 = 12.\n\nAdd 2.\n\n", (1, 2, 3))
    assert (request.role, request.temperature, request.max_tokens, request.stop) == ("policy", 0.9, 99, ())
    assert request.messages[-1].content == "What is 2+3*4?"


async def test_the_value_is_the_share_that_agrees_with_the_majority() -> None:
    def say(place: Place, request: Request) -> str:
        return f"\\boxed{{{['14', '20', '14.0', '9'][place.sample]}}}"

    sample = the_sample(await judged(McEstimate(completions=4), path("a"), scripted(say)))
    assert sample.value == 0.5
    assert json.loads(sample.text) == ["14", "20", "14.0", "9"]


async def test_what_the_parents_completions_said_outvotes_a_step_that_leads_astray() -> None:
    parent = node("a", 0.75, said=json.dumps(["14", "14", "14", "20"]))
    lm = scripted(lambda place, request: "\\boxed{20}" if place.sample else "\\boxed{14}")
    sample = the_sample(await judged(McEstimate(completions=2), path(parent, "b"), lm))
    assert sample.value == 0.5
    lost = the_sample(
        await judged(McEstimate(completions=2), path(parent, "b"), scripted(lambda p, r: "\\boxed{20}"))
    )
    assert lost.value == 0.0


async def test_behind_a_wrong_step_completions_that_agree_make_nothing_right() -> None:
    right = node("a", 0.75, said=json.dumps([None, "14", "14", "20"]))
    wrong = node("b", 0.0, said=json.dumps(["20"] * 4))
    lm = scripted(lambda place, request: "\\boxed{20}")
    assert the_sample(await judged(McEstimate(completions=4), path(right, wrong, "c"), lm)).value == 0.0
    silent = node("a", said=json.dumps([None, None]))
    assert the_sample(await judged(McEstimate(completions=4), path(silent, wrong, "c"), lm)).value == 1.0


async def test_a_finished_path_is_compared_and_not_completed() -> None:
    parent = node("a", 0.75, said=json.dumps(["14", "14", "20", None]))
    lm = scripted()
    for answer, value in (("14", 1.0), ("20", 0.0)):
        where = path(parent, node("b", answer=answer))
        assert the_sample(await judged(McEstimate(), where, lm)).value == value
    assert lm.calls == []


async def test_cut_off_and_answerless_completions_disagree() -> None:
    said = [Completion("\\boxed{14}"), Completion("\\boxed{14}", finish="length"), Completion(""), BUSY]
    found = await judged(McEstimate(completions=4), path("Hm."), scripted(lambda p, r: said[p.sample]))
    assert isinstance(found, Verdict)
    assert found.samples[0].value == pytest.approx(1 / 3)
    assert [lost.server for lost in found.unscored] == [True]


async def test_a_model_that_has_nothing_to_add_lets_the_answer_on_the_path_stand() -> None:
    where = path(node("2+12\n\n", 1.0, said=json.dumps(["14"])), "The answer is 14.\n\n")
    said = [
        Completion(""),
        Completion("So 14."),
        Completion("", finish="length"),
        Completion("\\boxed{9}"),
    ]
    found = await judged(McEstimate(completions=4), where, scripted(lambda p, r: said[p.sample]))
    assert isinstance(found, Verdict)
    assert found.unscored == (Unscored("empty reply"),)
    assert json.loads(found.samples[0].text) == ["14", "14", "9"]
    assert found.samples[0].value == pytest.approx(2 / 3)


async def test_a_completion_that_the_server_broke_off_says_nothing() -> None:
    said = [Completion("First 3*4 = 12 and", finish="other"), Completion("\\boxed{14}")]
    found = await judged(McEstimate(completions=2), path("Hm."), scripted(lambda p, r: said[p.sample]))
    assert isinstance(found, Verdict)
    assert (found.samples[0].value, found.unscored) == (1.0, (Unscored("broken off by the server"),))


async def test_completions_that_all_fail_or_end_nowhere_are_no_score() -> None:
    nowhere = await judged(McEstimate(completions=2), path("Hm."), scripted(lambda p, r: "Well."))
    assert nowhere == Unscored("no completion came to an answer")
    failed = await judged(McEstimate(completions=2), path("Hm."), scripted(lambda p, r: BUSY))
    assert isinstance(failed, Unscored)
    assert failed.server


@given(
    st.lists(st.sampled_from(["1", "2", "3", None]), min_size=1, max_size=12),
    st.lists(st.sampled_from(["1", "2", None]), max_size=12),
)
def test_agreement_is_a_share_of_what_was_found(found: list[str | None], before: list[str | None]) -> None:
    share = agreement(found, before)
    if not any(found) and not any(before):
        assert share is None
    else:
        assert share is not None
        assert share in {k / len(found) for k in range(len(found) + 1)}


def test_on_ties_the_first_answer_that_appeared_is_the_majority() -> None:
    assert agreement(["2", "1"], []) == 0.5
    assert agreement(["2"], ["1"]) == 0.0


async def test_a_sample_of_another_kind_of_judge_holds_no_answers() -> None:
    parent = node("a", 0.5, said="[not json")
    other = node("b", 0.5, said='"14"')
    sample = the_sample(
        await judged(McEstimate(completions=1), path(parent, other, "c"), scripted(["\\boxed{3}"]))
    )
    assert sample.value == 1.0


def test_a_number_of_completions_below_one_is_refused() -> None:
    with pytest.raises(RecipeError, match="completions=0; it is at least 1"):
        McEstimate(completions=0)


async def test_both_keep_the_laws() -> None:
    await check_judge(SelfCertainty())
    await check_judge(
        McEstimate(completions=3), lm=lambda: scripted(lambda p, r: "The answer is \\boxed{3}.")
    )
    assert await judged(McEstimate(), path("a", " "), scripted()) == Unscored("empty step")
    assert await judged(SelfCertainty(), Path(PROBLEM, (ROOT,)), scripted()) == Unscored("empty step")
