"""The model as one ask sees it, and calls side by side."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from mctsr.caller import Caller, all_of, siblings
from mctsr.errors import ContextOverflow, PromptError, Refused, ServerError
from mctsr.lm.base import Completion, Message, Place, Request, Usage
from mctsr.lm.scripted import Replies, Scripted
from mctsr.prompting import Prompts

PROMPTS = Prompts()


def caller(replies: Replies, ask: int = 3) -> tuple[Caller, Scripted]:
    lm = Scripted(replies)
    return Caller(lm, PROMPTS, "p", ask), lm


async def beside(*works: Coroutine[None, None, None]) -> None:
    """Run coroutines as siblings."""
    async with siblings() as group:
        for work in works:
            group.create_task(work)


# Calls side by side


async def test_one_that_raises_cancels_and_awaits_the_others_and_comes_out_bare() -> None:
    ended: list[str] = []

    async def lasting(name: str) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)  # ending takes time too, and is waited for
            ended.append(name)

    async def failing() -> None:
        await asyncio.sleep(0)
        raise Refused("bad key", status=401)

    with pytest.raises(Refused, match="bad key") as caught:
        await beside(lasting("a"), lasting("b"), failing())
    assert sorted(ended) == ["a", "b"]
    assert caught.value.__cause__ is None
    assert len(asyncio.all_tasks()) == 1


async def test_of_several_that_raise_together_one_comes_out_bare() -> None:
    async def failing(number: int) -> None:
        raise ServerError(f"number {number}")

    with pytest.raises(ServerError, match=r"number [01]"):
        await beside(failing(0), failing(1))


async def test_groups_within_groups_let_the_exception_out_bare() -> None:
    async def failing() -> None:
        raise Refused("no")

    with pytest.raises(Refused):
        await beside(beside(failing()))


async def test_an_exception_of_the_block_itself_cancels_what_it_started() -> None:
    tasks: list[asyncio.Task[None]] = []

    async def block() -> None:
        async with siblings() as group:
            tasks.append(group.create_task(asyncio.sleep(60)))
            await asyncio.sleep(0)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await block()
    assert tasks[0].cancelled()


async def test_being_cancelled_cancels_the_siblings_and_stays_a_cancellation() -> None:
    tasks: list[asyncio.Task[None]] = []

    async def work() -> None:
        async with siblings() as group:
            tasks.append(group.create_task(asyncio.sleep(60)))

    task = asyncio.create_task(work())
    await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tasks[0].cancelled()


@pytest.mark.parametrize("n", [0, 1, 3])
async def test_all_of_returns_the_results_in_order_whoever_is_done_first(n: int) -> None:
    async def work(i: int) -> int:
        await asyncio.sleep(0.003 * (n - i))
        return i

    assert await all_of(partial(work, i) for i in range(n)) == list(range(n))


@pytest.mark.parametrize("n", [1, 3])
async def test_what_one_of_all_raises_comes_out_bare_and_ends_the_others(n: int) -> None:
    ended: list[int] = []

    async def work(i: int) -> None:
        try:
            await asyncio.sleep(60 if i else 0)
            raise Refused("bad key", status=401)
        finally:
            ended.append(i)

    with pytest.raises(Refused, match="bad key"):
        await all_of(partial(work, i) for i in range(n))
    assert sorted(ended) == list(range(n))


async def test_all_of_starts_each_when_its_turn_comes_so_that_an_endless_row_can_be_broken_off() -> None:
    def works() -> Iterator[Callable[[], Coroutine[object, object, None]]]:
        for i in count():
            if i == 5:
                raise KeyError("enough")
            yield partial(asyncio.sleep, 60)

    with pytest.raises(KeyError, match="enough"):
        await all_of(works())
    assert len(asyncio.all_tasks()) == 1


# One call


async def test_a_prompt_is_filled_and_its_place_is_named() -> None:
    llm, lm = caller({"critique": "Look again."})
    values = {"problem": "6 * 7?", "answer": "{{problem}}"}
    said = await llm.say("critique", values, role="judge", temperature=0.2, draft=1, sample=4, attempt=2)
    ((place, request),) = lm.calls
    assert said.text == "Look again."
    assert place == Place("p", 3, "critique", 1, 4, 2)
    assert request.messages == tuple(Message(*turn) for turn in PROMPTS["critique"].fill(values))  # type: ignore[arg-type]
    assert (request.role, request.temperature, request.schema) == ("judge", 0.2, None)


async def test_what_a_prompt_says_of_the_reply_goes_along() -> None:
    llm, lm = caller({"self_reward": "{}"})
    await llm.say("self_reward", {"problem": "p", "answer": "a"})
    assert lm.calls[0][1].schema == PROMPTS["self_reward"].schema


async def test_a_request_of_ones_own_has_a_place_too() -> None:
    llm, lm = caller(["yes"])
    request = Request((Message("user", "Really?"),))
    assert (await llm.complete(request, part="doubt", draft=-1)).text == "yes"
    assert lm.calls == [(Place("p", 3, "doubt", -1), request)]


async def test_replies_and_failures_are_counted() -> None:
    replies: list[str | Completion | Exception] = [
        Completion("four words it is", "length", usage=Usage(10, 4), seconds=0.5, retries=1),
        ServerError("busy", status=503, retries=5),
        " \n",
        ContextOverflow("too long", status=400),
    ]
    llm, _ = caller(replies)
    for reply in replies:
        if isinstance(reply, Exception):
            with pytest.raises(type(reply)) as caught:
                await llm.say("answer", {"problem": "two words"})
            assert caught.value is reply
        else:
            await llm.say("answer", {"problem": "two words"})
    tally = llm.tally
    assert (tally.calls, tally.failed, tally.truncated, tally.empty) == (4, 2, 1, 1)
    assert (tally.retried, tally.seconds) == (6, 0.5)
    assert tally.usage.completion_tokens == 4


async def test_a_reply_of_which_only_a_label_is_read_is_not_cut_off_at_its_limit() -> None:
    llm, _ = caller([Completion("Yes", "length"), Completion("Because", "length")])
    request = Request((Message("user", "Really?"),), "judge", max_tokens=1, logprobs=5)
    await llm.complete(replace(request, labels=("Yes", "No")), part="label")
    assert (llm.tally.calls, llm.tally.truncated) == (1, 0)
    await llm.complete(request, part="doubt")
    assert (llm.tally.calls, llm.tally.truncated) == (2, 1)


async def test_a_call_that_was_cancelled_has_neither_replied_nor_failed() -> None:
    lm = Scripted(["late"], delay=lambda place: 60.0)
    llm = Caller(lm, PROMPTS, "p", 0)
    task = asyncio.create_task(llm.say("answer", {"problem": "?"}))
    await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (llm.tally.calls, llm.tally.failed) == (0, 0)


async def test_an_unknown_prompt_is_named_beside_those_there_are_and_nothing_is_asked() -> None:
    llm, lm = caller([])
    with pytest.raises(PromptError, match=r"no prompt named 'anwser'; there are \[.*'answer', 'critique'"):
        await llm.say("anwser", {"problem": "?"})
    with pytest.raises(PromptError, match="missing values"):
        await llm.say("answer", {})
    assert (lm.calls, llm.tally.calls, llm.tally.failed) == ([], 0, 0)
