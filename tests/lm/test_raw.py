"""Text without a chat goes to the model as it is, over HTTP and on the real llama.cpp; labels are read behind it."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mctsr import search
from mctsr.caller import Caller
from mctsr.errors import Refused, ServerError, UsageError
from mctsr.judge.llm_judge import LlmJudge
from mctsr.judge.process.shepherd import TokenPrm, openr_prm
from mctsr.lm.base import Message, Place, Request
from mctsr.lm.connect import connect
from mctsr.lm.gate import Gate
from mctsr.lm.options import RoleOptions, Settings
from mctsr.lm.roles import Models, Seat
from mctsr.lm.scripted import Scripted
from mctsr.lm.server import Server
from mctsr.parts import Problem
from mctsr.recipes.judges import named_judge
from mctsr.recipes.registry import choose
from tests.support.doctor_fakes import well
from tests.support.fake_server import Answer, Body, FakeServer, error, status
from tests.support.judging import PROMPTS, judged, label, path, scripted, the_sample

HERE = Place("p", 1, "token_prm")
TEXT = "What is 2+3*4? Step 1: 3*4 = 12. \u043a\u0438"
LABEL = Request((), "prm", 0.0, begun=TEXT, max_tokens=1, logprobs=20)
WHERE = path("3*4 = 12.\n\n", "2+12 = 14.")
TOP = {" +": math.log(0.6), " -": math.log(0.2), "x": math.log(0.1)}
LLAMA = {"/props": {"default_generation_settings": {"n_ctx": 2048}}}
KINDS: dict[str, dict[str, Any]] = {
    "vllm": {"extra": {"owned_by": "vllm"}},
    "sglang": {"extra": {"owned_by": "sglang"}},
    "llama.cpp": {"extra": {"owned_by": "llamacpp"}, "pages": LLAMA},
    "ollama": {"extra": {"owned_by": "library"}},
    "other": {},
}


async def quick(seconds: float) -> None:
    await asyncio.sleep(0)


def labelling(body: Body) -> tuple[int, Any]:
    """Say the good label as a completions endpoint does."""
    logprobs = {"tokens": [" +"], "token_logprobs": [TOP[" +"]], "top_logprobs": [TOP]}
    choice = {"text": " +", "finish_reason": "length", "logprobs": logprobs}
    return 200, {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}


def native(body: Body) -> tuple[int, Any]:
    """Say the good label as llama.cpp's own endpoint does."""
    tops = [{"id": n, "token": text, "logprob": value} for n, (text, value) in enumerate(TOP.items())]
    token = {"id": 0, "token": " +", "logprob": TOP[" +"], "top_logprobs": tops}
    said = {
        "content": " +",
        "tokens": [0],
        "stop_type": "limit",
        "tokens_evaluated": 9,
        "tokens_predicted": 1,
    }
    return 200, {**said, "completion_probabilities": [token]}


def refusing(number: int, words: str) -> Answer:
    return lambda body: (number, error(words, number))


def fake(kind: str, more: dict[str, Answer] | None = None) -> FakeServer:
    ends = {"/completion": native} if kind == "llama.cpp" else {"/v1/completions": labelling}
    return FakeServer(more=ends if more is None else more, **KINDS[kind])


@asynccontextmanager
async def seated(server: FakeServer) -> AsyncIterator[Models]:
    async with server, Server(server.url, max_retries=1, sleep=quick) as prm:
        await prm.check()
        seat = Seat(prm, RoleOptions(max_tokens=50))
        yield Models(seat, prm=seat, gate=Gate(4))


@pytest.mark.parametrize(
    ("kind", "where", "opened"),
    [
        ("vllm", "/v1/completions", True),
        ("sglang", "/v1/completions", True),
        ("other", "/v1/completions", True),
        ("llama.cpp", "/completion", None),
    ],
)
async def test_text_without_a_chat_is_the_whole_prompt(kind: str, where: str, opened: bool | None) -> None:
    server = fake(kind)
    async with seated(server) as lm:
        reply = await lm.complete(HERE, LABEL)
    ((asked, body),) = server.posts
    assert (asked, body["prompt"], body.get("add_special_tokens")) == (where, TEXT, opened)
    assert not body.keys() & {"messages", "chat_template_kwargs"}
    assert not server.bodies
    assert [text for text, _ in reply.tokens[0].top] == [" +", " -", "x"]
    assert (reply.text, reply.wire) == (" +", ())


@pytest.mark.parametrize("kind", ["vllm", "sglang", "other", "llama.cpp"])
@pytest.mark.parametrize("judge", [TokenPrm(), openr_prm()], ids=["shepherd", "openr"])
async def test_a_token_prm_scores_steps_on_every_server_that_takes_text(kind: str, judge: TokenPrm) -> None:
    server = fake(kind)
    async with seated(server) as lm:
        sample = the_sample(await judge.judge(WHERE, 0, Caller(lm, PROMPTS, "p", 1)))
    assert sample.value == pytest.approx(0.75)
    asked = [body["prompt"] for path, body in server.posts if path != "/tokenize"]
    assert [prompt.endswith(judge.tag) for prompt in asked] == [True]


