"""The chat client against a fake server that misbehaves, and a few calls against the real one."""

import asyncio
import json
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from mctsr.errors import ContextOverflow, Refused, ServerError, ServerGone, UsageError
from mctsr.lm.base import Completion, Message, Place, Request, Usage
from mctsr.lm.dialects import Kind
from mctsr.lm.gate import Gate
from mctsr.lm.identity import ServerInfo
from mctsr.lm.options import RoleOptions
from mctsr.lm.roles import Models, Seat
from mctsr.lm.server import Server
from tests.support.fake_server import Body, FakeServer, Fault, chat, cut, drop, hang, raw, status

QUESTION = Request((Message("user", "what is two and two"),))
HERE = Place("p", 0, "answer")
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


class Naps:
    """Sleeps in no time and remembers for how long it should have slept."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


def client(fake: FakeServer, naps: Callable[[float], Awaitable[None]] | None = None, **more: Any) -> Server:
    return Server(fake.url, more.pop("model", "fake"), sleep=naps or Naps(), **more)


def models(server: Server, *, limit: int = 8, seed: int = 0, **settings: Any) -> Models:
    return Models(Seat(server, RoleOptions(**settings)), gate=Gate(limit), seed=seed)


async def ask(
    server: Server, request: Request = QUESTION, place: Place = HERE, **settings: Any
) -> Completion:
    return await models(server, **settings).complete(place, request)


# One call


async def test_a_call_sends_every_sampling_field_and_reads_the_reply() -> None:
    async with FakeServer("it is 4") as fake, client(fake) as server:
        completion = await ask(server, max_tokens=9)
    assert (completion.text, completion.usage, completion.retries) == ("it is 4", Usage(5, 3), 0)
    assert completion.seconds > 0
    assert fake.bodies == [
        {
            "model": "fake",
            "messages": [{"role": "user", "content": "what is two and two"}],
            "max_tokens": 9,
            "temperature": 0.7,
            "top_p": 0.95,
            "seed": HERE.seed(0),
            "top_k": 0,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
        }
    ]


async def test_extra_body_arrives_unchanged() -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    async with FakeServer() as fake, client(fake) as server:
        await ask(server, extra_body=extra)
    assert fake.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize(
    ("asked", "wished", "sent"), [(None, None, 0.7), (None, 0.1, 0.1), (0.0, 0.1, 0.0), (1, None, 1.0)]
)
async def test_the_users_temperature_wins_over_the_requests(
    asked: float | None, wished: float | None, sent: float
) -> None:
    async with FakeServer() as fake, client(fake) as server:
        await ask(server, Request(QUESTION.messages, temperature=wished), temperature=asked)
    assert fake.bodies[0]["temperature"] == sent


async def test_the_judge_has_its_own_server_and_settings() -> None:
    async with (
        FakeServer("policy") as one,
        FakeServer("judge") as two,
        client(one, model="small") as policy,
        client(two, model="big") as judge,
    ):
        lm = Models(
            Seat(policy, RoleOptions(max_tokens=10)), Seat(judge, RoleOptions(max_tokens=20)), gate=Gate(4)
        )
        texts = [
            (await lm.complete(HERE, Request(QUESTION.messages, role))).text for role in ("policy", "judge")
        ]
    assert texts == ["policy", "judge"]
    assert [(f.bodies[0]["model"], f.bodies[0]["max_tokens"]) for f in (one, two)] == [
        ("small", 10),
        ("big", 20),
    ]


async def test_siblings_differ_in_their_seeds_and_a_place_keeps_its_seed() -> None:
    async with FakeServer(lambda body: f"draft {body['seed']}") as fake, client(fake) as server:
        lm = models(server, seed=7)
        places = [HERE._replace(draft=draft) for draft in (0, 1, 2, 0)]
        texts = [(await lm.complete(place, QUESTION)).text for place in places]
    assert len(set(texts)) == 3
    assert texts[0] == texts[3]


async def test_a_logical_request_is_the_same_whatever_the_server_takes() -> None:
    async with FakeServer(refuses={"top_k": "top_k is unknown"}) as fake, client(fake) as server:
        lm = models(server)
        before = lm.logical(HERE, QUESTION)
        await lm.complete(HERE, QUESTION)
        assert lm.logical(HERE, QUESTION) == before
    assert "top_k" not in fake.bodies[-1]


# Trying again


@pytest.mark.parametrize(
    "fault",
    [
        status(500), status(502), status(503), status(408), status(409), status(425), status(429),
        status(529), cut(), drop(after=10), raw(b"<html>oops</html>"), raw(b""), raw(b'{"choices":[]}'),
        raw(json.dumps({"error": {"message": "busy", "code": 500}}).encode()),
        raw(json.dumps(chat({"content": "x", "finish_reason": "abort"}, {})).encode()),
    ],
)  # fmt: skip
async def test_passing_faults_are_tried_again_with_the_same_seed(fault: Fault) -> None:
    naps = Naps()
    async with FakeServer("4") as fake, client(fake, naps) as server:
        fake.queue(fault, fault)
        completion = await ask(server)
    assert (completion.text, completion.retries) == ("4", 2)
    assert fake.bodies[0] == fake.bodies[1] == fake.bodies[2]
    assert 0.375 <= naps.seconds[0] <= 0.625
    assert 0.75 <= naps.seconds[1] <= 1.25


async def test_delays_double_up_to_a_cap() -> None:
    naps = Naps()
    async with FakeServer() as fake, client(fake, naps, max_retries=9) as server:
        fake.queue(*[status(500)] * 9)
        assert (await ask(server)).retries == 9
    assert naps.seconds == sorted(naps.seconds)
    assert naps.seconds[-1] == 30.0


async def test_a_wish_to_wait_is_honoured() -> None:
    naps = Naps()
    async with FakeServer() as fake, client(fake, naps) as server:
        fake.queue(status(429, headers={"Retry-After": "7"}), status(503, headers={"Retry-After": "999"}))
        await ask(server)
    assert naps.seconds == [7.0, 120.0]


async def test_a_time_limit_is_tried_again_and_then_said() -> None:
    async with FakeServer() as fake, client(fake, timeout=0.1, max_retries=1) as server:
        fake.queue(hang())
        assert (await ask(server)).retries == 1
        fake.queue(hang(), hang())
        with pytest.raises(ServerError, match=r"no reply within 0\.1 s \(tries: 2\)"):
            await ask(server)


async def test_one_dropped_connection_is_tried_again_at_once_and_not_counted() -> None:
    naps = Naps()
    async with FakeServer() as fake, client(fake, naps, max_retries=0) as server:
        fake.queue(drop())
        assert (await ask(server)).retries == 0
    assert (len(fake.bodies), naps.seconds) == (2, [])


async def test_a_second_drop_of_the_same_call_counts() -> None:
    async with FakeServer() as fake, client(fake, max_retries=1) as server:
        fake.queue(drop(), drop())
        assert (await ask(server)).retries == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"choices":[]}', "the reply holds no choices"),
        (b"{", "the reply is no JSON, perhaps cut off"),
        (b'{"error":{"message":"worker died"}}', "worker died"),
        (b'{"error":{"message":"busy","code":503}}', "busy"),
    ],
)
async def test_no_status_is_named_that_was_never_sent(body: bytes, said: str) -> None:
    async with FakeServer() as fake, client(fake, max_retries=1) as server:
        fake.queue(raw(body), raw(body))
        with pytest.raises(ServerError) as caught:
            await ask(server)
    words = f" answered 200 with something that is no completion: {said} (tries: 2)"
    assert str(caught.value).endswith(words)
    assert len(fake.bodies) == 2


async def test_a_server_that_never_recovers_is_quoted() -> None:
    async with FakeServer() as fake, client(fake, max_retries=2) as server:
        fake.queue(*[status(500, "CUDA out of memory")] * 3)
        with pytest.raises(ServerError, match=r"CUDA out of memory \(tries: 3\)") as caught:
            await ask(server)
    assert (type(caught.value), caught.value.status, len(fake.bodies)) == (ServerError, 500, 3)
    assert caught.value.retries == 2


@pytest.mark.parametrize("number", [400, 401])
async def test_a_final_fault_after_others_tells_of_the_retries(number: int) -> None:
    async with FakeServer() as fake, client(fake) as server:
        fake.queue(status(500), status(500), status(number))
        with pytest.raises(ServerError) as caught:
            await ask(server)
    assert (caught.value.status, caught.value.retries) == (number, 2)


# Faults that stay


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (status(401, "bad key"), Refused),
        (status(403, "not you"), Refused),
        (status(404, "The model `x` does not exist."), Refused),
        (status(429, "pay first", code="insufficient_quota"), Refused),
        (status(400, "made up"), ServerError),
        (status(418, "teapot"), ServerError),
        (status(400, "maximum context length is 8", param="input_tokens"), ContextOverflow),
    ],
)
async def test_other_faults_are_final_and_keep_the_servers_words(
    fault: Fault, kind: type[ServerError]
) -> None:
    async with FakeServer() as fake, client(fake) as server:
        fake.queue(fault)
        with pytest.raises(ServerError) as caught:
            await ask(server)
    assert type(caught.value) is kind
    assert any(words in str(caught.value) for words in ("bad", "not", "pay", "made up", "teapot", "maximum"))
    assert len(fake.bodies) == 1


async def test_a_prompt_that_does_not_fit_fails_alone() -> None:
    async with FakeServer("4", context=10) as fake, client(fake) as server:
        lm = models(server)
        long = Request((Message("user", "word " * 11),))
        results = await asyncio.gather(
            *(lm.complete(HERE._replace(draft=i), long if i == 1 else QUESTION) for i in range(3)),
            return_exceptions=True,
        )
    assert [type(result) for result in results] == [Completion, ContextOverflow, Completion]


async def test_a_redirect_is_said_not_followed() -> None:
    async with FakeServer() as fake, client(fake) as server:
        fake.queue(raw(b"", number=307, headers={"Location": "/elsewhere"}))
        with pytest.raises(Refused, match="307"):
            await ask(server)


# Fields that a server does not take


async def test_a_refused_field_is_dropped_once_and_remembered() -> None:
    async with FakeServer("4", refuses={"top_k": "top_k is unknown"}) as fake, client(fake) as server:
        lm = models(server)
        first = await lm.complete(HERE, QUESTION)
        second = await lm.complete(HERE._replace(draft=1), QUESTION)
    assert (first.wire, second.wire) == (("dropped top_k",), ("dropped top_k",))
    assert ["top_k" in body for body in fake.bodies] == [True, False, False]
    assert (first.retries, second.retries) == (0, 0)


async def test_the_limit_of_tokens_is_renamed_and_never_lost() -> None:
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    async with FakeServer(refuses={"max_tokens": words}) as fake, client(fake) as server:
        completion = await ask(server, max_tokens=33)
        assert completion.wire == ("renamed max_tokens to max_completion_tokens",)
        assert fake.bodies[-1]["max_completion_tokens"] == 33
        fake.refuses = {"max_tokens": words, "max_completion_tokens": "max_completion_tokens is unknown"}
        with pytest.raises(ServerError, match="max_completion_tokens is unknown"):
            await ask(server)


async def test_several_refused_fields_are_dropped_one_after_the_other() -> None:
    refuses = {name: f"unknown field {name}" for name in ("top_k", "min_p", "repetition_penalty", "seed")}
    async with FakeServer(refuses=refuses) as fake, client(fake) as server:
        completion = await ask(server)
    assert sorted(completion.wire) == [f"dropped {name}" for name in sorted(refuses)]
    assert len(fake.bodies) == 5


async def test_a_refused_schema_is_noted_only_where_one_was_asked_for() -> None:
    refuses = {"response_format": "json_schema is not supported"}
    async with FakeServer(refuses=refuses) as fake, client(fake) as server:
        lm = models(server)
        first = await lm.complete(HERE, Request(QUESTION.messages, schema=SCHEMA))
        plain = await lm.complete(HERE, QUESTION)
    assert fake.bodies[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (first.wire, plain.wire) == (("dropped response_format",), ())


@pytest.mark.parametrize(
    ("role", "said"),
    [("policy", "model and --base-url"), ("prm", r"address of the prm role \(--prm-base-url\)")],
)
async def test_a_refusal_names_the_address_of_the_role_that_was_asked(role: Any, said: str) -> None:
    async with FakeServer(extra={"owned_by": "vllm"}) as fake, client(fake) as server:
        await server.check()
        fake.queue(status(404, "Not Found"))
        seat = Seat(server, RoleOptions())
        lm = Models(seat, prm=seat, gate=Gate(1))
        with pytest.raises(Refused, match=said) as caught:
            await lm.complete(HERE, Request(QUESTION.messages, role))
    assert "serves for pooling" in str(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        "Requested sample logprobs of 20, which is greater than max allowed: 5 (parameter=logprobs, value=20)",
        "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 5, but got 20 instead.",
        "top_logprobs: Input should be less than or equal to 5",
    ],
)
async def test_a_number_that_is_too_large_is_lowered_to_what_the_server_takes(words: str) -> None:
    # A server with a limit of 5 was taken to give no log-probabilities at all.
    many, own = Request(QUESTION.messages, logprobs=20), Request(QUESTION.messages, logprobs=0)
    async with FakeServer() as fake, client(fake) as server:
        lm = models(server)
        fake.queue(status(400, words, param="logprobs"))
        first = await lm.complete(HERE, many)
        second = await lm.complete(HERE._replace(draft=1), many)
        third = await lm.complete(HERE, own)
    asked = [(body["logprobs"], body.get("top_logprobs")) for body in fake.bodies]
    assert asked == [(True, 20), (True, 5), (True, 5), (True, None)]
    assert [reply.wire for reply in (first, second, third)] == [("lowered top_logprobs to 5",)] * 2 + [()]


async def test_a_number_that_is_still_too_large_when_lowered_is_dropped() -> None:
    words = "logprobs are not for this model, at most 5 or otherwise"
    async with FakeServer(refuses={"logprobs": words}) as fake, client(fake) as server:
        reply = await models(server).complete(HERE, Request(QUESTION.messages, logprobs=20))
    assert reply.wire == ("dropped logprobs", "lowered top_logprobs to 5")
    assert [("logprobs" in body, body["top_logprobs"]) for body in fake.bodies] == [
        (True, 20),
        (True, 5),
        (False, 5),
    ]


async def test_what_the_user_added_is_never_dropped() -> None:
    async with FakeServer(refuses={"top_k": "top_k is unknown"}) as fake, client(fake) as server:
        with pytest.raises(ServerError, match="top_k is unknown"):
            await ask(server, extra_body={"top_k": 20})


async def test_another_model_of_a_server_shares_its_connections_and_learns_for_itself() -> None:
    refuses = {"top_k": "top_k is unknown"}
    async with FakeServer(refuses=refuses) as fake, client(fake, model="one") as server:
        other = server.beside("two")
        await ask(server)
        fake.refuses = {}
        assert (await ask(other)).wire == ()
        assert (other._connection is server._connection, other.info) == (True, None)
    assert [(body["model"], "top_k" in body) for body in fake.bodies] == [
        ("one", True),
        ("one", False),
        ("two", True),
    ]


async def test_a_burst_of_calls_learns_together() -> None:
    async with FakeServer(refuses={"top_k": "top_k is unknown"}, delay=0.01) as fake, client(fake) as server:
        lm = models(server, limit=20)
        done = await asyncio.gather(*(lm.complete(HERE._replace(draft=i), QUESTION) for i in range(20)))
    assert {completion.wire for completion in done} == {("dropped top_k",)}


# Many calls


async def test_the_limit_counts_all_roles_together_and_the_oldest_problem_goes_first() -> None:
    async with FakeServer(delay=0.01) as fake, client(fake) as policy, client(fake) as judge:
        lm = Models(Seat(policy, RoleOptions()), Seat(judge, RoleOptions()), gate=Gate(3))
        for problem in ("old", "new"):
            lm.order(problem)
        calls = [
            lm.complete(
                Place(problem, 0, "answer", i),
                Request((Message("user", problem),), "judge" if i % 2 else "policy"),
            )
            for problem in ("new", "old")
            for i in range(6)
        ]
        await asyncio.gather(*calls)
    assert fake.peak == 3
    order = [body["messages"][0]["content"] for body in fake.bodies]
    assert order == ["new"] * 3 + ["old"] * 6 + ["new"] * 3


async def test_three_hundred_calls_are_in_flight_at_once() -> None:
    async def meet(fake: FakeServer, request: web.Request, body: Body) -> web.StreamResponse:
        while fake.peak < 300:
            await asyncio.sleep(0.01)
        return web.json_response(chat("4", body))

    async with FakeServer() as fake, client(fake) as server:
        fake.queue(*[meet] * 300)
        lm = models(server, limit=300)
        await asyncio.gather(*(lm.complete(HERE._replace(draft=i), QUESTION) for i in range(300)))
    assert fake.peak == 300


async def test_an_overloaded_server_gets_fewer_calls() -> None:
    async with FakeServer() as fake, client(fake) as server:
        gate = Gate(8)
        lm = Models(Seat(server, RoleOptions()), gate=gate)
        fake.queue(*[status(429)] * 8)
        await asyncio.gather(*(lm.complete(HERE._replace(draft=i), QUESTION) for i in range(8)))
        assert gate.limit == 4 + 1  # grown by one after four of the eight successes
        assert gate.in_flight == 0


async def test_no_slot_is_held_while_a_call_waits_to_try_again() -> None:
    async with FakeServer("4") as fake:
        woken = asyncio.Event()

        async def nap(seconds: float) -> None:
            await woken.wait()

        async with client(fake, nap) as server:
            lm = models(server, limit=1)
            fake.queue(status(500))
            slow = asyncio.create_task(lm.complete(HERE, QUESTION))
            while not fake.bodies:
                await asyncio.sleep(0.001)
            assert (await asyncio.wait_for(lm.complete(HERE._replace(draft=1), QUESTION), 5)).text == "4"
            woken.set()
            assert (await slow).retries == 1


async def test_a_call_is_reported_as_sent_once_when_it_has_its_first_slot() -> None:
    async with FakeServer("4", refuses={"top_k": "top_k is unknown"}) as fake, client(fake) as server:
        gate, seen = Gate(1), list[int]()
        lm = Models(Seat(server, RoleOptions()), gate=gate)
        fake.queue(status(500))
        async with gate.slot():
            call = asyncio.create_task(lm.complete(HERE, QUESTION, sent=lambda: seen.append(gate.in_flight)))
            gone = asyncio.create_task(lm.complete(HERE, QUESTION, sent=lambda: seen.append(-1)))
            await asyncio.sleep(0.01)
            gone.cancel()
            assert seen == []
        assert (await call).retries == 1
    assert (seen, len(fake.bodies)) == ([1], 3)


async def test_a_call_that_cannot_be_reported_as_sent_is_not_sent() -> None:
    def full() -> None:
        raise OSError("disk full")

    async with FakeServer() as fake, client(fake) as server:
        gate = Gate(1)
        with pytest.raises(OSError, match="disk full"):
            await Models(Seat(server, RoleOptions()), gate=gate).complete(HERE, QUESTION, sent=full)
        assert (gate.in_flight, fake.bodies) == (0, [])


async def test_a_cancelled_call_closes_its_connection_and_frees_its_slot() -> None:
    async with FakeServer() as fake, client(fake) as server:
        gate = Gate(1)
        lm = Models(Seat(server, RoleOptions()), gate=gate)
        fake.queue(hang())
        task = asyncio.create_task(lm.complete(HERE, QUESTION))
        while not fake.bodies:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gate.in_flight == 0
        assert (await lm.complete(HERE, QUESTION)).text


# Gone and back


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_dead_server_is_gone_after_the_last_try() -> None:
    async with Server(f"http://127.0.0.1:{free_port()}", "m", max_retries=2, sleep=Naps()) as server:
        with pytest.raises(ServerGone, match="refused"):
            await ask(server)


async def test_a_server_that_comes_back_in_time_is_not_gone() -> None:
    fake = FakeServer("back")
    await fake.start()
    await fake.stop()
    naps = 0

    async def nap(seconds: float) -> None:
        nonlocal naps
        naps += 1
        if naps == 3:
            await fake.start()

    async with client(fake, nap) as server:
        completion = await ask(server)
    await fake.stop()
    assert (completion.text, completion.retries) == ("back", 3)


async def test_a_server_that_only_drops_chats_is_not_gone() -> None:
    async with FakeServer() as fake, client(fake, max_retries=0) as server:
        fake.queue(drop(), drop())
        with pytest.raises(ServerError, match="closed the connection") as caught:
            await ask(server)
    assert type(caught.value) is ServerError
    assert "/v1/models" in fake.gets


# Before the run


async def test_check_names_the_first_model_of_a_local_server() -> None:
    async with FakeServer(models=("one", "two")) as fake, client(fake, model=None) as server:
        with pytest.raises(UsageError, match="name one"):
            _ = server.model
        assert (await server.check()).model == server.model == "one"


async def test_an_unknown_model_is_named_beside_those_that_are_served() -> None:
    async with FakeServer(models=("llama-8b", "qwen-7b")) as fake, client(fake, model="lama-8b") as server:
        with pytest.raises(UsageError, match=r"'lama-8b' is not served .* llama-8b, qwen-7b"):
            await server.check()


async def test_aliases_and_tags_of_a_model_are_accepted() -> None:
    async with FakeServer(models=("llama3:latest", "x/y"), extra={"aliases": ["small"]}) as fake:
        for name in ("llama3", "llama3:latest", "small", "x/y:free"):
            async with client(fake, model=name) as server:
                assert (await server.check()).model == name


async def test_a_server_without_a_list_of_models_needs_a_name() -> None:
    async with FakeServer(models=None) as fake:
        async with client(fake, model="any") as server:
            assert (await server.check()).model == "any"
        async with client(fake, model=None) as server:
            with pytest.raises(UsageError, match="--model"):
                await server.check()


@pytest.mark.parametrize(
    ("extra", "pages", "kind", "version", "context"),
    [
        (
            {"owned_by": "vllm", "max_model_len": 8192},
            {"/version": {"version": "0.33.0"}},
            "vllm",
            "0.33.0",
            8192,
        ),
        ({"owned_by": "sglang", "max_model_len": 99}, {"/server_info": {"version": "5"}}, "sglang", "5", 99),
        ({"owned_by": "library"}, {"/api/version": {"version": "0.9"}}, "ollama", "0.9", None),
        (
            {"owned_by": "llamacpp"},
            {"/props": {"default_generation_settings": {"n_ctx": 2048}, "build_info": "b7"}},
            "llama.cpp",
            "b7",
            2048,
        ),
        ({}, {"/props": {"default_generation_settings": {"n_ctx": 5}}}, "llama.cpp", "", 5),
        ({"owned_by": "me"}, {"/version": {"version": "1"}}, "vllm", "1", None),
        ({"owned_by": "openai", "context_length": 7}, {}, "other", "", 7),
    ],
)
async def test_servers_are_told_apart(
    extra: dict[str, object], pages: dict[str, object], kind: Kind, version: str, context: int | None
) -> None:
    async with FakeServer(extra=extra, pages=pages) as fake, client(fake) as server:
        assert await server.check() == ServerInfo(kind, version, "fake", context)
        assert server.kind == kind


async def test_check_waits_for_a_model_to_load() -> None:
    async with FakeServer(loading=0.4) as fake, client(fake) as server:
        with pytest.raises(ServerError, match=r"Loading model.*--wait-for-server"):
            await server.check()
        assert (await server.check(wait=10)).model == "fake"


async def test_check_waits_for_a_server_to_start() -> None:
    fake = FakeServer(port=free_port())
    async with client(fake) as server:
        began = time.monotonic()
        with pytest.raises(ServerGone, match=r"refused.*--wait-for-server"):
            await server.check()
        assert time.monotonic() - began < 2
        waiting = asyncio.create_task(server.check(wait=10))
        await asyncio.sleep(0.1)
        async with fake:
            assert (await waiting).model == "fake"


async def test_an_unaccepted_key_is_refused_before_the_run() -> None:
    async with FakeServer(key="right") as fake, client(fake, api_key="wrong") as server:
        with pytest.raises(Refused, match="OPENAI_API_KEY"):
            await server.check()


# Keys and addresses


async def test_a_local_server_needs_no_key_and_gets_none() -> None:
    async with FakeServer() as fake, client(fake, api_key="  ") as server:
        await ask(server)
    assert "Authorization" not in fake.headers[0]


async def test_a_key_is_sent_and_shown_nowhere() -> None:
    key = "sk-very-secret"
    async with FakeServer() as fake, client(fake, api_key=key) as server:
        await ask(server)
        assert fake.headers[0]["Authorization"] == f"Bearer {key}"
        fake.queue(status(401, f"Incorrect API key provided: {key}"))
        with pytest.raises(Refused) as caught:
            await ask(server)
        assert key not in f"{caught.value}{server!r}{server._connection!r}"


@pytest.mark.parametrize("key", [None, "", "  "])
def test_a_remote_server_without_a_key_is_a_usage_error_before_any_call(key: str | None) -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        Server("https://api.example.com/v1", "m", api_key=key)


@pytest.mark.parametrize("key", ["sk\nx", "schlüssel"])
def test_a_key_that_no_header_carries_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        Server("http://localhost:1", "m", api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("settings", [{"max_retries": -1}, {"timeout": 0}, {"timeout": -1.0}])
def test_numbers_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="allowed"):
        Server("http://localhost:1", "m", **settings)


async def test_https_to_a_plain_server_is_said_at_once() -> None:
    async with FakeServer() as fake, Server(fake.url.replace("http:", "https:"), "m", sleep=Naps()) as server:
        with pytest.raises(Refused, match="http or https"):
            await ask(server)


# Speed


async def test_a_call_costs_little_processor_time() -> None:
    """The fake server runs in the same process, so both together are measured, with a wide margin."""
    async with FakeServer("word " * 100, delay=0.02) as fake, client(fake) as server:
        lm = models(server, limit=100)
        calls = [lm.complete(HERE._replace(draft=i), QUESTION) for i in range(400)]
        began = time.process_time()
        await asyncio.gather(*calls)
        spent = time.process_time() - began
    assert spent / 400 < 0.006


# As a process of its own


async def test_the_fake_server_also_runs_as_a_process(tmp_path: Path) -> None:
    log = tmp_path / "bodies.jsonl"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.fake_server", "--reply", "a 4", "--log", str(log)),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        async with Server(url) as server:
            await server.check()
            assert (await ask(server)).text == "a 4"
    finally:
        process.kill()
        await process.wait()
    assert json.loads(log.read_text(encoding="utf-8"))["model"] == "fake"


# The real server


@pytest.mark.embedded
async def test_the_real_server_answers_as_the_fake_one_does(llama_url: str) -> None:
    async with Server(llama_url, timeout=60) as server:
        info = await server.check(wait=30)
        assert (info.kind, info.context is not None) == ("llama.cpp", True)
        lm = models(server, max_tokens=8)
        plain = await lm.complete(HERE, QUESTION)
        assert plain.text
        assert plain.usage.prompt_tokens > 5
        assert 0 < plain.usage.completion_tokens <= 8
        assert plain.wire == ()
        scored = await models(server, max_tokens=24).complete(HERE, Request(QUESTION.messages, schema=SCHEMA))
        assert isinstance(json.loads(scored.text)["score"], int)
        with pytest.raises(ContextOverflow):
            await lm.complete(HERE, Request((Message("user", "many words " * (info.context or 0)),)))


# Hostile replies


async def test_an_endless_reply_fails_its_call_in_words_and_keeps_no_other_waiting() -> None:
    naps = Naps()
    async with FakeServer() as fake, client(fake, naps, timeout=3.0) as server:
        fake.queue(raw(json.dumps(chat("x" * (16 << 20), {})).encode()))
        began = time.perf_counter()
        found = await asyncio.gather(*(ask(server) for _ in range(4)), return_exceptions=True)
        assert time.perf_counter() - began < 2
    failed = [one for one in found if isinstance(one, BaseException)]
    assert len(failed) == 1
    assert isinstance(failed[0], ServerError)
    assert "answered 200 with more than 2.4 MB, which no reply needs" in str(failed[0])
    assert naps.seconds == [], "it is not asked for again"


@pytest.mark.parametrize("content", [4, {"a": 1}, [{"type": "image_url"}]])
async def test_a_reply_that_is_no_text_is_asked_for_again(content: object) -> None:
    async with FakeServer("4") as fake, client(fake) as server:
        fake.queue(raw(json.dumps({"choices": [{"message": {"content": content}}]}).encode()))
        completion = await ask(server)
    assert (completion.text, completion.retries) == ("4", 1)


@pytest.mark.parametrize("key", ["sk-secret", "x"])
async def test_a_key_is_shown_nowhere_when_a_server_repeats_it(
    key: str, caplog: pytest.LogCaptureFixture
) -> None:
    words = f"top_k is unknown to {key}"
    async with FakeServer() as fake, client(fake, api_key=key) as server:
        fake.queue(status(400, words), status(400, f"no, {key}"))
        with caplog.at_level("INFO"), pytest.raises(ServerError, match=r"no, \*\*\*"):
            await ask(server)
    assert "top_k is unknown to ***" in caplog.text
    assert key not in caplog.text.replace("max", "").replace("does not take top_k", "").split()
