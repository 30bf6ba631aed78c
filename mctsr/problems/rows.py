"""One object of a data file, and what becomes of those that cannot be read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mctsr.errors import DataError

ACCEPTED = (
    "accepted are JSON Lines, a JSON list, CSV, TSV or Parquet of objects with the problem in "
    '"problem" or "question", optionally "answer" and "id"'
)


class Row(NamedTuple):
    """One object of a file.

    Attributes:
        where: File and line, for messages.
        fields: What it holds; a missing cell of a table is None.
        key: The key around it, in files that give every object a name.
    """

    where: str
    fields: Mapping[str, object]
    key: str | None = None


class Table(NamedTuple):
    """The rows of a file and the name of its format."""

    format: str
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Faults:
    """What is wrong with single rows: the first one is an error, unless they are to be skipped.

    Attributes:
        skip: Whether rows that cannot be read are left out and counted.
        found: What was wrong with each row.
    """

    skip: bool = False
    found: list[str] = field(default_factory=list)

    def report(self, fault: str) -> None:
        """Count a fault."""
        self.found.append(fault)

    def settle(self, left: int) -> None:
        """Refuse what was found, once it is known how many rows are `left` without a fault.

        Raises:
            DataError: There are faults, and rows are not to be skipped; says that they can be if any is left.
        """
        if self.found and not self.skip:
            raise DataError(f"{self.found[0]}{'; --skip-bad leaves such rows out' if left else ''}")
