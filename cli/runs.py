"""`mctsr runs` and `mctsr resume`: which runs there are, and going on with one; how a run is named to a command."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mctsr.view.words import short_model

from . import options as o
from .options import OUTPUT, SERVER, Json, option
from .screen.render import (
    BAD,
    DOUBT,
    GOOD,
    QUIET,
    STRONG,
    Column,
    Line,
    Screen,
    Span,
    measure,
    one_line,
    percent,
    talk,
)
from .screen.tables import span_of

if TYPE_CHECKING:
    from mctsr.lm.base import Role
    from mctsr.report import Report
    from mctsr.runs.folder import Damaged, Run

RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="A folder, its name or the beginning of it, or latest.", show_default=False
    ),
]
RunsDir = Annotated[Path, option("--dir", OUTPUT, "DIR", "Folder of runs.")]


def _address(flag: str, whose: str) -> object:
    """Describe an option that only a flag gives: a variable is set for many runs, and this one has its own."""
    words = f"Where the server of the {whose} is now; default: where it was."
    return typer.Option(flag, metavar="URL", help=words, rich_help_panel=SERVER, show_default=False)


BaseUrl = Annotated[str | None, _address("--base-url", "answering model")]
JudgeBaseUrl = Annotated[str | None, _address("--judge-base-url", "judge")]
PrmBaseUrl = Annotated[str | None, _address("--prm-base-url", "reward model")]

RUNS = Path("runs")

STATE_STYLES = {"finished": GOOD, "running": DOUBT, "interrupted": DOUBT, "failed": BAD}
DAMAGED = "damaged"
_LONGEST_NAME = 60
"""Cells of a run's name that are not cut."""


def open_run(name: str, base: Path) -> "Run":
    """Open the run that `name` means.

    Raises:
        RunError: None or several fit, or it cannot be read.
    """
    from mctsr.runs.folder import Run, find_run

    return Run.open(find_run(name, base))


def runs(base: RunsDir = RUNS, json: Json = False) -> None:
    """List the runs with their state and how many answers they got right."""
    screen = Screen()
    reports, damaged = _reports(base)
    if json:
        screen.json([*map(_entry, reports), *map(_damaged_entry, damaged)])
    elif not reports and not damaged:
        screen.line(f"No runs in {base}/; mctsr solve makes one.")
    else:
        rows = [*map(_row, reports), *map(_damaged_row, damaged)]
        # A name is to be copied: columns that say less make room before it is cut.
        longest = max(measure(span_of(row[0]).text) for row in rows)
        columns = [
            Column("run", least=max(16, min(longest, _LONGEST_NAME))),
            Column("state"),
            Column("problems", right=True),
            Column("selected@1", right=True),
            Column("95 %", right=True, spare=True),
            Column("date", spare=True),
            Column("recipe", least=8, spare=True),
            Column("model", least=10, spare=True),
        ]
        screen.table(columns, rows)
        for each in damaged:
            screen.line(Span(one_line(f"{DAMAGED}: {each.reason}"), DOUBT), wrap=True)


def resume(
    run: RunName,
    base: RunsDir = RUNS,
    base_url: BaseUrl = None,
    api_key: o.ApiKey = None,
    judge_base_url: JudgeBaseUrl = None,
    judge_api_key: o.JudgeApiKey = None,
    prm_base_url: PrmBaseUrl = None,
    prm_api_key: o.PrmApiKey = None,
    display: o.Show = o.Display.AUTO,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> int:
    """Go on with a run under its recorded settings; what was answered is not asked again.

    Servers may have moved; the models are to be the same.
    """
    from mctsr.batch import resume_plan
    from mctsr.lm.connect import Keys
    from mctsr.runs.recovery import tree_damage
    from mctsr.runs.writer import RunWriter

    from .conduct import Way, conduct, finish

    found = open_run(run, base)
    way = Way("none" if quiet else display, quiet, json)
    given: dict[Role, str | None] = {"policy": base_url, "judge": judge_base_url, "prm": prm_base_url}
    plan = resume_plan(found, {role: url for role, url in given.items() if url})
    if damage := tree_damage(found):
        talk(one_line(f"notice: {damage}"))
    if all(
        id in found.results() and found.results()[id]["status"] == "ok" for id in found.record["problem_ids"]
    ):
        talk(one_line(f"nothing is left to do in {found.path}"))
        return finish(plan, found.path, way)
    if way.display != "none":
        talk(one_line(f"mctsr resumes {found.path} · recipe {plan.settings.recipe}"))

    keys = Keys(api_key, judge_api_key, prm_api_key)
    return conduct(plan, found.path, keys, lambda _: RunWriter.reopen(found.path), way)


def interval(low: float, high: float) -> str:
    """Write an interval of shares in per cent."""
    return f"{100 * low:.1f} – {100 * high:.1f}"


def _reports(base: Path) -> tuple[list["Report"], list["Damaged"]]:
    """Report on every run that can be read; one that cannot takes no other along."""
    from mctsr.errors import RunError
    from mctsr.report import report
    from mctsr.runs.folder import Damaged, list_runs

    reports, (found, damaged) = [], list_runs(base)
    for run in found:
        try:
            reports.append(report(run))
        except RunError as error:
            damaged.append(Damaged(run.path, str(error)))
    return reports, damaged


def _damaged_row(damaged: "Damaged") -> Line:
    return [Span(one_line(damaged.path.name), STRONG), Span(DAMAGED, BAD), "-", "-", "", "", "-", "-"]


def _row(report: "Report") -> Line:
    score = report.selected
    known = score is not None and score.n > 0 and not score.no_test
    unknown = "ungraded" if score is None else "labels" if score.no_test else "-"
    return [
        Span(one_line(report.name), STRONG),
        Span(report.state, STATE_STYLES.get(report.state, "")),
        f"{report.done}/{report.total}",
        percent(score.share) if score and known else Span(unknown, QUIET),
        Span(interval(score.low, score.high) if score and known else "", QUIET),
        report.created[:16].replace("T", " "),
        one_line(report.recipe),
        one_line(short_model(report.model)) or "-",
    ]


def _damaged_entry(damaged: "Damaged") -> dict[str, object]:
    unknown = dict.fromkeys(("problems", "done", "failed", "selected", "created", "recipe", "model"))
    known = {"name": damaged.path.name, "path": str(damaged.path), "state": DAMAGED}
    return {**known, **unknown, "notes": [damaged.reason]}


def _entry(report: "Report") -> dict[str, object]:
    score = report.selected
    return {
        "name": report.name,
        "path": report.path,
        "state": report.state,
        "problems": report.total,
        "done": report.done,
        "failed": len(report.failures),
        "selected": score and {**asdict(score), "share": score.share},
        "created": report.created,
        "recipe": report.recipe,
        "model": report.model,
        "notes": list(report.notes),
    }
