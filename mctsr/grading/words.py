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
