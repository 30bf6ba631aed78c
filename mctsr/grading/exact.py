"""Exact comparison: says equal or different where that is certain, and nothing where it is not.

Knows numbers (exactly, with the rounding that the gold's own digits allow), option letters, digits with a
base, and texts that are the same once cleaned. Whatever has parts (lists, sets, points, equations) is for `compare`,
differently written formulas are for the symbolic layer. Standard library only.
"""

import math
import re
from collections.abc import Hashable
from fractions import Fraction
from typing import NamedTuple

from .notation import clean, squeeze
from .numerals import Based, Numeral, read_based, read_numeral
from .policy import Policy
from .units import are_different
from .words import as_option, bare_word, in_digits, same_time, word_key

COMPUTED_TOLERANCE = Fraction(1, 10**6)
"""Relative difference allowed to golds that a program computed (GSM-Hard's convention)."""

LENIENT_TOLERANCE = Fraction(1, 1000)
"""Relative difference that the lenient policy allows to decimals."""

_OPTION = re.compile(r"[A-Z]")
_LENIENT_OPTION = re.compile(
    r"(?:(?:[Tt]he\s)?(?:[Oo]ption|[Cc]hoice|[Aa]nswer)\s?:?\s?)?(?:\(?([A-Z])(?:[).:].*)?|\(?([a-z])\)?)"
)
_OPPOSITES = ({"yes", "no"}, {"true", "false"}, {"even", "odd"})
_SHORT_INTEGER = 18


class Outcome(NamedTuple):
    """What the exact comparer is certain of.

    Attributes:
        equal: the verdict.
        method: "exact" (the same text after cleaning), "numeric" or "choice".
        reason: one line for a person who reads disputes.
    """

    equal: bool
    method: str
    reason: str


def compare(gold: str, answer: str, policy: Policy = Policy.STANDARD) -> Outcome | None:
    """Compare two answers, or return None when only a stronger comparer could tell.

    Args:
        gold: the reference answer; its form and its digits decide what is accepted.
        answer: the answer to judge, without the reply around it.
        policy: how disputed conventions are settled.
    """
    if outcome := compare_short(gold, answer):
        return outcome
    wanted, given = in_digits(clean(gold)), in_digits(clean(answer))
    if not wanted or not given:
        return None
    if _OPTION.fullmatch(option := as_option(wanted)):
        return _compare_options(option, wanted, given)
    if _is_same_text(wanted, given):
        return Outcome(True, "exact", "same text after cleaning")
    return _compare_numbers(wanted, given, policy) or _compare_words(wanted, given)


def compare_short(gold: str, answer: str) -> Outcome | None:
    """Compare two short integers, the most frequent case by far, or return None."""
    if _is_short_integer(gold) and _is_short_integer(answer):
        return _compare_integers(gold, answer)
    return None


def normal_form(answer: str | None) -> Hashable:
    """Give a key under which equal answers fall together, for votes.

    Equal numbers give the same `Fraction` whatever their notation, unit or percent sign; other answers give
    their cleaned text, options their letter. None, and a text with nothing in it, give None.
    """
    if answer is None:
        return None
    if _is_short_integer(answer):
        return Fraction(int(answer))
    cleaned = clean(answer)
    number = read_numeral(cleaned)
    if number is not None:
        return number.value
    return word_key(as_option(cleaned)) or None


def _is_short_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isdigit() and digits.isascii() and len(digits) <= _SHORT_INTEGER


def _compare_integers(gold: str, answer: str) -> Outcome:
    if gold == answer:
        return Outcome(True, "exact", "same text")
    equal = int(gold) == int(answer)
    return Outcome(equal, "numeric", "same number" if equal else "different numbers")


def _compare_options(option: str, wanted: str, given: str) -> Outcome | None:
    if wanted == given:
        return Outcome(True, "exact", "same text")
    match = _LENIENT_OPTION.fullmatch(given)
    if match is None:
        return None
    equal = (match[1] or match[2]).upper() == option
    return Outcome(equal, "choice", "same option" if equal else "different options")


def _is_same_text(wanted: str, given: str) -> bool:
    """Compare without white space, except that the blank in `1, 234` makes a list of a number."""
    if wanted == given:
        return True
    if word_key(wanted) != word_key(given):
        return False
    gold, answer = read_numeral(wanted), read_numeral(given)
    if gold is None or answer is None:
        return gold is answer
    return gold.value == answer.value  # `2 1/3` is not `21/3`


def _compare_words(wanted: str, given: str) -> Outcome | None:
    if (same := same_time(wanted, given)) is not None:
        return Outcome(same, "exact", "the same time" if same else "different times")
    (gold, short_gold), (answer, short_answer) = bare_word(wanted), bare_word(given)
    if {short_gold, short_answer} in _OPPOSITES:
        return Outcome(False, "exact", "opposite words")
    if len(short_gold) >= 3 and gold.isalpha() and (gold in (answer, short_answer) or answer == short_gold):
        return Outcome(True, "exact", "the same word")
    return None


