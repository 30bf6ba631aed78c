"""The data card beside a file of labels: what a label means, on which range, how many there are, whose they are."""

from importlib.metadata import version
from typing import TYPE_CHECKING

from mctsr.errors import short

from .labels import Counts, Labels
from .math_shepherd import TAG
from .meaning import meaning
from .scale import Scale, judge_scale

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

SHEPHERD = "math-shepherd"
_GOOD = {"stepwise": ("true", "false"), SHEPHERD: ("+", "-")}


def card(run: "Run", form: str, labels: Labels, counts: Counts) -> str:
    """Write the card of an export in Markdown.

    Args:
        run: Where the rows come from.
        form: "stepwise" or "math-shepherd".
        labels: How values became labels.
        counts: What was written, at least one row.
    """
    scale = counts.scale or judge_scale(run)
    sections = (
        ("What a label says", _meaning(run, form, labels, scale)),
        ("Counts", _counted(counts)),
        ("Source run", _source(run)),
    )
    body = "\n".join(
        f"\n## {name}\n\n" + "\n".join(f"- {line}" for line in lines) for name, lines in sections
    )
    return f"# Steps with labels, format {form}\n{body}\n"


def _meaning(run: "Run", form: str, labels: Labels, scale: Scale) -> list[str]:
    good, bad = _GOOD[form]
    hard = f"`{good}` where the score is above {labels.threshold:g}, else `{bad}`"
    first, *more = meaning(run, labels)
    return [
        first,
        f"kind: {labels.kind}; " + (hard if labels.kind == "hard" else "the score itself, in [0, 1]"),
        f"score: {scale.formula}, in [0, 1]; values are on the scale {scale.low:g} to {scale.high:g}, {scale.source}",
        *more,
        "steps behind the first bad one are kept, with labels of their own",
        "a step that was cut off at its longest has no label and ends its path",
        "white space at the end of a step, its separator, is left out",
        *(
            [f"tag: `{TAG}` ends each step in `input`; `label` has its verdict there"]
            if form == SHEPHERD
            else []
        ),
    ]


def _counted(counts: Counts) -> list[str]:
    bad = counts.steps - counts.good
    lines = [
        f"paths: {counts.paths:,}, one row each; problems with a path: {counts.with_rows:,} of "
        f"{counts.problems:,} solved",
        f"problems without a finished path of good steps alone: {counts.problems - counts.with_good_path:,}",
        f"labelled steps: {counts.steps:,}, a step counted in every path it is part of; above the threshold "
        f"{counts.good:,} = {100 * counts.good / counts.steps:.1f} %, not above {bad:,}",
        f"scores: {counts.low:.4g} to {counts.high:.4g}",
    ]
    return lines + [f"left out: {n:,} {why}" for why, n in counts.left_out.most_common() if n]


def _source(run: "Run") -> list[str]:
    record, settings = run.record, run.record["settings"]
    arguments = ", ".join(f"{name}={value}" for name, value in record["recipe_arguments"].items())
    models = [f"{server['role']}: {server['model'] or 'an unnamed model'}" for server in record["servers"]]
    lines = [
        f"run: {run.path.resolve().name}, begun {record['created']}, {run.state}",
        f"recipe: {record['recipe']}({arguments}), seed {settings.get('seed', 'not recorded')}",
        f"models: {', '.join(models) or 'not recorded'}",
        f"data: {source_name(run)}, problems hash {record['problems_sha256'][:12] or 'not recorded'}; its licence "
        "holds for these rows",
        f"mctsr: solved by {record['versions'].get('mctsr', 'unknown')}, exported by {version('mctsr')}",
    ]
    return [short(" ".join(line.split()), 600) for line in lines]


def source_name(run: "Run") -> str:
    """Name the data of a run without saying where it lies."""
    data = run.record["data"] or ""
    return data.rpartition("/")[2].partition(".")[0] or "a question"
