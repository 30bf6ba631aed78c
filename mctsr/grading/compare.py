r"""Comparison part by part: which parts of two answers belong together, and what their verdicts add up to.

Knows shapes, equations and gold types, and asks a stronger comparer (when it is given one) for the parts that exact
comparison leaves open. A verdict is yes, no or "none", and never more certain than its weakest part.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from . import exact
from .exact import Outcome
from .notation import clean, squeeze
from .numerals import read_numeral
from .policy import Policy
from .relations import as_intervals, equation_sides, is_name
from .shapes import Shape, read_shape
from .typed import Gold
from .units import without_unit

Ask = Callable[[str, str, str], Outcome]
"""Takes a cleaned gold part, a cleaned answer part and an absolute tolerance (or ""); method "none" for no verdict."""

_MOST_NESTED = 4
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
        return read_shape(cleaned) or as_intervals(cleaned)

    def _answer_shape(self, given: str, wanted: Shape) -> Shape:
        shape = read_shape(given)
        if shape is None and wanted.kind != "list":
            shape = as_intervals(given) if self._policy is not Policy.STRICT else None
        return shape or Shape("list", (given,))

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
            return Outcome(False, "no-answer", "the answer is empty")
        if any(mark in text for mark in _ELLIPSES for text in (wanted, given)):
            return Outcome(False, "none", "an ellipsis: only the same text would be certain")
        shapes = [read_shape(text) for text in (wanted, given)] if depth < _MOST_NESTED else [None, None]
        if shapes[0] or shapes[1]:
            return self._one_has_parts(wanted, given, *shapes, depth)
        intervals = [as_intervals(text) for text in (wanted, given)]
        if intervals[0] and intervals[1]:
            return self._shapes(*intervals, depth)
        return self._equations(wanted, given, depth)

    def _one_has_parts(self, wanted: str, given: str, gold: Shape | None, answer: Shape | None, depth: int) -> Outcome:
        if self._policy is not Policy.STRICT:
            gold = gold or as_intervals(wanted)
            answer = answer or as_intervals(given)
        if gold and answer:
            return self._shapes(gold, answer, depth)
        whole = gold or answer
        if whole and whole.kind in ("list", "set"):
            return self._shapes(gold or Shape("list", (wanted,)), answer or Shape("list", (given,)), depth)
        if read_numeral(wanted) or read_numeral(given):
            return Outcome(False, "exact", "one number and an answer of several parts")
        return self._stronger(wanted, given)

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
        if self._policy is Policy.LENIENT and "set" in (gold.kind, answer.kind):
            return self._unordered(gold.parts, answer.parts, depth)
        if self._policy is Policy.LENIENT:
            return self._ordered(gold.parts, answer.parts, depth)
        return Outcome(False, "exact", f"a {_NAMES[gold.kind]} and a {_NAMES[answer.kind]}")

    def _matrices(self, gold: Shape, answer: Shape, depth: int) -> Outcome:
        same_kind = gold.kind == answer.kind
        if not same_kind and not (self._policy is Policy.LENIENT and 1 in (gold.width, answer.width)):
            return Outcome(False, "exact", f"a {_NAMES[gold.kind]} and a {_NAMES[answer.kind]}")
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
        outcome = self._ordered(gold.parts, answer.parts, depth)
        values = [[read_numeral(part) for part in shape.parts] for shape in (gold, answer)]
        if outcome.equal or len(values[0]) != len(values[1]):
            return outcome
        left, right = ([number.value for number in row if number] for row in values)
        if len(left) != len(right) or len(left) != len(gold.parts) or not left[0] or not right[0]:
            return outcome
        equal = all(one * right[0] == other * left[0] for one, other in zip(left, right, strict=True))
        return Outcome(True, "numeric", "the same ratio") if equal else outcome

    def _ordered(self, wanted: Sequence[str], given: Sequence[str], depth: int = 0) -> Outcome:
        if len(wanted) != len(given):
            return Outcome(False, "exact", f"{len(given)} parts where the gold answer has {len(wanted)}")
        verdicts = []
        for pair in zip(wanted, given, strict=True):
            verdicts.append(self._part(*pair, depth))
            if not verdicts[-1].equal and verdicts[-1].method != "none":
                return verdicts[-1]._replace(reason=f"part {len(verdicts)}: {verdicts[-1].reason}")
        return _sum(verdicts)

    def _unordered(self, wanted: Sequence[str], given: Sequence[str], depth: int = 0) -> Outcome:
        """Find each gold part a partner of its own; parts written twice count once where numbers differ."""
        if len(wanted) != len(given):
            wanted, given = _distinct(wanted), _distinct(given)
        if len(wanted) != len(given):
            return Outcome(False, "exact", f"{len(given)} parts where the gold answer has {len(wanted)}")
        quick = [[exact.compare(gold, answer, self._policy) for answer in given] for gold in wanted]
        taken: set[int] = set()
        verdicts: list[Outcome] = []
        for row, gold in zip(quick, wanted, strict=True):
            sure = [n for n, outcome in enumerate(row) if n not in taken and outcome and outcome.equal]
            open_ = [n for n, outcome in enumerate(row) if n not in taken and outcome is None]
            place, verdict = (sure[0], row[sure[0]]) if sure else self._partner(gold, given, open_, depth)
            if place is None or verdict is None:
                return verdict or Outcome(False, "exact", f"{gold!r:.60} is not among the parts")
            taken.add(place)
            verdicts.append(verdict)
        return _sum(verdicts)

    def _partner(
        self, gold: str, given: Sequence[str], places: Sequence[int], depth: int
    ) -> tuple[int | None, Outcome | None]:
        doubt = None
        for place in places:
            verdict = self._part(gold, given[place], depth)
            if verdict.equal:
                return place, verdict
            doubt = verdict if verdict.method == "none" else doubt
        return None, doubt

    def _equations(self, wanted: str, given: str, depth: int) -> Outcome:
        gold, answer = equation_sides(wanted), equation_sides(given)
        if len(gold) == len(answer) == 1:
            return self._expressions(wanted, given)
        if sorted(map(squeeze, gold)) == sorted(map(squeeze, answer)):
            return Outcome(True, "exact", "the same sides of an equation")
        left, right = _named(gold), _named(answer)
        if left and right and (left[0] == right[0] or not left[0] or not right[0]) and depth < _MOST_NESTED:
            return self._part(left[1], right[1], depth)
        if len(gold) == len(answer):
            return self._stronger(wanted, given)
        if left and len(answer) > 1:
            verdicts = [self._part(left[1], side, depth) for side in answer]
            return _sum(verdicts) if all(v.equal for v in verdicts) else Outcome(False, "none", "a chain of equations")
        return Outcome(False, "none", "an equation and an expression")

    def _expressions(self, wanted: str, given: str) -> Outcome:
        bare = [without_unit(text) for text in (wanted, given)]
        if self._policy is Policy.STRICT or bare == [wanted, given]:
            return self._stronger(wanted, given)
        return exact.compare(bare[0], bare[1], self._policy) or self._stronger(*bare)

    def _stronger(self, wanted: str, given: str, tolerance: str = "") -> Outcome:
        if self._ask is None:
            return Outcome(False, "none", "differently written, and no number, option or word to compare")
        return self._ask(wanted, given, tolerance)


_NAMES = {"list": "list", "set": "set", "group": "tuple", "ratio": "ratio", "matrix": "matrix", "union": "union"}
_CERTAINTY = ("exact", "choice", "numeric", "symbolic", "none")


def _named(sides: list[str]) -> tuple[str, str] | None:
    """Give the name and the value of `name = value` or `value = name`, or of a value alone."""
    if len(sides) == 1:
        return "", sides[0]
    if len(sides) == 2 and is_name(sides[0]):
        return squeeze(sides[0]), sides[1]
    if len(sides) == 2 and is_name(sides[1]):
        return squeeze(sides[1]), sides[0]
    return None


def _distinct(parts: Sequence[str]) -> list[str]:
    return list({exact.normal_form(part): part for part in reversed(parts)}.values())[::-1]


def _sum(verdicts: Sequence[Outcome]) -> Outcome:
    if not verdicts:
        return Outcome(True, "exact", "both are empty")
    return max(verdicts, key=lambda outcome: _CERTAINTY.index(outcome.method) if outcome.method in _CERTAINTY else 4)
