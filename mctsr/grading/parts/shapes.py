r"""Shapes: an answer that has parts (points, sets, intervals, lists, ratios, matrices, unions) is taken apart.

Knows brackets and separators on a cleaned text (see `notation.clean`). What the parts are worth, and which shapes
may stand for one another, is for `compare`.
"""

import re
from typing import NamedTuple

from mctsr.grading.numerals import read_numeral

COLLECTIONS = ("list", "set", "tuple")
_MOST_PARTS = 64
_LONGEST = 1200
_TOKEN = re.compile(
    r"\\begin\{[A-Za-z]+\}|\\end\{[A-Za-z]+\}|\\\{|\\\}|\\lbrace(?![a-z])|\\rbrace(?![a-z])|\\[lr]angle(?![a-z])"
    r"|\\cup(?![A-Za-z])|\\[A-Za-z]+|\\.|\s(?:and|or|to)\s|[()\[\]{},;:|]|[^\\()\[\]{},;:|\s]+|\s+",
    re.DOTALL,
)
_OPENERS = {"(": "(", "[": "[", "{": "{", "\\{": "{", "\\lbrace": "{", "\\langle": "("}
_CLOSERS = {")": ")", "]": "]", "}": "}", "\\}": "}", "\\rbrace": "}", "\\rangle": ")"}
_LEAD = re.compile(
    r"\s*(?:[A-Za-z]'?|\\[a-z]+|[A-Za-z]_\{?\w\}?|[a-z]\([a-z]\)|\([A-Za-z](?:\s*,\s*[A-Za-z])+\))\s*"
    r"(?:\\in(?![a-z])|=)\s*(?=[(\[{]|\\\{|\\lbrace|\\langle|\\begin|\\varnothing|\\emptyset)"
)
_MATRIX = re.compile(
    r"\\begin\{(?:[pbB]|small)?(?:matrix|array)\}(?:\{[lcr|]+\})?(.*)\\end\{(?:[pbB]|small)?(?:matrix|array)\}",
    re.DOTALL,
)
_GLUED_THOUSANDS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")
_GLUE = "\u2063"


class Shape(NamedTuple):
    """An answer with parts.

    Attributes:
        kind: "list" (bare), "set", "group" (one pair of brackets), "ratio", "matrix" or "union".
        parts: the parts, a matrix row by row.
        open: the bracket before a group, "(" or "[".
        close: the bracket behind it, ")" or "]".
        width: columns of a matrix, else 0.
    """

    kind: str
    parts: tuple[str, ...]
    open: str = ""
    close: str = ""
    width: int = 0


def read_shape(cleaned: str) -> Shape | None:
    """Take an answer apart, or return None for one that is a single value or too long."""
    if len(cleaned) > _LONGEST or read_numeral(cleaned) is not None:
        return None
    text = _LEAD.sub("", cleaned, count=1) if _LEAD.match(cleaned) else cleaned
    text = _unwrapped(text)
    if text in ("\\varnothing", "\\emptyset", "empty set"):
        return Shape("set", ())
    return _checked(_read_matrix(text) or _read_brackets(text) or _read_bare(text))


def brackets_of(text: str) -> tuple[str, str, str] | None:
    """Return the opening bracket, the inside and the closing bracket when one pair encloses the text."""
    text = text.strip()
    depth = 0
    first = opened = ""
    for token in _TOKEN.finditer(text):
        mark = token.group()
        depth += _step(mark)
        if not first:
            first, opened = mark, _OPENERS.get(mark, "")
        if depth == 0:
            closed = _CLOSERS.get(mark, "")
            inside = text[len(first) : token.start()].strip()
            return (opened, inside, closed) if opened and closed and token.end() == len(text) else None
    return None


def split_list(text: str) -> list[str]:
    """Cut a text at its top-level commas, semicolons, "and" and "or"; thousands commas are kept."""
    if ", " in text:
        # in `1,234, 5` the comma without a blank belongs to a number
        text = _GLUED_THOUSANDS.sub(lambda match: match[0].replace(",", _GLUE), text)
    parts = split_top(text, {",", ";", " and ", " or "})
    return [part for part in (part.replace(_GLUE, ",").strip() for part in parts) if part]


