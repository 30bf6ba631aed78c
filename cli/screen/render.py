"""What every command writes with: lines, tables, long texts and JSON on stdout, talk on stderr.

Knows terminals: how wide they are and whether they have colours. In a pipe nothing is cut and nothing is coloured.
Text is never parsed as markup, and characters that steer a terminal are shown, not sent. Rich is loaded when
the first line is written to a terminal, never in a pipe.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, TextIO

from mctsr.view import words

from .tables import HEAD, PIPED, QUIET, Cell, Column, Laid, Line, Span, cut, layout, measure, parts, span_of

if TYPE_CHECKING:
    from rich.console import Console

UNLIMITED = 1 << 30
GOOD, BAD, DOUBT, STRONG = "green", "red", "yellow", "bold"

_STEERING = {
    **{code: chr(0x2400 + code) for code in range(32) if code not in (9, 10)},
    **{code: f"\\x{code:02x}" for code in range(0x7F, 0xA0)},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    **{
        code: f"\\u{code:04x}"
        for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    },
    0x7F: "\u2421",
    0x2028: "\n",
    0x2029: "\n",
}


__all__ = [
    "BAD", "DOUBT", "GOOD", "HEAD", "PIPED", "QUIET", "STRONG", "Cell", "Column", "Line", "Screen", "Span", "cut",
    "layout", "measure", "number", "one_line", "percent", "safe", "seconds", "talk", "verdict_style",
]  # fmt: skip

number = words.number


def safe(text: str) -> str:
    """Make characters visible that would steer a terminal; lines stay lines."""
    return text.replace("\r\n", "\n").expandtabs(4).translate(_STEERING)


def one_line(text: str) -> str:
    """Make a text safe and put it on one line."""
    return " ".join(safe(text).split())


def percent(share: float | None) -> str:
    """Write a share in [0, 1] as a percentage; "-" for None."""
    return "-" if share is None else f"{100 * share:.1f} %"


def seconds(value: float) -> str:
    """Write a duration as people say it."""
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min {rest:02} s"


def verdict_style(word: str) -> str:
    """Return the style of a verdict."""
    return {"right": GOOD, "wrong": BAD, "ungradable": DOUBT}.get(word, QUIET)


class Screen:
    """Where a command's output goes.

    Attributes:
        width: Cells of a line; None in a pipe, where lines are as long as they are.
        unicode: Whether the encoding can draw lines.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stdout
        self.width = _columns(self._stream) if self._stream.isatty() else None
        coloured = self.width is not None or os.environ.get("FORCE_COLOR", "0") not in ("", "0")
        self._console = _console(self._stream, self.width or UNLIMITED) if coloured else None
        self.unicode = (self._stream.encoding or "").lower().startswith("utf")
        if not self.unicode and hasattr(self._stream, "reconfigure"):
            self._stream.reconfigure(errors="backslashreplace")

    def line(self, *cells: Cell, wrap: bool = False) -> None:
        """Write one line; on a terminal it is cut at the edge, or wrapped with `wrap`."""
        spans = [span_of(cell) for cell in cells]
        if self._console is None:
            self._stream.write("".join(span.text for span in spans).rstrip() + "\n")
            return
        from rich.text import Text

        text = Text.assemble(*((span.text, span.style) for span in spans))
        text.rstrip()
        with self._console.capture() as captured:
            self._console.print(text, overflow="fold" if wrap else "ellipsis", no_wrap=not wrap)
        self._stream.write(captured.get())

    def text(self, text: str, style: str = "", indent: str = "") -> None:
        """Write a text of any length, line by line, wrapped on a terminal."""
        for line in safe(text).split("\n"):
            for part in self._wrapped(line, len(indent)):
                self.line(indent, Span(part, style))

    def _wrapped(self, line: str, indent: int) -> Iterable[str]:
        if self.width is None or len(line) <= (room := max(self.width - indent, 20)) // 2:
            return [line]
        from rich.text import Text

        assert self._console is not None
        return [part.plain.rstrip() for part in Text(line).wrap(self._console, room)] or [""]

    def table(self, columns: Sequence[Column], rows: Sequence[Line]) -> None:
        """Write a table under a heading; one too wide for the terminal in parts, each with the first column."""
        for number, part in enumerate(parts(columns, rows, self.width)):
            if number:
                self.line()
            some = layout([columns[i] for i in part], [[row[i] for i in part] for row in rows], self.width)
            for line in chain(some.heading, *some.rows):
                self.line(*line)
            self.left_out(some)

    def left_out(self, laid: Laid) -> None:
        """Say which columns of a table had no room."""
        if laid.gone:
            self.line(Span(f"no room for: {', '.join(laid.gone)}", QUIET), wrap=True)

    def json(self, value: object) -> None:
        """Write JSON, one value, in full; it is UTF-8 whatever the terminal speaks."""
        from mctsr.runs.files import dumps

        self._stream.flush()
        self._stream.buffer.write(dumps(value) + b"\n")
        self._stream.buffer.flush()


def talk(text: str, style: str = "") -> None:
    """Say something on stderr; when nobody listens there, nothing is lost."""
    with suppress(OSError, ValueError):
        Screen(sys.stderr).line(Span(safe(text), style), wrap=True)


def _columns(stream: TextIO) -> int:
    """Return the width of a terminal: as COLUMNS says, else as it says itself."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except OSError:
        return 80


@cache
def _console(stream: TextIO, width: int) -> "Console":
    from rich.console import Console

    # Without a height Rich takes a dumb terminal to be 80 wide, whatever it is told.
    return Console(
        file=stream, force_terminal=True, width=width, height=25, markup=False, emoji=False, highlight=False
    )
