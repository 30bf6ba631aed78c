"""Tables as lines of cells: how wide columns are, what is folded, cut, or left out where there is little room.

Knows cells and widths. Writes nothing, and knows no terminal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

GAP = "  "
PIPED = 200
"""Up to how many cells a line is aligned in a pipe; longer cells stick out, in full."""
QUIET = HEAD = "dim"


class Span(NamedTuple):
    """A piece of a line: one text in one style."""

    text: str
    style: str = ""


Cell: TypeAlias = str | Span
Line: TypeAlias = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its heading.
        right: Whether numbers stand in it.
        least: How narrow it may become on a narrow terminal; 0 keeps its full width.
        spare: Whether a narrow terminal may go without it; the rightmost goes first.
        folds: Whether what does not fit goes on below, and is not cut.
    """

    name: str
    right: bool = False
    least: int = 0
    spare: bool = False
    folds: bool = False


class Laid(NamedTuple):
    """A table in lines.

    Attributes:
        heading: The lines of its heading.
        rows: The lines of each row, one unless something was folded.
        gone: Names of the columns that had no room.
    """

    heading: list[Line]
    rows: list[list[Line]]
    gone: tuple[str, ...] = ()


def layout(columns: Sequence[Column], rows: Sequence[Line], width: int | None = None) -> Laid:
    """Align rows under a heading.

    Args:
        columns: What stands in each cell.
        rows: One cell a column each.
        width: Cells of a line; columns shrink or go as far as they may, and cells are folded or cut. None cuts nothing.
    """
    heading = [Span(column.name, HEAD) for column in columns]
    cells = [[span_of(cell) for cell in row] for row in (heading, *rows)]
    widths = [max(measure(row[i].text) for row in cells) for i in range(len(columns))]
    over = _shrink(widths, columns, PIPED if width is None else width)
    spare = [i for i, column in enumerate(columns) if column.spare]
    if over and spare and width is not None:
        left = [i for i in range(len(columns)) if i != spare[-1]]
        fewer = layout([columns[i] for i in left], [[row[i] for i in left] for row in rows], width)
        return fewer._replace(gone=(*fewer.gone, *filter(None, [columns[spare[-1]].name])))
    if width is None:
        made = [[_aligned(row, columns, widths)] for row in cells]
    else:
        made = [[_aligned(line, columns, widths) for line in _fitted(row, columns, widths)] for row in cells]
    return Laid(made[0], made[1:])


def parts(columns: Sequence[Column], rows: Sequence[Line], width: int | None) -> list[list[int]]:
    """Part a table that is too wide even when columns shrink and go; returns the columns of each part.

    All parts begin with the first column. A single further column that is too wide stays, and is cut.
    """
    if width is None or not _too_wide(columns, rows, range(len(columns)), width):
        return [list(range(len(columns)))]
    found = [[0]]
    for i in range(1, len(columns)):
        if len(found[-1]) > 1 and _too_wide(columns, rows, [*found[-1], i], width):
            found.append([0])
        found[-1].append(i)
    return found


def _too_wide(columns: Sequence[Column], rows: Sequence[Line], some: Sequence[int], width: int) -> bool:
    kept = [i for i in some if not columns[i].spare]
    widths = [
        max(measure(text) for text in (columns[i].name, *(span_of(row[i]).text for row in rows)))
        for i in kept
    ]
    return _shrink(widths, [columns[i] for i in kept], width)


def _shrink(widths: list[int], columns: Sequence[Column], width: int) -> bool:
    """Make the widest columns narrower, until a line has `width` cells; says whether it still has more."""
    widths[:] = [min(n, width) if column.least else n for n, column in zip(widths, columns, strict=True)]
    over = sum(widths) + len(GAP) * (len(widths) - 1) - width
    while over > 0:
        spare = [i for i, column in enumerate(columns) if column.least and widths[i] > column.least]
        if not spare:
            return True
        widths[max(spare, key=lambda i: widths[i])] -= 1
        over -= 1
    return False


def _fitted(
    row: Sequence[Span], columns: Sequence[Column], widths: Sequence[int]
) -> Iterator[Sequence[Span]]:
    """Return the lines of a row, each cell cut or folded to its width."""
    pieces = [
        [Span(text, span.style) for text in (folded(span.text, n) if column.folds else [cut(span.text, n)])]
        for span, column, n in zip(row, columns, widths, strict=True)
    ]
    yield from zip_longest(*pieces, fillvalue=Span(""))


def _aligned(row: Sequence[Span], columns: Sequence[Column], widths: Sequence[int]) -> Line:
    line: list[Span] = []
    for span, column, width in zip(row, columns, widths, strict=True):
        fill = Span(" " * (width - measure(span.text)))
        line += [fill, span] if column.right else [span, fill]
        line.append(Span(GAP))
    return line[:-1]


def measure(text: str) -> int:
    """Count the terminal cells of one line."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """Shorten one line to `width` cells, with an ellipsis where something is missing."""
    if measure(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


def folded(text: str, width: int) -> list[str]:
    """Break one line between words into lines of at most `width` cells; a longer word is broken, too."""
    if measure(text) <= width:
        return [text]
    from rich.cells import chop_cells

    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if measure(longer) <= width:
            lines[-1] = longer
        else:
            lines += chop_cells(word, max(width, 2))
    return [line for line in lines if line]


def span_of(cell: Cell) -> Span:
    """Return a cell as a span."""
    return cell if isinstance(cell, Span) else Span(cell)
