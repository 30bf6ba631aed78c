r"""Comparison part by part: which parts of two answers belong together, and what their verdicts add up to.

Knows shapes, equations and gold types, and asks a stronger comparer (when it is given one) for the parts that exact
comparison leaves open. A verdict is yes, no or "none", and never more certain than its weakest part.
"""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from . import exact
from .exact import Outcome
from .notation import clean, squeeze
from .numerals import read_numeral
from .parts.equations import equation_sides, is_name, named, named_values
from .parts.pairing import are_proportional, ordered, other_kinds, total, unordered
from .parts.relations import as_intervals, without_condition
from .parts.shapes import Shape, read_shape
from .policy import Policy
from .typed import Gold
from .units import are_different, split_unit

Ask = Callable[[str, str, str], Outcome]
"""Takes a cleaned gold part, a cleaned answer part and an absolute tolerance (or ""); method "none" for no verdict."""

_Read: TypeAlias = tuple[str, Shape | None]

_MOST_NESTED = 4
_OPTION_WITH_TEXT = re.compile(r"\(([A-E])\)\s*(\S.*)")
_ELLIPSES = ("\\ldots", "...")


class Comparer:
    """Compares answers under one policy."""

    def __init__(self, policy: Policy = Policy.STANDARD, ask: Ask | None = None) -> None:
        self._policy = policy
        self._ask = ask

    def compare(self, gold: Gold, answer: str) -> Outcome:
        """Compare an answer with a gold answer; method "none" when no comparer can tell."""
        if gold.kind == "value":
            return self._value(gold, answer)
        whole = exact.compare(gold.text, answer, self._policy)
        if whole is not None and whole.equal:
            return whole
        wanted = self._shape_of(gold)
        if wanted is None:
            return self._texts(clean(gold.text), clean(answer))
        given = self._answer_shape(clean(answer), wanted)
        if gold.kind == "interval":
            return self._shapes(wanted, given)
        return self._several(gold.kind, wanted.parts, given)

    def _value(self, gold: Gold, answer: str) -> Outcome:
        text = gold.content[0]
        number = read_numeral(clean(text))
        if gold.unit and number is not None and not number.unit and not number.percent:
            measured = f"{clean(text)} {gold.unit}"
            text = measured if read_numeral(measured) is not None else text
        outcome = exact.compare(text, answer, self._policy)
        if option := _OPTION_WITH_TEXT.fullmatch(clean(text)):
            letter = exact.compare(option[1], answer, self._policy)
            return letter or self._part(option[2], clean(answer))
        if gold.tolerance and not (outcome and outcome.equal):
            return self._within(gold, clean(text), clean(answer), outcome)
        return outcome or self._texts(clean(text), clean(answer))

    def _within(self, gold: Gold, wanted: str, given: str, outcome: Outcome | None) -> Outcome:
        number, answer = read_numeral(wanted), read_numeral(given)
        if number is None or answer is None:
            return self._stronger(wanted, given, gold.tolerance)
        if abs(number.value - answer.value) <= Fraction(gold.tolerance):
            return Outcome(True, "numeric", f"within the gold answer's tolerance of {gold.tolerance}")
        return outcome or Outcome(False, "none", "different units")

    def _shape_of(self, gold: Gold) -> Shape | None:
        if gold.kind != "interval":
            return Shape("list", tuple(clean(part) for part in gold.content))
        cleaned = clean(gold.content[0])
        return as_intervals(cleaned) or read_shape(cleaned)

    def _answer_shape(self, given: str, wanted: Shape) -> Shape:
        shape = read_shape(given) if wanted.kind == "list" else self._read(given)
        if shape is None and len(wanted.parts) > 1 and "," in given:
            return Shape("list", tuple(given.split(",")))  # `1,100` is no number where several are due
        if shape is None or (len(wanted.parts) == 1 and shape.kind not in ("list", "set")):
            return Shape("list", (given,)) if wanted.kind == "list" or shape is None else shape
        return shape

    def _several(self, kind: str, wanted: Sequence[str], given: Shape) -> Outcome:
        """Compare with a gold that is typed as several answers; the answer's own brackets matter little."""
        if kind == "set":
            return self._unordered(wanted, given.parts)
        if given.kind == "set" and len(wanted) > 1 and self._policy is not Policy.LENIENT:
            return Outcome(False, "exact", "a set where the order matters")
        return self._ordered(wanted, given.parts)

    def _part(self, wanted: str, given: str, depth: int = 0) -> Outcome:
        return exact.compare(wanted, given, self._policy) or self._texts(wanted, given, depth + 1)

    def _texts(self, wanted: str, given: str, depth: int = 0) -> Outcome:
        """Compare two cleaned texts that exact comparison left open."""
        if not given or not wanted:
            return Outcome(False, "none", "one of the two is empty")
        bare = without_condition(wanted), without_condition(given)
        if bare != (wanted, given):
            return self._part(*bare, depth)
        if any(mark in text for mark in _ELLIPSES for text in (wanted, given)):
            return Outcome(False, "none", "an ellipsis: only the same text would be certain")
        if depth >= _MOST_NESTED:
            return self._equations(wanted, given, depth)
        gold, answer = self._read(wanted), self._read(given)
        if gold and answer:
            return self._shapes(gold, answer, depth)
        if gold or answer:
            return self._with_parts((wanted, gold), (given, answer), depth)
        return self._equations(wanted, given, depth)

    def _read(self, cleaned: str) -> Shape | None:
        """Take an answer apart; an inequality is an interval, unless that is held against it."""
        intervals = None if self._policy is Policy.STRICT else as_intervals(cleaned)
        return intervals or read_shape(cleaned)

    def _with_parts(self, wanted: _Read, given: _Read, depth: int) -> Outcome:
        """Compare two texts of which one has parts."""
        (left, gold), (right, answer) = wanted, given
        whole = gold or answer
        if whole and whole.kind in ("list", "set"):
            return self._shapes(gold or Shape("list", (left,)), answer or Shape("list", (right,)), depth)
        if whole and whole.kind == "ratio" and (read_numeral(left) or read_numeral(right)):
            return self._ratio_and_number(left, right)
        if read_numeral(left) or read_numeral(right):
            return Outcome(False, "exact", "one number and an answer of several parts")
        return self._stronger(left, right)

    def _shapes(self, gold: Shape, answer: Shape, depth: int = 0) -> Outcome:
        if "matrix" in (gold.kind, answer.kind):
            return self._matrices(gold, answer, depth)
        if {gold.kind, answer.kind} <= {"list", "set"}:
            return self._bags(gold, answer, depth)
        if gold.kind == answer.kind == "union":
            return self._unordered(gold.parts, answer.parts, depth)
        if gold.kind == answer.kind == "group":
            return self._groups(gold, answer, depth)
        if gold.kind == answer.kind == "ratio":
            return self._ratios(gold, answer, depth)
        if "union" in (gold.kind, answer.kind) and {gold.kind, answer.kind} & {"group", "set"}:
            return Outcome(False, "none", "a union of sets and a single one")
        if {gold.kind, answer.kind} == {"list", "group"}:
            return self._list_and_point(gold, answer, depth)
        if self._policy is Policy.LENIENT and "set" in (gold.kind, answer.kind):
            return self._unordered(gold.parts, answer.parts, depth)
        if self._policy is Policy.LENIENT:
            return self._ordered(gold.parts, answer.parts, depth)
        return other_kinds(gold.kind, answer.kind)

    def _list_and_point(self, gold: Shape, answer: Shape, depth: int) -> Outcome:
        """Compare `x=1, y=2` with a point, and a list of three or more with one that got brackets."""
        point, bare = (gold, answer) if gold.kind == "group" else (answer, gold)
        values = named_values(bare.parts)
        longer = gold is bare and len(bare.parts) > 2 and self._policy is not Policy.STRICT
        accepted = values or longer or self._policy is Policy.LENIENT
        if not accepted or (point.open, point.close) != ("(", ")"):
            return other_kinds(gold.kind, answer.kind)
        listed = values or bare.parts
        if gold is point:
            return self._ordered(point.parts, listed, depth)
        return self._ordered(listed, point.parts, depth)

    def _matrices(self, gold: Shape, answer: Shape, depth: int) -> Outcome:
        same_kind = gold.kind == answer.kind
        if not same_kind and not (self._policy is Policy.LENIENT and 1 in (gold.width, answer.width)):
            return other_kinds(gold.kind, answer.kind)
        if same_kind and gold.width != answer.width:
            return Outcome(False, "exact", "matrices of different sizes")
        return self._ordered(gold.parts, answer.parts, depth)

    def _bags(self, gold: Shape, answer: Shape, depth: int) -> Outcome:
        bare = gold.kind == answer.kind == "list"
        if bare and self._policy is Policy.STRICT:
            return self._ordered(gold.parts, answer.parts, depth)
        return self._unordered(gold.parts, answer.parts, depth)

    def _groups(self, gold: Shape, answer: Shape, depth: int) -> Outcome:
        same = (gold.open, gold.close) == (answer.open, answer.close)
        may_be_interval = len(gold.parts) == 2 or self._policy is Policy.STRICT
        if not same and may_be_interval:
            return Outcome(False, "exact", "different brackets")
        return self._ordered(gold.parts, answer.parts, depth)

    def _ratios(self, gold: Shape, answer: Shape, depth: int) -> Outcome:
        if are_proportional(gold.parts, answer.parts):
            return Outcome(True, "numeric", "the same ratio")
        return self._ordered(gold.parts, answer.parts, depth)

    def _ratio_and_number(self, wanted: str, given: str) -> Outcome:
        if self._policy is not Policy.LENIENT:
            return Outcome(False, "none", "a ratio and a number")
        return self._part(wanted.replace(":", "/"), given.replace(":", "/"), _MOST_NESTED)

    def _ordered(self, wanted: Sequence[str], given: Sequence[str], depth: int = 0) -> Outcome:
        return ordered(wanted, given, lambda gold, answer: self._part(gold, answer, depth))

    def _unordered(self, wanted: Sequence[str], given: Sequence[str], depth: int = 0) -> Outcome:
        def part(gold: str, answer: str) -> Outcome:
            return self._part(gold, answer, depth)

        return unordered(wanted, given, part, lambda gold, answer: exact.compare(gold, answer, self._policy))

    def _equations(self, wanted: str, given: str, depth: int) -> Outcome:
        gold, answer = equation_sides(wanted), equation_sides(given)
        if len(gold) == len(answer) == 1:
            return self._expressions(wanted, given)
        if sorted(map(squeeze, gold)) == sorted(map(squeeze, answer)):
            return Outcome(True, "exact", "the same sides of an equation")
        left, right = named(gold), named(answer, asked=read_numeral(wanted) is not None)
        if left and right and (left[0] == right[0] or not left[0] or not right[0]) and depth < _MOST_NESTED:
            return self._part(left[1], right[1], depth)
        if len(gold) == len(answer):
            return self._stronger(wanted, given)
        if left and len(answer) > 1:
            return self._chain(left[1], answer, depth)
        return Outcome(False, "none", "an equation and an expression")

    def _chain(self, value: str, sides: Sequence[str], depth: int) -> Outcome:
        """Compare a value with `a = b = c`: a name in front is free, every other side must be the value."""
        rest = sides[1:] if is_name(sides[0]) else sides
        verdicts = [self._part(value, side, depth) for side in rest]
        if all(verdict.equal for verdict in verdicts):
            return total(verdicts)
        return Outcome(False, "none", "an equation and an expression")

    def _expressions(self, wanted: str, given: str) -> Outcome:
        (gold, measure), (answer, unit) = split_unit(wanted), split_unit(given)
        alike = measure == unit if self._policy is Policy.STRICT else not are_different(measure, unit)
        if not alike or (read_numeral(wanted) and read_numeral(given)):
            return Outcome(False, "none", "different units or names")
        if (gold, answer) == (wanted, given):
            return self._stronger(wanted, given)
        return exact.compare(gold, answer, self._policy) or self._stronger(gold, answer)

    def _stronger(self, wanted: str, given: str, tolerance: str = "") -> Outcome:
        if self._ask is None:
            return Outcome(False, "none", "differently written, and no number, option or word to compare")
        return self._ask(wanted, given, tolerance)
