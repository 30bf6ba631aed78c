"""What graders disagree about, settled three ways."""

import pytest

from mctsr.grading import Grader, Policy

DISPUTED = [
    # gold, answer, strict, standard, lenient
    ("1,2,3", "1,3,2", False, True, True),
    ("0.42", "5/12", False, True, True),
    ("1/3", "0.33333", False, True, True),
    ("10", "10cm", False, True, True),
    ("2\\sqrt{3}", "2\\sqrt{3} cm", False, True, True),
    ("(3,4]", "3 < x \\le 4", False, True, True),
    ("(1,2,3)", "[1,2,3]", False, True, True),
    ("0.75", "75", False, False, True),
    ("5", "5.001", False, False, True),
    ("2", "2.0001", False, False, True),
    ("1/3", "0.333", False, False, True),
    ("\\{1,2\\}", "(1,2)", False, False, True),
    ("(1,2)", "1,2", False, False, True),
    ("\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "(1,2)", False, False, True),
    ("3/4", "3:4", False, False, True),
    # agreed
    ("1/2", "2/4", True, True, True),
    ("649", "3245/5", True, True, True),
    ("10\\%", "0.1", True, True, True),
    ("10\\%", "10", True, True, True),
    ("\\{1,2\\}", "\\{2,1\\}", True, True, True),
    ("2125", "2,125", True, True, True),
    ("5.333333333333333", "5.3333333", True, True, True),
    ("(1,2)", "(2,1)", False, False, False),
    ("(0,9)", "[0,9)", False, False, False),
    ("5", "6", False, False, False),
    ("100000000000", "99999999999", False, False, False),
    ("1,2", "1,2,3", False, False, False),
]


@pytest.mark.parametrize(("gold", "answer", "strict", "standard", "lenient"), DISPUTED)
def test_each_policy_takes_its_side(
    gold: str, answer: str, strict: bool, standard: bool, lenient: bool
) -> None:
    said = [Grader(symbolic=False, policy=policy).grade(gold, answer).equal for policy in Policy]
    assert said == [strict, standard, lenient]


def test_policies_hold_for_formulas_that_are_evaluated() -> None:
    for policy, decimal in ((Policy.STRICT, False), (Policy.STANDARD, True), (Policy.LENIENT, True)):
        with Grader(policy=policy) as grader:
            assert grader.grade("\\sqrt{2}", "1.41421").equal is decimal
            assert grader.grade("2\\sqrt{3}", "\\sqrt{12}").equal
            assert not grader.grade("\\sqrt{2}", "\\sqrt{3}").equal


def test_a_box_inside_the_reasoning_counts_leniently_when_there_is_no_other() -> None:
    reply = "<think>So it must be \\boxed{7}.</think>"
    assert Grader().grade_reply("7", reply).method == "no-answer"
    assert Grader(policy=Policy.LENIENT).grade_reply("7", reply).equal
