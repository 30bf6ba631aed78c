"""`mctsr grade`: compare a run's answers, or pairs from outside, with gold answers; asks no model."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from mctsr.errors import RunError, UsageError, shown
from mctsr.view.words import counted

from .options import DATA, OUTPUT, Json, option
from .runs import RUNS, RunsDir, open_run
from .screen.render import Column, Line, Screen, Span, cut, one_line, percent, talk, verdict_style

if TYPE_CHECKING:
    from mctsr.grading import Gold, Grade, Grader, Policy
    from mctsr.problems import Pair
    from mctsr.runs.folder import Run
    from mctsr.runs.grades import Change
    from mctsr.runs.verdict import Word

_AHEAD = 8
_LONGEST = 100
"""Cells of a gold answer or an answer in a table; beyond, only --json has all of it."""


def grade(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN", help="A folder, its name or the beginning of it, or latest.", show_default=False
        ),
    ] = None,
    data: Annotated[
        str | None,
        option("--data", DATA, "FILE", "Gold answers; default: those of the data that the run recorded."),
    ] = None,
    pairs: Annotated[
        str | None,
        option("--pairs", DATA, "FILE", 'Grade lines {"gold": …, "answer": …} or "reply" instead of a run.'),
    ] = None,
    strict: Annotated[
        bool,
        option("--strict", OUTPUT, None, "Accept only what is equal: no rounding, no order, no units."),
    ] = False,
    lenient: Annotated[
        bool,
        option(
            "--lenient", OUTPUT, None, "Accept what graders disagree about: 75 for 0.75, (1,2) for {1,2}."
        ),
    ] = False,
    base: RunsDir = RUNS,
    json: Json = False,
) -> None:
    """Grade a run's answers again and say which verdicts changed, or grade pairs; asks no model."""
    from mctsr.grading import Grader

    if (run is None) == (pairs is None) or (pairs is not None and data is not None):
        raise UsageError("give either a run (with --data FILE if need be) or --pairs FILE")
    with Grader(policy=_policy(strict, lenient)) as grader:
        if pairs is not None:
            _grade_pairs(pairs, grader, json=json)
        elif run is not None:
            _grade_run(open_run(run, base), data, grader, json=json)
        if grader.notice:
            talk(grader.notice)


def _policy(strict: bool, lenient: bool) -> "Policy":
    from mctsr.grading import Policy

    if strict and lenient:
        raise UsageError("--strict and --lenient exclude each other; give one of them or neither")
    return Policy.STRICT if strict else Policy.LENIENT if lenient else Policy.STANDARD


def _grade_run(found: "Run", data: str | None, grader: "Grader", *, json: bool) -> None:
    from mctsr.report import report
    from mctsr.runs.folder import Run
    from mctsr.runs.grades import regrade

    screen = Screen()
    before = report(found).selected
    changes = regrade(found, _gold(found, data), grader)
    after = report(Run.open(found.path)).selected
    if json:
        told = {"before": before and asdict(before), "after": after and asdict(after)}
        screen.json({"selected": told, "changes": [change._asdict() for change in changes]})
        return
    if changes:
        columns = [Column("problem", least=12), Column("answer", least=10), Column("before"), Column("now")]
        screen.table(columns, _rows(changes))
        screen.line()
    screen.line(f"{counted(len(changes), 'verdict') if changes else 'no verdicts'} changed")
    if after is not None:
        was = f" (before: {before.correct} of {before.n})" if before is not None and before.n else ""
        screen.line(f"selected answers right: {after.correct} of {after.n}, {percent(after.share)}{was}")


def _gold(run: "Run", data: str | None) -> "dict[str, Gold | str]":
    """Read gold answers from `data`, else from where the run had them; what is not in there stays as it was graded.

    Raises:
        RunError: There are none for any problem of the run, or `data` asks other questions under its ids.
    """
    from mctsr.problems import chosen_gold
    from mctsr.runs.settings import from_record

    source, settings = data or run.record["data"], from_record(run.record["settings"])
    if data:
        _same_questions(run, data)
        settings = replace(settings, problem_field=None, answer_field=None, id_field=None)
    found = chosen_gold(source, settings) if source else run.record["gold"] or {}
    ids = run.record["problem_ids"]
    if not any(id in found for id in ids):
        where = f"{source!r} has none for its problems" if source else "it was given none"
        raise RunError(f"{run.path} has no gold answers to grade with: {where}; give --data FILE")
    kept = {id: grade["gold"] for id, grade in run.grades().items() if id not in found}
    if missing := sum(id not in found for id in ids):
        few, graded = counted(missing, "problem"), counted(len(kept), "grade")
        talk(f"{few} of the run not in these gold answers; {graded} kept as before, the rest ungraded")
    return {**kept, **found}


def _same_questions(run: "Run", data: str) -> None:
    """Refuse a file that asks something else under an id of the run."""
    from mctsr.problems import problem_hash, read_problems

    asked = dict(zip(run.record["problem_ids"], run.record["problem_hashes"], strict=True))
    for problem in read_problems(data):
        kinds = (problem.kind, None, "number", "letter", "formula")
        if problem.id in asked and asked[problem.id] not in {
            problem_hash(replace(problem, kind=k)) for k in kinds
        }:
            raise RunError(
                f"{data} asks another question under the id {shown(problem.id)} than {run.path} did; "
                "give the data that the run was made with"
            )


def _rows(changes: "Sequence[Change]") -> list[Line]:
    words = {True: "right", False: "not right", None: "ungraded"}
    return [
        [_brief(change.id), _brief(change.answer)]
        + [Span(words[side], verdict_style(words[side])) for side in (change.before, change.after)]
        for change in changes
    ]


def _grade_pairs(source: str, grader: "Grader", *, json: bool) -> None:
    from mctsr.problems import read_pairs

    pairs = list(read_pairs(source))
    with ThreadPoolExecutor(_AHEAD) as threads:
        grades = list(threads.map(lambda pair: _grade_pair(grader, pair), pairs))
    words = [_word(said) for said in grades]
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    summary = f"{counted(len(pairs), 'pair')}: {counts}"
    screen = Screen()
    if json:
        for pair, said, word in zip(pairs, grades, words, strict=True):
            screen.json({"line": pair.line, "gold": str(pair.gold), "verdict": word, **asdict(said)})
        talk(summary)
        return
    columns = [Column("line", right=True), Column("gold", least=8), Column("answer", least=8)]
    columns += [Column("verdict"), Column("method"), Column("reason", least=12, spare=True)]
    screen.table(columns, [_pair_row(pair, said) for pair, said in zip(pairs, grades, strict=True)])
    screen.line()
    screen.line(summary)


def _grade_pair(grader: "Grader", pair: "Pair") -> "Grade":
    if pair.is_reply and pair.text is not None:
        return grader.grade_reply(pair.gold, pair.text)
    return grader.grade(pair.gold, pair.text)


def _pair_row(pair: "Pair", said: "Grade") -> Line:
    word = _word(said)
    return [
        str(pair.line),
        _brief(pair.gold.text),
        _brief(said.extracted or "-"),
        Span(word, verdict_style(word)),
        said.method,
        _brief(said.reason, 2 * _LONGEST),
    ]


def _brief(text: str, most: int = _LONGEST) -> str:
    return cut(one_line(text), most)


def _word(said: "Grade") -> "Word":
    if said.ungradable:
        return "ungradable"
    if said.method == "no-answer":
        return "no answer"
    return "right" if said.equal else "wrong"