def split_top(text: str, separators: set[str]) -> list[str]:
    """Cut a text at separators outside all brackets."""
    parts, start, depth = [], 0, 0
    for token in _TOKEN.finditer(text):
        mark = token.group()
        depth += _step(mark)
        if depth == 0 and mark in separators:
            parts.append(text[start : token.start()])
            start = token.end()
    return [*parts, text[start:]]


def _step(mark: str) -> int:
    if mark in _OPENERS or mark.startswith("\\begin"):
        return 1
    return -1 if mark in _CLOSERS or mark.startswith("\\end{") else 0


def _unwrapped(text: str) -> str:
    """Take off braces that only group; braces around a list are a set and stay."""
    found = brackets_of(text)
    if found and found[0] == "{" and text.lstrip()[0] == "{" and len(split_list(found[1])) < 2:
        return found[1]
    return text.strip()


def _read_matrix(text: str) -> Shape | None:
    match = _MATRIX.fullmatch(text)
    if match and "\\begin" not in match[1]:
        return _rows(
            [row.split("&") for row in re.split(r"\\\\|\\newline|\\cr(?![a-z])", match[1]) if row.strip()]
        )
    found = brackets_of(text)
    if found is None or found[0] == "{":
        return None
    rows = split_top(found[1], {";"})
    if len(rows) > 1 and found[0] == "[":
        return _rows([split_list(row) if "," in row else row.split() for row in rows])
    inner = [brackets_of(part) for part in split_list(found[1])]
    if len(inner) > 1 and found[0] == "[" and all(part is not None and part[0] == "[" for part in inner):
        return _rows([split_list(part[1]) for part in inner if part])
    return None


def _rows(rows: list[list[str]]) -> Shape | None:
    width = len(rows[0]) if rows else 0
    if not width or any(len(row) != width for row in rows):
        return None
    return Shape("matrix", tuple(entry.strip() for row in rows for entry in row), width=width)


def _read_brackets(text: str) -> Shape | None:
    found = brackets_of(text)
    if found is None:
        return None
    opened, inside, closed = found
    if opened == "{" or closed == "}":
        builds = (
            opened != closed.replace("}", "{") or "\\mid" in inside or len(split_top(inside, {"|", ":"})) == 2
        )
        return None if builds else Shape("set", tuple(split_list(inside)))
    parts = split_list(inside)
    return Shape("group", tuple(parts), opened, closed) if len(parts) > 1 else None


def _read_bare(text: str) -> Shape | None:
    for kind, separators in (
        ("union", {"\\cup"}),
        ("list", {",", ";", " and ", " or "}),
        ("ratio", {":", " to "}),
    ):
        parts = split_list(text) if kind == "list" else [part.strip() for part in split_top(text, separators)]
        if len(parts) > 1 and all(parts):
            return Shape(kind, tuple(parts))
    return _read_plus_minus(text)


def _read_plus_minus(text: str) -> Shape | None:
    if text.count("\\pm") != 1 or "\\mp" in text or len(split_top(text, {"\\pm"})) != 2:
        return None
    left, right = (part.strip() for part in split_top(text, {"\\pm"}))
    name, equals, left = left.rpartition("=")
    plus = f"{left} + {right}" if left.strip() else right
    return Shape("list", tuple(f"{name}{equals} {part}".strip() for part in (plus, f"{left} - {right}")))


def _checked(shape: Shape | None) -> Shape | None:
    """Write `\\pm` inside a set or list out, and refuse shapes beyond all measure."""
    if shape is None or shape.kind not in ("list", "set"):
        return shape if shape is None or len(shape.parts) <= _MOST_PARTS else None
    parts: list[str] = []
    for part in shape.parts:
        both = _read_plus_minus(part)
        parts.extend(both.parts if both else (part,))
    return shape._replace(parts=tuple(parts)) if len(parts) <= _MOST_PARTS else None
