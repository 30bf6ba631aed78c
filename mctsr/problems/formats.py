"""From bytes to the objects in them: JSON Lines, JSON lists, objects in objects, and tables.

Knows what a file is by what stands in it, whatever its name. Does not know which fields mean what, but for the names
of a problem's text, which tell a problem from an object that holds problems, and a heading from a sentence.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from re import compile as regex
from typing import NamedTuple

from mctsr.errors import DataError, named, short
from mctsr.lm import wire

from .fields import GOLD, ID, normal
from .rows import ACCEPTED, Faults, Row, Table
from .source import no_utf8
from .tables import PARQUET, delimiter_of, read_csv, read_parquet

_JSON_LINES = regex(r"\s*\{\s*[\"}]")
_MAGIC = {b"ARROW1": "an Arrow file", b"PK\x03\x04": "a zip file", b"<": "HTML or XML"}
_SUFFIXES = {".yaml": "YAML", ".yml": "YAML"}
_SHOWN = 60


class Entry(NamedTuple):
    """A value and where it stands."""

    where: str
    value: object
    key: str | None = None


def is_data(text: str, names: Collection[str]) -> bool:
    """Say whether standard input holds rows; a question may begin with a bracket, too."""
    first = text.lstrip().partition("\n")[0]
    if delimiter := delimiter_of(first.encode("utf-8", "surrogatepass"), "", names):
        # A question may begin "Problem, ..."; a heading names its answers or ids, too.
        return any(normal(cell.strip('" \r')) in (*GOLD, *ID) for cell in first.split(delimiter))
    if not text.lstrip().startswith("["):
        return _JSON_LINES.match(text) is not None
    try:
        entries = wire.loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return False
    return isinstance(entries, list) and all(isinstance(entry, Mapping) for entry in entries)


def split(name: str, data: bytes, names: Collection[str], faults: Faults) -> Table:
    """Split the bytes of a file into objects; lines end at newline bytes alone, since texts may hold the others.

    Args:
        name: What the file is called in messages.
        data: What stands in it.
        names: Fields that may hold a problem's text, in small letters.
        faults: Receives what is wrong with single rows.

    Raises:
        DataError: It holds something else, or nothing but wrong rows; names the line.
    """
    if data.startswith(PARQUET):
        return Table("Parquet", read_parquet(name, data))
    if delimiter := delimiter_of(data, name, names):
        rows = read_csv(name, data, delimiter, faults)
        return Table("TSV" if delimiter == "\t" else "CSV", _some(name, rows, faults))
    if found := _something_else(name, data, names):
        raise DataError(f"{name} {found}; {ACCEPTED}")
    format, entries = _json_entries(name, data, names, faults)
    return Table(format, _some(name, _objects(entries, faults), faults))


def _some(name: str, rows: Iterable[Row], faults: Faults) -> list[Row]:
    found = list(rows)
    if not found and faults.found:
        raise DataError(faults.found[0])
    if not found:
        raise DataError(f"{name} holds no problems; {ACCEPTED}")
    return found


def _json_entries(
    name: str, data: bytes, names: Collection[str], faults: Faults
) -> tuple[str, Iterable[Entry]]:
    whole = _whole_object(data)
    if whole is not None and not _is_problem(whole, names):
        return "JSON object", _held(name, whole)
    if whole is not None:
        return "JSON object", [Entry(name, whole)]
    if data.lstrip().startswith(b"["):
        entries = _json(name, data)
        assert isinstance(entries, list)
        return "JSON list", [
            Entry(f"{name}, entry {number}", entry) for number, entry in enumerate(entries, start=1)
        ]
    return "JSON Lines", _lines(name, data, faults)


def _lines(name: str, data: bytes, faults: Faults) -> Iterator[Entry]:
    for number, line in enumerate(data.split(b"\n"), start=1):
        where = f"{name}, line {number}"
        if not line.strip():
            continue
        try:
            value = _json(where, line)
        except DataError as error:
            faults.report(str(error))
        else:
            yield Entry(where, value)


def _objects(entries: Iterable[Entry], faults: Faults) -> Iterator[Row]:
    for where, value, key in entries:
        if not isinstance(value, Mapping):
            faults.report(f"{where}: found {type(value).__name__}, not an object")
            continue
        ((wrapper, inner),) = value.items() if len(value) == 1 else [("", None)]
        yield Row(where, value, key) if not isinstance(inner, Mapping) else Row(where, inner, str(wrapper))


def _something_else(name: str, data: bytes, names: Collection[str]) -> str:
    """Say what a file is when it is plainly no JSON, "" when it may be."""
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return f"is {kind}, which is not read"
    first = data.lstrip().partition(b"\n")[0].strip()
    whole = _whole_object(data)
    if whole is not None and not _is_problem(whole, names) and not list(_held(name, whole)):
        fields = named(map(repr, sorted(map(short, whole))))
        return f"is one object, with the fields {fields}; put its problems in a list"
    if not first or first.startswith((b"{", b"[")) or _is_value(first):
        return ""
    try:
        begin = first.decode()
    except UnicodeDecodeError:
        return ""
    looks = "CSV without a known heading" if "," in begin or "\t" in begin else "plain text"
    kind = _SUFFIXES.get(Path(name).suffix.lower(), looks)
    return f"begins with {begin if len(begin) <= _SHOWN else begin[:_SHOWN] + '…'!r}: {kind} is not read"


def _whole_object(data: bytes) -> Mapping[str, object] | None:
    """Read a file that is one object over several lines, or one line that holds a list; None for all else."""
    start = data.strip()
    if not start.startswith(b"{"):
        return None
    if b"\n" in start and _is_value(start.partition(b"\n")[0]):
        return None
    try:
        start.decode("utf-8", "surrogatepass")
        value = wire.loads(start)
    except ValueError:
        return None
    if not isinstance(value, Mapping):
        return None
    return value if b"\n" in start or _listed(value) else None


def _held(name: str, value: Mapping[str, object]) -> Iterator[Entry]:
    """Give the problems inside an object: those of its one list, or its own values."""
    if listed := _listed(value):
        for number, entry in enumerate(listed, start=1):
            yield Entry(f"{name}, entry {number}", entry)
    elif all(isinstance(inner, Mapping) for inner in value.values()):
        for key, inner in value.items():
            yield Entry(f"{name}, entry {short(key)!r}", inner, str(key))


def _listed(value: Mapping[str, object]) -> list[object]:
    (inner,) = value.values() if len(value) == 1 else (None,)
    return inner if isinstance(inner, list) and inner and isinstance(inner[0], Mapping) else []


def _is_problem(value: Mapping[str, object], names: Collection[str]) -> bool:
    return any(isinstance(text, str) and normal(name) in names for name, text in value.items())


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
        raise no_utf8(where, error.start) from None
    except ValueError as error:
        raise DataError(f"{where}: not JSON ({error}); {ACCEPTED}") from None
