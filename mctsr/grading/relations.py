r"""Relations: inequalities as intervals, equations as sides, and what a set of numbers is called.

Knows cleaned texts and returns the shapes and sides that are compared; solves nothing.
"""

import re

from .notation import squeeze
from .shapes import Shape, read_shape, split_top

_INFINITY = "\\infty"
_VARIABLE = re.compile(r"[A-Za-z]|\\(?:theta|alpha|beta|lambda|mu|phi|varphi|omega)|[A-Za-z]_\{?\w\}?|f\(x\)")
_SIGN = re.compile(r"(\\le(?![a-z])|\\ge(?![a-z])|\\ne(?![a-z])|<=|>=|!=|<|>)")
_SIGNS = {"\\le": "<=", "\\ge": ">=", "\\ne": "!=", "\\lt": "<", "\\gt": ">"}
_ALL_NUMBERS = {"\\mathbb{R}", "\\R", "allrealnumbers", "allreals", "(-\\infty,\\infty)", "(-\\infty,+\\infty)", "ℝ"}
_NAME = re.compile(
    r"(?:[A-Za-z]+(?: [A-Za-z]+){0,3}|\\[A-Za-z]+)(?:_\{?[A-Za-z0-9]+\}?)?'{0,2}(?:\^\{-1\})?\s*"
    r"(?:\([A-Za-z](?:,\s*[A-Za-z])*\))?"
)
_LEAD = re.compile(r"\s*[A-Za-z]\s*\\in(?![a-z])\s*")


def as_intervals(cleaned: str) -> Shape | None:
    r"""Read `3 < x \le 4`, `x > 1 or x < 0`, `x \ne 2` or "all real numbers" as an interval or a union of them."""
    bare = _LEAD.sub("", cleaned, count=1)
    if squeeze(bare).removesuffix(".") in _ALL_NUMBERS:
        return Shape("group", ("-\\infty", _INFINITY), "(", ")")
    cases = [part.strip() for part in split_top(bare, {" or ", "\\cup", "\\lor", "\\vee"})]
    pieces = [piece for case in cases for piece in _pieces(case)]
    if not pieces:
        return None
    if len(pieces) == 1:
        return read_shape(pieces[0])
    return Shape("union", tuple(pieces))


def equation_sides(cleaned: str) -> list[str]:
    """Cut at the equals signs outside all brackets; one side when there is none or a relation is among them."""
    if "=" not in cleaned or _SIGN.search(cleaned) or "\\approx" in cleaned:
        return [cleaned]
    sides = [side.strip() for side in re.split(r"(?<![<>!:])=(?!=)", cleaned)]
    balanced = all(side.count("(") == side.count(")") and side.count("{") == side.count("}") for side in sides)
    return sides if balanced and all(sides) else [cleaned]


def is_name(side: str) -> bool:
    """Tell whether a side of an equation only names the other: `y`, `f(x)`, `Area`."""
    return bool(_NAME.fullmatch(side.strip()))


def _pieces(case: str) -> list[str]:
    """Write one inequality as intervals in brackets; nothing when it is none."""
    tokens = [_SIGNS.get(token, token) for token in (part.strip() for part in _SIGN.split(case))]
    if len(tokens) == 3:
        return _one_sided(*tokens)
    if len(tokens) == 5 and _VARIABLE.fullmatch(tokens[2]) and tokens[1][0] == tokens[3][0] != "!":
        low, first, _, second, high = tokens if tokens[1][0] == "<" else tokens[::-1]
        return [f"{'[' if '=' in first else '('}{low}, {high}{']' if '=' in second else ')'}"]
    return []


def _one_sided(left: str, sign: str, right: str) -> list[str]:
    if _VARIABLE.fullmatch(right) and not _VARIABLE.fullmatch(left):
        left, right = right, left
        sign = sign.translate(str.maketrans("<>", "><"))
    if not _VARIABLE.fullmatch(left) or not right:
        return []
    if sign == "!=":
        return [f"(-\\infty, {right})", f"({right}, \\infty)"]
    if sign[0] == "<":
        return [f"(-\\infty, {right}{']' if '=' in sign else ')'}"]
    return [f"{'[' if '=' in sign else '('}{right}, \\infty)"]
