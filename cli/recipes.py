"""`mctsr recipes`: what can be given to --recipe, with papers and arguments."""

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, TypedDict

import typer

from mctsr.errors import RecipeError, named, shown

from .options import Json
from .screen.render import Column, Screen, Span

_PAPER = re.compile(r"arXiv:\d{4}\.\d{4,5}")


class Argument(TypedDict):
    """An argument of a recipe; one without a default is required."""

    name: str
    type: str
    default: object
    required: bool


class Entry(TypedDict):
    """A recipe as people and programs are told of it; `source` is where its function is."""

    name: str
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
    columns = [Column("recipe"), Column("what it is", least=30), Column("function", least=20)]
    screen.table(columns, [[Span(e["name"], "bold"), e["description"], e["source"]] for e in entries])


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
            Column("what it does", least=30),
            Column("source", least=30),
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
    screen.text(text)
    if entry["arguments"]:
        screen.line()
        columns = [Column("-s argument"), Column("type"), Column("default")]
        screen.table(columns, [[a["name"], a["type"], _default(a)] for a in entry["arguments"]])


def _listed(name: str, source: str) -> Entry:
    """Describe a recipe of the list; one that cannot be imported says so there and hides no other."""
    from mctsr.recipes.registry import find

    try:
        return _entry(name, source, find(name))
    except RecipeError as error:
        return Entry(
            name=name, description=f"cannot be used: {error}", paper=None, source=source, arguments=[]
        )


def _entry(name: str, source: str, function: Callable[..., object]) -> Entry:
    text = inspect.getdoc(function) or ""
    paper = _PAPER.search(text)
    return Entry(
        name=name,
        description=next(iter(text.splitlines()), ""),
        paper=paper[0] if paper else None,
        source=source,
        arguments=_arguments(inspect.signature(function).parameters),
    )


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
