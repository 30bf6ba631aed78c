"""The file of a call log: its kinds of line, and how a torn end is healed.

Each line is one JSON object, told apart by "t":

    sent      key, place, hash          before the request leaves; a call that waits for its turn has no line
    reply     key and the completion    after it came
    failed    key and the error         the call failed for good
    decision  after, what, charged      something depended on time or load, written before it is obeyed

Does not know what the lines mean for a search.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypedDict, cast

from mctsr.errors import ContextOverflow, RunError, ServerError

from . import disk, wire
from .base import Completion, Finish, Tally, Usage
from .shape import checker


class UsageLine(TypedDict):
    """Tokens, as in `Usage`."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int


class SentLine(TypedDict):
    """A request is about to leave; `place` as in `Place`."""

    t: Literal["sent"]
    key: str
    place: tuple[str, int, str, int, int, int]
    hash: str


class ReplyLine(TypedDict):
    """A completion came; the fields of `Completion`."""

    t: Literal["reply"]
    key: str
    text: str
    finish: Finish
    thought: str
    usage: UsageLine
    seconds: float
    retries: int
    wire: list[str]


class FailedLine(TypedDict):
    """A call failed for good."""

    t: Literal["failed"]
    key: str
    kind: str
    status: int
    retries: int
    message: str


class ChargedLine(TypedDict):
    """What calls in flight had cost; the fields of `Tally`."""

    calls: int
    usage: UsageLine
    seconds: float
    retried: int
    failed: int
    truncated: int
    empty: int
    wire: list[str]
    reasked: int


class DecisionLine(TypedDict):
    """Something was decided after so many folds."""

    t: Literal["decision"]
    after: int
    what: str
    charged: ChargedLine


Line = SentLine | ReplyLine | FailedLine | DecisionLine


class CallLog:
    """An append-only file of lines that survives being killed at any byte."""

    def __init__(self, path: Path) -> None:
        """Name the file, RUN/live/NAME; it and its folders are made by the first `append`."""
        self.path = path
        self._run = path.parent.parent
        self._file: int | None = None
        self._closed = False

    def read(self) -> list[Line]:
        """Read all whole lines; what follows the last newline was never written to its end.

        Raises:
            RunError: A line before the end is damaged, or no plain file lies there.
        """
        try:
            whole = disk.read_file(self.path)
        except FileNotFoundError:
            return []
        return [self._line(raw, number) for number, raw in enumerate(whole.split(b"\n")[:-1], start=1)]

    def append(self, line: Mapping[str, object]) -> None:
        """Write one line, after cutting off a torn end once.

        Raises:
            OSError: It cannot be written whole; what was written is taken back.
            ValueError: The log is closed.
        """
        data, file = wire.dumps(line) + b"\n", self._opened()
        end = os.lseek(file, 0, os.SEEK_END)
        try:
            while data:
                data = data[os.write(file, data) :]
        except OSError as error:
            os.ftruncate(file, end)
            raise disk.unwritable(self.path, error, self._run) from error

    def close(self) -> None:
        """Close the file for good: who still writes must not bring a finished problem's log back."""
        self._closed = True
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        if self._closed:
            raise ValueError(f"the call log {self.path} is closed")
        if self._file is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise disk.unwritable(self.path.parent, error, self._run) from error
            self._file = disk.open_file(self.path, disk.APPEND)
            os.truncate(self._file, disk.read_file(self.path).rfind(b"\n") + 1)
        return self._file

    def _line(self, raw: bytes, number: int) -> Line:
        try:
            line = wire.loads(raw)
            fault = checker(Line)(line)
        except ValueError:
            line, fault = None, " is no JSON"
        if fault:
            raise RunError(
                f"{self.path}: damaged call log, line {number} ({fault.lstrip(' .')}); "
                "delete it to ask its calls again"
            )
        return cast(Line, line)


def charged_of(tally: Tally) -> ChargedLine:
    """Write down what calls had cost."""
    return {
        "calls": tally.calls,
        "usage": _usage_line(tally.usage),
        "seconds": tally.seconds,
        "retried": tally.retried,
        "failed": tally.failed,
        "truncated": tally.truncated,
        "empty": tally.empty,
        "wire": sorted(tally.wire),
        "reasked": tally.reasked,
    }


def tally_of(line: ChargedLine) -> Tally:
    """Read what calls had cost."""
    return Tally(
        calls=line["calls"],
        usage=_usage(line["usage"]),
        seconds=line["seconds"],
        retried=line["retried"],
        failed=line["failed"],
        truncated=line["truncated"],
        empty=line["empty"],
        wire=frozenset(line["wire"]),
        reasked=line["reasked"],
    )


def reply_of(key: str, completion: Completion) -> ReplyLine:
    """Write a completion down."""
    return {
        "t": "reply",
        "key": key,
        "text": completion.text,
        "finish": completion.finish,
        "thought": completion.thought,
        "usage": _usage_line(completion.usage),
        "seconds": completion.seconds,
        "retries": completion.retries,
        "wire": list(completion.wire),
    }


def completion_of(line: ReplyLine | FailedLine) -> Completion:
    """Return the completion that a line holds, or fail as the call failed."""
    if line["t"] == "failed":
        kind = ContextOverflow if line["kind"] == ContextOverflow.kind else ServerError
        raise kind(line["message"], status=line["status"], retries=line["retries"])
    return Completion(
        text=line["text"],
        finish=line["finish"],
        thought=line["thought"],
        usage=_usage(line["usage"]),
        seconds=line["seconds"],
        retries=line["retries"],
        wire=tuple(line["wire"]),
    )


def _usage(line: UsageLine) -> Usage:
    return Usage(line["prompt_tokens"], line["completion_tokens"], line["cached_tokens"])


def _usage_line(usage: Usage) -> UsageLine:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
    }
