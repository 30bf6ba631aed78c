"""Where values come from: texts on the command line, variables, the configuration file.

Knows: what is allowed as a value, what may stand in a configuration file, and which place a value was taken from.
Does not know: what the options are for.
"""

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import NoReturn

import typer

from mctsr.errors import UsageError
from mctsr.recipes import RECIPES

ARGUMENTS = "recipe_arguments"
_TABLES = "mctsr.tables"
_FILE = "mctsr.file"
_NOT_IN_FILE = {"config", "set", "help"}
_SECRETS = {"api_key", "judge_api_key"}
_NOT_SETTINGS = {"dry_run", "json", "quiet", "display", "config"}


def whole(least: int | None = None) -> Callable[[object], int]:
    """Make a reader of whole numbers, `least` or more."""
    allowed = "a whole number" + ("" if least is None else f", {least} or more")

    def read(given: object) -> int:
        try:
            value = int(str(given))
        except ValueError:
            _refuse(given, allowed)
        return value if least is None or value >= least else _refuse(given, allowed)

    return read


def number(least: float, most: float = math.inf, *, above: bool = False) -> Callable[[object], float]:
    """Make a reader of finite numbers from `least` (left out with `above`) to `most`."""
    allowed = f"a number {'above' if above else 'from'} {least:g}" + (
        f" to {most:g}" if most < math.inf else " up"
    )

    def read(given: object) -> float:
        try:
            value = float(str(given))
        except ValueError:
            value = math.nan
        fits = least <= value <= most and not math.isinf(value) and not (above and value == least)
        return value if fits else _refuse(given, allowed)

    return read


def json_object(given: object) -> str:
    """Check that a text is a JSON object."""
    try:
        value = json.loads(str(given))
    except ValueError:
        value = None
    return (
        str(given) if isinstance(value, dict) else _refuse(given, "a JSON object such as '{\"top_k\": 20}'")
    )


def _refuse(given: object, allowed: str) -> NoReturn:
    raise typer.BadParameter(f"{str(given)!r}; give {allowed}")


def assignments(given: Iterable[str]) -> dict[str, object]:
    """Read the texts key=value; the last one of a key wins.

    Raises:
        UsageError: a text has no key or no equals sign.
    """
    found: dict[str, object] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-s {text!r} is no assignment; give -s key=value")
        found[key.strip().replace("-", "_")] = value.strip()
    return found


def load(context: typer.Context, file: str | None) -> str | None:
    """Take the values of a configuration file as defaults of the command's options.

    Raises:
        UsageError: the file cannot be read, or holds a key that is no option; names the closest.
    """
    if file is None or context.resilient_parsing:
        return file
    options = {option.name: option for option in context.command.params if option.name not in _NOT_IN_FILE}
    context.meta[_FILE] = file
    context.meta[_TABLES] = tables = {}
    context.default_map = {}
    for given, value in _read(file).items():
        key = given.replace("-", "_")
        if key in options:
            option = options[key]
            switch, many = getattr(option, "is_flag", False), getattr(option, "multiple", False)
            context.default_map[key] = _value(f"{file}: {given}", value, switch=switch, many=many)
        elif isinstance(value, dict):
            tables[given] = value
        else:
            raise UsageError(f"{file}: no option {given!r}; {closest(key, options)}")
    return file


def recipe_arguments(context: typer.Context, recipe: str, given: Iterable[str]) -> dict[str, object]:
    """Merge the arguments of a recipe: [recipe_arguments], then the recipe's own table, then -s.

    Raises:
        UsageError: a table of the file belongs to no recipe, or a text is no assignment.
    """
    from importlib.metadata import entry_points

    tables: Mapping[str, Mapping[str, object]] = context.meta.get(_TABLES, {})
    known = {ARGUMENTS, recipe, *RECIPES, *(point.name for point in entry_points(group="mctsr.recipes"))}
    for name in tables:
        if name not in known:
            raise UsageError(f"{context.meta[_FILE]}: no option or recipe [{name}]; {closest(name, known)}")
    return {**tables.get(ARGUMENTS, {}), **tables.get(recipe, {}), **assignments(given)}


def origin(context: typer.Context, name: str) -> str:
    """Say where an option's value was taken from: "flag", a variable's name, the file's name or "default"."""
    source = context.get_parameter_source(name)
    kind = "DEFAULT" if source is None else source.name
    if kind == "ENVIRONMENT":
        option = next(option for option in context.command.params if option.name == name)
        variables = [option.envvar] if isinstance(option.envvar, str) else option.envvar or []
        return next(variable for variable in variables if os.environ.get(variable))
    return {"COMMANDLINE": "flag", "DEFAULT_MAP": str(context.meta.get(_FILE))}.get(kind, "default")


def settings_given(context: typer.Context) -> dict[str, tuple[object, str]]:
    """List every setting with its value and where that comes from; secrets are only said to be there."""
    found = {}
    for option in context.command.params:
        name = str(option.name)
        if name in context.params and name not in _NOT_SETTINGS:
            value = context.params[name]
            shown = "(not shown)" if value and name in _SECRETS else value
            found[name] = (shown, origin(context, name))
    return found


def spelt(value: object) -> str:
    """Write a setting's value in words."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def closest(given: str, allowed: Collection[str]) -> str:
    """Word what was probably meant, and what is allowed."""
    from difflib import get_close_matches

    near = get_close_matches(given, allowed, 1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"allowed are {', '.join(sorted(allowed))}"


def _read(file: str) -> dict[str, object]:
    import tomllib

    try:
        with Path(file).expanduser().open("rb") as opened:
            return tomllib.load(opened)
    except OSError as error:
        raise UsageError(f"configuration file {file!r} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"configuration file {file!r} is not TOML: {error}") from None


def _value(where: str, value: object, *, switch: bool, many: bool) -> object:
    """Spell a value as it would be on the command line, where it is checked."""
    if isinstance(value, bool) != switch:
        raise UsageError(
            f"{where} is {_spell(value)}; give {'true or false' if switch else 'a value in quotes'}"
        )
    if many:
        return [str(item) for item in value] if isinstance(value, list) else [str(value)]
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        raise UsageError(f"{where} is a list; give one value")
    return value if switch else str(value)


def _spell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)
