"""`mctsr compare`: runs side by side on the same problems."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mctsr.errors import named
from mctsr.view.words import counted, short_model

from .options import Json
from .runs import RUNS, RunsDir, interval, open_run
from .screen.render import BAD, DOUBT, QUIET, STRONG, Column, Line, Screen, Span, number, one_line, percent

if TYPE_CHECKING:
    from mctsr.report.compare import Comparison, Side
    from mctsr.report.paired import Paired
    from mctsr.report.totals import Cost, Score

RunNames = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN",
        help="Two or more folders, names, beginnings of names, or latest.",
        show_default=False,
    ),
]
_COSTS: dict[str, "Callable[[Cost], float]"] = {
    "calls": lambda cost: cost.calls,
    "tokens": lambda cost: cost.prompt_tokens + cost.completion_tokens,
    "  of them replies": lambda cost: cost.completion_tokens,
    "seconds of search": lambda cost: cost.seconds,
}
_CERTAIN = 0.0005


def compare(runs: RunNames, base: RunsDir = RUNS, json: Json = False) -> None:
    """Compare runs on the problems they share: each with the first, problem by problem; cost; any-time curve."""
    from mctsr.report.compare import compare as put_side_by_side

    found, screen = put_side_by_side([open_run(name, base) for name in runs]), Screen()
    if json:
        screen.json(found.as_dict())
    else:
        _draw(screen, found)


def _draw(screen: Screen, found: "Comparison") -> None:
    _head(screen, found)
    if found.graded:
        screen.line()
        _scores(screen, found)
        screen.line()
        _differences(screen, found)
        _flips(screen, found)
    if found.compared:
        screen.line()
        _costs(screen, found)
    if any(side.curve for side in found.runs):
        screen.line()
        _curves(screen, found)


def _head(screen: Screen, found: "Comparison") -> None:
    for side in found.runs:
        model = short_model(side.model) or "an unnamed model"
        arguments = ", ".join(f"{name}={value}" for name, value in side.arguments.items())
        words = f"{side.recipe}({arguments}) on {model}, {side.done:,} of {side.total:,} problems done"
        screen.line(Span(f"{side.label}  {one_line(side.path)}", STRONG), f"  {one_line(words)}", wrap=True)
    graded = f"{found.graded:,} graded" if found.graded else "none graded"
    screen.line(
        f"{counted(found.shared, 'problem')} in all runs, {found.compared:,} of them done in all, {graded}"
    )
    if not found.graded:
        screen.line("no scores: no problem is done and graded in all runs")
    for note in found.notes:
        screen.line(Span(one_line(note), DOUBT), wrap=True)


def _scores(screen: Screen, found: "Comparison") -> None:
    columns = [Column(f"right of {found.graded:,}"), *(Column(side.label, right=True) for side in found.runs)]
    by_rule = list(zip(*(side.scores for side in found.runs), strict=True))
    rows: list[Line] = [
        [Span(scores[0].name, STRONG if scores[0].name == "selected" else ""), *map(_score, scores)]
        for scores in by_rule
    ]
    rows.append(["failed", *(number(side.failed) for side in found.runs)])
    screen.table(columns, rows)
    if told := [score for scores in by_rule for score in scores if score.no_test]:
        screen.line(Span(f"* {told[0].note}", BAD), wrap=True)
    for score, *_ in by_rule:
        if score.note and not score.no_test:
            screen.line(Span(f"{score.name}: {score.note}", QUIET), wrap=True)


def _score(score: "Score") -> str:
    return f"{score.correct} = {percent(score.share)} ({interval(score.low, score.high)}){_mark(score)}"


def _mark(*scores: "Score") -> str:
    """Return the mark of scores that are no test results, or of their difference."""
    return " *" if any(score.no_test for score in scores) else ""


def _differences(screen: Screen, found: "Comparison") -> None:
    """Write the paired differences, in points of a hundred."""
    columns = [
        Column("difference"),
        Column("answer"),
        *(Column(name, right=True) for name in ("points", "95 % interval", "McNemar p", "gained", "lost")),
    ]
    rows: list[Line] = []
    for side, each in zip(found.runs[1:], found.paired, strict=True):
        told = [_mark(*scores) for scores in zip(found.runs[0].scores, side.scores, strict=True)]
        rows += [
            [
                f"{side.label} - {found.runs[0].label}{mark}",
                Span(pair.rule, STRONG if pair.rule == "selected" else ""),
                *_difference(pair),
                number(len(pair.gained)),
                number(len(pair.lost)),
            ]
            for pair, mark in zip(each, told, strict=True)
        ]
    screen.table(columns, rows)
    for side, each in zip(found.runs[1:], found.paired, strict=True):
        if left_out := each[0].left_out:
            words = (
                f"{side.label} - {found.runs[0].label}: {counted(left_out, 'problem')} left out, failed in "
                f"either run; {counted(each[0].n, 'pair')} compared"
            )
            screen.line(Span(words, DOUBT), wrap=True)


def _difference(pair: "Paired") -> tuple[str, str, str]:
    points = "-" if pair.difference is None else _points(pair.difference)
    if pair.low is None or pair.high is None or pair.p is None:
        return points, pair.note, "-"
    p = "< 0.001" if pair.p < _CERTAIN else f"{pair.p:.3f}"
    return points, f"{_points(pair.low)} to {_points(pair.high)}", p


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f}" if difference else "0.0"


def _flips(screen: Screen, found: "Comparison") -> None:
    """Name the problems whose selected answer is right in one run only."""
    first = found.runs[0].label
    for side, each in zip(found.runs[1:], found.paired, strict=True):
        selected = next(pair for pair in each if pair.rule == "selected")
        for ids, one, other in ((selected.gained, side.label, first), (selected.lost, first, side.label)):
            if ids:
                words = f"selected right in {one}, not in {other}: "
                screen.line(Span(words, QUIET), named(map(one_line, ids)), wrap=True)


def _costs(screen: Screen, found: "Comparison") -> None:
    columns = [
        Column("cost a problem", least=12),
        *(Column(side.label, right=True) for side in found.runs),
        *(Column(f"{side.label} / {found.runs[0].label}", right=True) for side in found.runs[1:]),
    ]
    each = [cost for side in found.runs if (cost := side.cost.per(found.compared))]
    rows: list[Line] = []
    for name, amount in _COSTS.items():
        values = [amount(cost) for cost in each]
        ratios = [f"{value / values[0]:.2f}" if values[0] else "-" for value in values[1:]]
        rows.append([name, *map(number, values), *ratios])
    screen.table(columns, rows)


def _curves(screen: Screen, found: "Comparison") -> None:
    """Write how often each run is right after so many tokens of each problem."""
    drawn = [(side, side.curve) for side in found.runs if side.curve]
    columns = [Column("selected right after tokens a problem", right=True, least=16, folds=True)]
    columns += [Column(side.label, right=True) for side, _ in drawn]
    rows: list[Line] = [
        [f"{points[0].tokens:,}", *(f"{percent(p.share)} ({interval(p.low, p.high)})" for p in points)]
        for points in zip(*(curve.points for _, curve in drawn), strict=True)
    ]
    screen.table(columns, rows)
    for side, curve in drawn:
        screen.line(
            Span(one_line(_replayed(side, curve.ways, curve.agreed, curve.replayed)), QUIET), wrap=True
        )


def _replayed(side: "Side", ways: dict[str, int], agreed: int, replayed: int) -> str:
    how: Sequence[str] = list(ways) if len(ways) == 1 else [f"{way} in {n:,}" for way, n in ways.items()]
    same = "all" if agreed == replayed else f"{agreed:,}"
    return (
        f"{side.label}: replayed as {', '.join(how) or 'nothing'}; the end is the recorded answer in "
        f"{same} of {counted(replayed, 'problem')}"
    )
