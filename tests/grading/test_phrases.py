"""Phrases around numbers: what a reply or an answer in words says, and what must not be cut out of it."""

import pytest

from mctsr.grading import Grader, extract_answer, gold_of

GRADER = Grader(symbolic=False)


@pytest.mark.parametrize(
    ("gold", "reply"),
    [
        ("8", "The answer is not 8."),
        ("8", "The answer isn't 8."),
        ("8", "The answer is not $8$."),
        ("100", "The answer is less than 100."),
        ("8", "The answer is at least 8 apples."),
        ("14", "Final Answer: 14 hours and 30 minutes"),
        ("10", "The answer is 10 feet 6 inches."),
        ("50", "The answer is 50 red and 20 blue marbles."),
        ("12", "**Answer: 12 apples and 5 oranges**"),
        ("100", "**Answer:** 100 – 20 = 80"),
        ("20", "The answer is June 20."),
        ("20", "The date is **June 20**"),
        ("3", "So x = 5, y = 3."),
    ],
)
def test_a_number_is_not_cut_out_of_a_phrase_that_says_something_else(gold: str, reply: str) -> None:
    assert not GRADER.grade_reply(gold, reply).equal


@pytest.mark.parametrize(
    ("gold", "reply"),
    [
        ("14 hours and 30 minutes", "Final Answer: 14 hours and 30 minutes"),
        ("8", "The answer is 8, not 9."),
        ("80", "**Answer:** 100 – 20 = 80"),
        ("12", "The answer is 12 – as we have seen."),
        ("C", "The correct option is **C**."),
        ("C", "The correct option is (C) 42."),
        ("C", "**C) 42**"),
        ("42", "The correct option is (C) 42."),
        ("2", "Answer: 2 (since x=3 is extraneous)"),
        ("June 20", "The date is **June 20**"),
        ("June 20", "The answer is June 20."),
        ("1,-2", r"x=\boxed{1} or x=\boxed{-2}"),
        ("(5,3)", "x = 5, y = 3"),
    ],
)
def test_the_whole_of_what_a_phrase_says_is_read(gold: str, reply: str) -> None:
    assert GRADER.grade_reply(gold, reply).equal


def test_a_choice_that_names_no_letter_is_no_cue() -> None:
    assert extract_answer("It costs 12. The best choice is to divide by 3, which gives 4.") == "4"


def test_boxes_of_different_unknowns_are_not_one_answer() -> None:
    assert extract_answer(r"x=\boxed{1} and y=\boxed{2}") == "2"


def test_a_reader_of_numbers_gets_the_number_of_an_option_or_a_day() -> None:
    assert extract_answer("The correct option is (C) 42.", "number") == "42"
    assert extract_answer("The date is **June 20**", "number") == "20"


@pytest.mark.parametrize(
    ("gold", "answer", "verdict"),
    [
        ("18", "Janet makes **$18** every day.", True),
        ("70000", "The profit is $70,000.", True),
        ("B", "The answer is (B).", True),
        ("\\frac{1}{2}", "The probability is $\\frac{1}{2}$.", True),
        ("C", "The answer is (B).", False),
        ("18", "Janet makes less than $18 every day.", False),
        ("18", "She does not make $18 now.", False),
        ("18", "There are 18 boxes and 3 bags.", False),
        ("7", "He needs $7 more.", False),
        ("5", "The square root of 5", False),
    ],
)
def test_an_answer_that_is_a_sentence_is_read_once(gold: str, answer: str, verdict: bool) -> None:
    assert GRADER.grade(gold, answer).equal is verdict


@pytest.mark.parametrize(
    ("answer", "verdict"), [("3", False), ("3, 3", True), ("3, 5", False), ("3, 3, 3", False)]
)
def test_an_answer_that_a_list_repeats_is_due_as_many_times(answer: str, verdict: bool) -> None:
    assert GRADER.grade(gold_of(["3", "3"]), answer).equal is verdict
