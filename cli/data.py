"""`mctsr data`: what a data file holds and how it would be read, before anything is solved."""

from typing import TYPE_CHECKING, Annotated

import typer

from mctsr.errors import MOST_NAMED, named, user_path
from mctsr.view.words import counted

from . import options as o
from .screen.render import DOUBT, HEAD, QUIET, STRONG, Column, Line, Screen, Span, one_line

if TYPE_CHECKING:
    from mctsr.problems import Description, Sample

_STDIN = "-"
_LONGEST = 300

AnswerKind = Annotated[
    str | None,
    o.option(
        "--answer-kind",
        o.DATA,
        "KIND",
        "number, letter or formula: how answers are read; default: by the data.",
    ),
]
ProblemField = Annotated[
    str | None,
    o.option("--problem-field", o.DATA, "NAME", "Field of the problem's text; default: found by its name."),
]
AnswerField = Annotated[
    str | None, o.option("--answer-field", o.DATA, "NAME", "Field of the gold answer; default: likewise.")
]
IdField = Annotated[
    str | None,
    o.option("--id-field", o.DATA, "NAME", "Field of the id; default: likewise, else a hash of the text."),
]
SkipBad = Annotated[
    bool,
    o.option(
        "--skip-bad", o.DATA, None, "Leave out rows that cannot be read, and count them; else an error."
    ),
]


def data(
    file: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="A file, - for stdin, or a Hugging Face data set as ORG/NAME[:SPLIT]."
        ),
    ],
    answer_kind: AnswerKind = None,
    problem_field: ProblemField = None,
    answer_field: AnswerField = None,
    id_field: IdField = None,
    skip_bad: SkipBad = False,
    json: o.Json = False,
) -> None:
    """Show three problems of a data file with their gold answers, what was guessed, and what is odd."""
    from mctsr.problems import Columns, describe, stdin_text

    source = file if file == _STDIN else str(user_path(file))
    columns = Columns(problem_field, answer_field, id_field)
    found = describe(source, kind=answer_kind, columns=columns, skip_bad=skip_bad, stdin=stdin_text(source))
    screen = Screen()
    if json:
        screen.json(found.as_dict())
    else:
        _draw(screen, "standard input" if file == _STDIN else one_line(file), found)


def _draw(screen: Screen, name: str, found: "Description") -> None:
    screen.line(Span(name, STRONG), f"  {counted(found.problems, 'problem')}, {found.format}")
    for role, names in found.fields.items():
        screen.line(f"{role:<9} from ", one_line(_sources(names, found.problems)), wrap=True)
    kinds = _sources(found.kinds, found.problems)
    by = f" ({found.kind_by})" if found.kind_by else ""
    screen.line(f"answers   read as {kinds}{by}", wrap=True)
    if found.unused:
        screen.line("not used  ", one_line(named(found.unused)), wrap=True)
    screen.line()
    _draw_odd(screen, found)
    for sample in found.samples:
        screen.line()
        _draw_sample(screen, sample)


def _sources(names: dict[str, int], problems: int) -> str:
    """Name fields, with the number of rows where that is not all of them."""
    parts = [
        name if count == problems else f"{name} ({count} of {problems})" for name, count in names.items()
    ]
    return named(parts) or "nowhere"


def _draw_odd(screen: Screen, found: "Description") -> None:
    rows: list[Line] = [[what, str(count)] for what, count in found.odd.items() if count]
    if rows:
        screen.table([Column("rows with", least=20), Column("", right=True)], rows)
    none = [what for what, count in found.odd.items() if not count]
    if none:
        screen.line(Span(f"none with: {'; '.join(none)}", QUIET), wrap=True)
    for fault in found.bad[:MOST_NAMED]:
        screen.line(Span(one_line(fault), DOUBT), wrap=True)
    if (more := len(found.bad) - MOST_NAMED) > 0:
        screen.line(Span(f"and {more} more", DOUBT))


def _draw_sample(screen: Screen, sample: "Sample") -> None:
    screen.line(Span(one_line(sample.id), STRONG), Span(f"  {sample.kind or 'any kind'}", QUIET))
    text = sample.problem.strip()
    screen.text(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…", indent="  ")
    gold = "no gold answer" if sample.gold is None else one_line(sample.gold)
    screen.line(Span("  gold  ", HEAD), gold, wrap=True)
