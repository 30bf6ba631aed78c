"""`mctsr grade`: compare a run's answers with the gold answers once more, without asking a model."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from mctsr.errors import RunError
from mctsr.view.words import counted

from .options import OUTPUT, Json, option
from .render import Column, Line, Screen, Span, one_line, percent, talk, verdict_style
from .runs import RUNS, RunName, RunsDir, open_run

if TYPE_CHECKING:
    from mctsr.runs.folder import Run
    from mctsr.runs.grades import Change


def grade(
    run: RunName,
    data: Annotated[
        str | None,
        option("--data", OUTPUT, "FILE", "Gold answers; default: those of the data that the run recorded."),
    ] = None,
    base: RunsDir = RUNS,
    json: Json = False,
) -> None:
    """Grade a run's answers again and say which verdicts changed; asks no model."""
    from mctsr.report import report
    from mctsr.runs.grades import regrade

    found, screen = open_run(run, base), Screen()
    before = report(found).selected
    changes = regrade(found, _gold(found, data))
    after = report(open_run(str(found.path), base)).selected
    if json:
        told = {"before": before and asdict(before), "after": after and asdict(after)}
        screen.json({"selected": told, "changes": [change._asdict() for change in changes]})
        return
    if changes:
        screen.table(
            [Column("problem"), Column("answer", least=10), Column("before"), Column("now")], _rows(changes)
        )
        screen.line()
    screen.line(f"{counted(len(changes), 'verdict') if changes else 'no verdicts'} changed")
    if after is not None:
        was = f" (before: {before.correct} of {before.n})" if before is not None and before.n else ""
        screen.line(f"selected answers right: {after.correct} of {after.n}, {percent(after.share)}{was}")


def _gold(run: "Run", data: str | None) -> dict[str, str]:
    """Read gold answers from `data`, else from where the run had them.

    Raises:
        RunError: There are none for any problem of the run.
    """
    from mctsr.problems import read_gold

    source = data or run.record["data"]
    gold = read_gold(source) if source else run.record["gold"] or {}
    missing = sum(id not in gold for id in run.record["problem_ids"])
    if missing == len(run.record["problem_ids"]):
        where = f"{source!r} has none for its problems" if source else "it was given none"
        raise RunError(f"{run.path} has no gold answers to grade with: {where}; give --data FILE")
    if missing:
        one = missing == 1
        talk(
            f"{counted(missing, 'problem')} of the run {'has' if one else 'have'} no gold answer "
            f"and {'stays' if one else 'stay'} ungraded"
        )
    return gold


def _rows(changes: Sequence["Change"]) -> list[Line]:
    words = {True: "right", False: "not right", None: "ungraded"}
    return [
        [one_line(change.id), one_line(change.answer)]
        + [Span(words[side], verdict_style(words[side])) for side in (change.before, change.after)]
        for change in changes
    ]
