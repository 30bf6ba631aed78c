r"""Guards: which texts no computer algebra system may see.

Knows signs of program text and of TeX that reads or writes files, and numbers that nobody can write out. A refusal is
a reason in words; nothing is computed to find it.
"""

import re

LONGEST = 400
"""Characters of an answer that are still read as a formula."""

_MOST_EXPONENT = 4_000
_MOST_FACTORIAL = 2_800
_MOST_DIGITS = 400
_DEEPEST = 40
_PROGRAM = re.compile(
    r"__|['\"`;#@]|\b(?:lambda|import|exec|eval|open|compile|getattr|system|subprocess|globals|locals)\b"
    r"|\\(?:input|include|write|read|openin|openout|immediate|catcode|csname|def|edef|let|newcommand|usepackage)"
    r"(?![a-z])"
)
_NUMBER = r"[0-9](?:[0-9,]|\{,\})*"
_EXPONENT = re.compile(rf"(?:\^|\*\*)\s*[\{{(]?\s*[-+]?\s*({_NUMBER})")
_TOWER = re.compile(rf"{_NUMBER}\s*[\}})]?\s*(?:\^|\*\*)\s*[\{{(]?\s*{_NUMBER}\s*(?:\^|\*\*)")
_BASE = re.compile(rf"({_NUMBER})\s*[\}})]?\s*(?:\^|\*\*)\s*[\{{(]?\s*({_NUMBER})")
_FACTORIAL = re.compile(rf"({_NUMBER}|\))\s*[\}})]?\s*!")
_POWER_FACTORIAL = re.compile(r"\^\s*\{?\s*[0-9]+\s*\}?\s*\)?\s*!|!\s*[\})]?\s*(?:!|\^|\*\*)|\^\s*\{[^{}]*!")
_BINOMIAL = re.compile(rf"\\[dt]?(?:binom|choose)\s*\{{\s*({_NUMBER})\s*\}}|({_NUMBER})\s*\\choose")
_DIGITS = re.compile(rf"[0-9]{{{_MOST_DIGITS},}}")
_NESTED = re.compile(r"\\(?:int|iint|sum|prod|lim)(?![a-z])")
_BOUND = re.compile(r"\\(?:sum|prod)(?![a-z])[^0-9]*?_\s*\{[^{}]*\}\s*\^\s*\{?\s*([0-9]{5,}|[0-9]+\s*\^)")


def refusal(text: str) -> str:
    """Say why a cleaned answer must not be computed with, or return an empty text.

    Args:
        text: one answer or a part of it.
    """
    if len(text) > LONGEST:
        return f"longer than {LONGEST} characters"
    if _PROGRAM.search(text):
        return "looks like program text"
    if _depth(text) > _DEEPEST or _DIGITS.search(text):
        return "too deeply nested or too many digits"
    if len(_NESTED.findall(text)) > 2:
        return "too many sums or integrals"
    return "a number too large to write out" if _is_giant(text) else ""


def _is_giant(text: str) -> bool:
    if _TOWER.search(text) or _POWER_FACTORIAL.search(text) or _BOUND.search(text):
        return True
    if any(_value(match[1]) > _MOST_EXPONENT for match in _EXPONENT.finditer(text)):
        return True
    if any(_value(match[2]) * len(match[1]) > 2 * _MOST_EXPONENT for match in _BASE.finditer(text)):
        return True
    if any(match[1] != ")" and _value(match[1]) > _MOST_FACTORIAL for match in _FACTORIAL.finditer(text)):
        return True
    return any(_value(match[1] or match[2]) > 20_000 for match in _BINOMIAL.finditer(text))


def _value(digits: str) -> int:
    bare = re.sub(r"[^0-9]", "", digits)
    return int(bare) if len(bare) <= 18 else 10**18


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        depth += (char in "({[") - (char in ")}]")
        deepest = max(deepest, depth)
    return deepest
