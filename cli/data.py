"""`mctsr data`: what a data file holds and how it would be read, before anything is solved."""

from typing import TYPE_CHECKING, Annotated

import typer

from mctsr.errors import MOST_NAMED, named, user_path
from mctsr.view.words import counted

from . import options as o
from .screen.render import DOUBT, HEAD, QUIET, STRONG, Column, Line, Screen, Span, cut, one_line, talk

if TYPE_CHECKING:
    from mctsr.problems import Description, Sample

_STDIN = "-"
_LONGEST = 300
_ODD = {
    "the text of another": "the text of an earlier row",
    "left out": "a fault, left out",
    "an answer that is none": "an unreadable answer, left out",
}

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
    from mctsr.problems import Columns, describe, is_hub_name, stdin_text

    source = file if file == _STDIN else str(user_path(file))
    if is_hub_name(source):
        talk("looking on the Hugging Face Hub …")
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
        if role == "answer" and found.empty_answer is not None:
            screen.line(f"{role:<9} ", one_line(f"{found.empty_answer} is null in every row"), wrap=True)
            continue
        screen.line(f"{role:<9} from ", one_line(_sources(names, found.problems)), wrap=True)
    kinds = _sources(found.kinds, found.problems)
    by = f" ({found.kind_by})" if found.kind_by else ""
    screen.line(f"answers   read as {kinds}{by}", wrap=True)
    if found.beside:
        screen.line("types     from ", one_line(named(found.beside)), wrap=True)
    if left := found.unused + [f"{name} (empty)" for name in found.empty if name != found.empty_answer]:
        screen.line("not used  ", one_line(named(left, len(left))), wrap=True)
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
    rows: list[Line] = [[_ODD.get(what, what), str(count)] for what, count in found.odd.items() if count]
    if rows:
        screen.table([Column("rows with", least=20), Column("", right=True)], rows)
    for fault in found.bad[:MOST_NAMED]:
        screen.line(Span(one_line(fault), DOUBT), wrap=True)
    if (more := len(found.bad) - MOST_NAMED) > 0:
        screen.line(Span(f"and {more} more", DOUBT))


def _draw_sample(screen: Screen, sample: "Sample") -> None:
    screen.line(
        Span(cut(one_line(sample.id), _LONGEST), STRONG), Span(f"  {sample.kind or 'any kind'}", QUIET)
    )
    text = sample.problem.strip()
    screen.text(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…", indent="  ")
    screen.line(Span("  gold  ", HEAD), _gold(sample.gold), wrap=True)


def _gold(spelling: str | None) -> str:
    """Write a gold answer as people do, with what else is known of it in brackets; "-" for none."""
    from mctsr.grading import Gold

    if spelling is None:
        return "-"
    gold = Gold.read(spelling)
    more = [gold.kind] if gold.kind != "value" else []
    more += [f"within {gold.tolerance}"] if gold.tolerance else []
    text = f"{gold.text} {gold.unit}".rstrip()
    return cut(one_line(text), _LONGEST) + (f" ({', '.join(more)})" if more else "")
