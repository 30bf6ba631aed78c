"""The default move code: what one step works out, however it is said."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.select.step_code import LONGEST, step_code, step_form

SAME = [
    (
        "3*4 = 12",
        [
            "First, 3*4 = 12.",
            "Next we compute 3 × 4, which gives 12",
            "4 * 3 = 12",
            "12 = 3 * 4",
            "**Step 2:** we get $4 \\times 3 = 12$ apples.",
            "Step 11. $3 \\cdot 4 = 12$",
            "2. 3 · 4 = 12",
            "2) 3 ⋅ 4 = 12",
            "- 3 * 4 = 12",
            "### Step 3\n3 * 4 = 12",
            "total = 4 x 3 = 12",
            "x = 3*4 = 12",
            "3 apples per box * 4 boxes = 12 apples",
            "She pays $3 * 4 = $12.",
            "\\[ 3 \\times 4 = \\boxed{12} \\]",
            "\\text{cost} = 3 \\times 4 = 12",
            "```python\ntotal = 3 * 4 == 12\n```",
            "3 times 4 equals 12",
            "Three multiplied by four is twelve.",
            "Multiply 3 by 4 to get 12.",
            "The product of 4 and 3 is 12",
            "He makes 3 * 4 = <<3*4=12>>12 dollars",
            "So (3)(4) = 12.00",
            "3 m * 4 m = 12 m^2",
            "3*4 = 10 + 2 = 12",
            "3 * 4 = 12, as 12 = 4 * 3",
        ],
    ),
    ("10-3 = 7", ["Subtract 3 from 10 to get 7", "10 − 3 = 7", "10 minus 3 leaves 7", "10 apples - 3 apples = 7"]),
    ("12/3 = 4", ["12 ÷ 3 = 4", "\\frac{12}{3} = 4", "\\dfrac{12}{3} = 4", "12 divided by 3 is 4", "12 / 3 yields 4"]),
    ("0.2*50 = 10", ["20% of 50 is 10", "20\\% \\times 50 = 10", "0.20 * 50 = 10", "50 * .2 = 10"]),
    ("1200+300 = 1500", ["1,200 + 300 = 1,500", "1{,}200 + 300 = 1\\,500", "300+1200.0=1500"]),
    ("2*x+3 = 7", ["2x + 3 = 7", "7 = 3 + 2x", "$3 + 2 \\cdot x = 7$"]),
    ("x = 2", ["x = 2", "2 = x", "x is 2", "So $x = 2$."]),
    ("2^10 = 1024", ["2^{10} = 1024", "2**10 = 1024", "2¹⁰ = 1024", "2 ** 10 = 1,024"]),
    ("sqrt(16) = 4", ["\\sqrt{16} = 4", "√16 = 4", "sqrt(16) = 4"]),
    ("(17 mod 5) = 2", ["17 mod 5 = 2", "17 % 5 = 2", "17 \\bmod 5 = 2"]),
    ("5 < 3+4", ["3 + 4 > 5", "5 < 4 + 3"]),
    ("3^2+4^2 = 25", ["c² = 3² + 4² = 25", "$c^2 = 3^{2} + 4^{2} = 25$"]),
    ("(sqrt(b^2-4*a*c)-b)/2/a = x", ["$x = \\frac{-b + \\sqrt{b^{2}-4ac}}{2a}$", "x = (sqrt(b^2 - 4ac) - b)/(2a)"]),
    ("1+1/2+2 = 3.5", ["2 1/2 + 1 = 3.5"]),
    ("abs(x-3) < 5", ["|x - 3| < 5", "5 > |x-3|"]),
    ("2+2 = 4", ["2 + 2 = 4!"]),
    ("a+b = c", ["a + b = c", "c = b + a"]),
    ("4+56 = 60; 7*8 = 56", ["7*8 = 56, so 56 + 4 = 60", "56 + 4 = 60 because 8*7 = 56"]),
    ("2*x = 4; 2*x+3 = 7; x = 2", ["2x+3=7 => 2x=4 => x=2", "2x + 3 = 7\n2x = 4\nx = 2"]),
    ("2*x = 4; 2*x+3 = 7; x = 2", ["$2x+3=7 \\implies 2x=4 \\implies x=2$"]),
    ("3*4", ["3*4", "Compute 4 × 3.", "total = 3*4"]),
    ("12", ["The answer is 12", "So the answer is 12.", "\\boxed{12}", "**12**"]),
    ("x number apple", ["Let x be the number of apples.", "Step 1: let $x$ be the number of apples"]),
    ("speed = distance / time", ["speed = distance / time", "Next: speed = distance / time."]),
]  # fmt: skip


@pytest.mark.parametrize(("form", "text"), [(form, text) for form, texts in SAME for text in texts])
def test_a_step_is_read_as_its_operation_however_it_is_written(form: str, text: str) -> None:
    assert step_form(text) == form
    assert step_code(text) == step_code(form)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 - 4 = -1", "4 - 3 = -1"),
        ("12 / 3", "3 / 12"),
        ("3*4 = 12", "3*4 = 13"),
        ("3*4 = 12", "2*6 = 12"),
        ("3*4 = 12", "3+4 = 12"),
        ("2^3 = 8", "3^2 = 8"),
        ("17 mod 5 = 2", "5 mod 17 = 2"),
        ("3*(4+5) = 27", "3*4+5 = 27"),
        ("8-(3-2) = 7", "8-3-2 = 7"),
        ("8/(4/2) = 4", "8/4/2 = 4"),
        ("x = 2", "y = 2"),
        ("A = 2", "a = 2"),
        ("3 < x", "x < 3"),
        ("the total > 5", "the total < 5"),
        ("3 <= x", "3 < x"),
        ("5% of 40 = 2", "5 * 40 = 2"),
        ("1.5 * 2 = 3", "15 * 2 = 3"),
        ("1,500 + 2 = 1502", "1,5,00 + 2 = 1502"),
        ("-3 + 5 = 2", "3 + 5 = 2"),
        ("time = distance / speed", "time = speed / distance"),
        ("Ann is taller than Bob", "Bob is taller than Ann"),
        ("Read pages 3-4", "Add items 3-4"),
        ("The answer is 12", "The answer is 13"),
        ("5! = 120", "5 = 120"),
        ("", "x"),
        ("🎉", "🚀"),
        ("+", "-"),
        ("n" * 10_000, "n" * 10_001),
    ],
)
def test_steps_that_work_out_something_else_do_not_share_a_code(one: str, other: str) -> None:
    assert step_form(one) != step_form(other)
    assert step_code(one) != step_code(other)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("🎉", "🎉"),
        ("!!!  ???", "!!! ???"),
        ("first we compute", "first we compute"),
        ("(((", "((("),
        ("3 +", "3 +"),
        ("= = =", "= = ="),
        ("我们 计算 3*4 = 12", "3*4 = 12"),
        ("I have 3 apples and a dog", "I 3 apple dog"),
        ("x" * LONGEST + "y", "x" * LONGEST + "y"),
    ],
)
def test_odd_texts_have_a_form_too(text: str, form: str) -> None:
    assert step_form(text) == form


def test_the_code_is_the_same_in_every_process_and_fits_62_bits() -> None:
    program = "from mctsr.select.step_code import step_code; print(step_code('4 * 3 = 12'))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(said.stdout) == step_code("So 3 × 4 = 12.") == 4262667472601452361
    assert 0 <= step_code("3*4 = 12") < 2**62


def test_reading_needs_no_numpy() -> None:
    program = (
        "import sys; import mctsr.select.step_code; print('numpy' in sys.modules, 'sympy' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "False"]


@given(st.text(max_size=300) | st.text("0123456789+-*/=()xa ,.%^\\{}$<>!\n", max_size=300))
def test_any_text_has_a_code(text: str) -> None:
    assert isinstance(step_form(text), str)
    assert 0 <= step_code(text) < 2**62


numbers = st.integers(0, 9999).map(str) | st.integers(1, 999).map(lambda n: f"{n}.5")
operations = st.recursive(
    numbers | st.sampled_from("xyz"),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=6,
)
wordings = st.sampled_from(
    ["{} = {}", "First, {} = {}.", "Step 3: {} equals {}", "So ${} = {}$", "Now {}, which gives {}."]
)


@given(operations, numbers, wordings)
def test_a_form_is_its_own_form(operation: str, result: str, wording: str) -> None:
    form = step_form(wording.format(operation, result))
    assert step_form(form) == form


@given(
    st.lists(numbers, min_size=2, max_size=5),
    st.sampled_from("+*"),
    wordings,
)
def test_the_order_of_what_is_added_or_multiplied_does_not_matter(
    parts: list[str], sign: str, wording: str
) -> None:
    turned = parts[::-1]
    plain = f"{f' {sign} '.join(parts)} = 7"
    assert step_form(wording.format(f" {sign} ".join(turned), "7")) == step_form(plain)


@given(
    st.lists(st.sampled_from(["the", "apple", "dogs", "count", "Ann", "and", "green", "tall"]), min_size=1)
)
def test_the_form_of_a_sentence_is_its_own_form(words: list[str]) -> None:
    form = step_form(" ".join(words))
    assert step_form(form) == form


@pytest.mark.parametrize(
    "piece", ["(", "1+", "(1+", "3 ", "9", "\\frac{", "<<", "x^", "sqrt ", " ", "x is ", "3 apples "]
)
def test_the_longest_text_that_is_read_takes_no_more_than_a_blink(piece: str) -> None:
    began = time.process_time()
    step_form((piece * LONGEST)[:LONGEST])
    assert time.process_time() - began < 1.0


def test_the_manual_shows_what_is_read() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "steps.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+)` \| `(.+)` \|$", manual, re.MULTILINE)
    assert len(rows) >= 10
    assert [(text, step_form(text)) for text, _ in rows] == rows
