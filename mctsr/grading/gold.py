r"""Gold answers: the value column of a data file becomes the text that answers are compared with.

Knows the conventions of the public data sets in one column: GSM8K's `#### 2,125` behind a solution, MATH's
box inside one, whole floats, and the typesetting that Math Odyssey leaves behind. It reads no files.
"""

import math
import re
from decimal import Decimal

from .boxes import last_boxed

_MARK = "####"
_MOST_LAYERS = 50
_GROUPED = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_REMAINS = (r"\noindent", r"\newline", "\\\\", r"\end{problem}")
_DOLLARS = re.compile(r"(\$\$?)([^$]+)\1")


def clean_gold(gold: object) -> str:
    r"""Turn one gold answer, as a data file holds it, into text.

    Args:
        gold: an integer, a finite float (whole ones lose their `.0`), or text: a bare answer, a solution that
            ends in `#### N`, or one with a `\boxed{}` (the last counts).

    Returns:
        The answer; LaTeX stays as it is. Cleaning twice changes nothing.

    Raises:
        ValueError: for other types (lists, booleans, null) and for texts with nothing in them.
    """
    if isinstance(gold, int) and not isinstance(gold, bool):
        return str(gold)
    if isinstance(gold, float):
        return _clean_float(gold)
    if not isinstance(gold, str):
        raise ValueError(
            f"gold answer {gold!r:.80} is of type {type(gold).__name__}: give a number or a text"
        )
    text = _clean_text(gold)
    if not text:
        raise ValueError(f"gold answer {gold!r:.80} is empty: give a number or a text with an answer in it")
    return text


def _clean_float(gold: float) -> str:
    if not math.isfinite(gold):
        raise ValueError(f"gold answer {gold!r} is not finite: give a number or a text")
    # repr gives the digits of the data file; int(gold) would add those of the binary fraction beyond 1e16
    return str(int(Decimal(repr(gold)))) if gold.is_integer() else repr(gold)


def _clean_text(gold: str) -> str:
    marked = _MARK in gold
    boxed = None if marked else last_boxed(gold)
    if marked:
        gold = gold.rpartition(_MARK)[2].strip()
    elif boxed is not None:
        gold = boxed
    for _ in range(_MOST_LAYERS):
        before, gold = gold, _strip_once(gold)
        if gold == before:
            break
    return gold.replace(",", "") if marked and _GROUPED.fullmatch(gold) else gold


def _strip_once(text: str) -> str:
    text = text.strip()
    for remains in _REMAINS:
        text = text.removesuffix(remains).rstrip()
    text = text if text.endswith("..") else text.removesuffix(".").strip()
    if text.endswith("$") and not text.endswith(r"\$") and text.count("$") - text.count(r"\$") == 1:
        text = text[:-1].strip()
    match = _DOLLARS.fullmatch(text)
    return match[2].strip() if match and not match[2].endswith("\\") else text
