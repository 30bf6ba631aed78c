"""Scores of a reward model over HTTP: bodies, rows, every way in which there are none, the log and its replay."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mctsr.caller import Caller
from mctsr.errors import ContextOverflow, Refused, ServerError, UsageError
from mctsr.lm.base import Completion, Message, Place, Pooling, Request, Token, Usage
from mctsr.lm.callfile import CallLog
from mctsr.lm.calllog import LoggedLM
from mctsr.lm.connect import Keys, connect
from mctsr.lm.gate import Gate
from mctsr.lm.options import RoleOptions, Settings
from mctsr.lm.roles import Models, Seat
from mctsr.lm.scripted import Scripted
from mctsr.lm.server import Server
from mctsr.prompting import Prompts
from tests.support import fake_ways
from tests.support.fake_server import FakeServer, hang, raw, status

HERE = Place("p", 3, "qwen_prm")
CHAT = Pooling((Message("user", "q"), Message("assistant", "one<extra_0>two<extra_0>")))
ROWS = [[0.03, 0.97], [0.61, 0.39]]


async def quick(seconds: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def scoring(fake: FakeServer, timeout: float | None = 600.0) -> AsyncIterator[Models]:
    async with fake, Server(fake.url, timeout=timeout, max_retries=1, sleep=quick) as server:
        await server.check()
        seat = Seat(server, RoleOptions())
        yield Models(seat, prm=seat, gate=Gate(2))


def reward_model(rows: Any = ROWS, **more: Any) -> FakeServer:
    return FakeServer(extra={"owned_by": "vllm"}, more=fake_ways.pooling(lambda _: rows), **more)


async def test_rows_of_a_chat_and_of_a_text() -> None:
    fake = reward_model()
    async with scoring(fake) as lm:
        assert {"pooling", "classify"} <= lm.offers
        pooled = await lm.pool(HERE, CHAT)
        assert pooled.rows == ((0.03, 0.97), (0.61, 0.39))
        assert pooled.usage == Usage(41)
        one = await lm.pool(HERE, Pooling(text="whole", task="classify", raw=True))
        assert one.rows == ((0.03, 0.97),)
    assert fake.posts == [
        (
            "/pooling",
            {
                "model": "fake",
                "messages": [turn._asdict() for turn in CHAT.messages],
                "add_generation_prompt": False,
            },
        ),
        ("/classify", {"model": "fake", "input": ["whole"], "use_activation": False}),
    ]


async def test_a_plain_model_at_the_address_is_named_in_one_line() -> None:
    async with scoring(FakeServer()) as lm:
        with pytest.raises(Refused, match=r"404.*--runner pooling.*--prm-base-url") as caught:
            await lm.pool(HERE, CHAT)
        assert "\n" not in str(caught.value)


async def test_a_server_that_says_it_does_not_score_ends_the_run() -> None:
    fake = reward_model()
    async with scoring(fake) as lm:
        fake.queue(status(400, "The model does not support Pooling API"))
        with pytest.raises(Refused, match="does not support Pooling"):
            await lm.pool(HERE, CHAT)


async def test_one_bad_text_fails_alone_and_no_field_is_dropped_for_it() -> None:
    fake = reward_model()
    async with scoring(fake) as lm:
        fake.queue(status(400, "add_generation_prompt: nothing to score in messages"))
        with pytest.raises(ServerError, match="400") as caught:
            await lm.pool(HERE, CHAT)
        assert not isinstance(caught.value, Refused)
        fake.queue(status(400, "maximum context length is 10 tokens", param="input_tokens"))
        with pytest.raises(ContextOverflow):
            await lm.pool(HERE, CHAT)
        assert (await lm.pool(HERE, CHAT)).wire == ()


@pytest.mark.parametrize(
    "bad", [b"NaN", b"Infinity", b"null", b'"x"', b"1" + b"0" * 400, b"-1" + b"0" * 400, b"true", b"false"]
)
async def test_scores_that_are_no_numbers_are_said_at_once(bad: bytes) -> None:
    fake = reward_model()
    async with scoring(fake) as lm:
        fake.queue(raw(b'{"data":[{"data":[[0.1,%b]]}],"usage":{}}' % bad))
        with pytest.raises(ServerError, match="NaN, infinite or no number"):
            await lm.pool(HERE, CHAT)
    assert len(fake.posts) == 1


@pytest.mark.parametrize("body", [b"{}", b'{"data":[]}', b'{"data":[3]}', b"[", b'{"choices":[]}'])
async def test_a_reply_without_scores_is_asked_for_again(body: bytes) -> None:
    fake = reward_model()
    async with scoring(fake) as lm:
        fake.queue(raw(body), status(503))
        with pytest.raises(ServerError, match="tries: 2"):
            await lm.pool(HERE, CHAT)
        fake.queue(raw(body))
        assert (await lm.pool(HERE, CHAT)).retries == 1


async def test_a_server_that_hangs_is_given_up() -> None:
    fake = reward_model()
    async with scoring(fake, timeout=0.1) as lm:
        fake.queue(hang(), hang())
        with pytest.raises(ServerError, match=r"no reply within 0\.1 s"):
            await lm.pool(HERE, CHAT)


async def test_the_gate_limits_scores_and_replies_together() -> None:
    fake = reward_model(delay=0.01)
    async with scoring(fake) as lm:
        await asyncio.gather(*(lm.pool(HERE._replace(draft=draft), CHAT) for draft in range(8)))
    assert fake.peak <= 2


async def test_without_a_reward_model_the_role_is_named() -> None:
    async with FakeServer() as fake, Server(fake.url) as server:
        await server.check()
        lm = Models(Seat(server, RoleOptions()), gate=Gate(1))
        assert "pooling" not in lm.offers
        with pytest.raises(UsageError, match=r"'prm'.*--prm-base-url"):
            await lm.pool(HERE, CHAT)
        with pytest.raises(UsageError, match="'prm'"):
            await lm.complete(HERE, Request((), role="prm"))
    with pytest.raises(UsageError, match="'prm'"):
        await Scripted([]).pool(HERE, CHAT)


async def test_the_reward_model_is_reached_with_its_own_key_and_recorded_without() -> None:
    async with FakeServer(key="one") as policy, reward_model(key="two", models=("rm",)) as prm:
        settings = Settings(policy=RoleOptions("fake", policy.url), prm=RoleOptions(None, prm.url))
        async with connect(settings, Keys("one", None, "two")) as connected:
            found = connected.servers[2]
            assert (found.role, found.model, found.kind) == ("prm", "rm", "vllm")
            assert (await connected.models.pool(HERE, CHAT)).rows == ((0.03, 0.97), (0.61, 0.39))
            assert "two" not in repr(connected.servers)


async def test_a_recipe_that_grows_steps_has_its_way_found_before_the_first_call() -> None:
    model = fake_ways.Model()
    async with FakeServer(extra={"owned_by": "vllm"}, more=fake_ways.vllm(model)) as fake:
        settings = Settings(policy=RoleOptions("fake", fake.url))
        async with connect(settings, needs=frozenset({"steps"})) as connected:
            assert [found.way for found in connected.servers] == ["token ids", "token ids"]
        async with connect(settings) as connected:
            assert [found.way for found in connected.servers] == ["", ""]


async def test_scores_are_logged_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "run" / "live" / "p.jsonl"
    scripted = Scripted([], scores=[ROWS, ServerError("broken", status=400)])
    lm = LoggedLM(scripted, CallLog(path))
    first = await lm.pool(HERE, CHAT)
    with pytest.raises(ServerError, match="broken"):
        await lm.pool(HERE._replace(draft=1), CHAT)
    lm.close()
    again = LoggedLM(Scripted([], scores=[]), CallLog(path))
    assert await again.pool(HERE, CHAT) == first
    with pytest.raises(ServerError, match="broken"):
        await again.pool(HERE._replace(draft=1), CHAT)
    assert (again.replayed, again.repeated) == (2, 0)
    again.close()
    assert [json.loads(line)["t"] for line in path.read_text().splitlines()] == [
        "sent",
        "pooled",
        "sent",
        "failed",
    ]


async def test_what_continuing_adds_to_a_completion_is_logged_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "run" / "live" / "p.jsonl"
    tokens = (Token("a", -0.5, 7, (("a", -0.5), ("b", -1.5))), Token("\n\n", -1.0))
    said = Completion("a\n\n", stop="\n\n", ids=(7, 8), tokens=tokens)
    request = Request((Message("user", "q"),), begun="x", begun_ids=(1,), stop=("\n\n",), logprobs=1)
    lm = LoggedLM(Scripted([said, "plain"]), CallLog(path))
    assert await lm.complete(HERE, request) == said
    await lm.complete(HERE._replace(draft=1), Request((Message("user", "q"),)))
    lm.close()
    plain = json.loads(path.read_text().splitlines()[3])
    assert plain.keys().isdisjoint({"stop", "ids", "tokens"})
    again = LoggedLM(Scripted([]), CallLog(path))
    assert await again.complete(HERE, request) == said
    again.close()


async def test_a_caller_counts_scores_and_fills_prompts_without_sending() -> None:
    caller = Caller(Scripted([], scores=lambda place, pooling: [[0.25]]), Prompts(), "p", 2)
    assert (await caller.pool(CHAT, part="prm", draft=1)).rows == ((0.25,),)
    assert (caller.tally.calls, caller.tally.empty, caller.tally.usage.prompt_tokens) == (1, 0, 2)
    request = caller.ask("answer", {"problem": "2+2?"})
    assert "2+2?" in request.messages[-1].content
    assert caller.tally.calls == 1


async def test_a_scripted_text_ends_at_the_first_stop_string() -> None:
    lm = Scripted(lambda place, request: "one\n\ntwo"[len(request.begun) :])
    stop = ("\n\n",)
    first = await lm.complete(HERE, Request((), stop=stop))
    second = await lm.complete(HERE, Request((), begun=first.text, stop=stop))
    assert [(c.text, c.stop, c.wire) for c in (first, second)] == [("one\n\n", "\n\n", ()), ("two", "", ())]
