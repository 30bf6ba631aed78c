"""Faults that other graders were reported for: each on ours."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mctsr.grading import Grader, extract_answer


def test_the_same_answer_boxed_twice_is_one_answer() -> None:
    assert Grader().grade_reply("840", "We get \\boxed{840}. So the answer is \\boxed{840}.").equal


@pytest.mark.parametrize(
    "reply", ["The answer is **73**", "**The answer is 73.**", "The answer is: **73**.", "**73**"]
)
def test_bold_around_an_answer_does_not_hide_it(reply: str) -> None:
    assert Grader().grade_reply("73", reply).equal


@pytest.mark.parametrize("gold", ["\\sqrt{17}", "\\dfrac{9}{7}", "\\frac{9}{7}", "2\\pi", "x+1"])
def test_bare_and_wrapped_golds_and_answers_get_the_same_verdict(gold: str) -> None:
    spellings = [gold, f"${gold}$", f"\\boxed{{{gold}}}", f"\\({gold}\\)"]
    grader = Grader(symbolic=False)
    assert all(grader.grade(one, other).equal for one in spellings for other in spellings)


@pytest.mark.parametrize(
    "reply", ["\\boxed{\\text{E}}", "\\boxed{E}", "The answer is (E)", "Answer: E.", "(E)", "E."]
)
def test_an_option_letter_is_read_in_every_wrapping(reply: str) -> None:
    with Grader() as grader:
        assert grader.grade_reply("E", reply, kind="letter").equal
        assert not grader.grade_reply("D", reply, kind="letter").equal


def test_fifty_right_answers_are_right_from_eight_threads_and_inside_a_loop() -> None:
    pairs = [(f"{n}\\sqrt{{2}}", f"\\sqrt{{{2 * n * n}}}") for n in range(2, 52)]

    async def in_loop(grader: Grader) -> int:
        return sum([(await asyncio.to_thread(grader.grade, *pair)).equal for pair in pairs])

    with Grader() as grader, ThreadPoolExecutor(8) as threads:
        assert sum(grade.equal for grade in threads.map(lambda pair: grader.grade(*pair), pairs)) == 50
    with Grader() as grader:
        assert asyncio.run(in_loop(grader)) == 50


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("5+7=12 so there are 12 in all. 3 go, so the answer is 9", "9"),
        ("The answer is 9.\n\nQuestion: What is 2+2?\nThe answer is 4.", "9"),
        ("#### 9\n\nProblem: Tom has 3 apples.\n#### 3", "9"),
        ("Example: 2+2=4. Here \\boxed{9} of 12.", "9"),
    ],
)
def test_numbers_of_the_working_and_of_later_examples_do_not_count(reply: str, answer: str) -> None:
    assert extract_answer(reply) == answer


def test_ten_thousand_integer_answers_take_less_than_two_seconds_and_no_worker() -> None:
    with Grader() as grader:
        start = time.perf_counter()
        right = sum(grader.grade_reply(str(n), f"So \\boxed{{{n}}}").equal for n in range(10_000))
        assert time.perf_counter() - start < 2.0
        assert grader.worker_pids == []
    assert right == 10_000


def test_an_equivalent_form_is_right_or_ungradable_but_never_called_wrong() -> None:
    pairs = [
        ("2\\sqrt{3}", "\\sqrt{12}"),
        ("x^2-1", "(x-1)(x+1)"),
        ("\\frac{\\sqrt{2}}{2}", "\\frac{1}{\\sqrt{2}}"),
    ]
    exact = Grader(symbolic=False)
    with Grader() as grader:
        for gold, answer in pairs:
            assert exact.grade(gold, answer).ungradable
            assert grader.grade(gold, answer).equal


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("1 + 1/\\mathrm{e}", "1 - 1/\\mathrm{e}"), ("1/2006!", "1/2004!"), ("1/2^{98}", "1/2^{99}"),
        ("4", "4\\sqrt(2)"),
        ("1, 3, \\ldots, 2n-1", "1, 2, \\ldots, n"), ("1:4:9:\\ldots", "1:2:3:\\ldots"), ("10^{10^{10}}", "10^{10}"),
        ("\\cos x = a", "\\sin x = a"), ("4, 12, 2", "10, 4, 2"), ("2e", "2 * sqrt(e)"), ("100!", "100"),
        ("(0,9)", "[0,9)"),
        ("(a+5)(b+2)", "(+5)(b+2)"), ("1, 2", "1"), ("262537412640768744", "e^{\\pi\\sqrt{163}}"), ("3R^2", "3r^2"),
        ("x", "|x|"), ("x", "\\sqrt{x^2}"), ("0", "10^{-60}"), ("2^\\frac{1}{2}", "1/2"), ("f'(x)", "f(x)"),
    ],
)  # fmt: skip
def test_a_wrong_answer_that_other_graders_accept_is_not_accepted(gold: str, answer: str) -> None:
    grader = Grader()
    assert not grader.grade(gold, answer).equal
    assert not grader.grade(answer, gold).equal
