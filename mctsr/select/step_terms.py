"""Sums and products in a row of tokens, spelled in one order.

Knows precedence, units between operands, and that sums and products may be sorted while differences and quotients may
not. Computes nothing: `2*6` stays `2*6`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .step_notation import FUNCTIONS, NAME, NUMBER, RELATION, SIGN, STOP, WORD, hundredth

_DEEPEST = 20
_MOST_UNITS = 4
_AFTER_UNIT = frozenset("+-*/=<>)")
_OPERATORS = frozenset({"*", "/", "mod", "%"})

#: Letters that are words unless a sign or a relation follows.
ARTICLES = frozenset({"a", "A", "I"})
_PAD = 16


class _Term(NamedTuple):
    """A product: its sign, its factors, and what it is divided by."""

    minus: bool
    over: tuple[str, ...]
    under: tuple[str, ...] = ()

    def spelled(self) -> str:
        over = "*".join(sorted(self.over)) or "1"
        return "/".join((over, *sorted(self.under)))


_Terms = list[_Term]


class Expression(NamedTuple):
    """What was read: its one spelling, and whether it holds an operation."""

    form: str
    works: bool


class Reader:
    """Reads expressions from a row of tokens.

    Attributes:
        kinds: Of the tokens, and of the ends behind them, so that one may look ahead.
        texts: Of the tokens.
        at: The next token to read; it moves only past what was understood.
    """

    def __init__(self, kinds: Sequence[int], texts: Sequence[str]) -> None:
        self.kinds = [*kinds, *(STOP,) * _PAD]
        self.texts = [*texts, *("",) * _PAD]
        self.at = 0
        self._depth = 0
        self._closed = _closed(self.texts) if "(" in texts else frozenset[int]()

    def expression(self) -> Expression | None:
        """Read the longest sum from here, or nothing; units behind it are read with it."""
        if self.kinds[self.at] in (WORD, STOP, RELATION):
            return None
        terms = self._sum()
        if terms is None:
            return None
        form = _spelled(terms)
        return Expression(form, not form.lstrip("-").replace(".", "").replace("_", "").isalnum())

    def _sum(self) -> _Terms | None:
        minus = self.texts[self.at] == "-"
        self.at += minus
        terms = self._product()
        if terms is None:
            self.at -= minus
            return None
        if minus:
            terms = _negated(terms)
        while self._after_units() in ("+", "-"):
            sign = self.texts[self.at]
            self.at += 1
            more = self._product()
            if more is None:
                self.at -= 1
                break
            terms = [*terms, *(_negated(more) if sign == "-" else more)]
        return terms

    def _product(self) -> _Terms | None:
        terms = self._power()
        while terms is not None:
            sign = self._after_units()
            apart = sign in _OPERATORS or (sign == "of" and _is_share(terms))
            if not apart and not self._joins(terms):
                break
            self.at += apart
            minus = apart and self.texts[self.at] == "-"
            self.at += minus
            factor = self._power()
            if factor is None:
                self.at -= apart + minus
                break
            terms = _times(terms, _negated(factor) if minus else factor, sign if apart else "*")
        return terms

    def _joins(self, terms: _Terms) -> bool:
        """Tell whether the next token multiplies without a sign, as in 3x, 2(x+1) and (x+1)2."""
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == NAME:
            return text not in ARTICLES or self.kinds[self.at + 1] in (SIGN, RELATION)
        return text == "(" or (kind == NUMBER and terms[-1].over[-1:] != () and terms[-1].over[-1][-1] == ")")

    def _power(self) -> _Terms | None:
        terms = self._atom()
        if terms is None or self.texts[self.at] != "^":
            return terms
        start = self.at
        self.at += 1
        minus = self.texts[self.at] == "-"
        self.at += minus
        exponent = self._atom()
        if exponent is None:
            self.at = start
            return terms
        return [_Term(False, (f"{_factor(terms)}^{'-' if minus else ''}{_factor(exponent)}",))]

    def _atom(self) -> _Terms | None:
        kind, text = self.kinds[self.at], self.texts[self.at]
        if kind == NUMBER:
            self.at += 1
            return [_Term(False, (self._share(text),))]
        if text == "(":
            return self._bracket()
        if kind != NAME:
            return None
        self.at += 1
        if text in FUNCTIONS and self.texts[self.at] not in FUNCTIONS:
            inner = self._atom()
            if inner is not None:
                return [_Term(False, (f"{text}({_spelled(inner)})",))]
        return [_Term(False, (text,))]

    def _share(self, number: str) -> str:
        """Read what stands behind a number: a percent sign, unless it asks for a remainder, or a factorial."""
        after = self.texts[self.at]
        if after == "%" and self.kinds[self.at + 1] not in (NUMBER, NAME) and self.texts[self.at + 1] != "(":
            self.at += 1
            return hundredth(number)
        if after == "!" and self.kinds[self.at] == SIGN:
            self.at += 1
            return f"{number}!"
        return number

    def _bracket(self) -> _Terms | None:
        if self._depth >= _DEEPEST or self.at not in self._closed:
            return None
        start = self.at
        self.at += 1
        self._depth += 1
        terms = self._sum()
        self._depth -= 1
        if terms is None or self._after_units() != ")":
            self.at = start
            return None
        self.at += 1
        return terms

    def _after_units(self) -> str:
        """Pass over up to four words in front of a sign, and return the text of the next token."""
        ahead = self.at
        while self.kinds[ahead] == WORD and ahead < self.at + _MOST_UNITS and self.texts[ahead] != "of":
            ahead += 1
        if ahead > self.at and self.texts[ahead][:1] in _AFTER_UNIT:
            self.at = ahead
        return self.texts[self.at]


def _closed(texts: Sequence[str]) -> frozenset[int]:
    """Return where the brackets open that are closed later."""
    waiting, closed = [], []
    for i, text in enumerate(texts):
        if text == "(":
            waiting.append(i)
        elif text == ")" and waiting:
            closed.append(waiting.pop())
    return frozenset(closed)


def _is_share(terms: _Terms) -> bool:
    return len(terms) == 1 and (bool(terms[0].under) or terms[0].over[-1].startswith("0."))


def _negated(terms: _Terms) -> _Terms:
    return [term._replace(minus=not term.minus) for term in terms]


def _times(left: _Terms, right: _Terms, sign: str) -> _Terms:
    """Multiply or divide; a bracketed product joins the factors, a bracketed sum stays one factor."""
    if sign in ("mod", "%"):
        return [_Term(False, (f"({_factor(left)} mod {_factor(right)})",))]
    a, b = _one(left), _one(right)
    minus = a.minus != b.minus
    if sign == "/":
        return [_Term(minus, a.over + b.under, a.under + b.over)]
    return [_Term(minus, a.over + b.over, a.under + b.under)]


def _one(terms: _Terms) -> _Term:
    return terms[0] if len(terms) == 1 else _Term(False, (f"({_spelled(terms)})",))


def _factor(terms: _Terms) -> str:
    term = _one(terms)
    return (
        term.over[0] if len(term.over) == 1 and not term.under and not term.minus else f"({_spelled(terms)})"
    )


def _spelled(terms: _Terms) -> str:
    """Spell a sum: what is added in order, then what is subtracted in order."""
    if len(terms) == 1:
        return ("-" if terms[0].minus else "") + terms[0].spelled()
    plus = sorted(term.spelled() for term in terms if not term.minus)
    minus = sorted(term.spelled() for term in terms if term.minus)
    return "+".join(plus) + "".join(f"-{term}" for term in minus)
