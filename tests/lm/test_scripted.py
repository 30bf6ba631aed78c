"""The scripted model: replies by function, place, part or order; words counted as tokens."""

import asyncio
import time

import pytest

from mctsr.caller import Caller
from mctsr.errors import ContextOverflow
from mctsr.lm.base import Completion, Message, Place, Request, Usage
from mctsr.lm.scripted import Scripted
from mctsr.prompting import Prompts

HELLO = Request((Message("system", "be brief"), Message("user", "what is two and two")))


async def test_a_function_sees_place_and_request_and_words_are_counted() -> None:
    lm = Scripted(lambda place, request: f"{place.part} {len(request.messages)} done")
    completion = await lm.complete(Place("p", 0, "answer"), HELLO)
    assert completion.text == "answer 2 done"
    assert completion.usage == Usage(7, 3)
    assert lm.calls == [(Place("p", 0, "answer"), HELLO)]


async def test_a_mapping_prefers_the_place_to_its_part() -> None:
    lm = Scripted({Place("p", 1, "score"): "80", "score": "20"})
    assert (await lm.complete(Place("p", 1, "score"), HELLO)).text == "80"
    assert (await lm.complete(Place("p", 2, "score"), HELLO)).text == "20"
    with pytest.raises(LookupError, match="answer"):
        await lm.complete(Place("p", 0, "answer"), HELLO)


async def test_a_sequence_is_used_up_in_order() -> None:
    lm = Scripted(["one", Completion("two", finish="length")])
    assert (await lm.complete(Place("p", 0, "a"), HELLO)).text == "one"
    assert (await lm.complete(Place("p", 0, "b"), HELLO)).finish == "length"
    with pytest.raises(LookupError, match="call 2"):
        await lm.complete(Place("p", 0, "c"), HELLO)


async def test_an_exception_is_raised_and_counted_by_the_caller() -> None:
    lm = Scripted([ContextOverflow("too long", status=400), "fine words"])
    ask = Caller(lm, Prompts(), "p", 3)
    with pytest.raises(ContextOverflow):
        await ask.complete(HELLO, part="answer")
    await ask.complete(HELLO, part="answer", attempt=1)
    assert (ask.tally.calls, ask.tally.failed, ask.tally.usage) == (2, 1, Usage(7, 2))
    assert lm.calls[1][0] == Place("p", 3, "answer", attempt=1)


async def test_delays_decide_who_comes_first_not_what_is_said() -> None:
    lm = Scripted(lambda place, _: str(place.draft), delay=lambda place: 0.01 * (3 - place.draft))
    came: list[str] = []

    async def ask(draft: int) -> None:
        came.append((await lm.complete(Place("p", 0, "answer", draft), HELLO)).text)

    began = time.perf_counter()
    await asyncio.gather(*(ask(draft) for draft in range(3)))
    assert came == ["2", "1", "0"]
    assert time.perf_counter() - began >= 0.03


def test_the_logical_request_tells_requests_and_places_apart() -> None:
    lm = Scripted("unused")
    here = lm.logical(Place("p", 0, "a"), HELLO)
    assert here == lm.logical(Place("p", 0, "a"), HELLO)
    assert here != lm.logical(Place("p", 0, "a", 1), HELLO)
    assert here != lm.logical(Place("p", 0, "a"), Request(HELLO.messages, temperature=0.0))
