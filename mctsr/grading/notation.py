r"""Notation: many ways of typing the same answer become one text.

Knows Unicode look-alikes, LaTeX spacing, fonts and fractions, Markdown and dollars. It rewrites signs and
never computes; what the text means is for `numerals` and `exact`.
"""

import re

from .boxes import last_boxed

LONGEST_ANSWER = 2000
"""Longer texts are compared as they are: no answer to a problem is that long."""

CURRENCY = "\u00a4"
"""Stands for a dollar that means money, once the dollars that mean mathematics are gone."""

_THIN = "\u2009"
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_VULGAR = {
    "½": "12", "⅓": "13", "⅔": "23", "¼": "14", "¾": "34", "⅕": "15", "⅖": "25", "⅗": "35", "⅘": "45",
    "⅙": "16", "⅚": "56", "⅐": "17", "⅛": "18", "⅜": "38", "⅝": "58", "⅞": "78", "⅑": "19",
}  # fmt: skip
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("−‐‑‒–—﹣－", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f", _THIN),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f", ""),
        **{char: rf" \frac{{{digits[0]}}}{{{digits[1]}}}" for char, digits in _VULGAR.items()},
        **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
        **dict(zip("，．＋＝％＄（）⁄∕÷º", ",.+=%$()///°", strict=True)),
        **{"π": r"\pi ", "∞": r"\infty ", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "±": r"\pm "},
        **{"≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "∪": r"\cup ", "∩": r"\cap ", "∈": r"\in "},
        **{"θ": r"\theta ", "≈": r"\approx ", "…": r"\ldots ", "√": r"\sqrt", "\u3000": " "},
    }
)
_SUPER = re.compile(f"[{''.join(_SUPERSCRIPTS)}]+")
_SUB = re.compile(f"[{''.join(_SUBSCRIPTS)}]+")

_FONTS = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal|up)?|mbox|hbox|mathrm|mathbf|mathit|mathsf|mathtt|operatorname)"
    r"\s*\{([^{}]*)\}"
)
_LATEX = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\s*\\!\s*", ""),
        (r"\\(?:left|right)\s*\.", ""),
        (r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|limits|noindent)(?![A-Za-z])", ""),
        (r"(?<!\\)\\(?:[,;:]|thinspace(?![A-Za-z]))", _THIN),
        (r"\\q?quad(?![A-Za-z])|(?<!\\)\\ |~", " "),
        (r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degrees?(?![A-Za-z])", "°"),
        (r"\\%", "%"),
        (r"\\\$", CURRENCY),
        (r"(?<!\\)\\[()\[\]]", " "),
        (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
        (r"\\frac\s*([0-9A-Za-z])\s*([0-9A-Za-z])", r"\\frac{\1}{\2}"),
        (r"\\frac\s*([0-9A-Za-z])\s*\{", r"\\frac{\1}{"),
        (r"\\frac\s*(\{[^{}]*\})\s*([0-9A-Za-z])", r"\\frac\1{\2}"),
        (r"\\([lgn])eq(?![A-Za-z])", r"\\\1e"),
        (r"\\[lc]?dots(?![A-Za-z])", r"\\ldots"),
        (r"(?:\\\\|\\newline)?\s*$", ""),
    )
]
_BRACES = [
    (re.compile(r"\{\s*,\s*\}"), ","),
    (re.compile(r"(?:\\sqrt|(?<![A-Za-z\\])sqrt)\s*\(([^()]*)\)"), r"\\sqrt{\1}"),
    (re.compile(r"\\sqrt\s*([0-9]+|[A-Za-z])"), r"\\sqrt{\1}"),
    (re.compile(r"([\^_])\s*\{\s*([0-9A-Za-z])\s*\}"), r"\1\2"),
]
_BLANKS = re.compile(r"[ \t\r\n\f\v]+")
_THIN_GROUPS = re.compile(rf"(?<![0-9.,])([0-9]{{1,3}}(?:{_THIN}[0-9]{{3}})+)(?![0-9])")
_MONEY = re.compile(r"^\s*[-+]?\s*\$\s*[-+]?[0-9.]")
_BOLD = re.compile(r"(?<![\w)}\]])\*\*(?=\S)([^*]+)(?<=\S)\*\*(?![\w({\\])")
_QUOTES = "`'\""


def clean(text: str) -> str:
    r"""Rewrite an answer into the one notation that the comparers read.

    Spaces survive as single blanks (they tell `1, 234` from `1,234`); `squeeze` removes them. A text longer
    than `LONGEST_ANSWER` characters is only stripped.
    """
    if len(text) > LONGEST_ANSWER:
        return text.strip()
    if not text.isascii():
        text = _plain_unicode(text)
    if "\\" in text:
        text = _plain_latex(text)
    if "sqrt" in text or "{" in text:
        for pattern, replacement in _BRACES:
            text = pattern.sub(replacement, text)
    if _THIN in text:
        text = _THIN_GROUPS.sub(lambda match: match[1].replace(_THIN, ""), text)
    return _bare(text)


def squeeze(cleaned: str) -> str:
    """Remove all white space from a cleaned text."""
    return "".join(cleaned.split())


def _plain_unicode(text: str) -> str:
    text = _SUPER.sub(lambda run: "^{" + "".join(_SUPERSCRIPTS[char] for char in run[0]) + "}", text)
    text = _SUB.sub(lambda run: "_{" + "".join(_SUBSCRIPTS[char] for char in run[0]) + "}", text)
    return text.translate(_SIGNS)


def _plain_latex(text: str) -> str:
    if r"\boxed" in text or r"\fbox" in text:
        boxed = last_boxed(text)
        text = text if boxed is None else boxed
    text = _BLANKS.sub(" ", text)
    for _ in range(3):  # fonts inside fonts; deeper nesting is nobody's answer
        text = _FONTS.sub(r" \1 ", text)
    for pattern, replacement in _LATEX:
        text = pattern.sub(replacement, text)
    return text


def _bare(text: str) -> str:
    if "$" in text:
        money = text.count("$") % 2 == 1 and _MONEY.match(text)
        text = text.replace("$", CURRENCY if money else "")
    if "**" in text:
        text = _BOLD.sub(r"\1", text)
    words = text.split()
    text = " ".join(words).strip(_QUOTES).strip()
    while text.startswith("**") or text.endswith("**"):
        text = text.removeprefix("**").removesuffix("**").strip()
    text = text.rstrip(" ,;:")
    return text if text.endswith("..") else text.removesuffix(".").rstrip()
