"""A data file as rows that are problems, each with an id of its own.

Knows ids and duplicates. Gold answers stay in the rows: nothing here looks at them.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from mctsr.errors import DataError, short, shown
from mctsr.lm import wire

from .fields import Columns, check_columns, given_id, text_of
from .formats import is_data, split
from .hub import is_hub_name, read_hub
from .kinds import Profile, kind_of, profile
from .rows import Faults, Row, Table
from .source import read_file, stdin_text


class Item(NamedTuple):
    """One problem of a file: its id, its text and the row that it stands in."""

    id: str
    text: str
    row: Row


@dataclass(frozen=True, slots=True)
class Loaded:
    """A data file that was read.

    Attributes:
        format: What it is.
        items: Its problems, in order.
        columns: Fields that the user named.
        profile: How answers are read.
        bad: What was wrong with each row that was left out.
    """

    format: str
    items: list[Item]
    columns: Columns
    profile: Profile
    bad: list[str]

    @property
    def rows(self) -> list[Row]:
        """The rows that hold the problems."""
        return [item.row for item in self.items]

    def kind(self, item: Item) -> str | None:
        """Say how the answer of one problem is read."""
        return kind_of(item.text, self.profile)


def load(
    source: str,
    columns: Columns,
    *,
    kind: str | None = None,
    skip_bad: bool = False,
    stdin: str | None = None,
) -> Loaded | str:
    """Read a data file; standard input that holds one plain question is returned as it is.

    Args:
        source: Path of a file, "-" for standard input, or the name of a data set of the hub.
        columns: Fields that the user names.
        kind: How answers are read; None finds out.
        skip_bad: Whether rows that are no problems are left out and counted.
        stdin: What stands on standard input, when it was read already.

    Raises:
        DataError: It cannot be read as problems; names the line.
        UsageError: A field that the user names is nowhere.
    """
    faults = Faults(skip_bad)
    text = stdin_text(source, stdin)
    if text is not None and not is_data(text, columns.texts):
        return text
    format, rows = _table(source, text, columns, faults)
    check_columns(rows, columns)
    known = profile(source, {name for row in rows for name in row.fields}, kind)
    items = list(_identified(rows, columns, faults))
    faults.settle(len(items))
    if not items and rows:
        # Then nothing is left, and why is the only thing worth saying.
        raise DataError(f"no row is left of {len(rows)}; the first: {faults.found[0]}")
    return Loaded(format, items, columns, known, faults.found)


def hash_id(text: str) -> str:
    """Make the id of a problem that brings none along: 12 hexadecimal digits of its text, never its place."""
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _table(source: str, text: str | None, columns: Columns, faults: Faults) -> Table:
    if text is not None:
        return split("standard input", text.encode("utf-8", "surrogatepass"), columns.texts, faults)
    if is_hub_name(source):
        return read_hub(source)
    content = read_file(source)
    table = split(short(source), content.data, columns.texts, faults)
    return table._replace(format=f"{table.format}, gzip") if content.packed else table


def _identified(rows: Iterable[Row], columns: Columns, faults: Faults) -> Iterable[Item]:
    seen: dict[str, str] = {}
    for row in rows:
        try:
            text = text_of(row, columns)
            given = given_id(row, columns)
        except ValueError as error:
            faults.report(str(error))
            continue
        id = hash_id(text) if given is None else given
        if id in seen:
            what = "the same problem without an id stands" if given is None else f"id {shown(id)} stands"
            faults.report(f"{row.where}: {what} already in {seen[id]}; every problem needs an id of its own")
            continue
        seen[id] = row.where
        yield Item(id, text, row)


def clean_question(text: str) -> str:
    """Return a question as it is asked: no lone surrogates, nothing around it."""
    return wire.clean(text.strip()).text
