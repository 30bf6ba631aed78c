"""The file of a call log: its kinds of line, and how a torn end is healed.

Each line is one JSON object, told apart by "t":

    sent      key, place, hash          before the request leaves; a call that waits for its turn has no line
    reply     key and the completion    after it came
    pooled    key and the scores        after they came
    failed    key and the error         the call failed for good
    decision  after, what, charged      something depended on time or load, written before it is obeyed

Does not know what the lines mean for a search.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from mctsr.errors import RunError

from . import disk, wire
from .log.lines import Line
from .shape import checker


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

    def forget(self, part: str) -> bool:
        """Take out the replies to the calls of a part, once the log is closed; says whether there were any.

        Raises:
            RunError: A line before the end is damaged.
            OSError: It cannot be written; it is then as it was.
        """
        lines = self.read()
        kept = [line for line in lines if line["t"] not in ("reply", "pooled") or _part(line["key"]) != part]
        if len(kept) == len(lines):
            return False
        draft = self.path.with_suffix(".tmp")
        try:
            draft.write_bytes(b"".join(wire.dumps(line) + b"\n" for line in kept))
            draft.replace(self.path)
        except OSError as error:
            raise disk.unwritable(draft, error, self._run) from error
        return True

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


def _part(key: str) -> str:
    # ask/part/draft/sample/attempt:hash, and a part may hold a slash itself
    return key.split("/", 1)[1].rsplit("/", 3)[0]
