"""The call log: nothing is asked twice, whatever byte the process was killed at."""

import asyncio
import errno
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.errors import ContextOverflow, RecipeError, Refused, RunError, ServerError, ServerGone
from mctsr.lm.base import Completion, Message, Place, Pooled, Pooling, Request, Tally, Usage
from mctsr.lm.calllog import CallLog, LoggedLM
from mctsr.lm.gate import Gate
from mctsr.lm.scripted import Scripted


def request(text: str = "two and two?") -> Request:
    return Request((Message("user", text),))


def place(draft: int = 0, ask: int = 0) -> Place:
    return Place("p", ask, "answer", draft)


FULL = Completion("4 ∎ \u2028 \ud800", "length", "hm", Usage(3, 5, 1), 1.25, 2, ("dropped top_k",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "live" / "p.jsonl"


def sent(key: str) -> dict[str, object]:
    return {"t": "sent", "key": key, "place": ["p", 0, "answer", 0, 0, 0], "hash": "h"}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


async def test_a_logged_reply_is_returned_as_it_was_without_asking(path: Path) -> None:
    first = LoggedLM(Scripted(lambda *_: FULL), CallLog(path))
    assert await first.complete(place(), request()) == FULL
    first.close()
    silent = Scripted([])
    again = LoggedLM(silent, CallLog(path))
    assert await again.complete(place(), request()) == FULL
    assert (silent.calls, again.replayed, again.repeated, again.stale) == ([], 1, 0, 0)


async def test_lines_say_what_was_sent_and_what_came(path: Path) -> None:
    lm = LoggedLM(Scripted(["4"]), CallLog(path))
    await lm.complete(place(), request())
    lm.close()
    sent, reply = lines(path)
    assert (sent["t"], sent["place"]) == ("sent", ["p", 0, "answer", 0, 0, 0])
    assert (reply["t"], reply["key"], reply["text"]) == ("reply", sent["key"], "4")
    assert reply["usage"] == {"prompt_tokens": 3, "completion_tokens": 1, "cached_tokens": None}


async def test_nothing_is_written_before_the_first_call(path: Path) -> None:
    LoggedLM(Scripted([]), CallLog(path))
    assert not path.parent.exists()


async def test_the_request_is_logged_before_it_leaves(path: Path) -> None:
    seen: list[str] = []

    def reply(*_: object) -> str:
        seen.extend(str(line["t"]) for line in lines(path))
        return "4"

    lm = LoggedLM(Scripted(reply), CallLog(path))
    await lm.complete(place(), request())
    lm.close()
    assert seen == ["sent"]


@pytest.mark.parametrize("kind", [ServerError, ContextOverflow])
async def test_a_logged_failure_fails_again_in_kind(path: Path, kind: type[ServerError]) -> None:
    first = LoggedLM(Scripted([kind("no room", status=400, retries=3)]), CallLog(path))
    with pytest.raises(kind):
        await first.complete(place(), request())
    first.close()
    silent = Scripted([])
    with pytest.raises(kind, match="no room") as caught:
        await LoggedLM(silent, CallLog(path)).complete(place(), request())
    assert (type(caught.value), caught.value.status, silent.calls) == (kind, 400, [])
    assert caught.value.retries == 3


async def test_a_logged_failure_is_asked_again_on_demand_and_the_last_line_wins(path: Path) -> None:
    lm = LoggedLM(Scripted([ServerError("down", status=500)]), CallLog(path))
    with pytest.raises(ServerError):
        await lm.complete(place(), request())
    lm.close()
    again = LoggedLM(Scripted(["4"]), CallLog(path), retry_failed=True)
    assert (await again.complete(place(), request())).text == "4"
    assert again.repeated == 0
    again.close()
    assert (await LoggedLM(Scripted([]), CallLog(path)).complete(place(), request())).text == "4"


@pytest.mark.parametrize("kind", [Refused, ServerGone])
async def test_what_ends_the_run_is_no_reply_and_is_asked_again(path: Path, kind: type[ServerError]) -> None:
    lm = LoggedLM(Scripted([kind("bye")]), CallLog(path))
    with pytest.raises(kind):
        await lm.complete(place(), request())
    lm.close()
    assert [line["t"] for line in lines(path)] == ["sent"]
    again = LoggedLM(Scripted(["4"]), CallLog(path))
    assert (await again.complete(place(), request())).text == "4"
    assert again.repeated == 1
    again.close()


async def test_a_cancelled_call_stays_sent_and_counts_as_repeated(path: Path) -> None:
    lm = LoggedLM(Scripted(["never", "4"], delay=lambda p: 60.0 * (p.draft == 0)), CallLog(path))
    task = asyncio.create_task(lm.complete(place(0), request()))
    await asyncio.sleep(0)
    assert (await lm.complete(place(1), request())).text == "4"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    lm.close()
    assert [line["t"] for line in lines(path)] == ["sent", "sent", "reply"]
    again = LoggedLM(Scripted(["new"]), CallLog(path))
    texts = [(await again.complete(place(draft), request())).text for draft in (0, 1)]
    assert (texts, again.repeated, again.replayed) == (["new", "4"], 1, 1)
    again.close()


class Queued:
    """A model whose calls wait for a slot, as a server's do."""

    offers: frozenset[str] = frozenset()

    def __init__(self, limit: int, delay: Callable[[Place], float] = lambda _: 0.0) -> None:
        self.inner = Scripted(lambda where, _: f"reply {where.draft}", delay=delay)
        self.gate = Gate(limit)
        self.logical = self.inner.logical

    async def complete(
        self, place: Place, request: Request, *, sent: Callable[[], None] = lambda: None
    ) -> Completion:
        async with self.gate.slot():
            return await self.inner.complete(place, request, sent=sent)

    async def pool(
        self, place: Place, pooling: Pooling, *, sent: Callable[[], None] = lambda: None
    ) -> Pooled:
        async with self.gate.slot():
            return await self.inner.pool(place, pooling, sent=sent)


async def test_a_call_that_is_cancelled_in_the_queue_leaves_no_line(path: Path) -> None:
    queued = Queued(1, lambda where: 60.0 * where.draft)
    lm = LoggedLM(queued, CallLog(path))
    tasks = [asyncio.create_task(lm.complete(place(draft), request())) for draft in range(3)]
    await tasks[0]
    while len(queued.inner.calls) < 2:
        await asyncio.sleep(0)
    for task in tasks[1:]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    lm.close()
    drafts = [line["place"][3] for line in lines(path) if line["t"] == "sent"]  # type: ignore[index]
    assert drafts == [0, 1]
    again = LoggedLM(Queued(3), CallLog(path))
    await asyncio.gather(*(again.complete(place(draft), request()) for draft in range(3)))
    assert (again.repeated, again.replayed) == (1, 1)
    again.close()


async def test_repetitions_are_counted_over_all_processes(path: Path) -> None:
    for _ in range(3):
        lm = LoggedLM(Scripted([ServerGone("killed")]), CallLog(path))
        with pytest.raises(ServerGone):
            await lm.complete(place(), request())
        lm.close()
    last = LoggedLM(Scripted(["4"]), CallLog(path))
    assert last.repeated == 2
    await last.complete(place(), request())
    last.close()
    assert (last.repeated, LoggedLM(Scripted([]), CallLog(path)).repeated) == (3, 3)


async def test_a_queued_call_with_a_changed_request_makes_the_decision_void_at_once(path: Path) -> None:
    lm = LoggedLM(Scripted(["old"]), CallLog(path))
    await lm.complete(place(0), request("before"))
    lm.decide(1, "time limit", Tally())
    lm.close()
    queued = Queued(1)
    again = LoggedLM(queued, CallLog(path))
    async with queued.gate.slot():
        changed = asyncio.create_task(again.complete(place(0), request("after")))
        await asyncio.sleep(0)
        assert again.decided(1) is None
        other = asyncio.create_task(again.complete(place(1), request()))
    assert [(await changed).text, (await other).text] == ["reply 0", "reply 1"]
    again.close()


async def test_a_reply_to_another_request_is_passed_over_and_counted(path: Path) -> None:
    lm = LoggedLM(Scripted(["old"]), CallLog(path))
    await lm.complete(place(), request("before"))
    lm.close()
    again = LoggedLM(Scripted(["new"]), CallLog(path))
    assert (await again.complete(place(), request("after"))).text == "new"
    assert (again.stale, again.repeated, again.replayed) == (1, 0, 0)
    again.close()


async def test_decisions_are_read_back_with_their_cost(path: Path) -> None:
    charged = Tally(2, Usage(10, 5, 1), 1.5, 1, 0, 1, 0, frozenset({"dropped top_k", "dropped seed"}))
    charged.roles = {"policy": Usage(8, 5, 1), "judge": Usage(2)}
    lm = LoggedLM(Scripted(["4"]), CallLog(path))
    await lm.complete(place(), request())
    lm.decide(3, "time limit", charged)
    assert lm.decided(3) == ("time limit", charged)
    lm.close()
    again = LoggedLM(Scripted([]), CallLog(path))
    assert again.decided(3) == ("time limit", charged)
    assert again.decided(2) is None


async def test_after_a_decision_only_logged_calls_return(path: Path) -> None:
    lm = LoggedLM(Scripted(["4"]), CallLog(path))
    await lm.complete(place(0), request())
    lm.decide(1, "time limit", Tally())
    lm.close()
    again = LoggedLM(Scripted(["must not be asked"]), CallLog(path))
    assert (await again.complete(place(0), request())).text == "4"
    assert again.decided(1) is not None
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(again.complete(place(ask=1), request()), 0.05)
    assert not path.read_bytes().count(b"must not")


async def test_a_decision_made_on_other_replies_is_void_also_after_another_kill(path: Path) -> None:
    lm = LoggedLM(Scripted(["old"]), CallLog(path))
    await lm.complete(place(), request("before"))
    lm.decide(1, "time limit", Tally())
    lm.close()
    changed = LoggedLM(Scripted(["new"]), CallLog(path))
    assert (await changed.complete(place(), request("after"))).text == "new"
    assert changed.decided(1) is None
    changed.close()
    killed = LoggedLM(Scripted(["next"]), CallLog(path))
    assert killed.decided(1) is None
    assert (await killed.complete(place(1), request("after"))).text == "next"
    killed.close()


async def test_two_calls_in_flight_with_one_name_are_an_error_and_later_ones_share_the_reply(
    path: Path,
) -> None:
    lm = LoggedLM(Scripted(["a", "b"], delay=lambda _: 0.01), CallLog(path))
    task = asyncio.create_task(lm.complete(place(), request()))
    await asyncio.sleep(0)
    with pytest.raises(RecipeError, match="share"):
        await lm.complete(place(), request())
    assert (await task).text == "a"
    assert (await lm.complete(place(), request())).text == "a"
    lm.close()


async def test_a_damaged_line_in_the_middle_is_named(path: Path) -> None:
    path.parent.mkdir()
    sent = b'{"t":"sent","key":"k","hash":"h","place":["p",0,"answer",0,0,0]}\n'
    path.write_bytes(sent + b'{"t":"re\n' + sent)
    with pytest.raises(
        RunError, match=r"damaged call log, line 2 \(is no JSON\); delete it to ask its calls"
    ):
        LoggedLM(Scripted([]), CallLog(path))


async def test_a_line_that_cannot_be_written_whole_is_taken_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, real, room = CallLog(path), os.write, [12]

    def write(file: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = real(file, data[: room[0]])
        room[0] -= written
        return written

    log.append(sent("before"))
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(OSError, match=r"p\.jsonl cannot be written: No space.*mctsr resume /"):
        log.append(sent("a line that is too long"))
    monkeypatch.undo()
    log.append(sent("after"))
    log.close()
    assert [line.get("key") for line in CallLog(path).read()] == ["before", "after"]


async def test_a_log_that_is_closed_stays_closed(path: Path) -> None:
    orphan = Scripted(["late"])
    lm = LoggedLM(orphan, CallLog(path))
    lm.close()
    with pytest.raises(ValueError, match="closed"):
        await lm.complete(place(), request())
    assert (orphan.calls, path.exists()) == ([], False)
    used = CallLog(path)
    used.append({"t": "whole"})
    used.close()
    path.unlink()
    with pytest.raises(ValueError, match="closed"):
        used.append({"t": "orphan"})
    assert not path.exists()


async def test_lines_of_two_logs_do_not_mix_with_separators_inside_texts(path: Path) -> None:
    text = "a\nb\r\u2028\u0085c"
    lm = LoggedLM(Scripted([text]), CallLog(path))
    await lm.complete(place(), request("x\ny"))
    lm.close()
    assert path.read_bytes().count(b"\n") == 2
    assert (await LoggedLM(Scripted([]), CallLog(path)).complete(place(), request("x\ny"))).text == text


def _text(where: Place, _: Request) -> str:
    return f"reply {where.draft} é\n\ud83d" + "x" * where.draft


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cut_anywhere_the_log_replays_a_prefix_and_can_be_continued(data: st.DataObject) -> None:
    async def run(path: Path, calls: int) -> tuple[list[str], int, LoggedLM]:
        inner = Scripted(_text)
        lm = LoggedLM(inner, CallLog(path))
        texts = [(await lm.complete(place(draft), request())).text for draft in range(calls)]
        lm.close()
        return texts, len(inner.calls), lm

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.jsonl"
        whole, _, _ = asyncio.run(run(path, 4))
        size = path.stat().st_size
        kept = data.draw(st.integers(0, size), label="bytes kept")
        os.truncate(path, kept)
        before = CallLog(path).read()
        replies = sum(line["t"] == "reply" for line in before)
        texts, asked, lm = asyncio.run(run(path, 4))
        assert texts == whole
        assert (asked, lm.replayed) == (4 - replies, replies)
        assert lm.repeated == len(before) - 2 * replies
        assert CallLog(path).read()[: len(before)] == before
        assert asyncio.run(run(path, 4))[1] == 0


async def decided(path: Path, after: int, asks: int, monkeypatch: pytest.MonkeyPatch) -> LoggedLM:
    """Log one call for each of some asks, then a decision after so many folds; give the log as read again."""
    lm = LoggedLM(Scripted(lambda *_: "old"), CallLog(path))
    for ask in range(asks):
        await lm.complete(place(ask=ask), request())
    lm.decide(after, "time limit", Tally())
    lm.close()
    monkeypatch.setattr("mctsr.lm.calllog.PATIENCE", 0.02)
    return LoggedLM(Scripted(lambda *_: "new"), CallLog(path))


async def test_a_call_of_a_later_ask_waits_for_the_fold_that_is_still_to_come(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = await decided(path, 3, 3, monkeypatch)
    monkeypatch.setattr("mctsr.lm.calllog.PATIENCE", 60.0)
    assert lm.decided(0) is None
    in_flight = asyncio.create_task(lm.complete(place(ask=3), request()))
    for ask in range(3):
        assert (await lm.complete(place(ask=ask), request())).text == "old"
        assert (lm.decided(ask + 1) is not None) == (ask == 2)
    await asyncio.sleep(0.02)
    assert not in_flight.done()
    in_flight.cancel()


@pytest.mark.parametrize(
    ("after", "folds", "ask"),
    [(3, 1, 2), (10**9, 1, 2), (-1, 0, 5), (1, 2, 2), (0, 1, 5)],
    ids=["lost reply", "never reached", "negative", "passed", "passed long ago"],
)
async def test_a_decision_that_nobody_can_come_to_obey_is_void_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch, after: int, folds: int, ask: int
) -> None:
    lm = await decided(path, after, 2, monkeypatch)
    monkeypatch.setattr("mctsr.lm.calllog.PATIENCE", 60.0)
    assert lm.decided(folds) is None
    assert (await asyncio.wait_for(lm.complete(place(ask=ask), request()), 1)).text == "new"
    lm.close()
    assert LoggedLM(Scripted([]), CallLog(path)).decided(after) is None


async def test_calls_that_wait_go_on_when_another_one_makes_the_decision_void(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = await decided(path, 3, 1, monkeypatch)
    monkeypatch.setattr("mctsr.lm.calllog.PATIENCE", 60.0)
    lm.decided(1)
    later = asyncio.create_task(lm.complete(place(ask=3), request()))
    await asyncio.sleep(0)
    assert (await lm.complete(place(ask=1), request())).text == "new"
    assert (await asyncio.wait_for(later, 1)).text == "new"


async def test_patience_ends_when_no_fold_comes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = await decided(path, 2, 2, monkeypatch)
    lm.decided(1)
    assert (await asyncio.wait_for(lm.complete(place(ask=2), request()), 5)).text == "new"


async def test_a_decision_that_is_not_the_last_word_is_void(path: Path) -> None:
    lm = LoggedLM(Scripted(["4"]), CallLog(path))
    await lm.complete(place(), request())
    lm.decide(1, "time limit", Tally())
    lm.close()
    head, reply, decision = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(head + decision + reply)
    assert LoggedLM(Scripted([]), CallLog(path)).decided(1) is None


DAMAGED: list[tuple[bytes, str]] = [
    (b"[]", "is a list, must be an object"),
    (b"{}", "t is missing"),
    (b'{"t": 3}', "t is 3, must be 'sent'"),
    (b'{"t": "sent"}', "key is missing"),
    (b'{"t":"sent","key":"k","hash":"h","place":["p",0]}', "place is a list, must be a list of 6"),
    (b'{"t":"reply","key":"k","text":null}', "text is null, must be a text"),
    (b'{"t":"failed","key":"k","kind":"server","status":"500"}', "status is '500', must be a whole number"),
    (b'{"t":"decision","after":1.5,"what":"x","charged":{}}', "after is 1.5, must be a whole number"),
    (b'{"t":"decision","after":1,"what":"x","charged":{}}', "charged.calls is missing"),
    (b"[" * 10**5, "is no JSON"),
    (b"\xff\xfe\x00", "is no JSON"),
]


@pytest.mark.parametrize(("raw", "said"), DAMAGED, ids=[said for _, said in DAMAGED])
def test_every_line_is_checked_by_its_kind(path: Path, raw: bytes, said: str) -> None:
    path.parent.mkdir()
    path.write_bytes(raw + b"\n")
    with pytest.raises(RunError, match="damaged call log, line 1") as caught:
        LoggedLM(Scripted([]), CallLog(path))
    assert said in str(caught.value)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_what_is_no_file_is_no_log(path: Path, make: Callable[[Path], None]) -> None:
    path.parent.mkdir()
    make(path)
    with pytest.raises(RunError, match="no plain file"):
        LoggedLM(Scripted([]), CallLog(path))


async def test_what_a_model_of_the_wrong_kind_said_can_be_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "live" / "p.jsonl"
    model = Scripted("said", scores=lambda place, pooling: [[0.5]])
    lm = LoggedLM(model, CallLog(path))
    for place in (Place("p", 1, "step"), Place("p", 1, "a/b")):
        await lm.complete(place, Request((Message("user", "?"),)))
    await lm.pool(Place("p", 1, "seq_rm"), Pooling((Message("user", "?"),)))
    lm.close()
    assert [CallLog(path).forget(part) for part in ("seq_rm", "seq_rm", "a/b", "none")] == [
        True,
        False,
        True,
        False,
    ]
    assert [line["t"] for line in CallLog(path).read()] == ["sent", "reply", "sent", "sent"]
    assert not list(path.parent.glob("*.tmp"))
    again = LoggedLM(model, CallLog(path))
    await again.pool(Place("p", 1, "seq_rm"), Pooling((Message("user", "?"),)))
    await again.complete(Place("p", 1, "step"), Request((Message("user", "?"),)))
    again.close()
    assert (again.replayed, again.repeated, len(model.pools)) == (1, 1, 2)
