"""JSON as servers, logs and hashes need it: fast where possible, forgiving where not.

Knows: which values orjson refuses and what to do then, and lone surrogates.
Does not know: what any of the JSON means.
"""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

import orjson

_LONE = re.compile("[\ud800-\udfff]")


class Cleaned(NamedTuple):
    """A text that can be written as UTF-8, and how many characters had to be replaced for that."""

    text: str
    replaced: int


def clean(text: str) -> Cleaned:
    """Replace lone surrogates, which no strict reader takes, by U+FFFD."""
    return Cleaned(text, 0) if text.isascii() else Cleaned(*_LONE.subn("\ufffd", text))


def dumps(value: object) -> bytes:
    """Write strict JSON in one line; lone surrogates and huge integers survive as escapes and digits."""
    try:
        return orjson.dumps(value, default=_plain)
    except TypeError:
        return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def canonical(value: object) -> bytes:
    """Write JSON with sorted keys, the same bytes for equal values."""
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return json.dumps(value, default=_plain, separators=(",", ":"), sort_keys=True).encode()


def loads(data: bytes) -> object:
    """Read JSON, also with lone surrogates, NaN or bytes that are no UTF-8 (these become lone surrogates).

    Raises:
        ValueError: it is no JSON, is cut off, or is nested too deeply to be read.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data.decode("utf-8", "surrogateescape"))
    except RecursionError as error:
        raise ValueError("JSON nested too deeply") from error


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
