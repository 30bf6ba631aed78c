r"""Spelling: a cleaned answer in the LaTeX that math-verify reads best.

Knows plain-text formulas (`sqrt(3)`, `2*x**2`, `pi`), upper-case letters that a parser would fold into lower-case ones,
and which texts are words rather than formulas. Standard library only.
"""

import re

_FUNCTIONS = "arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|ln|log|exp|min|max|gcd|lcm"
_GREEK = "alpha|beta|gamma|delta|epsilon|theta|lambda|mu|sigma|phi|omega|pi"
_BARE_NAME = re.compile(rf"(?<![\\A-Za-z])({_FUNCTIONS}|{_GREEK})(?![A-Za-z])")
_GLUED_NAME = re.compile(r"(?<![\\A-Za-z])(sqrt|pi|sin|cos|tan|ln|log)(?=[0-9(])|(?<=[0-9])(pi|sqrt)(?![A-Za-z])")
_REPLACED = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\*\*|\\\^", "^"),
        (r"\*", r" \\cdot "),
        (r"\\(?:sqrt|cbrt)(?![A-Za-z\[{(\s])", r"\\sqrt "),
        (r"\\cbrt\s*(\{[^{}]*\})", r"\\sqrt[3]\1"),
        (r"\\mathrm\s*\{?e\}?|\\e(?![A-Za-z])", "e"),
        (r"\^\s*\(([^()]*)\)", r"^{\1}"),
        (r"\^\s*(-[0-9]+)", r"^{\1}"),
        (r"\\(?:operatorname|text)\s*\{?(sin|cos|tan|log|ln)\}?", r"\\\1"),
        (r"\\(?:big|Big|bigg|Bigg)[lr]?", ""),
        (r"\\lvert|\\rvert|\\vert", "|"),
        (r"\\arc(sin|cos|tan)\s*\{", r"\\arc\1 {"),
        (r"°", ""),
    )
]
_COMMAND = re.compile(r"\\[A-Za-z]+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_PLAIN_WORDS = frozenset(f"{_FUNCTIONS}|{_GREEK}|sqrt".split("|"))
_CAPITAL = re.compile(r"(?<![\\A-Za-z_{])([A-Z])(?![A-Za-z_])|(?<=[0-9a-z)}\s])(?<![\\][a-z])([A-Z])(?=[0-9^)}\s]|$)")


def to_latex(cleaned: str) -> str:
    """Write a cleaned answer in LaTeX; what already is LaTeX stays."""
    text = _GLUED_NAME.sub(lambda match: f" \\{match[1] or match[2]} ", cleaned)
    text = _BARE_NAME.sub(r"\\\1 ", text)
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    text = re.sub(r"\\sqrt\s+\(([^()]*)\)", r"\\sqrt{\1}", text)
    return text.strip()


def has_words(cleaned: str) -> bool:
    """Tell whether language stands in an answer: three letters in a row that name no function."""
    bare = _COMMAND.sub(" ", re.sub(r"\\(?:begin|end)\{[a-z]+\}", " ", cleaned))
    return any(word.lower() not in _PLAIN_WORDS for word in _WORD.findall(bare) if not _is_product(word))


def capitals_clash(texts: tuple[str, str]) -> bool:
    """Tell whether a letter stands in both cases: parsers fold `R` and `r` into one."""
    letters = set("".join(_COMMAND.sub(" ", text) for text in texts))
    return any(letter.isupper() and letter.lower() in letters for letter in letters if letter.isascii())


def split_capitals(latex: str) -> str:
    r"""Give upper-case letters names of their own: `R` becomes `r_{900}`."""
    parts = re.split(r"(\\[A-Za-z]+)", latex)
    return "".join(part if part.startswith("\\") else _CAPITALS.sub(_renamed, part) for part in parts)


_CAPITALS = re.compile(r"([A-Z])(?!_)")


def _renamed(match: re.Match[str]) -> str:
    return f"{{{match[1].lower()}_{{900}}}}"


def _is_product(word: str) -> bool:
    return word in {"abc", "xyz", "abcd", "ABC", "XYZ", "pqr", "PQR", "rst", "mnp", "def"}
