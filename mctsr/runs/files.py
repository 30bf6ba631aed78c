"""Bytes of a run folder: strict JSON, whole lines, atomic files.

Knows how a line is appended so that a kill leaves at most a torn last one, and how that is told apart.
Does not know what the records mean.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import orjson

from mctsr.errors import RunError
from mctsr.lm import wire
from mctsr.lm.disk import open_file, read_file, unwritable

TEMPORARY = ".writing-"
"""How names of files begin that a kill may leave behind."""


class Line(NamedTuple):
    """One whole line of a file: where it begins, in bytes, and what it holds, without its newline."""

    offset: int
    data: bytes


class Lines(NamedTuple):
    """The whole lines of a file, and what follows the last newline: nothing, or a line that was torn off."""

    whole: list[Line]
    torn: bytes


def dumps(value: object) -> bytes:
    """Write strict UTF-8 JSON in one line; NaN and infinities become null, lone surrogates U+FFFD."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # Lone surrogates, and whole numbers of more than 64 bits.
        cleaned = _cleaned(value)
        return json.dumps(cleaned, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def loads(data: bytes) -> object:
    """Read strict JSON.

    Raises:
        ValueError: It is none.
    """
    return orjson.loads(data)


def append_line(file: int, data: bytes, path: Path) -> None:
    """Append one line to an open file of a run folder, and wait until it is on the disk.

    Args:
        file: Where.
        data: The line, without its newline.
        path: The file's name, for people; it lies directly in the run folder.

    Raises:
        OSError: It could not be written whole; what was written is taken back.
    """
    line = data + b"\n"
    end = os.lseek(file, 0, os.SEEK_END)
    try:
        while line:
            line = line[os.write(file, line) :]
        os.fsync(file)
    except OSError as error:
        os.ftruncate(file, end)
        raise unwritable(path, error, path.parent) from error


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a file of a run folder: readers see the old content or the new one, also after a kill.

    Raises:
        OSError: It could not be written; the old content stays.
    """
    try:
        _replace(path, data)
        sync_folder(path.parent)
    except OSError as error:
        raise unwritable(path, error, path.parent) from error


def _replace(path: Path, data: bytes) -> None:
    file, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(file, "wb") as out:
            os.fchmod(out.fileno(), 0o644)
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Wait until names created in `folder` are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_lines(path: Path) -> Lines:
    """Split a file at newline bytes alone; a file that does not exist has no lines.

    Raises:
        RunError: It is no plain file, or cannot be read.
    """
    try:
        data = read_file(path)
    except FileNotFoundError:
        return Lines([], b"")
    *whole, torn = data.split(b"\n")
    lines, offset = [], 0
    for line in whole:
        lines.append(Line(offset, line))
        offset += len(line) + 1
    return Lines(lines, torn)


def read_part(path: Path, offset: int, length: int) -> bytes:
    """Return some bytes of a file, reading nothing else.

    Raises:
        RunError: It is no plain file, cannot be read, or is too short for that.
        FileNotFoundError: There is none.
    """
    file = open_file(path)
    try:
        size = os.fstat(file).st_size
        if not 0 <= offset <= offset + length <= size:
            raise RunError(
                f"{path} has {size} bytes, too few for {length} from {offset} on; restore it from a copy"
            )
        return os.pread(file, length, offset)
    finally:
        os.close(file)


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return wire.clean(value).text
    if isinstance(value, Mapping):
        return {wire.clean(str(key)).text: _cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner) for inner in value]
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return None
    return value
