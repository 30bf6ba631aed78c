"""Values: expressions compared at points, to many digits, in a worker.

Knows that two formulas which agree to forty digits at several points are the same, and that one point where they
differ settles the contrary. Nothing is rounded to a fixed number of places: tiny and huge values keep their digits.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from sympy import Basic, Expr, Float, Integer, Max, Min, Mod, Rational, Symbol, ceiling, floor, sign

_DIGITS = 60
_AGREE = Rational(1, 10**40)
_POSITIVE = ((17, 11), (29, 13), (7, 19), (43, 17), (5, 23), (61, 29), (37, 41), (3, 31))
_WHOLE = (5, 8, 3, 7, -4, 11, 6, -13)
_COUNTERS = frozenset("nkmpqNKM")
_MOST_LETTERS = 8
_TURNS = 3
_STEPS = (floor, ceiling, Mod, sign, Min, Max)
_MANY = 60


def constant(formula: Basic) -> Fraction | None:
    """Give the value of a real constant as a fraction that is right to forty digits, or None."""
    if not isinstance(formula, Expr) or formula.free_symbols:
        return None
    value = _value(formula, {})
    if value is None or not value.is_real:
        return None
    exact = Rational(value)
    return Fraction(int(exact.p), int(exact.q))


def same_value(gold: Basic, answer: Basic) -> bool | None:
    """Tell whether two scalar formulas agree everywhere; None when they cannot be evaluated."""
    if not isinstance(gold, Expr) or not isinstance(answer, Expr):
        return None
    gold, answer = exact_decimals(gold), exact_decimals(answer)
    return _agree(gold, answer)


def same_equation(gold: Sequence[Basic], answer: Sequence[Basic]) -> bool | None:
    """Tell whether two equations, given as their sides, differ by a constant factor alone."""
    first, second = _difference(gold), _difference(answer)
    if first is None or second is None or first.free_symbols != second.free_symbols:
        return None
    factors = []
    for point in _points(sorted(first.free_symbols, key=str)):
        left, right = _value(first, point), _value(second, point)
        if left is None or right is None or _is_zero(right) or _is_zero(left):
            continue
        factors.append(left / right)
    if len(factors) < _TURNS:
        return None
    return all(_near(factor, factors[0]) for factor in factors)


def exact_decimals(formula: Expr) -> Expr:
    """Replace floats by the decimals they were written as."""
    floats = {number: Rational(str(number)) for number in formula.atoms(Float)}
    replaced = formula.xreplace(floats)
    return replaced if isinstance(replaced, Expr) else formula


def _difference(sides: Sequence[Basic]) -> Expr | None:
    left, right = sides
    if not isinstance(left, Expr) or not isinstance(right, Expr):
        return None
    return exact_decimals(left) - exact_decimals(right)


def _agree(gold: Expr, answer: Expr) -> bool | None:
    letters = sorted(gold.free_symbols | answer.free_symbols, key=str)
    if len(letters) > _MOST_LETTERS or any(not isinstance(letter, Symbol) for letter in letters):
        return None
    has_steps = gold.has(*_STEPS) or answer.has(*_STEPS)
    points = _many_points(letters) if has_steps and letters else _points(letters)
    verdicts = [_agree_at(gold, answer, point) for point in points]
    settled = [verdict for verdict in verdicts if verdict is not None]
    if len(settled) < (min(_TURNS, len(verdicts))):
        return None
    if all(settled):
        return True
    if has_steps:
        return False
    counters = [letter for letter in letters if str(letter) in _COUNTERS]
    return _agree_at_whole(gold, answer, counters, letters) if counters else False


def _agree_at_whole(
    gold: Expr, answer: Expr, counters: Sequence[Basic], letters: Sequence[Basic]
) -> bool | None:
    """Compare once more where letters that count are whole: `cos(n pi)` is `(-1)^n` there."""
    verdicts = []
    for turn in range(2 * _TURNS):
        point = {letter: _number(_POSITIVE, place + turn) for place, letter in enumerate(letters)}
        whole = {
            letter: Integer(_WHOLE[(place + turn) % len(_WHOLE)]) for place, letter in enumerate(counters)
        }
        verdicts.append(_agree_at(gold, answer, point | whole))
    settled = [verdict for verdict in verdicts if verdict is not None]
    return all(settled) if len(settled) > _TURNS else None


def _points(letters: Sequence[Basic]) -> Iterator[Mapping[Basic, Rational]]:
    """Yield points with all letters positive, then some with one of them negative."""
    if not letters:
        yield {}
        return
    for turn in range(_TURNS + 1):
        yield {letter: _number(_POSITIVE, place + turn) for place, letter in enumerate(letters)}
    for negative in letters[:_TURNS]:
        yield {
            letter: _number(_POSITIVE, place) * (-1 if letter == negative else 1)
            for place, letter in enumerate(letters)
        }


def _many_points(letters: Sequence[Basic]) -> Iterator[Mapping[Basic, Rational]]:
    """Yield points that lie close and reach far, for functions with steps; letters that count are whole."""
    for turn in range(_MANY):
        yield {
            letter: Rational((turn * (7 + 4 * place)) % 97, 1 if str(letter) in _COUNTERS else 1 + turn % 5)
            for place, letter in enumerate(letters)
        }


def _number(pairs: Sequence[tuple[int, int]], place: int) -> Rational:
    return Rational(*pairs[place % len(pairs)])


def _agree_at(gold: Expr, answer: Expr, point: Mapping[Basic, Rational]) -> bool | None:
    left, right = _value(gold, point), _value(answer, point)
    if left is None or right is None:
        return None
    negative = any(number < 0 for number in point.values())
    if negative and not (left.is_real and right.is_real):
        return None  # roots and logarithms of negative letters: nobody meant those
    return _near(left, right)


def _near(left: Expr, right: Expr) -> bool:
    if _is_zero(left) or _is_zero(right):
        return _is_zero(left) and _is_zero(right)
    return bool(abs(left - right) <= _AGREE * max(abs(left), abs(right)))


def _is_zero(value: Expr) -> bool:
    """Tell zero from a tiny number: what cancels leaves no digits behind."""
    parts = value.as_real_imag()
    return all(part == 0 or (isinstance(part, Float) and part._prec == 1) for part in parts)


def _value(formula: Expr, point: Mapping[Basic, Rational]) -> Expr | None:
    try:
        value = formula.subs(point).doit().evalf(_DIGITS)
    except (MemoryError, RecursionError):
        raise
    except Exception:  # sympy raises whatever a function raises
        return None
    if not isinstance(value, Expr) or not value.is_number or not value.is_finite:
        return None
    real, imaginary = value.as_real_imag()
    known = all(isinstance(part, Float | Rational) for part in (real, imaginary))
    if not known:
        return None
    tiny = isinstance(imaginary, Float) and isinstance(real, Float) and abs(imaginary) < abs(real) * _AGREE
    return real if tiny or imaginary == 0 else value
