"""From a data file, or standard input, to its objects.

Knows JSON Lines, JSON lists, and what people give instead. Does not know which fields mean what.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from re import compile as regex
from typing import NamedTuple

from mctsr.errors import DataError
from mctsr.lm import wire

STDIN = "-"
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


def stdin_text(source: str, stdin: str | None) -> str | None:
    """Return the text on standard input when that is the source, else None."""
    if source != STDIN:
        return None
    return (sys.stdin.read() if stdin is None else stdin).removeprefix("\ufeff")


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
    name = source if text is None else "standard input"
    data = _read_file(source) if text is None else text.encode("utf-8", "surrogatepass")
    data = data.removeprefix(b"\xef\xbb\xbf")
    if found := _something_else(name, data):
        raise DataError(f"{name} {found}; {ACCEPTED}")
    if data.lstrip().startswith(b"["):
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
    path = Path(source).expanduser()
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(
            f"data file {source!r} does not exist; give a path, or - for standard input"
        ) from None
    except OSError as error:
        raise DataError(f"data file {source!r} cannot be read: {error.strerror}") from None


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
        shown = first.decode()
    except UnicodeDecodeError:
        return ""
    looks = "TSV" if "\t" in shown else "CSV" if "," in shown else "plain text"
    kind = _SUFFIXES.get(Path(name).suffix.lower(), looks)
    return f"begins with {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'!r}: {kind} is not read"


def _one_object(data: bytes) -> str:
    """Say so when a whole file is one object over several lines, which neither form allows."""
    try:
        value = wire.loads(data)
    except ValueError:
        return ""
    if not isinstance(value, Mapping):
        return ""
    return f"is one object over several lines, with the fields {sorted(value)}; put its problems in a list"


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
        raise DataError(f"{where}: byte {error.start + 1} is not UTF-8; save the file as UTF-8") from None
    except ValueError as error:
        raise DataError(f"{where}: not JSON ({error}); {ACCEPTED}") from None


def _object(where: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: found {type(value).__name__}, not an object; {ACCEPTED}")
    return value
