"""`mctsr export`: a run as a data set."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from mctsr.errors import UsageError, user_path
from mctsr.view.words import counted

from .config import number, whole
from .options import OUTPUT, Json, option
from .runs import RUNS, RunsDir, open_run
from .screen.render import Screen, percent, talk

if TYPE_CHECKING:
    from mctsr.export.labels import Labels
    from mctsr.export.write import Written

STREAM = "-"
LABELS = "Labels of stepwise and math-shepherd"
_ROWS = {"tree": "tree", "nodes": "node"}


def export(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN", help="A folder, its name or the beginning of it, or latest.", show_default=False
        ),
    ] = None,
    form: Annotated[
        str | None,
        option(
            "--format -f",
            OUTPUT,
            "tree|nodes|stepwise|math-shepherd",
            "tree: one row a problem with all its nodes. nodes: one row a node. stepwise, math-shepherd: one row a "
            "solution with a label for each step, of runs that search over steps.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        option(
            "--output -o",
            OUTPUT,
            "FILE|-",
            "- is stdout; default: export/<format>.jsonl in the run's folder.",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        option("--labels", LABELS, "hard|soft", "Good or not, or the score from 0 to 1; default: hard."),
    ] = None,
    threshold: Annotated[
        float | None,
        option(
            "--threshold",
            LABELS,
            "SCORE",
            "A step is good when its score is above this; default: 0 where "
            "completions make the values (math-shepherd, omega-prm, meds3 with mc-estimate), else 0.5.",
            parser=number(0, 1),
        ),
    ] = None,
    min_visits: Annotated[
        int | None,
        option(
            "--min-visits",
            LABELS,
            "N",
            "Steps with fewer visits get no label and end their path; 0 labels also those that have a value but were "
            "never visited; default: 1.",
            parser=whole(0),
        ),
    ] = None,
    scale: Annotated[
        str | None,
        option(
            "--scale",
            LABELS,
            "LOW,HIGH",
            "Bounds of the judge's values; default: what the run tells of them.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, option("--overwrite", OUTPUT, None, "Replace the file if it is there already, and its card.")
    ] = False,
    check: Annotated[
        str | None,
        option("--check", LABELS, "FILE", "Write nothing: say whether a file's steps and labels fit."),
    ] = None,
    base: RunsDir = RUNS,
    json: Json = False,
) -> None:
    """Write a run as JSON Lines that datasets.load_dataset("json") reads; prints the path.

    The labels of steps are a judge's values at the end of the search, or shares of completions that came out right,
    not verdicts of people. The card beside the file says which.
    """
    from mctsr.export.write import FORMATS, STEP_FORMATS, write

    if check is not None:
        if run is not None:
            raise UsageError("give either a run or --check FILE")
        return _check(check, json=json)
    if run is None or form is None:
        formats = " or ".join((*FORMATS, *STEP_FORMATS))
        raise UsageError(f"give a run and --format {formats}, or --check FILE; see mctsr export --help")
    found, screen = open_run(run, base), Screen()
    target = sys.stdout.buffer if output == STREAM else user_path(output) if output else None
    asked = _labels(labels, threshold, min_visits, scale)
    written = write(found, form, target, labels=asked, overwrite=overwrite)
    talk(counted(written.rows, _ROWS.get(form, "path")) + _labelled(written))
    if written.path is None:
        return
    if json:
        beside = {} if written.card is None else {"card": str(written.card)}
        screen.json({"path": str(written.path), "format": form, "rows": written.rows, **beside})
    else:
        screen.line(str(written.path))


def _check(file: str, *, json: bool) -> None:
    """Say what a file of labelled steps holds; one that trainers cannot read is an error."""
    from mctsr.export.check import check

    found, screen = check(user_path(file)), Screen()
    if json:
        screen.json(asdict(found))
        return
    rows, steps = counted(found.rows, "row"), counted(found.steps, "step")
    screen.line(f"{found.form} with {found.kind} labels: {rows}, {steps}")
    balance = f"{percent(found.good / found.steps)} of the steps good"
    if found.kind == "soft":
        balance = (
            f"labels from {found.low:.4g} to {found.high:.4g}, {percent(found.good / found.steps)} above 0.5"
        )
    screen.line(balance)


def _labels(
    kind: str | None, threshold: float | None, min_visits: int | None, scale: str | None
) -> "Labels | None":
    """Return how steps are to be labelled; None when nothing is said of it."""
    from mctsr.export.labels import Labels
    from mctsr.export.scale import read_scale

    if kind is None and threshold is None and min_visits is None and scale is None:
        return None
    return Labels(
        kind or "hard",
        threshold,
        1 if min_visits is None else min_visits,
        None if scale is None else read_scale(scale),
    )


def _labelled(written: "Written") -> str:
    """Say how the labels are balanced, and which problems gave nothing to learn from."""
    counts = written.counts
    if counts is None:
        return ""
    share, without = percent(counts.good / counts.steps), counts.problems - counts.with_good_path
    said = f", {counted(counts.steps, 'step')}, {share} of them above the threshold"
    if without:
        said += (
            f"; {without:,} of {counted(counts.problems, 'problem')} without a finished path of good steps"
        )
    return said if written.card is None else f"{said}; card: {written.card}"
