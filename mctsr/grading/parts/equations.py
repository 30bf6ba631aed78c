"""Equations: their sides, and which side only names the other.

Knows cleaned texts; solves nothing.
"""

import re

from mctsr.grading.notation import squeeze
from mctsr.grading.numerals import read_numeral

from .relations import SIGN

_NAME = re.compile(
    r"(?:[A-Za-z]+(?: [A-Za-z]+){0,3}|\\[A-Za-z]+)(?:_\{?[A-Za-z0-9]+\}?)?'{0,2}(?:\^\{-1\})?\s*"
    r"(?:\([A-Za-z](?:,\s*[A-Za-z])*\))?"
)
_PARAMETERS = frozenset("abcdkmnpqrs")


def equation_sides(cleaned: str) -> list[str]:
    """Cut at the equals signs outside all brackets; one side when there is none or a relation is among them."""
    if "=" not in cleaned or SIGN.search(cleaned) or "\\approx" in cleaned:
        return [cleaned]
    sides = [side.strip() for side in re.split(r"(?<![<>!:])=(?!=)", cleaned)]
    balanced = all(
        side.count("(") == side.count(")") and side.count("{") == side.count("}") for side in sides
    )
    return sides if balanced and all(sides) else [cleaned]


def is_name(side: str) -> bool:
    """Tell whether a side of an equation only names the other: `y`, `f(x)`, `Area`."""
    return bool(_NAME.fullmatch(side.strip()))


def _is_asked_for(side: str) -> bool:
    """Tell whether a side only adds two or more parameters up: `m + n`, but not `x + y`, which is a line."""
    letters = [term.strip() for term in re.split(r"[-+]", side)]
    return len(set(letters)) > 1 and set(letters) <= _PARAMETERS


def named(sides: list[str], *, asked: bool = False) -> tuple[str, str] | None:
    """Give the name and the value of `name = value` or `value = name`, or no name and a value alone.

    Where a number was `asked` for, a sum of parameters is a name as well: `m + n = 204`.
    """
    if len(sides) == 1:
        return "", sides[0]
    if asked and len(sides) == 2 and _is_asked_for(sides[0]) and read_numeral(sides[1]):
        return "", sides[1]
    if len(sides) == 2 and is_name(sides[0]):
        return squeeze(sides[0]), sides[1]
    if len(sides) == 2 and is_name(sides[1]):
        return squeeze(sides[1]), sides[0]
    return None


def named_values(parts: tuple[str, ...]) -> list[str] | None:
    """Give the values of `x=1, y=2` when every part has a name of its own and the names stand in their order."""
    found = [named(equation_sides(part)) for part in parts]
    names = [each[0] for each in found if each]
    if "" in names or len(names) < len(found) or names != sorted(set(names)):
        return None
    return [each[1] for each in found if each]
