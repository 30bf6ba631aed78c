"""The grader as an object: records, memory, threads and the event loop."""

import asyncio
import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest

from mctsr.grading import Grade, Grader, Policy

PAIRS = [(str(n), f"\\boxed{{{n:,}}}") for n in range(1000, 1050)]
MIXED = [*PAIRS, ("5", "6"), ("C", "(D)"), ("2\\sqrt{3}", "\\sqrt{12}"), ("Yes", "No"), ("5", "")]


def test_a_grade_is_a_frozen_record() -> None:
    grade = Grader().grade("5", "5")
    assert grade == Grade(True, "exact", "same text", "5")
    with pytest.raises(dataclasses.FrozenInstanceError):
        grade.equal = False  # type: ignore[misc]


@pytest.mark.parametrize(
    ("gold", "answer", "method"),
    [("5", "5", "exact"), ("2125", "2,125", "numeric"), ("C", "(C)", "choice"), ("x+1", "1+x", "symbolic"),
     ("x", "9^{9^9}", "none"), ("5", None, "no-answer"), ("5", "  ", "no-answer"), ("5", "6", "numeric"),
     ("C", "D", "choice")],
)  # fmt: skip
def test_the_method_says_how_the_verdict_was_found(gold: str, answer: str | None, method: str) -> None:
    with Grader() as grader:
        grade = grader.grade(gold, answer)
    assert grade.method == method
    assert grade.extracted == answer
    assert grade.reason
    assert grade.ungradable == (method == "none")


def test_two_empty_answers_are_not_equal() -> None:
    assert not Grader().grade("", "").equal


def test_a_pair_seen_before_gets_the_same_record_and_the_context_forgets_it() -> None:
    grader = Grader()
    with grader:
        first = grader.grade("1/2", "0.5")
        assert grader.grade("1/2", "0.5") is first
    with grader:
        again = grader.grade("1/2", "0.5")
    assert again == first
    assert again is not first


def test_the_gold_has_no_say_in_how_a_reply_is_read() -> None:
    reply = "The answer is (C), since 12 is prime to 7."
    with Grader() as grader:
        read = {grader.grade_reply(gold, reply, kind="letter").extracted for gold in ("C", "12", "7", "x+1")}
    assert read == {"C"}


def test_threads_and_the_event_loop_give_the_verdicts_of_the_main_thread() -> None:
    with Grader() as grader:
        here = [grader.grade(gold, answer) for gold, answer in MIXED]
        with ThreadPoolExecutor(8) as pool:
            threads = list(pool.map(lambda pair: grader.grade(*pair), MIXED))

    async def grade_all() -> list[Grade]:
        with Grader() as grader:
            return await asyncio.gather(*(asyncio.to_thread(grader.grade, *pair) for pair in MIXED))

    assert here == threads == asyncio.run(grade_all())
    assert sum(grade.equal for grade in here) == len(PAIRS) + 1


async def test_grading_inside_a_running_loop_is_the_same() -> None:
    with Grader() as grader:
        assert [grader.grade(*pair).equal for pair in PAIRS] == [True] * len(PAIRS)


def test_grades_are_signed_with_the_version_and_what_is_not_the_default() -> None:
    assert Grader().identity == Grader.version
    assert Grader(policy=Policy.STRICT).identity == f"{Grader.version} (strict)"
    assert Grader(symbolic=False, policy=Policy.LENIENT).identity == f"{Grader.version} (exact only, lenient)"
