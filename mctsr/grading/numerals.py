r"""Numerals: reads one number out of a cleaned answer, exactly.

Knows decimals, thousands commas, fractions, mixed numbers, powers of integers, scientific notation, percent,
units and a name in front (`x = 5`). Every value is a `Fraction`; nothing passes through a float. Texts that
are more than one number (lists, roots, expressions) give None.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from .notation import CURRENCY, LONGEST_ANSWER, squeeze
from .units import read_tail

_INT = r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])|[0-9]+)"
_DEC = rf"(?:{_INT}(?:\.[0-9]*)?|\.[0-9]+)"
_HEAD = re.compile(
    rf"""
    (?P<sign>[-+]?)\s*(?P<money>[{CURRENCY}€£]?)\s*(?P<inner>[-+]?)\s*
    (?:
        (?P<whole>{_INT})?\s*
        \\frac\s*\{{\s*(?P<top>[-+]?\s*{_DEC})\s*\}}\s*\{{\s*(?P<bottom>[-+]?\s*{_DEC})\s*\}}
      | (?:(?P<before>{_INT})\s+)?(?P<over>{_DEC})\s*/\s*(?P<under>{_DEC})
      | (?P<base>{_INT})\s*\^\s*\{{?\s*(?P<up>[-+]?[0-9]+)\s*\}}?
      | (?P<decimal>{_DEC})
        (?:
            [eE](?P<e>[-+]?[0-9]+)
          | \s*(?:\\times|\\cdot|\*|[xX])\s*10\s*\^\s*\{{?\s*(?P<ten>[-+]?[0-9]+)\s*\}}?
        )?
    )
    """,
    re.VERBOSE,
)
_NAME = re.compile(
    r"(?:(?:[A-Za-z]+ ){0,4}[A-Za-z]+|\\[A-Za-z]+)(?:_\{?[A-Za-z0-9]+\}?)?'?(?:\s*\([^()=]*\))?"
)
_SUM = re.compile(r"[-+*/^().,%\s0-9{}]*(?:\\(?:times|cdot|div|frac)\s*[-+*/^().,%\s0-9{}]*)*")
_ABOUT = re.compile(r"(?:approximately|approx\.?|about|around|roughly)\s+(?=[^A-Za-z])", re.IGNORECASE)
_EQUALS = re.compile(r"=|\\approx(?![A-Za-z])")
_BASED = re.compile(r"((?=[A-Z]*[0-9])[0-9A-Z]+)_\{?([0-9]{1,2})\}?")
_REPEATING = re.compile(r"([-+]?)\s*([0-9]*)\.([0-9]*)\s*\\(?:overline|bar|dot)\s*\{([0-9]{1,100})\}")
_CHUNK = 500  # digits; Python's own limit for reading integers can be set as low as 640
_LARGEST_EXPONENT = 4000
_LARGEST_POWER_BITS = 20_000


class Numeral(NamedTuple):
    """One number, as it was written.

    Attributes:
        value: what it is worth; a percent sign is not applied.
        places: decimals that were written (negative for `1.5e7`), None for an exact form.
        digits: significant digits that were written, 0 for an exact form.
        percent: whether it carried a percent sign.
        unit: canonical unit, empty when there is none.
        name: the variable or words that an equals sign ties to it, empty when there are none.
    """

    value: Fraction
    places: int | None = None
    digits: int = 0
    percent: bool = False
    unit: str = ""
    name: str = ""


class Based(NamedTuple):
    """Digits with a written base, such as `52_8`."""

    digits: str
    base: int


def read_numeral(cleaned: str) -> Numeral | None:
    """Read a cleaned answer (see `notation.clean`) as one number, or return None.

    Bounded work: texts over `LONGEST_ANSWER` characters, exponents beyond 4000 and powers beyond 20 000 bits
    are not read as numbers.
    """
    if len(cleaned) > LONGEST_ANSWER:
        return None
    name, body = _split_name(cleaned)
    body = _without_parentheses(_ABOUT.sub("", body) if body[:1].isalpha() else body)
    if repeating := _REPEATING.fullmatch(body):
        return Numeral(_read_repeating(*repeating.groups()), name=name)
    match = _HEAD.match(body)
    if match is None or (match["sign"] and match["inner"]):
        return None
    tail = read_tail(body[match.end() :])
    number = None if tail is None else _read_amount(match)
    if tail is None or number is None:
        return None
    negative = "-" in (match["sign"], match["inner"])
    money = {CURRENCY: "dollar", "€": "euro", "£": "pound sterling"}.get(match["money"], "")
    return number._replace(
        value=(-number.value if negative else number.value) * tail.scale,
        percent=tail.percent,
        unit=tail.unit or money,
        name=name,
    )


def read_based(cleaned: str) -> Based | None:
    """Read digits with a subscript base from 2 to 36 (`4210_{5}`), or return None."""
    match = _BASED.fullmatch(squeeze(cleaned))
    if match is None or not 2 <= int(match[2]) <= 36:
        return None
    if any(int(digit, 36) >= int(match[2]) for digit in match[1]):
        return None
    return Based(match[1].lstrip("0") or "0", int(match[2]))


def _split_name(cleaned: str) -> tuple[str, str]:
    """Cut `x =` or `3 + 4 =` off the front, or `= x` off the end; else leave the text whole."""
    parts = [part.strip() for part in _EQUALS.split(cleaned)]
    if len(parts) < 2:
        return "", cleaned
    *left, right = parts
    if len(parts) == 2 and left[0][:1].isdigit() and _NAME.fullmatch(right):
        return squeeze(right), left[0]
    if not any(left):
        return "", right
    if _NAME.fullmatch(left[0]) and all(_SUM.fullmatch(part) for part in left[1:]):
        return squeeze(left[0]), right
    if all(_SUM.fullmatch(part) for part in left):
        return "", right
    return "", cleaned


def _without_parentheses(body: str) -> str:
    body = body.strip()
    inside = body[1:-1]
    wrapped = body[:1] in ("(", "{") and body[-1:] in (")", "}") and not set(inside) & set("(),")
    return inside.strip() if wrapped and (body[0] == "(" or "}" not in inside) else body


def _read_amount(match: re.Match[str]) -> Numeral | None:
    if match["top"] is not None:
        return _read_fraction(match["whole"], match["top"], match["bottom"])
    if match["over"] is not None:
        return _read_fraction(match["before"], match["over"], match["under"])
    if match["base"] is not None:
        return _read_power(match["base"], match["up"])
    return _read_decimal(match["decimal"], match["e"] or match["ten"])


def _read_fraction(whole: str | None, top: str, bottom: str) -> Numeral | None:
    upper, lower = _read_decimal(top, None), _read_decimal(bottom, None)
    if upper is None or lower is None or not lower.value:
        return None
    value = upper.value / lower.value
    if whole is None:
        return Numeral(value)
    # `2\frac{7}{3}` is a product and `2\frac{-1}{3}` a slip of the pen: only proper fractions are mixed in
    return Numeral(_read_integer(whole) + value) if 0 < value < 1 else None


def _read_power(base: str, up: str) -> Numeral | None:
    lower = _read_integer(base)
    if len(up) > 6 or abs(int(up)) * max(lower.bit_length(), 1) > _LARGEST_POWER_BITS:
        return None
    exponent = int(up)
    if not lower and exponent <= 0:
        return None
    return Numeral(Fraction(lower) ** exponent)


def _read_decimal(text: str, exponent: str | None) -> Numeral | None:
    text = text.replace(" ", "")
    shift = 0
    if exponent is not None:
        if len(exponent) > 6 or abs(int(exponent)) > _LARGEST_EXPONENT:
            return None
        shift = int(exponent)
    whole, _, decimals = text.lstrip("+-").partition(".")
    figures = whole.replace(",", "") + decimals
    places = len(decimals) - shift
    value = _read_integer(figures) * Fraction(10) ** -places
    value = -value if text.startswith("-") else value
    if not decimals:
        return Numeral(value)
    return Numeral(value, places=places, digits=len(figures.lstrip("0")))


def _read_repeating(sign: str, whole: str, decimals: str, period: str) -> Fraction:
    fixed = Fraction(_read_integer(f"0{whole}{decimals}"), 10 ** len(decimals))
    tail = Fraction(int(period), (10 ** len(period) - 1) * 10 ** len(decimals))
    return -(fixed + tail) if sign == "-" else fixed + tail


def _read_integer(digits: str) -> int:
    value = 0
    digits = digits.replace(",", "")
    for start in range(0, len(digits), _CHUNK):
        chunk = digits[start : start + _CHUNK]
        value = value * 10 ** len(chunk) + int(chunk)
    return value