async def test_what_openais_server_would_refuse_is_not_sent() -> None:
    async with fake("other") as server, Server(server.url) as prm:
        info = await prm.check()
        prm.info = info._replace(kind="openai")
        prm._sender.kind = "openai"
        lm = Models(Seat(prm, RoleOptions()), prm=Seat(prm, RoleOptions()), gate=Gate(1))
        await lm.complete(HERE, LABEL)
    assert not server.posts[0][1].keys() & {"add_special_tokens", "top_k", "min_p", "return_token_ids"}


@pytest.mark.parametrize(
    "answer",
    [
        None,
        refusing(404, "This is a chat model and not supported in the v1/completions endpoint."),
        refusing(400, "The model does not support Completions API"),
        refusing(501, "not implemented"),
    ],
    ids=["no endpoint", "chat model", "pooling model", "not implemented"],
)
@pytest.mark.parametrize("kind", ["vllm", "other"])
async def test_a_server_without_text_completion_ends_the_run_in_one_line(
    kind: str, answer: Answer | None
) -> None:
    server = fake(kind, {} if answer is None else {"/v1/completions": answer})
    async with seated(server) as lm:
        with pytest.raises(UsageError, match=r"the prm role .*text completion.*--prm-base-url") as caught:
            await TokenPrm().judge(WHERE, 0, Caller(lm, PROMPTS, "p", 1))
    assert "\n" not in str(caught.value)
    assert len(server.posts) <= 2


async def test_ollama_would_put_a_template_around_the_text_and_is_not_asked() -> None:
    server = fake("ollama")
    async with seated(server) as lm:
        with pytest.raises(UsageError, match="Ollama puts a chat's template"):
            await lm.complete(HERE, LABEL)
    assert not server.posts


async def test_a_server_that_only_quotes_begun_turns_still_takes_text() -> None:
    server = FakeServer(well(opens=lambda body: False), more={"/v1/completions": labelling}, **KINDS["other"])
    async with seated(server) as lm:
        turn = await lm.complete(HERE, Request((Message("user", "Count."),), "prm", begun="1,", max_tokens=2))
        assert turn.wire == ("continued by quoted",)
        assert (await lm.complete(HERE, LABEL)).text == " +"


@pytest.mark.parametrize(("number", "kind"), [(401, Refused), (400, ServerError)])
async def test_other_faults_stay_what_they_are(number: int, kind: type[ServerError]) -> None:
    server = fake("vllm", {"/v1/completions": refusing(number, "no such luck")})
    async with seated(server) as lm:
        with pytest.raises(kind, match="no such luck"):
            await lm.complete(HERE, LABEL)


async def test_a_stop_string_ends_text_as_it_ends_a_turn() -> None:
    def said(body: Body) -> tuple[int, Any]:
        return 200, {"choices": [{"text": "one", "finish_reason": "stop", "stop_reason": body["stop"][0]}]}

    async with seated(fake("vllm", {"/v1/completions": said})) as lm:
        reply = await lm.complete(HERE, Request((), "prm", begun=TEXT, stop=("\n",)))
    assert (reply.text, reply.stop) == ("one\n", "\n")


# Who is there, and what they offer


@pytest.mark.parametrize(
    "name", ["qwen-prm", "seq-rm", "token-prm", "chat-token-prm", "gen-prm", "think-prm"]
)
async def test_a_missing_reward_model_is_told_before_anything_is_sent(name: str) -> None:
    needs = named_judge(name).needs
    assert "prm" in needs
    async with FakeServer() as policy:
        with pytest.raises(UsageError, match=r"needs a reward model.*--prm-base-url"):
            async with connect(Settings(policy=RoleOptions(None, policy.url)), needs=needs):
                pass
    assert (policy.gets, policy.bodies, policy.posts) == ([], [], [])


async def test_a_search_refuses_a_missing_reward_model_in_the_same_words() -> None:
    lm = Scripted([], offers=frozenset({"steps", "logprobs"}))
    what = choose("beam", {"judge": "token-prm"}).build()
    with pytest.raises(UsageError, match=r"needs a reward model.*--prm-base-url"):
        await search(Problem("p", "2+2?", "number"), what, lm)
    assert not lm.calls


async def test_the_words_of_a_role_are_those_of_its_own_server() -> None:
    async with FakeServer() as one, fake("vllm") as two, Server(one.url) as policy, Server(two.url) as other:
        await policy.check()
        await other.check()
        mine, others = Seat(policy, RoleOptions()), Seat(other, RoleOptions())
        alone = Models(mine, gate=Gate(1))
        every = Models(mine, others, others, gate=Gate(1))
    assert not alone.offers & {"prm", "judge", "pooling"}
    assert {"prm", "judge", "pooling", "judge token_ids", "prm logprobs"} <= every.offers
    assert "token_ids" not in every.offers
    callers = [Caller(lm, PROMPTS, "p", 1) for lm in (alone, every)]
    assert callers[0].offers("judge") == callers[0].offers()
    assert callers[0].offers("prm") == frozenset()
    assert "token_ids" in callers[1].offers("judge")
    every.take_back("judge", frozenset({"logprobs"}))
    assert "logprobs" not in callers[1].offers("judge")
    assert "logprobs" in callers[1].offers("policy")


