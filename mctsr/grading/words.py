"""Words: option letters, numbers in words, and texts that are compared as words.

Knows cleaned texts and no mathematics.
"""

import re

from .notation import squeeze

_BRACKETED_OPTION = re.compile(r"\(([A-Za-z])\)|([A-Z])\)")
_NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "infinity": "\\infty",
}  # fmt: skip
_ARTICLE = re.compile(r"(?:an?|the)\s+(?=[a-z]{3})", re.IGNORECASE)
_CATEGORY = re.compile(
    r"(?<=[a-z]{3})\s(?:function|number|integer|triangle|sequence|series|curve|graph|figure|shape)s?$"
)
_CLOCK = re.compile(r"([0-9]{1,2}:[0-5][0-9])(?:\s?([ap])\.?\s?m\.?)?", re.IGNORECASE)
_PLURAL = re.compile(r"(?<=[a-z]{4}[^s\W])s$")


def as_option(cleaned: str) -> str:
    """Return the letter of `(C)` or `C)`, in upper case; other texts stay."""
    match = _BRACKETED_OPTION.fullmatch(squeeze(cleaned))
    return (match[1] or match[2]).upper() if match else cleaned


def in_digits(cleaned: str) -> str:
    """Return the digits of a number in words up to twelve; other texts stay."""
    return _NUMBERS.get(cleaned.casefold(), cleaned) if cleaned.isalpha() else cleaned


def word_key(cleaned: str) -> str:
    """Give the text without white space under which equal texts fall together; words in any case and number."""
    text = squeeze(cleaned).removeprefix("+")
    is_word = text.isalpha() and (len(text) >= 3 or text.lower() == "no")
    return _PLURAL.sub("", text.casefold()) if is_word else text


def bare_word(cleaned: str) -> tuple[str, str]:
    """Give the key of a word without its article, and without a noun for its category too (`an even function`)."""
    text = _ARTICLE.sub("", cleaned, count=1) if _ARTICLE.match(cleaned) else cleaned
    return word_key(text), word_key(_CATEGORY.sub("", text))


def same_time(wanted: str, given: str) -> bool | None:
    """Compare two times of day, of which at least one says a.m. or p.m.; None for other texts.

    A gold answer without either is on the 24-hour clock or in the morning; an answer may leave it out.
    """
    gold, answer = _CLOCK.fullmatch(wanted), _CLOCK.fullmatch(given)
    if gold is None or answer is None or not (gold[2] or answer[2]):
        return None
    half = (answer[2] or gold[2]).lower()
    return gold[1].lstrip("0") == answer[1].lstrip("0") and half == (gold[2] or "a").lower()
