"""Writing a format to a file or a stream."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from mctsr.errors import RunError, UsageError
from mctsr.runs.files import dumps
from mctsr.runs.layout import owner_of

from .card import card, source_name
from .labels import Counts, Labels
from .math_shepherd import TAG, shepherd_rows
from .meaning import settled
from .nodes import node_rows
from .paths import solutions
from .rows import Row
from .stepwise import stepwise_rows
from .tree import tree_rows

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

FORMATS: Mapping[str, Callable[["Run"], Iterator[Row]]] = {"tree": tree_rows, "nodes": node_rows}
"""Formats of every run."""


def _stepwise(run: "Run", labels: Labels, counts: Counts) -> Iterator[Row]:
    return stepwise_rows(solutions(run, labels, counts), labels)


def _math_shepherd(run: "Run", labels: Labels, counts: Counts) -> Iterator[Row]:
    return shepherd_rows(solutions(run, labels, counts, tag=TAG), labels, source_name(run))


STEP_FORMATS: Mapping[str, Callable[["Run", Labels, Counts], Iterator[Row]]] = {
    "stepwise": _stepwise,
    "math-shepherd": _math_shepherd,
}
"""Formats of runs that search over steps."""


class Written(NamedTuple):
    """What an export came to.

    Attributes:
        path: The file; None for a stream.
        rows: Rows in it.
        card: The data card beside it; None for a format without labels, and where there is no place beside.
        counts: What was labelled; None for a format without labels.
    """

    path: Path | None
    rows: int
    card: Path | None = None
    counts: Counts | None = None


def default_path(run: "Run", form: str) -> Path:
    """Return where an export goes when nothing else is said: into the run's own folder."""
    return run.path / "export" / f"{form}.jsonl"


def write(
    run: "Run",
    form: str,
    target: Path | IO[bytes] | None = None,
    *,
    labels: Labels | None = None,
    overwrite: bool = False,
) -> Written:
    """Write a run as JSON Lines in one of the `FORMATS` or `STEP_FORMATS`.

    Args:
        run: What to write.
        form: Name of the format.
        target: A file, which appears whole or not at all; a stream; None for `default_path`.
        labels: How steps are labelled; None takes hard labels, above the threshold that is usual for the run. Only
            for `STEP_FORMATS`, which put a data card beside the file, named after it.
        overwrite: Whether a file that is there already may be replaced, and its card. A device or a pipe is written
            to in any case.

    Raises:
        UsageError: The format is unknown, has no labels though some are asked for, the file is there already, or it
            cannot be written.
        RunError: A tree cannot be read or does not fit the format, or the file is one of a run's own.
    """
    if form in STEP_FORMATS:
        return _write_steps(run, form, target, labels or Labels(), overwrite=overwrite)
    if form not in FORMATS:
        raise UsageError(f"no export format {form!r}; allowed are {', '.join((*FORMATS, *STEP_FORMATS))}")
    if labels is not None:
        raise UsageError(f"the format {form} has no labels; {' and '.join(STEP_FORMATS)} have")
    return _write(_lines(FORMATS[form](run)), _place(run, form, target, overwrite=overwrite))


def _write_steps(
    run: "Run", form: str, target: Path | IO[bytes] | None, labels: Labels, *, overwrite: bool
) -> Written:
    counts, labels = Counts(), settled(labels, run)
    place = _place(run, form, target, overwrite=overwrite)
    beside = _card_beside(place)
    if beside and not overwrite:
        _keep(beside)
    lines = _lines(STEP_FORMATS[form](run, labels, counts))
    written = _write(lines, place)._replace(counts=counts)
    if beside is None:
        return written
    _write(iter([card(run, form, labels, counts).encode("utf-8", "replace")]), beside)
    return written._replace(card=beside)


def _card_beside(place: Path | IO[bytes]) -> Path | None:
    """Return where the card goes; a stream, a device or a pipe has no place beside."""
    if not isinstance(place, Path) or (place.exists() and not place.is_file()):
        return None
    return place.with_name(f"{place.stem}.card.md")


def _place(run: "Run", form: str, target: Path | IO[bytes] | None, *, overwrite: bool) -> Path | IO[bytes]:
    """Return where rows go.

    Raises:
        UsageError: A file is there that may not be replaced.
        RunError: It is one of a run's own, which may never be.
    """
    place = target or default_path(run, form)
    if isinstance(place, Path):
        _check_owner(place.resolve())
        if not overwrite:
            _keep(place)
    return place


def _keep(path: Path) -> None:
    """Refuse to replace a file."""
    if path.is_file():
        raise UsageError(
            f"{path} is there already; replace it with --overwrite, or give another file with -o"
        )


def _check_owner(path: Path) -> None:
    if owner := owner_of(path):
        raise RunError(f"{path} belongs to the run in {owner}; give another file with -o")


def _lines(rows: Iterable[Row]) -> Iterator[bytes]:
    return (dumps(row) + b"\n" for row in rows)


def _write(lines: Iterator[bytes], target: Path | IO[bytes]) -> Written:
    if not isinstance(target, Path):
        return Written(None, _stream(lines, target))
    try:
        return Written(target, _file(lines, target))
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}; give another file with -o") from None


def _stream(lines: Iterator[bytes], out: IO[bytes]) -> int:
    count = 0
    for line in lines:
        out.write(line)
        count += 1
    return count


def _file(lines: Iterator[bytes], path: Path) -> int:
    """Write beside the file, then take its place; a failure leaves what was there before.

    A link is followed before anything else, so that it cannot lead to a file that must not be replaced.
    """
    path = path.resolve()
    _check_owner(path)
    if path.exists() and not path.is_file():
        # A device or a named pipe is written to, never replaced; a folder is an error.
        with path.open("wb") as out:
            return _stream(lines, out)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as new:
            os.fchmod(handle, 0o644)
            count = _stream(lines, new)
            new.flush()
            os.fsync(handle)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return count
