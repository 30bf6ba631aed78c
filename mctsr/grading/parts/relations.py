r"""Relations: inequalities as intervals, conditions on letters, and what a set of numbers is called.

Knows cleaned texts and returns the shapes that are compared; solves nothing.
"""

import re

from mctsr.grading.notation import squeeze

from .shapes import Shape, read_shape, split_top

_INFINITY = "\\infty"
_VARIABLE = re.compile(r"[A-Za-z]|\\(?:theta|alpha|beta|lambda|mu|phi|varphi|omega)|[A-Za-z]_\{?\w\}?|f\(x\)")
SIGN = re.compile(r"(\\le(?![a-z])|\\ge(?![a-z])|\\ne(?![a-z])|<=|>=|!=|<|>)")
_SIGNS = {"\\le": "<=", "\\ge": ">=", "\\ne": "!=", "\\lt": "<", "\\gt": ">"}
_ALL_NUMBERS = {
    "\\mathbb{R}",
    "\\R",
    "allrealnumbers",
    "allreals",
    "(-\\infty,\\infty)",
    "(-\\infty,+\\infty)",
    "ℝ",
}
_BUILDER = re.compile(
    r"\\?\{\s*[A-Za-z]\s*(?:\\in\s*(?:\\mathbb\{?R\}?|\\R)\s*)?(?:\\mid|\\vert|:|\|)(.*?)\\?\}", re.DOTALL
)
_SIZE = re.compile(r"\|\s*[A-Za-z]\s*\|")
_CONDITION = re.compile(
    r",?\s*(?:(?:where|for|with)\s+)?(?:all\s+|any\s+|integers?\s+)*[a-z]\s*"
    r"\\in\s*\\?(?:mathbb\s*\{?[ZNRQ]\}?|[ZNRQ](?![A-Za-z]))\s*$"
)
_LEAD = re.compile(r"\s*[A-Za-z]\s*\\in(?![a-z])\s*")


def as_intervals(cleaned: str) -> Shape | None:
    r"""Read `3 < x \le 4`, `x > 1 or x < 0`, `x \ne 2` or "all real numbers" as an interval or a union of them."""
    built = _BUILDER.fullmatch(cleaned)
    bare = _LEAD.sub("", built[1] if built else cleaned, count=1)
    if squeeze(bare).removesuffix(".") in _ALL_NUMBERS:
        return Shape("group", ("-\\infty", _INFINITY), "(", ")")
    cases = [part.strip() for part in split_top(bare, {" or ", "\\cup", "\\lor", "\\vee"})]
    pieces = [piece for case in cases for piece in _pieces(case)]
    if not pieces:
        return None
    if len(pieces) == 1:
        return read_shape(pieces[0])
    return Shape("union", tuple(pieces))


def without_condition(cleaned: str) -> str:
    r"""Cut `, k \in \mathbb{Z}` off the end: it says what a letter is, not what the answer is."""
    shorter = _CONDITION.sub("", cleaned)
    return shorter or cleaned


def _pieces(case: str) -> list[str]:
    """Write one inequality as intervals in brackets; nothing when it is none."""
    tokens = [_SIGNS.get(token, token) for token in (part.strip() for part in SIGN.split(case))]
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
    if _SIZE.fullmatch(left) and right.replace(".", "").isdigit():
        inside = sign[0] == "<"
        strict = "=" not in sign
        if inside:
            return [f"{'(' if strict else '['}-{right}, {right}{')' if strict else ']'}"]
        return [f"(-\\infty, -{right}{')' if strict else ']'}", f"{'(' if strict else '['}{right}, \\infty)"]
    if not _VARIABLE.fullmatch(left) or not right:
        return []
    if sign == "!=":
        return [f"(-\\infty, {right})", f"({right}, \\infty)"]
    if sign[0] == "<":
        return [f"(-\\infty, {right}{']' if '=' in sign else ')'}"]
    return [f"{'[' if '=' in sign else '('}{right}, \\infty)"]
