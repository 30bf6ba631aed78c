"""A table of replies as models write them, and the answer that each one gives."""

import time
from collections.abc import Callable

import pytest

from mctsr.grading import Grader, extract_answer

REPLIES = [
    # the mark of GSM8K, used and misused
    ("3 + 4 = 7\n#### 7", None, "7"),
    ("\\boxed{198}\\n#### 198\\)", None, "198"),
    ("So it is 12.\\n#### 12", None, "12"),
    ("#### Final Answer\n\n99077", None, "99077"),
    ("#### Final Answer: 42\n\nThank you for the 3 hints!", None, "42"),
    ("#### [answer] 99077", None, "99077"),
    ("#### [85]", None, "85"),
    ("#### $75,000", None, "$75,000"),
    ("We divide.\n#### 36.36 seconds", None, "36.36 seconds"),
    ("#### **24**", None, "24"),
    ("#### 65√2", None, "65√2"),
    ("#### 156sqrt(3)", None, "156sqrt(3)"),
    ("```\n#### 42\n```", None, "42"),
    ("\\[\n#### 42\n\\]", None, "42"),
    ("#### 42\n---\nI hope that this helps with all 3 parts.", None, "42"),
    ("#### 18 --- that is 3 more", None, "18"),
    ("#### 12\n\n#### Conclusion\nHe has 13?", None, "12"),
    ("#### Step 3: Compute\nso we get 5*4 = 20", None, "20"),
    ("#### 1. Compute the cost\nso we get 5*4 = 20", None, "20"),
    ("#### Calculation for 3 days\nHe needs 7.", None, "7"),
    ("#### The total is 42 dollars", None, "42"),
    ("#### 3 apples + 4 oranges = 7 fruits", "number", "7"),
    ("#### {final_answer}\nso 5", None, "5"),
    ("#### [computed value]\nThe answer is 5.", None, "5"),
    ("#### Yes", None, "Yes"),
    ("#### -20", None, "-20"),
    ("#### $-20$", None, "-20"),
    ("#### C", "letter", "C"),
    # boxes
    ("Thus $\\boxed{\\frac{1}{2}}$.", None, "\\frac{1}{2}"),
    ("\\boxed{840} … so \\boxed{840}", None, "840"),
    ("\\boxed{5}. Wait, that is wrong. \\boxed{6}", None, "6"),
    ("$\\boxed{1}$ and $\\boxed{2}$", None, "1, 2"),
    ("\\boxed{1}, \\boxed{2}, and \\boxed{3}", "number", "1, 2, 3"),
    ("\\boxed{7}, \\boxed{7}", None, "7"),
    ("\\fbox{17}", None, "17"),
    ("\\boxed{x = \\boxed{5}}", None, "5"),
    ("\\boxed 42", None, "42"),
    ("\\boxed{\\{1, 2\\}}", "formula", "\\{1, 2\\}"),
    ("\\boxed{answer} and then 5", None, "5"),
    ("The answer is 4. \\boxed{\\text{your answer}}", None, "4"),
    ("first \\boxed{3}, then \\boxed{\\frac{1}{2", None, "3"),
    ("\\boxed{1,234}", "number", "1,234"),
    ("\\boxed{\\begin{pmatrix} -2 \\\\ 7 \\end{pmatrix}}", None, "\\begin{pmatrix} -2 \\\\ 7 \\end{pmatrix}"),
    ("\\boxed{\\text{(C)}}", "letter", "C"),
    ("\\boxed{\\text{E}}", None, "\\text{E}"),
    # phrases
    ("5+7=12 so … the answer is 9", None, "9"),
    ("The answer is **73**.", None, "73"),
    ("The answer is $1,234.50.", None, "$1,234.50"),
    ("Final Answer: The final answer is $42$. I hope it is correct.", None, "42"),
    ("**Final Answer:** 42", None, "42"),
    ("**Answer**: $18", None, "$18"),
    ("[Final Answer] The answer is 5 apples", None, "5 apples"),
    ("### Answer\n7 apples", None, "7"),
    ("The answer is 18 dollars per day over 7 days.", None, "18"),
    ("The final answer is $\\frac{3}{4}$ of the cake", None, "\\frac{3}{4}"),
    ("Thus the answer is\n\\[ \\frac{1}{2} \\]\nDone in 7 steps.", None, "\\frac{1}{2}"),
    ("The answer is:\n$$x = 5$$", None, "x = 5"),
    ("The answer is $x^2+1$.", "formula", "x^2+1"),
    ("My answer is: \\( 5\\sqrt{2} \\).", "formula", "5\\sqrt{2}"),
    ("The answer is Paris.", None, "Paris"),
    ("A: 12", None, "12"),
    ("The answer is 12. I checked it again: the answer is correct.", None, "12"),
    ("Your answer was wrong, so the total is not it.\nAnswer: 9", None, "9"),
    ("Let the answer be x. Then x = 4", None, "4"),
    ("The answer is \\(x = 1\\) or \\(x = 3\\).", "formula", "\\(x = 1\\) or \\(x = 3\\)"),
    ("$$ \\text{Answer} = 42 $$", None, "42"),
    ("The answers are 3 and 5.", None, "3 and 5"),
    # JSON and tags
    ('{"answer": "42"}', None, "42"),
    ('{"reasoning": "3 things", "answer": 42, "sure": 1}', None, "42"),
    ('{"answer": "\\\\frac{1}{2}", "x": 3}', None, "\\frac{1}{2}"),
    ('{"answer": "\\frac{1}{2}"}', None, "\\frac{1}{2}"),
    ('```json\n{"final_answer": -3.5}\n```', None, "-3.5"),
    ("<answer>42</answer> (from 6 times 7)", None, "42"),
    ("<answer>\n\\frac{3}{4}\n</answer>", None, "\\frac{3}{4}"),
    # reasoning blocks and runaway continuations
    ("<think>\\boxed{3}</think> The answer is 4.", None, "4"),
    ("so \\boxed{3}? </think>\nAnswer: 12", None, "12"),
    ("<think>so \\boxed{3}", None, None),
    ("The answer is 7.\n\nQuestion: What is 4+5?\nAnswer: 9", None, "7"),
    ("#### 7\n\nProblem: What is 4+5?\n#### 9", None, "7"),
    ("12 it is.\n\nProblem: What is 4+5?\nWe get 9.", None, "12"),
    ("Problem: What is 3+4?\nSolution: add them to 7.\nAnswer: 7", None, "7"),
    ("The answer is 7.<|im_end|>\nThe answer is 9.", None, "7"),
    # option letters
    ("The answer is (C).", "letter", "C"),
    ("The answer is (C).", None, "(C)"),
    ("The correct answer is option C because 5 > 3", "letter", "C"),
    ("Answer: B) 12", "letter", "B"),
    ("A) 3\nB) 4\n\nSo it must be\n\n**B**", "letter", "B"),
    ("The answer is A rectangle.", "letter", None),
    ("I think it is 5.", "letter", None),
    ("The answers are B and D", "letter", "B and D"),
    # the last number, where that is allowed
    ("He pays 3 and then 5", None, "5"),
    ("He pays 3 and then 5", "number", "5"),
    ("He pays 3 and then 5", "formula", None),
    ("x = -5", None, "-5"),
    ("She has 3.5 million dollars", "number", "3.5 million"),
    ("I'm sorry for the confusion. The total is 45.", None, "45"),
    ("10-5", None, "5"),
    ("The total comes to 1{,}250", "number", "1{,}250"),
    ("It comes to \\frac{3}{4}", "number", "\\frac{3}{4}"),
    ("```python\nx = 5\nprint(x + 3)\n```", None, None),
    # no answer
    ("", None, None),
    ("   \n", None, None),
    ("Let me think about it.", None, None),
    ("Answer: unknown", None, None),
    ("The answer is not clear from the problem statement, sorry.", None, None),
]

