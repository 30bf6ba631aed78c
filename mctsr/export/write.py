"""Writing a format to a file or a stream."""

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from mctsr.errors import RunError, UsageError
from mctsr.runs.files import dumps
from mctsr.runs.layout import owner_of

from .nodes import node_rows
from .rows import Row
from .tree import tree_rows

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

FORMATS: Mapping[str, Callable[["Run"], Iterator[Row]]] = {"tree": tree_rows, "nodes": node_rows}


class Written(NamedTuple):
    """What an export came to; `path` is None for a stream."""

    path: Path | None
    rows: int


def default_path(run: "Run", form: str) -> Path:
    """Return where an export goes when nothing else is said: into the run's own folder."""
    return run.path / "export" / f"{form}.jsonl"


def write(run: "Run", form: str, target: Path | IO[bytes] | None = None) -> Written:
    """Write a run as JSON Lines in one of the `FORMATS`.

    Args:
        run: What to write.
        form: Name of the format.
        target: A file, which appears whole or not at all; a stream; None for `default_path`.

    Raises:
        UsageError: The format is unknown, or the file cannot be written.
        RunError: A tree cannot be read, or the file is one of a run's own.
    """
    if form not in FORMATS:
        raise UsageError(f"no export format {form!r}; allowed are {', '.join(FORMATS)}")
    rows = FORMATS[form](run)
    if target is not None and not isinstance(target, Path):
        return Written(None, _stream(rows, target))
    path = target or default_path(run, form)
    try:
        return Written(path, _file(rows, path))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; give another file with -o") from None


def _stream(rows: Iterator[Row], out: IO[bytes]) -> int:
    count = 0
    for row in rows:
        out.write(dumps(row) + b"\n")
        count += 1
    return count


def _file(rows: Iterator[Row], path: Path) -> int:
    """Write beside the file, then take its place; a failure leaves what was there before.

    A link is followed before anything else, so that it cannot lead to a file that must not be replaced.
    """
    path = path.resolve()
    if owner := owner_of(path):
        raise RunError(f"{path} belongs to the run in {owner}; give another file with -o")
    if path.exists() and not path.is_file():
        # A device or a named pipe is written to, never replaced; a folder is an error.
        with path.open("wb") as out:
            return _stream(rows, out)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as new:
            os.fchmod(handle, 0o644)
            count = _stream(rows, new)
            new.flush()
            os.fsync(handle)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return count
