r"""Notation of one step: the many ways of typing an operation become one row of tokens.

Knows Unicode and LaTeX signs, Markdown, numbered prefixes, numbers and operations in words. It does not know what an
equation is; that is for `step_code`.
"""

import re
from decimal import Decimal

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("×·⋅∙•∗✕✖", "*"),
        **dict.fromkeys("÷∕⁄", "/"),
        **dict.fromkeys("−‐‑‒–—﹣－", "-"),
        **dict.fromkeys("≈≃≅≡", "="),
        **dict.fromkeys("⇒⟹→⟶∴", ";"),
        **dict.fromkeys("€£¥₹\u00a0\u2002\u2003\u2009\u202f\u3000", " "),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
        **dict(zip("０１２３４５６７８９＋＝／（）．，％", "0123456789+=/().,%", strict=True)),
        **{"≤": "<=", "≥": ">=", "≠": "!=", "’": "'", "½": "(1/2)", "¼": "(1/4)", "¾": "(3/4)"},
        **{"π": " pi ", "√": " sqrt "},
    }
)
_ASCII = (("{", "("), ("}", ")"), ("$", " "), ("`", " "), ("\t", " "))
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_LATEX_WORDS = {
    "times": "*", "cdot": "*", "ast": "*", "div": "/", "approx": "=", "equiv": "=", "le": "<=", "leq": "<=", "ge": ">=",
    "geq": ">=", "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "implies": ";", "Rightarrow": ";", "rightarrow": ";",
    "to": ";", "therefore": ";", "quad": " ", "qquad": " ", "left": "", "right": "", "displaystyle": "",
    "bmod": " mod ", "sqrt": " sqrt ", "pi": " pi ", "sin": " sin ", "cos": " cos ", "tan": " tan ",
    "log": " log ", "ln": " ln ",
}  # fmt: skip
_ANNOTATION = re.compile(r"<<[^<>]*>>")
_FENCE = re.compile(r"```[A-Za-z0-9+#-]*[ \t]*\n?")
_FONT = re.compile(r"\\(?:text(?:bf|it|rm)?|mathrm|mathbf|mathit|operatorname|mbox|boxed)\s*\{([^{}]*)\}")
_FRAC = re.compile(r"\\[dtc]?frac\s*(?:\{([^{}]*)\}|(\d))\s*(?:\{([^{}]*)\}|(\d))")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}|\^\{([^{}]*)\}")
_ABSOLUTE = re.compile(r"\|([^|]{1,80})\|")
_MIXED = re.compile(r"(?<![\d.,/])(\d{1,9}) (\d{1,9}/\d{1,9})(?![\d/])")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SPACING = re.compile(r"\\[,;:!%&#$ ]|\{\s*,\s*\}|\\\\|\\[()\[\]]|\\")
_PREFIX = re.compile(
    r"^\s{0,9}[#>*]{0,6}(?:[-+*] )?\s{0,9}"
    r"(?:\(?step ?\d{1,3}\)?\s?[:.)-]{0,2}|\(?\d{1,2}[.):]{1,2}(?!\d))?[\s*:#]{0,9}",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\n[ ]*(?:[-*+] |\d{1,2}[.)] |#{1,6} )?")
_POWER = re.compile(r"(?<=[\d)])(\s?)\*\*\1(?=[\d(])")
_TIMES = re.compile(r"(?<=\d)\s*[xX]\s*(?=\d)")
_UNIT = re.compile(
    r"(?<=\d)(?: ?[A-Za-z]{2,9}\^[23]| (?:[A-Za-z]{2,9}|[mgl])/[A-Za-z]+(?:\^[23])?| [mghls](?:\^[23])?)(?![\w(^])"
)
_GLUED = re.compile(r"(?<=\d)(?!km|cm|mm|kg|mg|ml|lb|oz|ft|in|hr|am|pm|th|st|nd|rd|%)([a-z])([a-z])(?![a-z])")

_NUMBER = r"-?[\d.,]*\d%?"
_SPOKEN = re.compile(
    rf"\b(?:(multipl|divid|subtract|add)(?:y|ying|ed|e|ing)?|(sum|product|difference|quotient) (?:of|between))"
    rf"\s+(?:the\s+)?({_NUMBER})(?:\s+[a-z]{{2,}})?\s+(by|and|to|from|with)\s+(?:the\s+)?({_NUMBER})",
    re.IGNORECASE,
)
_BY = re.compile(r"\b(multiplied|divided)\s+by\s", re.IGNORECASE)
_LINKED = re.compile(r"\d (?:by|and|to|from|with) ")
_SPOKEN_SIGNS = {
    "multipl": "*", "product": "*", "divid": "/", "quotient": "/", "subtract": "-", "difference": "-", "add": "+",
    "sum": "+",
}  # fmt: skip
_UP_TO_TWELVE = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_SIGN_WORDS = {
    "times": "*", "multiplied": "*", "over": "/", "divided": "/", "plus": "+", "minus": "-", "modulo": "mod",
    "mod": "mod",
}  # fmt: skip

#: Names that take an operand.
FUNCTIONS = frozenset({"sqrt", "sin", "cos", "tan", "log", "ln", "exp", "abs", "max", "min", "gcd", "lcm"})

NUMBER, NAME, WORD, SIGN, RELATION, STOP = range(6)
_WORDS = {
    **{word: (NUMBER, str(i)) for i, word in enumerate(_UP_TO_TWELVE)},
    **{word: (SIGN, sign) for word, sign in _SIGN_WORDS.items()},
    **{word: (NAME, word) for word in (*FUNCTIONS, "pi")},
    "half": (NUMBER, "0.5"),
}
_RELATIONS = {"=>": (STOP, ";"), "==>": (STOP, ";"), "==": (RELATION, "=")}

_TOKEN = re.compile(
    r"((?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|(?<![\w.])\.\d+)"
    r"|([^\W\d_](?:_\w+)?(?![^\W\d_]))"
    r"|([^\W\d_]{2,}(?:[-'_][^\W\d_]+)*)"
    r"|([-+*/^%()]|(?<=[\d)])!(?=\s*[-+*/=)^]))"
    r"|(<=|>=|!=|==?>?|<|>)"
    r"|([^\s\w])"
)


def tokens(text: str) -> tuple[list[int], list[str]]:
    """Return the kinds and the texts of a step's tokens.

    A kind is NUMBER (without separators), NAME (a letter, a function or pi), WORD (in lower case), SIGN (in ASCII),
    RELATION or STOP. Words for numbers and signs are read as these.
    """
    kinds, texts = [], []
    for match in _TOKEN.finditer(_plain(text)):
        kind, found = (match.lastindex or 1) - 1, match[0]
        if kind == WORD:
            found = found.lower()
            kind, found = _WORDS.get(found, (WORD, found))
        elif kind == NUMBER:
            found = number(found)
        elif kind == RELATION:
            kind, found = _RELATIONS.get(found, (kind, found))
        kinds.append(kind)
        texts.append(found)
    return kinds, texts


def number(text: str) -> str:
    """Spell a number in one way: `1,200.50` as `1200.5`, `.5` as `0.5`, `07` as `7`."""
    if text[0] in "123456789" and text.isdigit():
        return text
    text = text.replace(",", "")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    text = text.lstrip("0")
    return f"0{text}" if not text or text[0] == "." else text


def hundredth(text: str) -> str:
    """Return a hundredth of a number, for percentages."""
    return number(format(Decimal(text).scaleb(-2), "f"))


def _plain(text: str) -> str:
    """Rewrite signs, LaTeX and Markdown; drop what only numbers the step."""
    if "<<" in text:
        text = _ANNOTATION.sub("", text)
    if "```" in text:
        text = _FENCE.sub("\n", text)
    if "\\" in text:
        text = _plain_latex(text)
    if not text.isascii():
        text = _RAISED.sub(_power, text).translate(_SIGNS)
    for sign, plain in _ASCII:
        if sign in text:
            text = text.replace(sign, plain)
    text = text[_PREFIX.match(text).end() :]  # type: ignore[union-attr]  # it matches the empty text
    if "\n" in text:
        text = _BULLET.sub(" ; ", text)
    if "**" in text:
        text = _POWER.sub("^", text).replace("**", "")
    text = _GLUED.sub(r"\1*\2", _UNIT.sub("", _TIMES.sub("*", text)))
    if "|" in text:
        text = _ABSOLUTE.sub(r" abs (\1) ", text)
    if "/" in text:
        text = _MIXED.sub(r"(\1+\2)", text)
    if " by " in text:
        text = _BY.sub(r" \1 ", text)
    return _SPOKEN.sub(_operation, text) if _LINKED.search(text) else text


def _plain_latex(text: str) -> str:
    for _ in range(3):  # fonts and fractions inside each other; deeper nesting is rare in a step
        text = _FRAC.sub(_fraction, _ROOT.sub(_root, _FONT.sub(r" \1 ", text)))
    text = _COMMAND.sub(lambda match: _LATEX_WORDS.get(match[1], f" {match[1]} "), text)
    return _SPACING.sub(_space, text)


def _fraction(match: re.Match[str]) -> str:
    return f"(({match[1] or match[2] or ''})/({match[3] or match[4] or ''}))"


def _root(match: re.Match[str]) -> str:
    return f"^({match[2]})" if match[1] is None else f" sqrt ({match[1]})"


def _space(match: re.Match[str]) -> str:
    sign = match[0]
    if sign == "\\%":
        return "%"
    return "," if sign[0] == "{" else "" if sign in ("\\!", "\\,", "\\$") else " "


def _power(match: re.Match[str]) -> str:
    return "^" + match[0].translate(_SUPERSCRIPTS)


def _operation(match: re.Match[str]) -> str:
    verb, noun, first, link, second = match.groups()
    name = (verb or noun).lower()
    if name == "subtract" and link.lower() == "from":
        first, second = second, first
    return f" {first} {_SPOKEN_SIGNS[name]} {second}"
