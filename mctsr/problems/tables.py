"""Tables: CSV, TSV and Parquet, row by row.

Knows headings and cells. An empty cell is None. Parquet needs an extra and is loaded when a file asks for it.
"""

import csv
import io
from collections.abc import Collection, Iterator
from pathlib import Path

from mctsr.errors import DataError, MissingExtra

from .fields import normal
from .rows import Faults, Row
from .source import decoded

PARQUET = b"PAR1"
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_LONGEST_CELL = (1 << 31) - 1


def delimiter_of(data: bytes, name: str, names: Collection[str]) -> str:
    """Say what separates the cells of a table, "" when it is none.

    A file is a table by its name, or by a first line in which a problem's field stands beside others.
    """
    first = data.lstrip().partition(b"\n")[0].decode(errors="replace").strip()
    if not first or first.startswith(("{", "[")):
        return ""
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    for delimiter in ("\t", ";", ","):
        cells = [cell.strip().strip('"') for cell in first.split(delimiter)]
        if len(cells) > 1 and any(normal(cell) in names for cell in cells):
            return delimiter
    return _DELIMITERS.get(suffix, "")


def read_csv(name: str, data: bytes, delimiter: str, faults: Faults) -> Iterator[Row]:
    """Give the rows below the heading; cells may hold quoted newlines.

    Raises:
        DataError: It is not UTF-8, or its quotes do not end.
    """
    lines = csv.reader(io.StringIO(decoded(name, data), newline=""), delimiter=delimiter)
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        heading = [cell.strip() for cell in next(lines, [])]
        end = lines.line_num
        for cells in lines:
            where, end = f"{name}, line {end + 1}", lines.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(heading):
                faults.report(f"{where}: {len(cells)} cells under a heading of {len(heading)}")
                continue
            yield Row(where, {key: cell or None for key, cell in zip(heading, cells, strict=True)})
    except csv.Error as error:
        raise DataError(f"{name}, line {lines.line_num}: {error}; save it as CSV again") from None
    finally:
        csv.field_size_limit(before)


def read_parquet(name: str, data: bytes) -> list[Row]:
    """Give the rows of a Parquet file.

    Raises:
        MissingExtra: pyarrow is not installed.
        DataError: The file is damaged.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingExtra(
            f"{name} is a Parquet file, which needs pyarrow; pip install 'mctsr[parquet]'"
        ) from None
    try:
        rows = parquet.read_table(io.BytesIO(data)).to_pylist()
    except (ArrowException, OSError) as error:
        why = str(error).partition("\n")[0]
        raise DataError(f"{name} is a Parquet file that cannot be read: {why}; fetch it again") from None
    return [Row(f"{name}, row {number}", row) for number, row in enumerate(rows, start=1)]
