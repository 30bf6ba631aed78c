"""What a graded answer is called: one of five words, so that unknown is never shown as wrong.

The one place that says whether an answer is right. Touches no file and grades nothing itself.
"""

from typing import Literal

from .records import GradeRecord

Word = Literal["right", "wrong", "ungradable", "no answer", "ungraded"]


def word_of(answer: str | None, grade: GradeRecord | None) -> Word:
    """Say what an answer is worth.

    Args:
        answer: The answer, None when there is none.
        grade: Verdicts on the answers of its problem; None when nothing was graded.
    """
    if grade is None:
        return "ungraded"
    if answer is None:
        return "no answer"
    verdict = grade["verdicts"].get(answer)
    if verdict is None:
        return "ungraded"
    if verdict["method"] == "none":
        return "ungradable"
    return "right" if verdict["equal"] else "wrong"
