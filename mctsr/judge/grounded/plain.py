r"""Plain lines: the mathematics of a step without its typography.

Knows LaTeX's and Unicode's ways to write what a keyboard writes, currency signs, list markers, and formulas that go on
in the next line. What comes out is for finding statements, not for people: a new line stands wherever a formula cannot
go on.
"""

import re

_SIGNS = str.maketrans(
    {
        "−": "-",
        "–": "-",
        "×": "*",
        "✕": "*",
        "·": "*",
        "⋅": "*",
        "∙": "*",
        "÷": "/",
        "＝": "=",
        "²": "^2",
        "³": "^3",
    }
    | {"⇒": "\n", "→": "\n", "∴": "\n", "\u00a0": " ", "\u2009": " ", "&": " "}
)
_REPLACED = [
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        (r"\\(?:text|mathrm|textbf|mathbf|operatorname)\s*\{[^{}]*\}", " unit "),
        (r"\\boxed\s*\{([^{}]*)\}", r" \1 "),
        (r"\\(?:begin|end)\s*\{[a-z*]+\}", "\n"),
        (r"\\(?:left|right|displaystyle|boxed|bigl?|bigr|Bigl?|Bigr|limits)(?![a-zA-Z])|\\[,;!: ]", " "),
        (r"\\(?:implies|Rightarrow|Longrightarrow|rightarrow|to|therefore|iff|quad|qquad)(?![a-zA-Z])", "\n"),
        (r"\\(?:times|cdot|ast)(?![a-zA-Z])", " * "),
        (r"\\div(?![a-zA-Z])", " / "),
        (r"\\approx(?![a-zA-Z])", " ≈ "),
        (r"\\[dt]frac(?![a-zA-Z])", r"\\frac"),
        (r"\\\\", "\n"),
        (r"\\%", "%"),
        (r"\*\*(?=[^\s\d*][^*\n]{0,200}\*\*)|(?<=[a-z:.])\*\*", " "),  # bold words
        (r"(?<=[-+*/=≈(])(\s*)\\?\$(?=\d)", r"\1"),  # dollars, not the edge of a formula
        (r"\\[()\[\]]|\$+|`+", "\n"),
        (r"[^\S\n]+", " "),
        (r" ?\n[ \n]*", "\n"),
        (r"^[ \t]*(?:[-*•][ \t]+|\(?\d{1,2}[.)][ \t]+|#+[ \t]*)", ""),
        (r"\n(?=[=≈]|[+*/][^+*/\n])", " "),  # a formula that goes on
        (r"(?<=[=≈])\n", " "),
        (r"(?<=\d) ?[xX] ?(?=[\d.])|(?<=\d) [xX] (?=\()", "*"),
        (r"(?<=\d),(?=\d{3}(?!\d))", ""),
        (r"[<>≤≥≠≡≅∈]|!=|:=|\\(?:leq?|geq?|neq?|equiv|in|lt|gt)(?![a-zA-Z])", "\n"),
        (r"==+", "="),
        (r"[;,.?:](?=\s|\Z)|(?<![\d)])!(?=\s|\Z)|:(?=\D)", "\n"),
    )
]
LONGEST = 20_000
"""Characters of a step that are read."""


def plain_lines(text: str) -> list[str]:
    """Return the lines of a step that hold an equals sign, in order."""
    text = text[:LONGEST].translate(_SIGNS)
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return [line.strip() for line in text.split("\n") if "=" in line or "≈" in line]
