"""Begun turns are continued over HTTP in the way that a trial shows to work; ends are told apart everywhere."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import Refused, ServerError
from mctsr.lm.base import Completion, Message, Place, Request, Token
from mctsr.lm.continuing.quoted import unrepeated
from mctsr.lm.gate import Gate
from mctsr.lm.options import RoleOptions
from mctsr.lm.replies.ends import CUT, settle
from mctsr.lm.roles import Models, Seat
from mctsr.lm.server import Server
from mctsr.lm.wire import canonical
from tests.support import fake_ways
from tests.support.fake_server import Body, FakeServer, status
from tests.support.fake_ways import Model

HERE = Place("p", 1, "step")
QUESTION = (Message("user", "What is 40 + 2?"),)
FIRST, SECOND, LAST = "Step 1: add.\n\n", "Step 2: 42.\n\n", "So 42."
STEP = Request(QUESTION, stop=("\n\n",))


async def quick(seconds: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def asked(fake: FakeServer, **options: Any) -> AsyncIterator[tuple[Models, Server]]:
    async with fake, Server(fake.url, max_retries=1, sleep=quick) as server:
        await server.check()
        seat = Seat(server, RoleOptions(max_tokens=50, **options))
        yield Models(seat, prm=seat, gate=Gate(4)), server


def vllm(model: Model, *, ids: bool = True, **more: Any) -> FakeServer:
    return FakeServer(extra={"owned_by": "vllm"}, more=fake_ways.vllm(model, ids=ids), **more)


def llama_cpp(model: Model, **more: Any) -> FakeServer:
    pages = {"/props": {"default_generation_settings": {"n_ctx": 2048}}}
    return FakeServer(extra={"owned_by": "llamacpp"}, pages=pages, **more)


async def grown(lm: Models, *, ids: bool = False) -> list[Completion]:
    """Grow a solution step by step until the model ends it."""
    found: list[Completion] = []
    while not found or found[-1].stop != "":
        assert len(found) < 9
        begun = "".join(step.text for step in found)
        known = tuple(id for step in found for id in step.ids) if ids else ()
        request = Request(QUESTION, begun=begun, begun_ids=known, stop=("\n\n",))
        found.append(await lm.complete(HERE._replace(ask=len(found)), request))
    return found


async def test_what_a_plain_request_resolves_to_has_not_changed() -> None:
    async with asked(FakeServer()) as (lm, _):
        plain = lm.logical(HERE, Request(QUESTION))
        more = lm.logical(
            HERE, Request(QUESTION, begun="a", begun_ids=(1,), stop=("b",), max_tokens=7, logprobs=0)
        )
    digest = blake2b(canonical(plain), digest_size=12).hexdigest()
    assert digest == "305178d7554737aa45a8d52b"
    assert more.keys() - plain.keys() == {"begun", "begun_ids", "stop", "logprobs"}
    assert (plain["max_tokens"], more["max_tokens"]) == (50, 7)


async def test_vllm_takes_and_gives_token_ids() -> None:
    model = Model()
    fake = vllm(model)
    async with asked(fake) as (lm, server):
        steps = await grown(lm, ids=True)
        assert [(step.text, step.stop) for step in steps] == [(FIRST, "\n\n"), (SECOND, "\n\n"), (LAST, "")]
        assert [model.decode(list(step.ids)) for step in steps] == [FIRST, SECOND, LAST]
        assert [step.wire for step in steps] == [(), *[("continued by token ids",)] * 2]
        assert server.info is not None
        assert server.info.way == "token ids"
        assert lm.offers >= {"steps", "prefill", "token_ids"}
    prompts = [body["prompt"] for path, body in fake.posts if path == "/v1/completions"][-3:]
    assert prompts[1] == prompts[0] + list(steps[0].ids)
    assert prompts[2] == prompts[1] + list(steps[1].ids)
    rendered = [body for path, body in fake.posts if path == "/tokenize" and body.get("messages")]
    assert len(rendered) == 2, "the trial's chat and this one, each once"
    assert not fake.bodies


async def test_text_without_known_ids_is_tokenized_alone() -> None:
    model = Model()
    async with asked(vllm(model)) as (lm, _):
        steps = await grown(lm)
    assert "".join(step.text for step in steps) == model.text


async def test_vllm_that_refuses_ids_continues_text() -> None:
    async with asked(vllm(Model(), ids=False)) as (lm, server):
        steps = await grown(lm)
        assert [step.stop for step in steps] == ["\n\n", "\n\n", ""]
        assert steps[1].wire == ("continued by text",)
        assert server.info is not None
        assert server.info.way == "text"
        assert "token_ids" not in lm.offers
        assert "prefill" in lm.offers


async def test_vllm_without_tokenize_falls_back_to_prefill_with_both_flags() -> None:
    model = Model()
    reply = fake_ways.chat(model, opens=lambda body: "continue_final_message" in body, names="stop_reason")
    fake = FakeServer(reply, extra={"owned_by": "vllm"})
    async with asked(fake) as (lm, _):
        steps = await grown(lm)
    assert [(step.text, step.stop) for step in steps] == [(FIRST, "\n\n"), (SECOND, "\n\n"), (LAST, "")]
    assert steps[1].wire == ("continued by prefill",)
    assert fake.bodies[-1]["add_generation_prompt"] is False
    assert "continue_final_message" not in fake.bodies[-3], "nothing is begun yet"


async def test_llama_cpp_continues_text_and_tells_ends_apart() -> None:
    model = Model()
    fake = llama_cpp(model, more=fake_ways.llama_cpp(model))
    async with asked(fake) as (lm, _):
        steps = await grown(lm)
        assert [(step.text, step.stop) for step in steps] == [(FIRST, "\n\n"), (SECOND, "\n\n"), (LAST, "")]
        assert model.decode(list(steps[2].ids)) == LAST
        assert steps[2].usage.cached_tokens == 3
        short = await lm.complete(HERE, Request(QUESTION, begun=FIRST, max_tokens=2, logprobs=2))
        assert (short.text, short.finish, short.stop) == ("Step 2: ", "length", None)
        assert [token.text for token in short.tokens] == ["Step ", "2: "]
        assert all(token.logprob == -0.5 and token.id is not None for token in short.tokens)
    path, body = fake.posts[-1]
    assert (path, body["n_probs"], body["n_predict"], body["min_p"]) == ("/completion", 2, 2, 0.0)
    assert body["prompt"].endswith(f"<assistant> {FIRST}")


async def test_llama_cpp_without_templates_prefills_and_a_repeated_beginning_is_taken_off() -> None:
    model = Model()
    fake = llama_cpp(model, reply=fake_ways.chat(model, opens=lambda _: True, echoes=True))
    async with asked(fake) as (lm, _):
        second = await lm.complete(HERE, Request(QUESTION, begun=FIRST, stop=("\n\n",)))
    # What the server cut off is not known, so neither is the end.
    assert (second.text, second.stop, second.wire) == ("Step 2: 42.", None, ("continued by prefill",))


@pytest.mark.parametrize("kind", ["sglang", "library"])
async def test_servers_prefill_in_their_dialect(kind: str) -> None:
    opens: Callable[[Body], bool] = (
        (lambda body: "continue_final_message" in body) if kind == "sglang" else (lambda _: True)
    )
    reply = fake_ways.chat(Model(), opens=opens, names="matched_stop" if kind == "sglang" else "")
    async with asked(FakeServer(reply, extra={"owned_by": kind})) as (lm, _):
        last = await lm.complete(HERE, Request(QUESTION, begun=FIRST + SECOND))
        assert (last.text, last.stop, last.wire) == (LAST, "", ("continued by prefill",))
        second = await lm.complete(HERE, Request(QUESTION, begun=FIRST, stop=("\n\n",)))
        assert (second.text, second.stop) == ((SECOND, "\n\n") if kind == "sglang" else ("Step 2: 42.", None))


async def test_a_message_marked_as_prefix_is_found_by_trial() -> None:
    reply = fake_ways.chat(Model(), opens=lambda body: body["messages"][-1].get("prefix", False))
    fake = FakeServer(reply)
    async with asked(fake) as (lm, _):
        last = await lm.complete(HERE, Request(QUESTION, begun=FIRST + SECOND))
    assert (last.text, last.stop) == (LAST, "")
    assert fake.bodies[-1]["messages"][-1] == {"role": "assistant", "content": FIRST + SECOND, "prefix": True}


async def test_a_server_that_answers_anew_is_shown_the_begun_text_as_a_quotation() -> None:
    def reply(body: Body) -> str:
        return FIRST + SECOND + LAST if "40 + 2" in body["messages"][0]["content"] else "a, b, c"

    fake = FakeServer(reply)
    async with asked(fake) as (lm, server):
        second = await lm.complete(HERE, Request(QUESTION, begun=FIRST, stop=("\n\n",)))
        assert (second.text, second.stop) == (SECOND, "\n\n"), "the repetition is taken off before it is cut"
        assert second.wire == ("continued by quoted", CUT)
        last = await lm.complete(HERE, Request(QUESTION, begun=FIRST + SECOND, stop=("\n\n",)))
        assert (last.text, last.stop) == (LAST, "")
        assert server.info is not None
        assert server.info.way == "quoted"
        assert lm.offers.isdisjoint({"prefill", "token_ids"})
    assert FIRST in fake.bodies[-2]["messages"][-1]["content"]
    assert "stop" not in fake.bodies[-1]


async def test_the_way_is_tried_once_for_all_calls_and_only_when_it_is_needed() -> None:
    fake = vllm(Model())
    async with asked(fake) as (lm, server):
        await lm.complete(HERE, Request(QUESTION, logprobs=1))
        assert not fake.posts
        places = [HERE._replace(draft=draft) for draft in range(4)]
        await asyncio.gather(*(lm.complete(place, STEP) for place in places))
        assert await server.find_way() is await server.find_way()
    trials = [body for path, body in fake.posts if path == "/v1/completions" and body["max_tokens"] == 6]
    assert len(trials) == 2
    assert fake.peak <= 4


async def test_a_busy_server_says_nothing_of_the_way() -> None:
    fake = vllm(Model())
    async with asked(fake) as (lm, server):
        fake.queue(*[status(503)] * 2)
        with pytest.raises(ServerError, match="503"):
            await lm.complete(HERE, STEP)
        assert (await lm.complete(HERE, STEP)).stop == "\n\n"
        assert server.info is not None
        assert server.info.way == "token ids"


async def test_a_refused_stop_is_obeyed_here_and_noted() -> None:
    model = Model()
    reply = fake_ways.chat(model, opens=lambda _: True)
    fake = FakeServer(
        reply, refuses={"stop": "Unsupported parameter: 'stop' is not supported with this model."}
    )
    async with asked(fake) as (lm, _):
        first = await lm.complete(HERE, STEP)
        assert (first.text, first.stop, first.finish) == (FIRST, "\n\n", "stop")
        assert first.wire == ("dropped stop", CUT)
        last = await lm.complete(HERE, Request(QUESTION, begun=FIRST + SECOND, stop=("\n\n",)))
        assert (last.text, last.stop) == (LAST, "")


async def test_no_more_stop_strings_are_sent_than_the_server_takes_and_all_are_obeyed() -> None:
    # vLLM takes four. Its refusal of five once took all of them from every later call.
    model = Model()
    many = ("?1", "?2", "?3", "?4", "\n\n")
    async with asked(vllm(model)) as (lm, server):
        first = await lm.complete(HERE, Request(QUESTION, stop=many))
        again = await lm.complete(HERE, Request(QUESTION, stop=many[-1:]))
        assert server.kind == "vllm"
    assert (first.text, first.stop) == (FIRST, "\n\n")
    assert first.wire == (CUT,)
    assert (again.text, again.wire) == (FIRST, ())


async def test_log_probabilities_come_in_the_layout_of_completions() -> None:
    async with asked(vllm(Model())) as (lm, _):
        step = await lm.complete(HERE, Request(QUESTION, stop=("\n\n",), logprobs=2))
        none = await lm.complete(HERE, Request(QUESTION, stop=("\n\n",), logprobs=0))
    assert [token.text for token in step.tokens] == ["Step ", "1: ", "add.", "\n\n"]
    assert step.tokens[0].top == (("Step ", -0.5), ("other 0", -1.0), ("other 1", -2.0))
    assert [token.id for token in step.tokens] == list(step.ids)
    assert none.tokens[0].logprob == -0.5


async def test_extra_fields_reach_whoever_renders_the_chat_and_stay_out_of_the_rest() -> None:
    fake, extra = vllm(Model()), {"chat_template_kwargs": {"enable_thinking": False}, "priority": 3}
    async with asked(fake, extra_body=extra) as (lm, _):
        await lm.complete(HERE, STEP)
    tokenized = next(
        body for path, body in reversed(fake.posts) if path == "/tokenize" and "messages" in body
    )
    assert tokenized["chat_template_kwargs"] == {"enable_thinking": False}
    assert "priority" not in tokenized
    assert "chat_template_kwargs" not in fake.posts[-1][1]
    assert fake.posts[-1][1]["priority"] == 3


async def test_a_key_that_is_not_taken_ends_the_run_and_chooses_no_way() -> None:
    fake = vllm(Model())
    async with asked(fake) as (lm, server):
        fake.key = "right"
        with pytest.raises(Refused, match="401"):
            await lm.complete(HERE, STEP)
        assert server.info is not None
        assert server.info.way == ""


@pytest.mark.embedded
async def test_the_real_llama_cpp_continues_text_and_tells_its_end_from_a_stop_string(llama_url: str) -> None:
    question = (Message("user", "What is 12 + 30? Think in short steps."),)
    async with Server(llama_url) as server:
        await server.check()
        lm = Models(Seat(server, RoleOptions(temperature=0.0, max_tokens=40)), gate=Gate(1))
        hit = await lm.complete(HERE, Request(question, begun="12 + 30 =", stop=("2",), logprobs=1))
        assert server.info is not None
        assert server.info.way == "text"
        assert (hit.stop, hit.text[-1], hit.wire) == ("2", "2", ("continued by text",))
        assert "12 + 30" not in hit.text, "what was begun is not said again"
        end = await lm.complete(HERE, Request(question, begun="12 + 30 = 42.\n\nThe answer is", logprobs=2))
        assert (end.stop, end.finish) == ("", "stop")
        assert end.ids
        assert [token.id for token in end.tokens[: len(end.ids)]] == list(end.ids)
        assert all(token.logprob <= 0 and len(token.top) >= 2 for token in end.tokens[: len(end.ids)])
        assert "".join(token.text for token in end.tokens[: len(end.ids)]) == end.text
        short = await lm.complete(HERE, Request(question, begun="12", max_tokens=2))
        assert (short.stop, short.finish) == (None, "length")


TEXTS = st.text(alphabet="ab \n", max_size=12)
STOPS = st.lists(st.text(alphabet="a\n", min_size=1, max_size=2), max_size=3).map(tuple)


@given(TEXTS, STOPS, st.booleans())
def test_a_stop_string_that_was_hit_ends_the_text_exactly_once(
    text: str, stops: tuple[str, ...], told: bool
) -> None:
    ends = [(at + len(stop), stop) for stop in stops if (at := text.find(stop)) >= 0]
    if not ends:
        done = settle(Completion(text, stop="" if told else None), stops)
        assert done.text == text
        assert done.stop == ("" if told or not stops else None)
        return
    end = min(ends)[0]
    stop = max((stop for at, stop in ends if at == end), key=len)
    # Servers keep it, cut it off and name it, or go on behind it.
    for reply in (
        Completion(text[:end], stop=stop),
        Completion(text[:end], stop=None),
        Completion(text, stop=None, finish="length"),
        *([Completion(text[: end - len(stop)], stop=stop)] if told else []),
    ):
        done = settle(reply, stops)
        assert (done.text, done.stop, done.finish) == (text[:end], stop, "stop")


def test_tokens_behind_a_cut_go_and_so_do_ids() -> None:
    tokens = tuple(Token(text, -1.0) for text in ("one", "\n\n", "two"))
    done = settle(Completion("one\n\ntwo", ids=(1, 2, 3), tokens=tokens), ("\n\n",))
    assert (done.ids, done.tokens, done.wire) == ((), tokens[:2], (CUT,))


@pytest.mark.parametrize(
    ("begun", "text", "rest"),
    [
        ("One thing.\n\n", "One thing.\n\nTwo.", "Two."),
        ("One thing.\n\n", "\nOne thing. Two.", " Two."),
        ("One thing.\n\nAnother thing.\n\n", "Another thing.\n\nThird.", "Third."),
        ("One thing.", "Two things.", "Two things."),
        ("2", "20 apples", "20 apples"),
        ("So\n", "So\nit is", "it is"),
        ("", "Fresh.", "Fresh."),
        ("x = 1\ny\n", "y\nz", "y\nz"),
    ],
)
def test_what_is_said_again_is_taken_off(begun: str, text: str, rest: str) -> None:
    assert unrepeated(begun, text) == rest


@given(st.text(max_size=40), st.text(max_size=40))
def test_taking_off_never_adds(begun: str, text: str) -> None:
    assert text.endswith(unrepeated(begun, text))
