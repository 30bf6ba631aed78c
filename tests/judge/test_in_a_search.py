"""Judges of steps at work: in a search, over HTTP, and on the real embedded model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from mctsr import Descent, Mean, Recipe, best_value, puct, rollouts_done, search
from mctsr.caller import Caller
from mctsr.errors import ServerError, UsageError
from mctsr.expand.step import Steps
from mctsr.judge.aggregate import minimum
from mctsr.judge.llm_judge import LlmJudge
from mctsr.judge.process.chat_token import ChatTokenPrm
from mctsr.judge.process.qwen import QwenPrm
from mctsr.judge.seq_rm import SeqRm
from mctsr.lm.base import Place, Pooling, Request
from mctsr.lm.gate import Gate
from mctsr.lm.options import RoleOptions
from mctsr.lm.roles import Models, Seat
from mctsr.lm.scripted import Reply, Scripted
from mctsr.lm.server import Server
from mctsr.parts import Judge, Path, Unscored, Verdict
from tests.support.judging import PROBLEM, PROMPTS, label, path, the_sample

Rows = list[list[float]]


def recipe(judge: Judge, rollouts: int = 6) -> Recipe:
    return Recipe(Steps(), judge, Descent(puct(), n=2), Mean(), rollouts_done(rollouts), best_value)


def growing(place: Place, request: Request) -> Reply:
    """Write a step, the final one at the fourth; a label is likely where the step's number is even."""
    if place.part.endswith("_prm"):
        return (
            label(good=0.8, bad=0.2) if request.messages[-1].content.count("0") else label(good=0.3, bad=0.7)
        )
    depth = request.begun.count("\n\n")
    return "The final answer is \\boxed{14}." if depth == 3 else f"Step by {place.ask} and {place.draft}.\n\n"


def scoring(place: Place, pooling: Pooling) -> Rows:
    """Give each step marked in the text a score of its own."""
    steps = pooling.messages[-1].content.split("<extra_0>")[:-1]
    return [[1 - (score := len(step) % 7 / 7), score] for step in steps]


async def test_every_node_of_a_tree_costs_one_call_for_scores() -> None:
    lm = Scripted(growing, scores=scoring, offers=frozenset({"steps", "prm", "pooling"}))
    outcome = await search(PROBLEM, recipe(QwenPrm(aggregate=minimum)), lm)
    judged = [node for node in range(len(outcome.tree)) if outcome.tree.states[node].samples]
    assert not outcome.failed
    assert len(lm.pools) == len(judged) == len(outcome.tree) - 1
    for node in judged:
        line = [
            outcome.tree.states[i].samples[0].raw
            for i in outcome.tree.line(node)
            if outcome.tree.states[i].text
        ]
        assert outcome.tree.states[node].samples[0].value == min(line)


async def test_an_aggregate_of_labels_costs_one_token_a_node() -> None:
    lm = Scripted(growing, offers=frozenset({"steps", "prm", "logprobs"}))
    outcome = await search(PROBLEM, recipe(ChatTokenPrm(aggregate=minimum)), lm)
    asked = [place for place, _ in lm.calls if place.part == "chat_token_prm"]
    assert len(asked) == len(outcome.tree) - 1
    assert {sample.value for state in outcome.tree.states for sample in state.samples} <= {0.3, 0.8}


async def test_a_wrong_model_ends_a_search_before_its_second_ask() -> None:
    lm = Scripted(
        growing, scores=lambda place, pooling: [[0.5] * 8], offers=frozenset({"steps", "prm", "pooling"})
    )
    with pytest.raises(UsageError, match="serve a process reward model"):
        await search(PROBLEM, recipe(QwenPrm()), lm)
    assert {place.ask for place, _ in lm.calls} == {1}


async def test_one_path_that_cannot_be_scored_leaves_the_others() -> None:
    def some(place: Place, pooling: Pooling) -> Rows | ServerError:
        return (
            ServerError("bad request", status=400)
            if (place.ask, place.draft) == (2, 0)
            else scoring(place, pooling)
        )

    lm = Scripted(growing, scores=some, offers=frozenset({"steps", "prm", "pooling"}))
    outcome = await search(PROBLEM, recipe(QwenPrm()), lm)
    lost = [state for state in outcome.tree.states if state.unscored]
    assert not outcome.failed
    assert [state.unscored for state in lost] == [["server error: bad request"]]


# Over HTTP


@asynccontextmanager
async def reward_server(answer: Callable[[str, dict[str, Any]], Any]) -> AsyncIterator[Models]:
    """Serve a reward model: `answer` gives the reply for a path and a body, a number is a status, None hangs."""

    async def handle(request: web.Request) -> web.StreamResponse:
        said = answer(request.path, await request.json())
        if said is None:
            await asyncio.sleep(5)
        if isinstance(said, int):
            return web.json_response(
                {"error": {"message": "this model does not like it", "code": said}}, status=said
            )
        return web.json_response({"data": [said], "usage": {"prompt_tokens": 9}})

    app = web.Application()
    app.router.add_post("/{rest:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        async with Server(url, "prm", timeout=0.3, max_retries=0) as server:
            yield Models(Seat(server, RoleOptions()), prm=Seat(server, RoleOptions()), gate=Gate(4))
    finally:
        await runner.cleanup()


async def over_http(
    judge: Judge, where: Path, answer: Callable[[str, dict[str, Any]], Any]
) -> Verdict | Unscored:
    async with reward_server(answer) as models:
        return await judge.judge(where, 0, Caller(models, PROMPTS, "p", 1))


def pooled(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Answer as vLLM does."""
    if url == "/classify":
        assert body["use_activation"] is False
        return {"probs": [4.0], "num_classes": 1}
    assert (url, body["add_generation_prompt"]) == ("/pooling", False)
    return {"data": [[0.25, 0.75]] * body["messages"][-1]["content"].count("<extra_0>")}


async def test_scores_come_from_the_endpoints_of_vllm() -> None:
    assert the_sample(await over_http(QwenPrm(), path("a", "b"), pooled)).value == 0.75
    assert the_sample(await over_http(SeqRm(), path("a", "b"), pooled)).raw == 4.0


@pytest.mark.parametrize("judge", [QwenPrm(), SeqRm()], ids=lambda judge: type(judge).__name__)
@pytest.mark.parametrize("fault", [400, 500, None])
async def test_a_reward_model_that_answers_badly_or_never_is_a_fault_of_the_server(
    judge: Judge, fault: int | None
) -> None:
    with pytest.raises(ServerError) as error:
        await over_http(judge, path("a"), lambda url, body: fault)
    assert "\n" not in str(error.value)


async def test_scores_that_are_no_numbers_never_become_a_value() -> None:
    with pytest.raises(ServerError, match="NaN"):
        await over_http(SeqRm(), path("a"), lambda url, body: {"probs": [None]})


# On the real model


@pytest.mark.embedded
async def test_labels_are_read_from_a_real_server(llama_url: str) -> None:
    async with Server(llama_url) as server:
        await server.check(wait=60)
        seat = Seat(server, RoleOptions(max_tokens=48))
        caller = Caller(Models(seat, prm=seat, gate=Gate(2)), PROMPTS, "p", 1)
        where = path("3*4 = 12.\n\n", "2+12 = 14.")
        opinion = await LlmJudge(attempts=1).judge(where, 0, caller)
        labelled = await ChatTokenPrm().judge(where, 0, caller)
    # A small chat model need not say Yes or No; what it said must have been read either way.
    for found in (opinion, labelled):
        if isinstance(found, Verdict):
            assert 0.0 <= the_sample(found).value <= 1.0
        else:
            assert "of the next token is" in found.reason
