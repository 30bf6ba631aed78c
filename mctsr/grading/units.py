"""Units: what may stand behind a number without changing it.

Knows the words and signs of measures, money and percent, and which words are no unit because they are
mathematics or language. It converts nothing: centimetres and metres are different units, and that is all.
"""

import re
from typing import NamedTuple

from .notation import CURRENCY

_SPELLINGS = {
    "mm": "mm millimeter millimeters millimetre millimetres",
    "cm": "cm cms centimeter centimeters centimetre centimetres",
    "m": "m meter meters metre metres",
    "km": "km kms kilometer kilometers kilometre kilometres",
    "in": "in inch inches",
    "ft": "ft foot feet",
    "yd": "yd yds yard yards",
    "mi": "mi mile miles",
    "mg": "mg milligram milligrams",
    "g": "g gm gram grams",
    "kg": "kg kgs kilogram kilograms",
    "oz": "oz ounce ounces",
    "lb": "lb lbs pound pounds",
    "ton": "ton tons tonne tonnes",
    "ml": "ml mL milliliter milliliters millilitre millilitres",
    "l": "l L liter liters litre litres",
    "gal": "gal gallon gallons",
    "s": "s sec secs second seconds",
    "min": "min mins minute minutes",
    "h": "h hr hrs hour hours",
    "day": "day days",
    "week": "week weeks wk wks",
    "month": "month months",
    "year": "year years yr yrs",
    "mph": "mph",
    "km/h": "kmh kph",
    "N": "N newton newtons",
    "J": "J joule joules",
    "W": "W watt watts",
    "V": "V volt volts",
    "Hz": "Hz hertz",
    "Pa": "Pa pascal pascals",
    "dollar": "dollar dollars USD usd buck bucks",
    "cent": "cent cents",
    "euro": "euro euros EUR",
    "degree": "degree degrees deg",
    "radian": "radian radians rad",
    "": "unit units sq square cu cubic per",
}
_KNOWN = {spelling: unit for unit, words in _SPELLINGS.items() for spelling in words.split()}
_SYMBOLS = {CURRENCY: "dollar", "€": "euro", "£": "pound sterling", "°": "degree", "′": "", "″": ""}
_SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_MATHEMATICS_AND_LANGUAGE = """
    and or not but nor plus minus times divided over under than more less fewer from mod modulo into
    to if when where while for with without because since which that then there else except about
    sqrt root sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log exp min max gcd lcm det
    arg inf sup lim pi infinity infty dozen half halves third thirds quarter quarters fifth fifths tenth
    tenths hundredth hundredths thousandth thousandths double twice negative positive choose factorial
    squared cubed base power remainder unknown
"""
_NO_UNITS = frozenset(_MATHEMATICS_AND_LANGUAGE.split())
_PARTS_OF_NUMBERS = """
    out percent percents percentage pct multiple multiples product sum difference square squares cube ratio part parts
    one two three four five six seven eight nine ten eleven twelve twenty hundred thousand million billion total
    portion portions share shares powers roots degree degrees
"""
_TAKE_A_PART = frozenset(_PARTS_OF_NUMBERS.split())
_WORD = re.compile(r"([^\W\d_]+)\.?(?:\^\{?-?[0-9]\}?)?")
_POWER = re.compile(r"\^\{?(-?[0-9])\}?")
_BETWEEN = re.compile(r"[\s/]+|\\cdot|-")
_MOST_WORDS = 6
_UNIT_BEHIND = re.compile(
    r"(.*?[^\s=+*/^,(-])(\s*°|\s(?:(?:[a-zA-Z]{2,}\.?(?:\s?\^\{?[0-9]\}?)?|per)(?:[\s/]+|$)){1,4})", re.DOTALL
)


class Tail(NamedTuple):
    """What stood behind a number.

    Attributes:
        unit: canonical name of the measures with a stated dimension behind it (`cm^2`), empty when there is none or
            it is an unknown noun.
        scale: factor of a word such as "million", else 1.
        percent: whether a percent sign or word was there.
    """

    unit: str
    scale: int
    percent: bool


_NOTHING = Tail("", 1, False)
_PERCENT = Tail("", 1, True)


