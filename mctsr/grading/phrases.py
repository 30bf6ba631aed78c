r"""Phrases: what the words around a number do to it.

Knows negations, comparisons, amounts in two units, dates, asides in brackets and plain statements ("Janet makes $18
every day"). It knows nothing about replies, and compares nothing.
"""

import re

from .units import read_tail

_AMOUNT = r"\\?\$?\s?[0-9][0-9,]*(?:\.[0-9]+)?"
_OPENING = r"[\s*_$\\({]*"
_QUALIFIED = re.compile(
    rf"\D*\b(?:not|never|isn['’]t|no|(?:less|more|fewer|greater|larger|smaller|bigger|higher|lower|other)\s+than"
    rf"(?:\s+or\s+equal\s+to)?|at\s+(?:least|most)|under|over|above|below|up\s+to|between|exceeds|except)"
    rf"(?:\s+(?:equal\s+to|exactly|simply|just|only|about))?\s{_OPENING}[-−]?\.?[0-9]",
    re.IGNORECASE,
)
_JOINED = re.compile(
    rf"{_OPENING}[0-9][0-9,.]*[*$]*\s(?:[^\W\d_]+\s){{1,2}}(?:and|plus)\s{_OPENING}[0-9][^=]*", re.IGNORECASE
)
_COMPOUND = re.compile(
    rf"{_OPENING}[0-9][0-9,.]*[\s*$]*([^\W\d_]+)\.?,?\s[\s*$]*[0-9][0-9,.]*[\s*$]*([^\W\d_]+)"
)
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|March|April|May|June?|July?|Aug(?:ust)?|Sept(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_DATE = re.compile(
    rf"\b{_MONTH}\s[0-3]?[0-9](?:st|nd|rd|th)?\b(?!\s?[A-Za-z%:/+=])(?:,\s[0-9]{{4}}\b)?"
    rf"|\b[0-3]?[0-9](?:st|nd|rd|th)?\s{_MONTH}\b(?:\s[0-9]{{4}}\b)?"
)
_ASIDE = re.compile(r"(.*?[0-9}$*])\s+\((?!mod|base)[^()]*[A-Za-z]{3}[^()]*\)\W*", re.DOTALL)
_NAMED = r"(?<![\w\\])([A-Za-z])\s?=\s?[-−]?[0-9][0-9.,/]*[0-9]?"
_POINT = re.compile(
    rf"{_NAMED}(?:,\s(?:and\s)?|\sand\s){_NAMED}(?:(?:,\s(?:and\s)?|\sand\s){_NAMED})?[\s.$]*"
)
_STATEMENT = re.compile(
    rf"(?P<before>[A-Z][^0-9=<>]*?)\b(?P<verb>is|are|was|were|equals|has|have|had|[a-z]{{2,}}(?<!s)s|will\s[a-z]+)"
    rf"(?:\s(?:a\stotal\sof|about|approximately|exactly))?\s\**(?P<value>{_AMOUNT}%?|\$[^$]{{1,80}}\$)\**(?P<after>(?:\s[^\W\d_][\w'’-]*)*)[.!]?"
)
_OPTION_VALUE = re.compile(r"\(?[A-J]\)[\s:]+([^\sA-Za-z(].*)")
_NO_VERB = {
    "minus",
    "plus",
    "times",
    "less",
    "its",
    "his",
    "this",
    "thus",
    "perhaps",
    "always",
    "units",
    "goes",
}
_CHANGES = re.compile(
    r"\b(?:times|more|less|fewer|than|over|plus|minus|divided|percent|squared|cubed|of|mod|modulo|or|and|to|if|not"
    r"|factorial|short|each|apiece|from|thousand|million|billion|trillion|hundred|dozen|half|thirds?|quarters?|false|wrong|incorrect)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|no|never|cannot|unless|if|except|neither|nor|without|before|instead|wrong|first|\w+n['’]t)\b",
    re.IGNORECASE,
)


def is_more_than_a_number(phrase: str) -> bool:
    """Tell whether cutting one number out of a phrase would change what it says.

    So it is for `not 8`, `less than 100`, `50 red and 20 blue marbles` and `10 feet 6 inches`.
    """
    if _QUALIFIED.match(phrase) or _JOINED.match(phrase):
        return True
    two = _COMPOUND.match(phrase)
    return two is not None and all(_is_measure(word) for word in two.groups())


def date_of(phrase: str, last: bool = False) -> str | None:
    """Return the first or last day of a month that a phrase names, such as `June 20`."""
    found = [match.group() for match in _DATE.finditer(phrase)]
    return found[-1 if last else 0] if found else None


def without_aside(phrase: str) -> str:
    """Cut a remark in brackets off the end: `2 (since 3 is extraneous)`."""
    match = _ASIDE.fullmatch(phrase)
    return match[1] if match else phrase


def closing_point(text: str) -> str | None:
    """Return `x = 5, y = 3` when a text ends with it and the names differ."""
    end = text[-200:]
    found = next((match for match in _POINT.finditer(end) if match.end() == len(end)), None)
    if found is None:
        return None
    names = [name for name in found.groups() if name]
    return found.group().rstrip(" .$\n") if len(set(names)) == len(names) else None


def stated_value(sentence: str) -> str | None:
    """Return the only number of a sentence that states it ("The profit is $70,000.") or of an option, or None."""
    if option := _OPTION_VALUE.fullmatch(sentence.strip()):
        return option[1]
    match = _STATEMENT.fullmatch(sentence.strip())
    if match is None or match["verb"] in _NO_VERB:
        return None
    if _CHANGES.search(match["after"]) or _DENIES.search(match["before"] + match["after"]):
        return None
    return match["value"].strip()


def _is_measure(word: str) -> bool:
    tail = read_tail(f" {word}")
    return tail is not None and bool(tail.unit)
