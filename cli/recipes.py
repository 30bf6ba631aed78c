"""`mctsr recipes`: what can be given to --recipe, with papers and arguments."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, TypedDict

import typer

from mctsr.errors import RecipeError, named, shown

from .options import Json
from .screen.render import HEAD, STRONG, Column, Line, Screen, Span, layout

_PAPER = re.compile(r"arXiv:\d{4}\.\d{4,5}")
_FAMILY = re.compile(r"mctsr\.recipes\.(\w+)\.")
_FAMILIES = {
    "sampling": "independent answers",
    "refine": "answers that are refined",
    "steps": "trees of steps, grown one node at a time",
    "populations": "populations of partial solutions, grown all at once",
    "labels": "trees for training data: how well each step goes on",
    "": "of other packages",
}
_LINE = 60
"""Cells of a description that go on a line of a narrow terminal, beside the longest name."""


class Argument(TypedDict):
    """An argument of a recipe; one without a default is required."""

    name: str
    type: str
    default: object
    required: bool


class Entry(TypedDict):
    """A recipe as people and programs are told of it; `source` is where its function is, `family` "" for others'."""

    name: str
    family: str
    description: str
    paper: str | None
    source: str
    arguments: list[Argument]


def recipes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A name, module:function or file.py:function.", show_default=False
        ),
    ] = None,
    rules: Annotated[
        bool,
        typer.Option(
            "--rules",
            help="List the rules that recipes are made of, with their sources; with NAME that one, in full.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """List the recipes, or show one with its arguments."""
    from mctsr.recipes.registry import names

    screen = Screen()
    if rules:
        _show_rules(screen, name, json=json)
        return
    known = names()
    if name is not None:
        _show_one(screen, name, known.get(name, name), json=json)
        return
    entries = [_listed(known_name, source) for known_name, source in known.items()]
    if json:
        screen.json(entries)
        return
    _show_all(screen, entries)


def _show_all(screen: Screen, entries: Sequence[Entry]) -> None:
    """List the recipes by family; after whom each is, and where, only where there is room."""
    columns = [
        Column("recipe"),
        Column("what it is", least=_LINE, folds=True),
        Column("after", spare=True),
        Column("function", spare=True),
    ]
    families = [family for family in _FAMILIES if any(e["family"] == family for e in entries)]
    ordered = [entry for family in families for entry in entries if entry["family"] == family]
    laid = layout(columns, [_row(entry) for entry in ordered], screen.width)
    for line in laid.heading:
        screen.line(*line)
    for family in families:
        screen.line()
        screen.line(Span(_FAMILIES[family], HEAD))
        for entry, row in zip(ordered, laid.rows, strict=True):
            for line in row if entry["family"] == family else ():
                screen.line(*line)
    if laid.gone:
        screen.line()
        screen.line(Span("mctsr recipes NAME says after whom one is, what it costs, and its arguments", HEAD))


def _row(entry: Entry) -> Line:
    what, dot, after = entry["description"].partition(". ")
    name = Span(entry["name"], STRONG)
    if entry["family"] and dot:
        return [name, f"{what}.", after, entry["source"]]
    return [name, entry["description"], "", entry["source"]]


def _show_rules(screen: Screen, name: str | None, *, json: bool) -> None:
    from mctsr.recipes.rules import Rule, rules

    found = rules()
    if name is not None:
        known = [rule.name for rule in found]
        found = [rule for rule in found if rule.name == name]
        if not found:
            raise RecipeError(f"no rule {shown(name)}; choose one of {named(known)}")
    if json:
        screen.json([rule._asdict() for rule in found])
    elif name is not None:
        for field, said in zip(Rule._fields, found[0], strict=True):
            screen.text(f"{field}: {said}")
    else:
        columns = [
            Column("kind"),
            Column("rule"),
            Column("what it does", least=24, folds=True),
            Column("source", least=16, folds=True),
        ]
        screen.table(columns, [[r.kind, Span(r.name, "bold"), r.formula, r.source] for r in found])


def _show_one(screen: Screen, name: str, source: str, *, json: bool) -> None:
    from mctsr.recipes.registry import find

    function = find(name)
    entry, text = _entry(name, source, function), inspect.getdoc(function) or "No description."
    if json:
        screen.json({**entry, "doc": text})
        return
    screen.line(Span(name, "bold"), "  ", Span(source, "dim"))
    screen.line()
    for indent, paragraph in _paragraphs(text) if screen.width else [("", text)]:
        screen.text(paragraph, indent=indent)
    if entry["arguments"]:
        screen.line()
        columns = [Column("-s argument"), Column("type"), Column("default")]
        screen.table(columns, [[a["name"], a["type"], _default(a)] for a in entry["arguments"]])


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    """Join the lines of each paragraph, and of each argument, so that a terminal wraps them anew."""
    joined = list[str]()
    for line in text.splitlines():
        goes_on = joined and line.strip() and joined[-1] and not joined[-1].endswith(("Args:", "::"))
        deeper = joined and _depth(line) > _depth(joined[-1])
        if goes_on and (deeper or _depth(line) == _depth(joined[-1]) == 0):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
    for line in joined:
        yield line[: _depth(line)], line.strip()


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _listed(name: str, source: str) -> Entry:
    """Describe a recipe of the list; one that cannot be imported says so there and hides no other."""
    from mctsr.recipes.registry import find

    try:
        return _entry(name, source, find(name))
    except RecipeError as error:
        return Entry(
            name=name,
            family="",
            description=f"cannot be used: {error}",
            paper=None,
            source=source,
            arguments=[],
        )


def _entry(name: str, source: str, function: Callable[..., object]) -> Entry:
    text = inspect.getdoc(function) or ""
    paper = _PAPER.search(text)
    return Entry(
        name=name,
        family=_family(source),
        description=next(iter(text.splitlines()), ""),
        paper=paper[0] if paper else None,
        source=source,
        arguments=_arguments(inspect.signature(function).parameters),
    )


def _family(source: str) -> str:
    found = _FAMILY.match(source)
    return found[1] if found and found[1] in _FAMILIES else ""


def _arguments(parameters: Mapping[str, inspect.Parameter]) -> list[Argument]:
    found = []
    for name, parameter in parameters.items():
        required = parameter.default is inspect.Parameter.empty
        kind = "str" if parameter.annotation is inspect.Parameter.empty else parameter.annotation
        spelt = kind if isinstance(kind, str) else inspect.formatannotation(kind)
        default = None if required else parameter.default
        plain = default if isinstance(default, bool | int | float | str | None) else str(default)
        found.append(Argument(name=name, type=spelt, default=plain, required=required))
    return found


def _default(argument: Argument) -> str:
    if argument["required"]:
        return "required"
    default = argument["default"]
    return str(default).lower() if isinstance(default, bool) or default is None else str(default)
