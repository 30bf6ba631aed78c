"""The problems of a run as a list: how each ended, what its answers are worth, what is left. Reads no tree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mctsr.runs.layout import LIVE
from mctsr.runs.records import GradeRecord, ResultRecord
from mctsr.runs.verdict import Word, word_of

from .words import counted

if TYPE_CHECKING:
    from mctsr.runs.folder import Run


@dataclass(frozen=True, slots=True)
class ProblemView:
    """One problem that has a result.

    Attributes:
        number: Its place in the run, from 1.
        result: Its record.
        gold: Its gold answer, None without a grade.
        verdicts: What the answers "first", "selected" and "majority" are worth.
    """

    number: int
    result: ResultRecord
    gold: str | None
    verdicts: Mapping[str, Word]

    @classmethod
    def of(cls, number: int, result: ResultRecord, grade: GradeRecord | None) -> "ProblemView":
        """Gather what is known of one problem."""
        answers = result["answers"]
        verdicts = {
            "first": word_of(answers["first"], grade),
            "selected": word_of(answers["selected"], grade),
            "majority": word_of(answers["majority"], grade),
        }
        return cls(number, result, None if grade is None else grade["gold"], verdicts)

    @property
    def failed(self) -> bool:
        """Whether no search came about."""
        return self.result["status"] == "failed"

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON: the result, and what grading adds to it."""
        return {"number": self.number, **self.result, "gold": self.gold, "verdicts": dict(self.verdicts)}


def problem_views(
    ids: Sequence[str], results: Mapping[str, ResultRecord], grades: Mapping[str, GradeRecord]
) -> list[ProblemView]:
    """Return the problems that have a result, in the order of `ids`."""
    numbered = enumerate(ids, start=1)
    return [ProblemView.of(number, results[id], grades.get(id)) for number, id in numbered if id in results]


def remainder(run: "Run") -> str:
    """Say how many problems have no result yet and what to do about it; "" when all have one."""
    left, total = len(run.unfinished()), len(run.record["problem_ids"])
    if not left:
        return ""
    if left == total:
        begun = sum(1 for _ in (run.path / LIVE).glob("*.jsonl"))
        kept = f", {begun} begun, whose replies so far are kept" if begun else ""
        what = f"no problem is finished yet (0 of {total}{kept})"
    else:
        what = f"{counted(left, 'problem')} not finished"
    return f"{what}; " + (
        "the run is going on" if run.state == "running" else f"go on with: mctsr resume {run.path}"
    )
