r"""Spelling: a cleaned answer in the LaTeX that the parser of formulas reads best.

Knows plain-text formulas (`sqrt(3)`, `2*x**2`, `pi`) and which texts are words rather than formulas. Standard
library only.
"""

import re

_FUNCTIONS = (
    "arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|log|exp|min|max|gcd|lcm|sqrt|cbrt"
)
_GREEK = "alpha|beta|gamma|delta|epsilon|theta|lambda|mu|sigma|varphi|phi|omega|pi"
_NAME = re.compile(rf"(?<![\\A-Za-z])({_FUNCTIONS}|{_GREEK})(?![A-Za-z])")
_REPLACED = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\*\*", "^"),
        (r"\*", r" \\cdot "),
        (r"\\(?:sqrt|cbrt)\s*\(((?:[^()]|\([^()]*\))*)\)", r"\\sqrt{\1}"),
        (r"\^\s*\(((?:[^()]|\([^()]*\))*)\)", r"^{\1}"),
        (r"\^\s*([-+]\s*[0-9A-Za-z])", r"^{\1}"),
        (r"\^\s*(\\frac\s*\{[^{}]*\}\s*\{[^{}]*\})", r"^{\1}"),
        (r"\\frac\s*(\\[a-z]+)\s*([0-9A-Za-z])(?![0-9])", r"\\frac{\1}{\2}"),
        (r"\\(?:lvert|rvert|vert)(?![A-Za-z])", "|"),
        (r"\\exp\s*\(((?:[^()]|\([^()]*\))*)\)", r"e^{\1}"),
        (r"(?<![A-Za-z])C\(\s*([0-9]+)\s*,\s*([0-9]+)\s*\)", r"\\binom{\1}{\2}"),
    )
]
_DEGREES = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*°")
_TRIGONOMETRY = re.compile(r"(?:sin|cos|tan|cot|sec|csc)(?![a-z])")
_CUBE_ROOT = re.compile(r"\\cbrt")
_COMMAND = re.compile(r"\\(?:begin|end)\s*\{[a-z]+\}|\\[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_PLAIN_WORDS = frozenset(f"{_FUNCTIONS}|{_GREEK}".split("|"))
_VOWELS = frozenset("aeiouyAEIOUY")
_MOST_LETTERS = 4


def to_latex(cleaned: str) -> str:
    """Write a cleaned answer in LaTeX; what already is LaTeX stays."""
    text = _NAME.sub(r" \\\1 ", cleaned)
    text = _CUBE_ROOT.sub(r"\\sqrt[3]", text)
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    # degrees are a measure, except to the functions of angles
    text = _DEGREES.sub(r"(\1\\cdot\\frac{\\pi}{180})", text) if has_angles(text) else text.replace("°", "")
    return " ".join(text.split())


def has_angles(text: str) -> bool:
    """Tell whether a trigonometric function stands in a text."""
    return bool(_TRIGONOMETRY.search(text))


def has_words(cleaned: str) -> bool:
    """Tell whether language stands in an answer rather than letters that are multiplied."""
    words = _WORD.findall(_COMMAND.sub(" ", cleaned))
    return any(word not in _PLAIN_WORDS and not _is_product(word) for word in words)


def _is_product(word: str) -> bool:
    """Tell `abc` and `xyz` from words: few letters, none twice, all of one case."""
    few = len(word) <= _MOST_LETTERS and len(set(word)) == len(word)
    return few and (word.islower() or word.isupper()) and len(_VOWELS & set(word)) <= 1