def read_tail(tail: str) -> Tail | None:
    """Read the text behind a number.

    Args:
        tail: cleaned text, with its leading blank if it had one: `5 xy` may count things, `5xy` is a product.

    Returns:
        What it says, or None when it is no unit, so that the whole is no plain number.
    """
    bare = tail.strip().replace(" ^", "^")
    if not bare:
        return _NOTHING
    if bare in {"%", "percent", "percentage points", "pct"}:
        return _PERCENT
    if bare[0] in _SYMBOLS:
        rest = read_tail(bare[1:]) if bare[1:] not in {"C", "F", " C", " F"} else _NOTHING
        return None if rest is None else rest._replace(unit=_SYMBOLS[bare[0]])
    return _read_words(bare, glued=tail[0].isalpha())


def are_different(left: str, right: str) -> bool:
    """Tell whether two units exclude each other: of other things, or of stated dimensions that are not the same."""
    (one, _, power), (other, _, exponent) = left.partition("^"), right.partition("^")
    return bool(one and other and one != other) or bool(power and exponent and power != exponent)


def split_unit(cleaned: str) -> tuple[str, str]:
    r"""Cut a known unit off a formula (`2\sqrt{3} cm^2`): the formula, and the unit's canonical name."""
    bare = cleaned.lstrip(CURRENCY + "€£").strip()
    money = _SYMBOLS[cleaned[0]] if bare and cleaned[0] in (CURRENCY, "€", "£") else ""
    match = _UNIT_BEHIND.fullmatch(bare)
    if match is None:
        return bare, money
    words = [_WORD.fullmatch(word) for word in _BETWEEN.split(match[2].strip().replace(" ^", "^")) if word]
    names = [_KNOWN.get(word[1]) if word and len(word[1]) > 1 else None for word in words]
    if match[2].strip() == "°":
        return (match[1], "degree") if "\\" not in match[1] and match[1][-1:] != ")" else (bare, money)
    if not names or any(name is None for name in names):
        return bare, money
    unit = " ".join(name for name in names if name)
    return match[1].rstrip(), unit + _power_of(match[2].replace(" ^", "^").split())


def _read_words(bare: str, *, glued: bool) -> Tail | None:
    words = [word for word in _BETWEEN.split(bare.lstrip("/ ")) if word]
    if not 0 < len(words) <= _MOST_WORDS:
        return None
    scale = 1
    if not glued and words[0].lower() in _SCALES:
        scale = _SCALES[words.pop(0).lower()]
    names = [_name_of(word) for word in _without_of(words)]
    if any(name is None for name in names) or (glued and not _may_be_glued(words[0])):
        return None
    return Tail(" ".join(name for name in names if name) + _power_of(words), scale, False)


def _without_of(words: list[str]) -> list[str]:
    """Drop the "of" in `cups of feed`, which counts cups; `out of five` and `percent of sales` stay."""
    if len(words) != 3 or words[1] != "of" or {words[0].lower(), words[2].lower()} & _TAKE_A_PART:
        return words
    return [words[0], words[2]] if words[2].isalpha() else words


def _may_be_glued(word: str) -> bool:
    """Tell `5cm`, a measure, from `3s^2`, a product."""
    noun, power, _ = word.rstrip(".").partition("^")
    return noun in _KNOWN and not (power and len(noun) == 1)


def _power_of(words: list[str]) -> str:
    """Give the dimension that the words of a unit state (`cm^2`, `square inches`), else an empty text."""
    if match := _POWER.search(" ".join(words)):
        return f"^{match[1]}"
    return "^2" if {"square", "sq"} & set(words) else "^3" if {"cubic", "cu"} & set(words) else ""


def _name_of(word: str) -> str | None:
    """Give the canonical unit, "" for a noun that counts things, None for anything else."""
    match = _WORD.fullmatch(word)
    if match is None:
        return None
    noun = match[1]
    known = _KNOWN.get(noun, _KNOWN.get(noun.lower()) if len(noun) > 1 else None)
    if known is not None:
        return known
    return "" if len(noun) >= 3 and noun.lower() not in _NO_UNITS else None
