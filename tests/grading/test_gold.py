"""Gold answers out of the columns of data files."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.grading import Grader, clean_gold


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("He buys 2 <<1+1=2>>2.\n#### 2,125", "2125"),
        ("#### -3", "-3"),
        ("#### 3.5", "3.5"),
        ("We get $x=\\boxed{3}$ at first, hence $\\boxed{\\frac{1}{2}}$.", "\\frac{1}{2}"),
        ("The roots are $\\boxed{-2}$ and $\\boxed{1}$.", "-2, 1"),
        (27, "27"),
        (27.0, "27"),
        (-0.5, "-0.5"),
        (9284017268534.4, "9284017268534.4"),
        (1e22, "10000000000000000000000"),
        ("025", "025"),
        ("16\\\\\n\\noindent", "16"),
        ("$127$\\\\\n\\noindent", "127"),
        ("$\\frac{40}{243}$.\\\\\n\\noindent", "\\frac{40}{243}"),
        ("\\frac{\\sqrt{30}}{12} $.\n\n\\noindent", "\\frac{\\sqrt{30}}{12}"),
        ("$\\alpha=1$ and $\\beta=4$. \\\\\n\\noindent", "$\\alpha=1$ and $\\beta=4$"),
        ("\\$ 9681.72 \\\\\n\\noindent", "\\$ 9681.72"),
        ("Yes.\\\\\n\\noindent", "Yes"),
        ("\\$32,\\!348", "\\$32,\\!348"),
        ("1, 2, ...", "1, 2, ..."),
        ("(3,4]", "(3,4]"),
    ],
)
def test_a_column_becomes_the_bare_answer(column: object, expected: str) -> None:
    assert clean_gold(column) == expected
    assert clean_gold(expected) == expected


@pytest.mark.parametrize("column", [None, True, ["1", "2"], {"a": 1}, b"5"])
def test_a_shape_that_is_not_understood_is_named(column: object) -> None:
    with pytest.raises(ValueError, match=f"of type {type(column).__name__}: give a number or a text"):
        clean_gold(column)


@pytest.mark.parametrize("column", ["", "  ", "#### ", "$", "\\noindent"])
def test_an_empty_gold_is_refused(column: str) -> None:
    with pytest.raises(ValueError, match="is empty"):
        clean_gold(column)


@pytest.mark.parametrize("column", [math.nan, math.inf, -math.inf])
def test_a_gold_that_is_no_finite_number_is_refused(column: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        clean_gold(column)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_of_a_data_file_is_itself(value: float) -> None:
    gold = clean_gold(value)
    assert Grader(symbolic=False).grade(gold, gold).equal
    assert Grader(symbolic=False).grade(gold, repr(value)).equal


@given(st.text(max_size=40))
def test_cleaning_a_gold_twice_changes_nothing(text: str) -> None:
    try:
        once = clean_gold(text)
    except ValueError:
        return
    assert clean_gold(once) == once