def _compare_numbers(wanted: str, given: str, policy: Policy) -> Outcome | None:
    gold, answer = read_numeral(wanted), read_numeral(given)
    if gold is None or answer is None:
        return _compare_based(wanted, given)
    if are_different(gold.unit, answer.unit) or _differ(gold.name, answer.name):
        return None
    if policy is Policy.STRICT and gold.unit != answer.unit:
        return None
    if gold.value == answer.value:
        return Outcome(True, "numeric", "same number")
    if any(agrees(gold, reading, policy) for reading in _percent_readings(gold, answer, policy)):
        return Outcome(True, "numeric", "same number to the precision of the gold answer")
    return Outcome(False, "numeric", "different numbers")


def _differ(left: str, right: str) -> bool:
    return bool(left and right) and left != right


def _compare_based(wanted: str, given: str) -> Outcome | None:
    """Compare digits with a base; a base on one side alone is taken to be the one the problem asked for."""
    gold, answer = read_based(wanted), read_based(given)
    if gold and answer:
        return _digits_outcome(_worth(gold) == _worth(answer))
    if gold is None and answer is None:
        return None
    digits, plain = (gold.digits, given) if gold else (answer.digits if answer else "", wanted)
    equal = squeeze(plain).lstrip("0") == digits
    return _digits_outcome(equal) if equal or read_numeral(plain) else None


def _worth(number: Based) -> int:
    value = 0
    for digit in number.digits:
        value = value * number.base + int(digit, 36)
    return value


def _digits_outcome(equal: bool) -> Outcome:
    return Outcome(equal, "numeric", "same digits" if equal else "different digits")


def _percent_readings(gold: Numeral, answer: Numeral, policy: Policy) -> list[Numeral]:
    """List what the answer may mean: a percent sign on one side alone can be worth 1 or 1/100."""
    if gold.percent != answer.percent:
        return [answer, _shifted(answer, -2 if answer.percent else 2)]
    return [answer, _shifted(answer, -2), _shifted(answer, 2)] if policy is Policy.LENIENT else [answer]


def _shifted(number: Numeral, shift: int) -> Numeral:
    places = None if number.places is None else number.places - shift
    return number._replace(value=number.value * Fraction(10) ** shift, places=places)


def agrees(gold: Numeral, answer: Numeral, policy: Policy = Policy.STANDARD) -> bool:
    """Compare two values under the rounding that the gold's form allows.

    Whole golds are exact (`27.0` too). An exact fraction accepts its own rounding to four or more significant digits. A
    decimal gold accepts whatever rounds to it. A long decimal also accepts its own rounding to six digits,
    and one that a program computed (see `_is_computed`) the rounding to two places or a millionth. Strictly, only
    the latter is rounded at all; leniently, a decimal on either side is good to a thousandth.
    """
    if gold.value == answer.value:
        return True
    if policy is Policy.STRICT and not _is_computed(gold):
        return False
    is_decimal = (gold.places or 0) > 0 or (answer.places or 0) > 0
    apart = abs(gold.value - answer.value)
    if policy is Policy.LENIENT and is_decimal and apart <= LENIENT_TOLERANCE * abs(gold.value):
        return True
    is_whole = gold.value.denominator == 1
    if gold.places is None:
        return not is_whole and _is_rounding(answer, gold.value, digits=4)
    if is_whole and gold.places >= 0:
        return False
    if gold.value in _roundings(answer.value, gold.places):
        return True
    if not _is_computed(gold):
        return _is_rounding(answer, gold.value, digits=6, places=2)
    return apart <= COMPUTED_TOLERANCE * abs(gold.value) or _is_rounding(
        answer, gold.value, digits=2, places=2
    )


def _is_computed(gold: Numeral) -> bool:
    """Tell a printed float from a decimal that a person rounded: by its many digits."""
    places = gold.places or 0
    return (places >= 8 and gold.digits >= 9) or gold.digits >= 12


def _is_rounding(answer: Numeral, value: Fraction, *, digits: int, places: int = -1000) -> bool:
    if answer.places is None or answer.digits < digits or answer.places < places:
        return False
    return answer.value in _roundings(value, answer.places)


def _roundings(value: Fraction, places: int) -> tuple[Fraction, Fraction]:
    """Round to a number of decimals in the two usual ways, half to even and half away from zero."""
    scaled = value * Fraction(10) ** places
    away = math.floor(abs(scaled) + Fraction(1, 2))
    unit = Fraction(10) ** -places
    return round(scaled) * unit, (away if scaled > 0 else -away) * unit