REFUSALS = [
    "I don't know.", "I Don't Know", "I do not know the answer to problem 3.", "I can't answer this question.",
    "I don't know how to solve step 2.", "Sorry, I can't help with this question.", "I'm sorry, I am unable to.",
    "#### I don't know", "Answer: I don't know", "\\boxed{\\text{I don't know}}", "The answer is unknown.",
    "No idea.", "I’m not sure about 5.", "I cannot understand question 4.", "#### N/A",
    "I don't know the answer to this question, sorry.",
]  # fmt: skip


@pytest.mark.parametrize(("reply", "kind", "expected"), REPLIES)
def test_the_answer_of_a_reply_is_found_as_it_was_typed(
    reply: str, kind: str | None, expected: str | None
) -> None:
    assert extract_answer(reply, kind) == expected


@pytest.mark.parametrize("kind", [None, "number", "letter", "formula"])
@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_gives_no_answer(reply: str, kind: str | None) -> None:
    assert extract_answer(reply, kind) is None


def test_an_unknown_kind_names_the_kinds_that_exist() -> None:
    with pytest.raises(ValueError, match='"number", "letter", "formula"'):
        extract_answer("5", "word")


def test_a_whole_reply_is_graded_with_what_was_extracted() -> None:
    with Grader() as grader:
        right = grader.grade_reply("75000", "He earns it all.\n#### $75,000")
        empty = grader.grade_reply("75000", "I don't know.")
    assert (right.equal, right.method, right.extracted) == (True, "numeric", "$75,000")
    assert (empty.equal, empty.method, empty.extracted) == (False, "no-answer", None)


HOSTILE: list[tuple[str, Callable[[int], str]]] = [
    ("open braces", lambda n: "{" * n),
    ("open boxes", lambda n: "\\boxed{" * (n // 7)),
    ("nested boxes", lambda n: "\\boxed{" * (n // 8) + "5" + "}" * (n // 8)),
    ("lone surrogates", lambda n: "\ud800" * n),
    ("digits", lambda n: "1" * n),
    ("digit groups", lambda n: "123," * (n // 4)),
    ("blanks", lambda n: " " * n),
    ("cues", lambda n: "answer " * (n // 7)),
    ("options", lambda n: "the answer is option is " * (n // 24)),
    ("marks", lambda n: "#### a b c\n" * (n // 11)),
    ("open JSON", lambda n: '"answer": "' * (n // 11)),
    ("open displays", lambda n: "answer: \\[ " * (n // 11)),
    ("dollars", lambda n: "answer: $x" * (n // 10)),
]


@pytest.mark.parametrize("kind", [None, "letter"])
@pytest.mark.parametrize("make", [make for _, make in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_hostile_reply_costs_linear_time(make: Callable[[int], str], kind: str | None) -> None:
    start = time.perf_counter()
    extract_answer(make(100_000), kind)
    assert time.perf_counter() - start < 3.0  # measured 0.01 to 0.2 s; quadratic work takes minutes


def test_a_megabyte_with_an_answer_at_its_end_still_gives_it() -> None:
    assert extract_answer("{ \ud800 \\boxed{ " * 70_000 + "\nThe answer is 5.", None) == "5"
