"""Grading finished problems: after the search, from the outside.

Knows which answers of a result are graded, how grades are replaced, what run.json says of gold answers, and when a
search may be told whether an answer is right.
Gold answers come in as arguments.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from mctsr.errors import RecipeError, shown
from mctsr.grading import Gold, Grader
from mctsr.lm import wire
from mctsr.recipe import Recipe

from . import files
from .build import summary_record
from .folder import Run
from .layout import GRADES, RUN, SUMMARY, lock_folder
from .records import SCHEMA, GradeRecord, ResultRecord, RunRecord

USES_GOLD = (
    "the search compared answers with the known ones (uses_gold): its trees are for labels, and what it selected is no "
    "test result"
)


class Change(NamedTuple):
    """A verdict that is not what it was; None stands for no verdict.

    Attributes:
        id: The problem.
        answer: The answer that was graded.
        before: Whether it was right.
        after: Whether it is now.
    """

    id: str
    answer: str
    before: bool | None
    after: bool | None


def gold_sha256(gold: Mapping[str, Gold | str]) -> str:
    """Hash gold answers by id, whatever their order; a typed one counts as it is spelt."""
    return hashlib.sha256(wire.canonical({id: str(answer) for id, answer in gold.items()})).hexdigest()


def with_gold(record: RunRecord, gold: Mapping[str, Gold | str]) -> RunRecord:
    """Return run.json with the ids of its problems that have a gold answer in `gold`, and a hash of these."""
    known = {id: gold[id] for id in record["problem_ids"] if id in gold}
    return {**record, "gold_ids": list(known), "gold_sha256": gold_sha256(known) if known else None}


def labelling(
    recipe: Recipe, arguments: Mapping[str, object], ids: Sequence[str], gold: Mapping[str, str]
) -> tuple[str, ...]:
    """Check that a recipe which compares answers with known ones was told to; returns what the run must say of it.

    Args:
        recipe: The recipe.
        arguments: What it was composed with.
        ids: Of the problems.
        gold: Known answers by id.

    Raises:
        RecipeError: It was not asked for by name, or a problem has no known answer.
    """
    if not recipe.uses_gold:
        return ()
    if arguments.get("uses_gold") is not True:
        how = (
            "run it with -s uses_gold=true" if "uses_gold" in arguments else "it takes no argument uses_gold"
        )
        raise RecipeError(
            "the recipe compares answers with the known ones, and nobody asked for it; a recipe that labels takes an "
            f"argument uses_gold, off by default: {how}"
        )
    if not gold:
        raise RecipeError(
            "uses_gold=true, and no problem has a known answer; give a data file that has some, name their column with "
            "--answer-field, or drop uses_gold"
        )
    if missing := [id for id in ids if id not in gold]:
        raise RecipeError(
            f"uses_gold=true: {len(missing)} of {len(ids)} problems have no known answer, such as "
            f"{shown(missing[0])}; leave them out with --ids, name the column with --answer-field, or drop uses_gold"
        )
    return (USES_GOLD,)


def grade_result(grader: Grader, gold: Gold | str, result: ResultRecord) -> GradeRecord:
    """Grade every spelling of an answer that a problem's tree holds."""
    answers = result["answers"]
    asked = [*answers["distinct"], answers["first"], answers["selected"], answers["majority"]]
    grades = {answer: grader.grade(gold, answer) for answer in asked if answer is not None}
    return {
        "schema": SCHEMA,
        "id": result["id"],
        "gold": str(gold),
        "grader": grader.identity,
        "verdicts": {
            answer: {"equal": grade.equal, "method": grade.method, "reason": grade.reason}
            for answer, grade in grades.items()
        },
    }


def regrade(run: Run, gold: Mapping[str, Gold | str], grader: Grader | None = None) -> list[Change]:
    """Grade a run anew and replace its grades at once; problems without gold lose theirs.

    run.json then says which problems these gold answers belong to.

    Args:
        run: A run that nobody is writing.
        gold: Gold answers by problem id.
        grader: Who grades; None takes a grader with the standard policy, for this run alone.

    Returns:
        The verdicts that changed.

    Raises:
        RunError: The run is being written.
    """
    lock = lock_folder(run.path)
    try:
        current = Run.open(run.path)
        results, old = current.results(), current.grades()
        graded = {id: result for id, result in results.items() if id in gold and result["status"] == "ok"}
        with Grader() if grader is None else nullcontext(grader) as judge:
            new = {id: grade_result(judge, gold[id], result) for id, result in graded.items()}
        files.write_atomic(run.path / GRADES, b"".join(files.dumps(grade) + b"\n" for grade in new.values()))
        files.write_atomic(run.path / RUN, files.dumps(with_gold(current.record, gold)))
        summary = summary_record(run.record["problem_ids"], results, new)
        files.write_atomic(run.path / SUMMARY, files.dumps(summary))
        return _changes(old, new)
    finally:
        os.close(lock)


def _changes(old: Mapping[str, GradeRecord], new: Mapping[str, GradeRecord]) -> list[Change]:
    found = []
    for id in dict.fromkeys([*old, *new]):
        before, after = _verdicts(old.get(id)), _verdicts(new.get(id))
        for answer in dict.fromkeys([*before, *after]):
            change = Change(id, answer, before.get(answer), after.get(answer))
            if change.before is not change.after:
                found.append(change)
    return found


def _verdicts(grade: GradeRecord | None) -> dict[str, bool]:
    return {} if grade is None else {answer: said["equal"] for answer, said in grade["verdicts"].items()}