@pytest.mark.parametrize(("gives", "part"), [(True, "judge_label"), (False, "judge_score")])
async def test_a_judge_reads_labels_where_its_server_was_seen_to_give_log_probabilities(
    gives: bool, part: str
) -> None:
    async with FakeServer("Score: 7") as policy, FakeServer(well() if gives else "Score: 7") as judge:
        asked = Settings(policy=RoleOptions(None, policy.url), judge=RoleOptions(None, judge.url))
        async with connect(asked, wishes=LlmJudge().wishes) as there:
            assert (len(policy.bodies), len(judge.bodies)) == (0, 1)
            await LlmJudge(attempts=1).judge(WHERE, 0, Caller(there.models, PROMPTS, "p", 1))
    assert len(judge.bodies) == 2
    assert ("top_logprobs" in judge.bodies[1]) is (part == "judge_label")


async def test_a_judge_whose_server_cannot_be_tried_keeps_its_words() -> None:
    async with FakeServer("Score: 7") as policy:
        policy.queue(status(400, "not today"))
        async with connect(
            Settings(policy=RoleOptions(None, policy.url)), wishes=frozenset({"logprobs"})
        ) as there:
            assert "logprobs" in there.models.offers


def test_only_a_recipe_whose_judge_reads_labels_wishes_for_them() -> None:
    assert choose("beam").build().wishes == {"logprobs"}
    assert choose("tot").build().wishes == frozenset()
    assert choose("mctsr").build().wishes == frozenset()
    assert LlmJudge(labels=False).wishes == frozenset()


async def test_openr_and_shepherd_say_what_is_missing_when_no_label_comes() -> None:
    for judge in (TokenPrm(), openr_prm()):
        lm = scripted([label(good=0.3, hm=0.7)])
        found = await judged(judge, path("a"), lm)
        assert "no label in the reply" in str(found)
        assert lm.calls[0][1].messages == ()


@pytest.mark.embedded
async def test_the_real_llama_cpp_reads_text_without_a_template(llama_url: str) -> None:
    text = "one two three four five six seven eight nine ten one two three four five six seven eight"
    async with Server(llama_url) as server:
        await server.check()
        lm = Models(Seat(server, RoleOptions()), prm=Seat(server, RoleOptions()), gate=Gate(1))
        reply = await lm.complete(HERE, Request((), "prm", 0.0, begun=text, max_tokens=1, logprobs=20))
        labelled = await lm.complete(HERE, LABEL)
    assert reply.text.strip() == "nine"
    # A template alone has some ten tokens more.
    assert reply.usage.prompt_tokens <= len(text.split()) + 2
    for found in (reply, labelled):
        assert len(found.tokens) == 1
        assert len(found.tokens[0].top) >= 20
        assert all(logprob <= 0 for _, logprob in found.tokens[0].top)


# Exact labels


def spelled(body: Body) -> tuple[int, Any]:
    """Tokenize so that only two spellings of the labels are one token."""
    ids = {"+": [27], " -": [731]}.get(body["prompt"], [5, 6])
    return 200, {"tokens": ids, "count": len(ids)}


async def test_vllm_is_asked_for_the_labels_that_are_one_token() -> None:
    # Of the most likely tokens a server tells only so many, and some only five.
    server = fake("vllm")
    server.more["/tokenize"] = spelled
    async with seated(server) as lm:
        await TokenPrm().judge(WHERE, 0, Caller(lm, PROMPTS, "p", 1))
    (asked,) = [body for path, body in server.posts if path == "/v1/completions"]
    assert (asked["logprob_token_ids"], asked["logprobs"]) == ([27, 731], 20)
    assert {body["prompt"] for path, body in server.posts if path == "/tokenize"} == {"+", " +", "-", " -"}


async def test_a_judge_that_chats_asks_for_its_labels_too() -> None:
    server = FakeServer(well(), **KINDS["vllm"], more={"/tokenize": lambda body: (200, {"tokens": [9]})})
    async with seated(server) as lm:
        await LlmJudge().judge(WHERE, 0, Caller(lm, PROMPTS, "p", 1))
    assert server.bodies[0]["logprob_token_ids"] == [9]


@pytest.mark.parametrize("kind", ["vllm", "sglang", "llama.cpp", "other"])
async def test_where_labels_cannot_be_chosen_the_likeliest_tokens_do(kind: str) -> None:
    server = fake(kind)
    async with seated(server) as lm:
        for _ in range(3):
            await TokenPrm().judge(WHERE, 0, Caller(lm, PROMPTS, "p", 1))
    assert not any("logprob_token_ids" in body for _, body in server.posts)
    # An endpoint that is not there is not looked for again.
    assert [path for path, _ in server.posts].count("/tokenize") == (kind == "vllm")
