"""Steps checked by computation: what counts as a claim, what is right, wrong, or cannot be told."""

import asyncio
import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.errors import RecipeError, UsageError
from mctsr.grading.exact import Outcome
from mctsr.grading.symbolic.asking import Asking
from mctsr.grading.symbolic.pool import UNAVAILABLE
from mctsr.judge.grounded.plain import plain_lines
from mctsr.judge.grounded.statements import statements
from mctsr.judge.grounded.verify import ToolVerify
from mctsr.parts import Unscored
from mctsr.testing.laws import check_judge
from tests.support.judging import judged, path, scripted, the_sample

RIGHT = [
    "3*4 = 12",
    "First, 3 × 4 = 12, and 2 + 12 = 14.",
    "So $3 \\cdot 4 = 12$.",
    "\\[ \\frac{3}{4} + \\frac{1}{4} = 1 \\]",
    "Natalia sold 48 + 24 = 72 clips altogether.",
    "She pays 3 * $4 = $12.",
    "$12 + $3 = $15",
    "10/3 = 3.33",
    "2/3 = 0.66",
    "\\sqrt{2} ≈ 1.414",
    "(x+1)^2 = x^2 + 2x + 1",
    "2x + 3 = 7\n2x = 4\nx = 2",
    "1. 3 + 4 = 7",
    "- 12 / 4 = 3",
    "5 - 3(2) = -1",
    "**Step 2:** 3 + 4 = 7",
    "1,000 + 2,500 = 3,500",
    "\\begin{align*}\n2 + 3 &= 5 \\\\\n&= 10/2\n\\end{align*}",
    "The area is 3 * 4 = 12 cm^2.",
    "5! = 120",
    "3 x 4 = 12",
    "The total is \\boxed{3+4} = 7",
    "3*4 = 12 and 5+6=11",
    "7 = 3 + 4",
    "A total of 8 + 6 = 14 litres of water was used.",
    "She needs 16 x .75 = 12 bags.",
    "He gave a 100*.3=$30 discount",
    "The difference between them is 200-100 = 100 pounds",
]
WRONG = [
    "3*4 = 13",
    "First, 3 × 4 = 12, and 2 + 12 = 15.",
    "\\[ \\frac{3}{4} + \\frac{1}{4} = 2 \\]",
    "Natalia sold 48 + 24 = 73 clips altogether.",
    "$12 + $3 = $16",
    "10/3 = 3.5",
    "0.1+0.2 = 0.4",
    "- 12 / 4 = 4",
    "3 + 4 = 7 = 2 * 4",
    "\\begin{align*}\n2 + 3 &= 5 \\\\\n&= 12/2\n\\end{align*}",
    "\\binom{5}{2} = 11",
    "A total of 8 + 6 = 15 litres of water was used.",
    "He gave a 100*.3=$31 discount",
]
UNTOLD = [
    "",
    "The answer is 42.",
    "x + 2 = 5",
    "x = 3",
    "the sum of 3 and 4 + 5 = 12",
    "5 apples + 3 = 8",
    "3 apples times 4 = 12",
    "ratio 3:4 = 6:8",
    "17 mod 5 = 2",
    "17 = 2 (mod 5)",
    "52_8 = 42",
    "2 1/2 = 2.5",
    "2\\frac{1}{2} = 2.5",
    "1 + 2 + ... + 10 = 55",
    "20% of 50 = 10",
    "100 - 20% = 80",
    "10/3 = 3 remainder 1",
    "7 feet 3 inches = 87 inches",
    "3 * 60 seconds = 3 minutes",
    "f(3) = 10",
    "log_2 8 = 3",
    "2 million + 3 = 5",
    "6/2(1+2) = 9",
    "1234*2 ≈ 2500",
    "x times $3 = 9$",
    "((3 = 4",
    "3 * = 5",
    "= 5",
    "sin(30) = 0.5",
    "30^\\circ + 60^\\circ = 90^\\circ",
    "half of 3 + 5 = 4",
    "3 items at 4 dollars = 12 dollars",
    "5 * 12 inches = 5 feet",
    "James slept 9 hours * 2/3 = 7 hours.",
    "2 + 2 = 4 apples times 3",
    "area(3+4) = 8",
    "1e3 + 1 = 1001",
    "9^999999 = 3",
    "1/0 = 5",
]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, text) for text in RIGHT]
    + [(0.0, text) for text in WRONG]
    + [(0.5, f"{text} ") for text in UNTOLD[1:]],
)
async def test_a_step_is_right_wrong_or_cannot_be_told(value: float, text: str) -> None:
    sample = the_sample(await judged(ToolVerify(), path(text), scripted()))
    assert sample.value == value, sample.text


