"""`mctsr report`: a run in numbers."""

from typing import TYPE_CHECKING

from mctsr.view.words import counted, ending, short_model

from .options import Json
from .runs import RUNS, STATE_STYLES, RunName, RunsDir, interval, open_run
from .screen.render import (
    BAD,
    DOUBT,
    QUIET,
    STRONG,
    Column,
    Line,
    Screen,
    Span,
    measure,
    number,
    one_line,
    percent,
    verdict_style,
)

if TYPE_CHECKING:
    from mctsr.report import Cost, Report, Score

_COSTS = {
    "calls": "calls",
    "prompt_tokens": "prompt tokens",
    "cached_tokens": "  of them cached",
    "completion_tokens": "reply tokens",
    "call_seconds": "seconds in calls",
    "seconds": "seconds of search",
}
_EVENTS = {
    "failed": "problems failed",
    "no_answer": "problems without a selected answer",
    "ungradable": "selected answers that cannot be graded",
    "ungradable_answers": "all answers in the trees that cannot be graded",
    "unscored": "evaluations without a score",
    "asked_again": "calls asked again for want of a readable score",
    "truncated": "replies cut at max tokens, the judge's included",
    "empty": "empty replies",
    "duplicates": "drafts that repeat the text of another",
    "retried": "attempts retried",
    "failed_calls": "calls failed for good",
    "repeated": "calls repeated after a kill",
    "replayed": "calls taken from the log",
    "stale": "logged replies that no longer fit",
}


def report(run: RunName, base: RunsDir = RUNS, json: Json = False) -> None:
    """Say what a run came to: right answers, cost, and everything that went wrong."""
    from mctsr.report import report as add_up

    found, screen = add_up(open_run(run, base)), Screen()
    if json:
        screen.json(found.as_dict())
    else:
        draw_report(screen, found)


def draw_report(screen: Screen, report: "Report") -> None:
    """Write a report for people."""
    _head(screen, report)
    if not report.done:
        return
    screen.line()
    _scores(screen, report)
    screen.line()
    _costs(screen, report)
    screen.line()
    _counts(screen, report)
    _rest(screen, report)


def _head(screen: Screen, report: "Report") -> None:
    state = Span(report.state, STATE_STYLES.get(report.state, ""))
    screen.line(Span(one_line(report.path), STRONG), "  ", state)
    model, judge = short_model(report.model) or "an unnamed model", ""
    if report.judge not in ("", report.model):
        judge = f", judged by {short_model(report.judge)}"
    failed = f", {len(report.failures)} of them failed" if report.failures else ""
    done = f"{report.done:,} of {counted(report.total, 'problem')} done{failed}"
    if not report.done:
        done = f"no problem is finished yet (0 of {report.total})"
    screen.line(one_line(f"{report.recipe} on {model}{judge}, {done}"), wrap=True)
    if report.state == "interrupted":
        screen.line(Span(one_line(f"Interrupted; go on with: mctsr resume {report.path}"), DOUBT), wrap=True)
    elif report.failures and report.state != "running":
        screen.line(
            Span(one_line(f"Try the failed ones again: mctsr resume {report.path}"), DOUBT), wrap=True
        )
    for note in report.notes:
        screen.line(Span(one_line(note), DOUBT), wrap=True)


def _scores(screen: Screen, report: "Report") -> None:
    if not report.scores:
        screen.line("ungraded: the data has no gold answers")
        return
    columns = [
        Column("answer"),
        *(Column(name, right=True) for name in ("right", "of", "share", "95 % interval")),
    ]
    narrow = screen.width is not None and screen.width < 90
    rows: list[Line] = [
        [
            Span(_named(score, narrow=narrow), STRONG if score.name == "selected" else ""),
            str(score.correct),
            str(score.n),
            percent(score.share),
            interval(score.low, score.high) if score.n else "-",
        ]
        for score in report.scores
    ]
    screen.table(columns, rows)
    for score in report.scores:
        if narrow and score.name == "oracle":
            screen.line(Span(_named(score), QUIET), wrap=True)
    if told := [score for score in report.scores if score.no_test]:
        screen.line(Span(f"{' and '.join(score.name for score in told)}: {told[0].note}", BAD), wrap=True)
    if report.pending:
        waiting = counted(report.pending, "problem is", "problems are") + " not graded yet"
        screen.line(Span(one_line(f"{waiting}: mctsr grade {report.path}"), DOUBT), wrap=True)


def _named(score: "Score", *, narrow: bool = False) -> str:
    """Write a rule with what must be known of it, in short where the rest stands below."""
    note = score.note.partition(":")[0] if score.no_test else "" if narrow else score.note
    return f"{score.name} ({note})" if note else score.name


def _costs(screen: Screen, report: "Report") -> None:
    each = report.cost.per(report.done)
    right = report.cost.per(report.selected.correct) if report.selected else None
    columns = [
        Column("cost"),
        *(Column(name, right=True) for name in ("total", "a problem", "a right answer")),
    ]
    costs = report.cost, each, right
    rows: list[Line] = [[name, *(_amount(cost, key) for cost in costs)] for key, name in _COSTS.items()]
    screen.table(columns, rows)
    screen.line(report.prefix_cache.words, wrap=True)


def _amount(cost: "Cost | None", key: str) -> str:
    value = getattr(cost, key, "-")
    return "unknown" if value is None else value if cost is None else number(float(value))


def _counts(screen: Screen, report: "Report") -> None:
    """Write every counter above zero, and that the others are at zero: it is said, not left out."""
    rows: list[Line] = []
    for key, words in _EVENTS.items():
        if count := report.counts.get(key, 0):
            style = BAD if key in ("failed", "failed_calls") else ""
            rows.append([Span(words, style), Span(number(count), style)])
        if key == "unscored":
            reasons = report.unscored_reasons.items()
            rows += [[Span(f"  {one_line(why)}", QUIET), Span(number(n), QUIET)] for why, n in reasons]
    if rows:
        screen.table([Column("what else happened", least=20), Column("", right=True)], rows)
    zero = sum(not report.counts.get(key, 0) for key in _EVENTS)
    if not rows:
        screen.line(Span("nothing failed, was cut off, lost or repeated", QUIET), wrap=True)
    elif zero:
        screen.line(Span(f"at zero: the {counted(zero, 'other counter')}, see --json", QUIET), wrap=True)


def _rest(screen: Screen, report: "Report") -> None:
    screen.line()
    if report.stopped:
        why = Column("why the searches stopped", least=20)
        rows = [[one_line(ending(reason)), number(count)] for reason, count in report.stopped.items()]
        screen.table([why, Column("problems", right=True)], rows)
    passed = [
        f"{limit}: in {counted(len(by), 'problem')}, by at most {max(by):,}"
        for limit, by in report.overshoot.items()
    ]
    for name, words in (("limits passed", passed), ("changed for the server", report.wire)):
        if words:
            screen.text(f"{name}: " + one_line(", ".join(words)))
    if report.failures:
        screen.line()
        screen.line("failed problems")
        width = min(max(measure(one_line(id)) for id in report.failures), 40)
        for id, reason in report.failures.items():
            screen.line(
                f"  {one_line(id):<{width}}  ", Span(one_line(reason), verdict_style("wrong")), wrap=True
            )
