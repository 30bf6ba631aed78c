"""Three steps want three scores, whatever the protocol; anything else is told in words."""

import math

import pytest

from mctsr.caller import Caller
from mctsr.errors import Refused
from mctsr.judge.trial import PROTOCOLS, try_protocol
from mctsr.lm.base import Place, Pooled, Pooling
from tests.support.judging import PROMPTS, label, scripted


async def trial(name: str, rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], str]:
    found = await try_protocol(name, Caller(scripted(scores=[rows] * 3), PROMPTS, "doctor", 0))
    assert found.answered
    return found.scores, found.fault


async def test_every_step_has_its_score() -> None:
    rows = ((0.1, 0.9), (0.2, 0.8), (0.7, 0.3))
    assert await trial("qwen-prm", rows) == ((0.9, 0.8, 0.3), "")


@pytest.mark.parametrize("n", [2, 4])
async def test_a_wrong_number_of_scores_is_told(n: int) -> None:
    scores, fault = await trial("qwen-prm", ((0.5, 0.5),) * n)
    assert scores == ()
    assert fault == f"wrong number of scores: {n} for 3 steps"


async def test_a_model_of_another_kind_is_told() -> None:
    _, fault = await trial("qwen-prm", ((0.5,),) * 3)
    assert "rows of 1 number, not 2" in fault


async def test_a_solution_has_one_score() -> None:
    assert await trial("seq-rm", ((3.5,),)) == ((3.5,), "")
    assert "gave 2 numbers" in (await trial("seq-rm", ((3.5, 1.0),)))[1]


@pytest.mark.parametrize("name", ["token-prm", "chat-token-prm"])
async def test_labels_are_read_after_every_step(name: str) -> None:
    lm = scripted(lambda place, request: label(good=0.75, bad=0.25))
    found = await try_protocol(name, Caller(lm, PROMPTS, "doctor", 0))
    assert found.fault == ""
    assert [math.isclose(score, 0.75) for score in found.scores] == [True] * 3


async def test_a_refusal_says_that_there_is_no_such_endpoint() -> None:
    def refuse(place: Place, pooling: Pooling) -> Pooled:
        raise Refused("answered 404: no such route", status=404)

    found = await try_protocol("qwen-prm", Caller(scripted(scores=refuse), PROMPTS, "doctor", 0))
    assert not found.answered
    assert "404" in found.fault


async def test_no_reward_model_at_all_is_told() -> None:
    found = await try_protocol("qwen-prm", Caller(scripted(), PROMPTS, "doctor", 0))
    assert "prm" in found.fault


def test_the_protocols_go_by_the_names_of_their_judges() -> None:
    assert set(PROTOCOLS) == {"qwen-prm", "seq-rm", "token-prm", "chat-token-prm"}