async def test_the_sample_says_what_was_checked() -> None:
    sample = the_sample(
        await judged(ToolVerify(), path("First 3*4 = 12, then 12 + 2 = 15, x = 3."), scripted())
    )
    assert sample.text.split("\n") == ["correct: 3*4 = 12", "wrong: 12+2 = 15", "not checkable: x = 3"]


async def test_what_cannot_be_checked_can_be_left_unscored() -> None:
    found = await judged(ToolVerify(neutral=None), path("Let us begin."), scripted())
    assert found == Unscored("nothing in the step can be checked")
    assert await judged(ToolVerify(), path(" \n"), scripted()) == Unscored("empty step")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch made') + 1 = 2",
        "\\input{/etc/passwd} + 1 = 2",
        "().__class__.__bases__[0].__subclasses__() = 3 + 1",
        "eval(1+1) = 2",
    ],
)
def test_program_text_is_no_statement(text: str) -> None:
    assert not [found for found in ToolVerify().check(text) if found.verdict != "not checkable"]


def test_this_process_loads_no_computer_algebra() -> None:
    program = (
        "import sys; from mctsr.judge.grounded.verify import ToolVerify; found = ToolVerify().check('3*4 = 12');"
        "assert [str(one) for one in found] == ['correct: 3*4 = 12'], found; assert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100)


async def test_the_event_loop_goes_on_while_workers_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(self: Asking, gold: str, answer: str, tolerance: str = "") -> Outcome:
        time.sleep(0.2)
        return Outcome(True, "symbolic", "the same formula")

    monkeypatch.setattr(Asking, "ask", slow)
    judging = asyncio.create_task(judged(ToolVerify(), path("3*4 = 12"), scripted()))
    beats = 0
    while not judging.done():
        await asyncio.sleep(0.01)
        beats += 1
    assert beats > 5
    assert the_sample(await judging).value == 1.0


async def test_a_missing_computer_algebra_system_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Asking, "ask", lambda *given: Outcome(False, "none", UNAVAILABLE))
    with pytest.raises(UsageError, match="install math-verify"):
        await judged(ToolVerify(), path("3*4 = 12"), scripted())


async def test_a_step_of_ten_thousand_characters_is_checked_up_to_a_limit() -> None:
    long = "\n".join(f"{i} + 1 = {i + 1}" for i in range(1000))
    sample = the_sample(await judged(ToolVerify(most=5), path(long), scripted()))
    assert sample.text.count("\n") == 4
    for hostile in (
        "(" * 10_000 + "= 1",
        "1 = " * 2_500,
        "\\" * 10_000,
        "x" * 10_000,
        " \n" * 5_000 + "=",
        "*" * 10_000,
        "**a" + "b" * 10_000 + " = 1",
        "\\, " * 3_000 + "=",
        "\\quad" * 2_000 + "=",
        "1" + " " * 10_000 + "= 1",
        "\\boxed{" * 2_000 + "= 1",
        "* $" * 4_000 + "=",
    ):
        start = time.perf_counter()
        statements(plain_lines(hostile))
        assert time.perf_counter() - start < 1.0


@given(st.integers(-999, 999), st.integers(1, 999), st.sampled_from("+-*"), st.integers(-3, 3))
@settings(max_examples=25)
def test_sums_are_right_exactly_when_they_are(a: int, b: int, sign: str, error: int) -> None:
    result = {"+": a + b, "-": a - b, "*": a * b}[sign] + error
    ((finding),) = (
        ToolVerify().check(f"We get {a} {sign} {b} = {result} in all.")
        if a >= 0
        else ToolVerify().check(f"{a} {sign} {b} = {result}")
    )
    assert finding.verdict == ("wrong" if error else "correct")


@given(st.text(alphabet="12+-*/=() xa.,$\\n{}≈^%", max_size=60))
def test_every_statement_is_balanced_and_has_two_sides(text: str) -> None:
    for found in statements(plain_lines(text)):
        for side in (found.left, found.right):
            assert side.strip()
            assert all(side.count(a) == side.count(b) for a, b in ("()", "{}", "[]"))


@pytest.mark.parametrize("made", [{"neutral": 1.5}, {"most": 0}, {"seconds": 0.0}])
def test_numbers_out_of_range_are_refused(made: dict[str, float]) -> None:
    with pytest.raises(RecipeError):
        ToolVerify(**made)  # type: ignore[arg-type]


async def test_checking_keeps_the_laws() -> None:
    await check_judge(ToolVerify())
