r"""Statements: the equations in a line of a step that can be checked on their own.

A line is cut at its equals signs. What stands at the end of the one side and at the beginning of the other is taken as
far as it is mathematics; where words, units or unknown signs make that doubtful, nothing is taken: a claim that was
never made must not be found wrong. Knows plain lines, and computes nothing.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<command>\\[a-zA-Z]+)|(?P<word>[A-Za-z]{2,})|(?P<letter>[A-Za-z])"
    r"|(?P<sign>[-+*/^!(){}\[\]])|(?P<blank>\s+)|(?P<odd>.)"
)
# No functions of angles: whether degrees or radians are meant is not in the formula.
_COMMANDS = {"\\frac", "\\sqrt", "\\pi", "\\ln", "\\binom"}
_FUNCTIONS = {"sqrt", "ln", "pi"}
_ARTICLES = {"a", "A"}
_BEFORE_NUMBER = re.compile(r"\s+[\d.]")
_BINARY = {"+", "-", "*", "/", "^"}
_CLOSING = {")": "(", "}": "{", "]": "["}
# fmt: off
_OPERATIONS = frozenset({
    "times", "plus", "minus", "divided", "multiplied", "mod", "modulo", "sum", "product", "difference", "quotient",
    "remainder", "root", "power", "log", "lg", "gcd", "lcm",
})
_ANNOUNCING = {"is", "are", "was", "were", "be", "equals", "equal", "get", "gets", "gives", "so", "thus", "because"}
_COUNTING = _OPERATIONS | {
    "of", "by", "over", "squared", "cubed", "base", "percent", "per", "than", "twice", "half", "double", "triple",
    "negative", "hundred", "thousand", "million", "billion", "trillion", "dozen", "third", "quarter", "tenth", "to",
}
# fmt: on


class Statement(NamedTuple):
    """Two formulas that a step says are equal.

    Attributes:
        left: In plain or LaTeX notation, brackets balanced.
        right: Likewise.
        rough: Whether it says "about".
        letters: Whether a letter stands in it: it may then be an equation, true of some numbers only.
    """

    left: str
    right: str
    rough: bool = False
    letters: bool = False

    def __str__(self) -> str:
        return f"{self.left} {'≈' if self.rough else '='} {self.right}"


class _Token(NamedTuple):
    kind: str
    text: str
    glued: bool = False


def statements(lines: Sequence[str]) -> list[Statement]:
    """Find the statements in plain lines, in order, each once."""
    found = [statement for line in lines for statement in _in_line(line)]
    return list(dict.fromkeys(found))


def _in_line(line: str) -> list[Statement]:
    pieces = re.split(r"([=≈])", line)
    members, signs = [_tokens(piece) for piece in pieces[::2]], pieces[1::2]
    found = []
    for (left, right), sign in zip(pairwise(members), signs, strict=True):
        sides = _tail(left), _head(right)
        if sides[0] is None or sides[1] is None:
            continue
        letters = any(token.kind == "letter" for side in sides if side for token in side)
        if not (letters or _computes(sides[0]) or _computes(sides[1])):
            continue
        statement = Statement(_written(sides[0]), _written(sides[1]), sign == "≈", letters)
        if statement.left != statement.right:
            found.append(statement)
    return found


def _tokens(text: str) -> list[_Token]:
    """Cut a side into tokens; words that are no functions stay words."""
    found = list[_Token]()
    end = -1
    for match in _TOKEN.finditer(text):
        kind, said = str(match.lastgroup), match[0]
        if kind == "blank":
            continue
        if (kind == "command" and said not in _COMMANDS) or said in ("%", "|"):
            kind = "odd"
        if said in _ARTICLES and _BEFORE_NUMBER.match(text, match.end()):
            kind = "word"
        if kind == "word" and said in _FUNCTIONS:
            kind = "command"
        found.append(_Token(kind, said, match.start() == end))
        end = match.end()
    return found


def _tail(tokens: list[_Token]) -> list[_Token] | None:
    """Return the formula at the end of a left side, None when it cannot be told from what stands before it."""
    cut = next((i for i in reversed(range(len(tokens))) if tokens[i].kind in ("word", "odd")), -1)
    formula, word = tokens[cut + 1 :], tokens[cut].text if cut >= 0 else ""
    if not _is_whole(formula):
        return None
    if cut < 0:
        return formula
    before = tokens[:cut]
    of_total = word == "of" and bool(before) and before[-1].text.lower() == "total"
    counts = (word.lower() in _COUNTING and not of_total) or (
        word.lower() not in _ANNOUNCING and any(token.text.lower() in _OPERATIONS for token in before)
    )
    hangs = formula[0].text in _BINARY or bool(before and before[-1].text in _BINARY)
    applied = formula[0].text == "(" and formula[0].glued
    doubtful = tokens[cut].kind == "odd" or applied or counts or hangs or not _computes(formula)
    return None if doubtful else formula


def _head(tokens: list[_Token]) -> list[_Token] | None:
    """Return the formula at the beginning of a right side, None when it goes on in what stands behind it."""
    cut = next((i for i, token in enumerate(tokens) if token.kind in ("word", "odd")), len(tokens))
    formula, rest = tokens[:cut], tokens[cut:]
    if not _is_whole(formula):
        return None
    barred = _COUNTING
    while rest and rest[0].kind == "word" and rest[0].text.lower() not in barred:
        rest, barred = rest[1:], _OPERATIONS  # behind a unit, "of" belongs to it
        if len(rest) > 1 and rest[0].text == "^" and rest[1].kind == "number":
            rest = rest[2:]  # square units
    ends = not rest or rest[0].kind in ("number", "letter") or rest[0].text == "("
    return formula if ends else None


def _is_whole(formula: list[_Token]) -> bool:
    """Tell a formula that can be read in one way only: balanced, nothing missing, nothing that looks multiplied."""
    if not formula or formula[-1].text in _BINARY or formula[0].text in (_BINARY | {"!"}) - {"-", "+"}:
        return False
    open_now = list[str]()
    for token in formula:
        if token.text in _CLOSING.values():
            open_now.append(token.text)
        elif token.text in _CLOSING and (not open_now or open_now.pop() != _CLOSING[token.text]):
            return False
    return (
        not open_now
        and not any(_unclear(*pair) for pair in pairwise(formula))
        and not _divided_product(formula)
    )


def _unclear(first: _Token, second: _Token) -> bool:
    """Tell `2 1/2`, `2\\frac12` and `(3)4`, which may be sums, products or indices."""
    ends = first.kind == "number" or first.text in (")", "]")
    return (ends and second.kind == "number") or (first.kind == "number" and second.text == "\\frac")


def _divided_product(formula: list[_Token]) -> bool:
    """Tell `6/2(3)` and `1/2x`, which are read in two ways."""
    texts = [token.text for token in formula]
    return any(
        a == "/" and second.kind == "number" and (c == "(" or third.kind == "letter")
        for a, second, third, c in zip(texts, formula[1:], formula[2:], texts[2:], strict=False)
    )


def _computes(formula: list[_Token]) -> bool:
    """Tell `3*4` from a lone number or name."""
    return (
        any(t.text in _BINARY | {"!"} or t.kind == "command" for t in formula[1:])
        or formula[0].kind == "command"
    )


def _written(formula: list[_Token]) -> str:
    """Write a formula down, products of brackets with their sign."""
    said = formula[0].text
    for first, second in pairwise(formula):
        product = second.text == "(" and (first.kind == "number" or first.text in (")", "}"))
        apart = first.kind == "command" and second.kind in ("number", "letter")
        said += ("*" if product else " " if apart else "") + second.text
    return said
