"""The four rules of choosing an answer that are always shown side by side, and which problems count.

Reads results and grades alone; unknown verdicts are not right, failed problems count as wrong.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from mctsr.runs.records import AnswersRecord, GradeRecord, ResultRecord
from mctsr.runs.verdict import word_of

ORACLE = "any node correct; not a score of the recipe"

TOLD = "no test result: the search was told which answers are right (uses_gold)"

RULES: Mapping[str, Callable[[AnswersRecord], Iterable[str | None]]] = {
    "first": lambda answers: [answers["first"]],
    "selected": lambda answers: [answers["selected"]],
    "majority": lambda answers: [answers["majority"]],
    "oracle": lambda answers: answers["distinct"],
}
"""Which answers of a problem each rule looks at; one right answer among them is enough."""


def note_of(rule: str, *, told: bool) -> str:
    """Say what must be known of a rule's score, "" for nothing; `told` means that known answers steered the search."""
    if rule == "oracle":
        return ORACLE
    return TOLD if told and rule != "first" else ""


def is_counted(result: ResultRecord, grades: Mapping[str, GradeRecord], with_gold: Collection[str]) -> bool:
    """Say whether a problem is in the denominator: it is graded, or failed and has a gold answer."""
    return result["id"] in grades or (result["status"] == "failed" and result["id"] in with_gold)


def is_right(rule: str, result: ResultRecord, grade: GradeRecord | None) -> bool:
    """Say whether the rule, one of `RULES`, gives a right answer to a problem."""
    return any(word_of(answer, grade) == "right" for answer in RULES[rule](result["answers"]))
