"""From a data file, or standard input, to its objects.

Knows JSON Lines, JSON lists, and what people give instead. Does not know which fields mean what.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from re import compile as regex
from typing import NamedTuple

from mctsr.errors import DataError, named, short, shown, user_path
from mctsr.lm import wire

STDIN = "-"
TEXT = ("problem", "question")
ACCEPTED = (
    "accepted are JSON Lines or a JSON list of objects with the problem in "
    '"problem" or "question", optionally "answer" and "id" or "unique_id"'
)

_JSON_LINES = regex(r"\s*\{\s*[\"}]")
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip file",
    b"<": "HTML or XML",
}
_SUFFIXES = {".csv": "CSV", ".tsv": "TSV", ".yaml": "YAML", ".yml": "YAML"}
_SHOWN = 60


class Row(NamedTuple):
    """One object of a file and where it stands, for error messages."""

    where: str
    fields: Mapping[str, object]


def stdin_text(source: str, stdin: str | None = None) -> str | None:
    """Return the text on standard input when that is the source, else None.

    Args:
        source: What the user named.
        stdin: What stands there, when it was read already.

    Raises:
        DataError: Standard input is closed, or holds no UTF-8.
    """
    if source != STDIN:
        return None
    return (_read_stdin() if stdin is None else stdin).removeprefix("\ufeff")


def _read_stdin() -> str:
    # None where whoever started the process closed it.
    stream = sys.stdin
    if stream is None:
        raise DataError("standard input is closed; give a file, or pipe something in")
    binary = getattr(stream, "buffer", None)
    text = stream.read() if binary is None else _decoded("standard input", binary.read())
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        line, start = data.count(b"\n", 0, error.start) + 1, data.rfind(b"\n", 0, error.start) + 1
        raise _no_utf8(f"{name}, line {line}", error.start - start) from None


def _no_utf8(where: str, byte: int) -> DataError:
    return DataError(f"{where}: byte {byte + 1} is not UTF-8; save the file as UTF-8")


def is_json(text: str) -> bool:
    """Say whether standard input holds rows; a question may begin with a bracket, too."""
    if not text.lstrip().startswith("["):
        return _JSON_LINES.match(text) is not None
    try:
        entries = wire.loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return False
    return isinstance(entries, list) and all(isinstance(entry, Mapping) for entry in entries)


def read_rows(source: str, text: str | None) -> list[Row]:
    """Split a file into its objects: at newline bytes alone, since texts may hold any other separator.

    Args:
        source: Path of the file.
        text: What stands on standard input instead; None reads the file.

    Raises:
        DataError: It cannot be read, or holds something else; names the line.
    """
    name = short(source) if text is None else "standard input"
    data = _read_file(source) if text is None else text.encode("utf-8", "surrogatepass")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if found := _something_else(name, data):
        raise DataError(f"{name} {found}; {ACCEPTED}")
    if whole := _one_problem(data):
        placed: list[tuple[str, object]] = [(name, whole)]
    elif data.lstrip().startswith(b"["):
        entries = _json(name, data)
        assert isinstance(entries, list)
        placed = [(f"{name}, entry {number}", entry) for number, entry in enumerate(entries, start=1)]
    else:
        lines = enumerate(data.split(b"\n"), start=1)
        places = [(f"{name}, line {number}", line) for number, line in lines if line.strip()]
        placed = [(where, _json(where, line)) for where, line in places]
    if not placed:
        raise DataError(f"{name} holds no problems; {ACCEPTED}")
    return [Row(where, _object(where, value)) for where, value in placed]


def _read_file(source: str) -> bytes:
    path = user_path(source)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(
            f"data file {shown(source)} does not exist; give a path, or - for standard input"
        ) from None
    except OSError as error:
        raise DataError(f"data file {shown(source)} cannot be read: {error.strerror}; give another") from None


def _something_else(name: str, data: bytes) -> str:
    """Say what a file is when it is plainly no JSON, "" when it may be."""
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return f"is {kind}, which is not read"
    first = data.lstrip().partition(b"\n")[0].strip()
    if not first or _is_value(first):
        return ""
    if first.startswith((b"{", b"[")):
        return _one_object(data) if first.startswith(b"{") else ""
    try:
        begin = first.decode()
    except UnicodeDecodeError:
        return ""
    looks = "TSV" if "\t" in begin else "CSV" if "," in begin else "plain text"
    kind = _SUFFIXES.get(Path(name).suffix.lower(), looks)
    return f"begins with {begin if len(begin) <= _SHOWN else begin[:_SHOWN] + '…'!r}: {kind} is not read"


def _one_object(data: bytes) -> str:
    """Say so when a whole file is one object over several lines that is no problem: its problems may be inside."""
    value = _spread_object(data)
    if value is None or _one_problem(data):
        return ""
    names = named(map(repr, sorted(map(short, value))))
    return f"is one object over several lines, with the fields {names}; put its problems in a list"


def _one_problem(data: bytes) -> Mapping[str, object] | None:
    """Read a file that is one problem, written over several lines; None when it is anything else."""
    value = _spread_object(data)
    return value if value is not None and any(value.get(name) is not None for name in TEXT) else None


def _spread_object(data: bytes) -> Mapping[str, object] | None:
    """Read one object that needs more than one line; None when there is none."""
    start = data.lstrip()
    if not start.startswith(b"{") or _is_value(start.partition(b"\n")[0]):
        return None
    try:
        data.decode("utf-8", "surrogatepass")
        value = wire.loads(data)
    except ValueError:
        return None
    return value if isinstance(value, Mapping) else None


def _is_value(line: bytes) -> bool:
    try:
        wire.loads(line)
    except ValueError:
        return False
    return True


def _json(where: str, data: bytes) -> object:
    try:
        data.decode("utf-8", "surrogatepass")
        return wire.loads(data)
    except UnicodeDecodeError as error:
        raise _no_utf8(where, error.start) from None
    except ValueError as error:
        raise DataError(f"{where}: not JSON ({error}); {ACCEPTED}") from None


def _object(where: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: found {type(value).__name__}, not an object; {ACCEPTED}")
    return value
