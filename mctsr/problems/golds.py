"""The gold answer of one row, with its type.

Knows where the common data sets keep it and what else they say of it: several answers, a unit, a tolerance, a tuple
or an interval. What it finds goes to whoever grades and to nobody else.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from mctsr.grading import Gold, clean_gold, gold_of
from mctsr.lm import wire

from .fields import GOLD, Columns, find, normal
from .rows import Row

_SOLUTION = "solution"
_LONGEST_BARE = 40
_PADDED = re.compile(r"0+([0-9]+)")
_DOLLAR = re.compile(r"(?<!\\)\$")
_TYPES = ("is_multiple_answer", "answer_type")
SIDE = (*_TYPES, "unit", "error")


def gold_field(row: Row, columns: Columns) -> str | None:
    """Return the field that holds the gold answer; a solution without a marked answer holds none."""
    name = find(row.fields, GOLD, columns.answer)
    if name is None or columns.answer is not None or normal(name) != _SOLUTION:
        return name
    return name if _is_marked(row.fields[name]) else None


def gold_in(row: Row, columns: Columns) -> Gold | None:
    """Make the gold answer of a row, None when it has none.

    Raises:
        ValueError: What stands there is no answer; the message names the line.
    """
    name = gold_field(row, columns)
    if name is None:
        return None
    value = row.fields[name]
    try:
        gold = _typed(value, row.fields) if has_type(row.fields) else gold_of(value)
    except ValueError as error:
        raise ValueError(f"{row.where}: {error}") from None
    return replace(gold, content=tuple(_plain(part) for part in gold.content))


def _plain(answer: str) -> str:
    """Write an answer for good: AIME pads numbers with zeros."""
    padded = _PADDED.fullmatch(answer)
    return padded[1] if padded else wire.clean(answer).text


def _is_marked(value: object) -> bool:
    if not isinstance(value, str):
        return isinstance(value, int | float)
    return "\\boxed" in value or "####" in value or len(value) <= _LONGEST_BARE


def has_type(fields: Mapping[str, object]) -> bool:
    """Say whether a row tells the type of its answer; only then are `SIDE` read, whose names mean much elsewhere."""
    return any(fields.get(name) is not None for name in _TYPES)


def _typed(value: object, fields: Mapping[str, object]) -> Gold:
    """Make a gold answer by what OlympiadBench says beside it."""
    unit, tolerance = (str(fields[name]) if fields.get(name) else None for name in ("unit", "error"))
    multiple = str(fields.get("is_multiple_answer") or "").lower() in ("true", "1", "yes")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        # They stand around each answer, around all of them, or before an amount of money; commas separate either way.
        value = _DOLLAR.sub("", value)
    kind = None if multiple else _shape(str(fields.get("answer_type") or "").lower(), value)
    return gold_of(value, kind=kind, unit=unit, tolerance=tolerance, multiple=multiple)


def _shape(said: str, value: object) -> str | None:
    """Say whether a value is the one tuple or interval that it is said to be; a union of intervals is neither."""
    if said not in ("tuple", "interval") or not isinstance(value, str):
        return None
    text = clean_gold(value)
    bare = text.startswith(("(", "[")) and text.endswith((")", "]")) and r"\cup" not in text
    return said if bare else None
