"""Decisions: one pair of formulas, compared in a worker.

Knows in which order evaluation, decimals and math-verify are asked, and trusts an acceptance by math-verify only where
evaluation could not speak: it rounds to six places. Numbers and lists were taken apart before.
"""

from fractions import Fraction
from typing import NamedTuple

from math_verify import verify
from sympy import Basic, Eq, Expr, MatrixBase, Set
from sympy.core.relational import Relational

from mctsr.grading.exact import agrees
from mctsr.grading.numerals import Numeral, read_numeral
from mctsr.grading.policy import Policy

from .reading import Formula, read
from .values import constant, same_equation, same_value


class Decision(NamedTuple):
    """What a worker says: True or False, or None with a reason."""

    equal: bool | None
    reason: str


def decide(gold: str, answer: str, tolerance: str, policy: Policy) -> Decision:
    """Compare two cleaned answers."""
    left, right = read(gold), read(answer)
    if left is None or right is None:
        which = "gold answer" if left is None else "answer"
        return Decision(None, f"the {which} cannot be read as a formula")
    measured = _by_digits((gold, left), (answer, right), tolerance, policy)
    if measured is not None:
        return measured
    verdict = _evaluated(left, right)
    if verdict is not None:
        return Decision(verdict, "the same formula" if verdict else "different formulas")
    return _by_math_verify(left, right)


def _by_digits(
    gold: tuple[str, Formula], answer: tuple[str, Formula], tolerance: str, policy: Policy
) -> Decision | None:
    """Compare a decimal with a constant by the digits that were written."""
    wanted, given = _number(gold), _number(answer)
    if wanted is None or given is None:
        return None
    if tolerance and abs(wanted.value - given.value) <= Fraction(tolerance):
        return Decision(True, f"within the gold answer's tolerance of {tolerance}")
    if wanted.places is None and given.places is None and policy is not Policy.LENIENT:
        return None
    if agrees(wanted, given, policy):
        return Decision(True, "the same number to the precision of what was written")
    same = same_value(gold[1], answer[1])
    return Decision(bool(same), "the same number" if same else "different numbers")


def _number(read_as: tuple[str, Formula]) -> Numeral | None:
    """Give the number as it was written, else the value of a constant formula."""
    text, formula = read_as
    if written := read_numeral(text):
        return written
    value = constant(formula) if isinstance(formula, Basic) else None
    return None if value is None else Numeral(value)


def _evaluated(left: Formula, right: Formula) -> bool | None:
    if isinstance(left, Eq) and isinstance(right, Eq):
        return same_equation(left.args, right.args)
    if isinstance(left, MatrixBase) or isinstance(right, MatrixBase):
        return None
    return same_value(left, right)


def _by_math_verify(left: Formula, right: Formula) -> Decision:
    kinds = [_kind(formula) for formula in (left, right)]
    if kinds[0] != kinds[1]:
        return Decision(None, f"a {kinds[0]} and a {kinds[1]}")
    equal = bool(verify([left], [right], timeout_seconds=None))
    if kinds[0] != "formula":
        return Decision(equal, "the same to math-verify" if equal else "different to math-verify")
    if equal and left.free_symbols and left.free_symbols == right.free_symbols:
        return Decision(True, "the same to math-verify")
    return Decision(None, "cannot be evaluated" + (", and equal to six places only" if equal else ""))


def _kind(formula: Formula) -> str:
    if isinstance(formula, MatrixBase):
        return "matrix"
    kinds = ((Set, "set"), (Relational, "relation"), (Expr, "formula"))
    return next((name for kind, name in kinds if isinstance(formula, kind)), "statement")
