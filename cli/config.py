"""Where values come from: texts on the command line, variables, the configuration file.

Knows: what is allowed as a value, what may stand in a configuration file, and which place a value was taken from.
Does not know: what the options are for.
"""

import json
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, time
from typing import NoReturn

import typer

from mctsr.errors import UsageError, named, short, shown, user_path
from mctsr.lm.options import DEEPEST, check_body
from mctsr.recipes import RECIPES

ARGUMENTS = "recipe_arguments"
_TABLES = "mctsr.tables"
_FILE = "mctsr.file"
_NOT_IN_FILE = {"config", "set", "help"}
_SECRETS = {"api_key", "judge_api_key", "prm_api_key"}
_NOT_SETTINGS = {"dry_run", "json", "quiet", "display", "config"}
_TABLE = "extra_body"
_HUGE = 10**100


def whole(least: int | None = None) -> Callable[[object], int]:
    """Make a reader of whole numbers, `least` or more."""
    allowed = "a whole number" + ("" if least is None else f", {least} or more")

    def read(given: object) -> int:
        try:
            value = int(_ascii(given))
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
            value = float(_ascii(given))
        except ValueError:
            value = math.nan
        fits = least <= value <= most and not math.isinf(value) and not (above and value == least)
        return value if fits else _refuse(given, allowed)

    return read


def json_object(given: object) -> str:
    """Check that a text is a JSON object that may be sent along with every request."""
    try:
        value = json.loads(str(given), parse_constant=_no_json, parse_float=_finite)
    except RecursionError:
        raise typer.BadParameter(f"it is nested deeper than {DEEPEST} levels; send less") from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        _refuse(given, "a JSON object such as '{\"top_k\": 20}'; NaN, Infinity and 1e999 are no JSON")
    try:
        check_body(value)
    except UsageError as error:
        raise typer.BadParameter(str(error)) from None
    return str(given)


def _no_json(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_json(text)


def _ascii(given: object) -> str:
    """Return a number's text; digits of other scripts are refused everywhere alike."""
    text = str(given)
    return text if text.isascii() else _no_json(text)


def _refuse(given: object, allowed: str) -> NoReturn:
    raise typer.BadParameter(f"{shown(str(given))}; give {allowed}")


def assignments(given: Iterable[str]) -> dict[str, object]:
    """Read the texts key=value; the last one of a key wins.

    Raises:
        UsageError: a text has no key or no equals sign.
    """
    found: dict[str, object] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-s {shown(text)} is no assignment; give -s key=value")
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
            where = f"{short(file)}: {short(given)}"
            table = key == _TABLE and isinstance(value, dict)
            context.default_map[key] = (
                json.dumps(value, ensure_ascii=False)
                if table
                else _value(where, value, switch=switch, many=many)
            )
        elif isinstance(value, dict):
            tables[given] = value
        else:
            raise UsageError(f"{short(file)}: no option {shown(given)}; {closest(key, options)}")
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
            file = short(context.meta[_FILE])
            raise UsageError(f"{file}: no option or recipe [{short(name)}]; {closest(name, known)}")
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


def closest(given: str, allowed: Collection[str]) -> str:
    """Word what was probably meant, and what is allowed."""
    from difflib import get_close_matches

    near = get_close_matches(given, allowed, 1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"allowed are {named(sorted(allowed))}"


def _read(file: str) -> dict[str, object]:
    import tomllib

    try:
        with user_path(file).open("rb") as opened:
            found = tomllib.load(opened)
    except OSError as error:
        raise UsageError(f"configuration file {shown(file)} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"configuration file {shown(file)} is not TOML: {short(str(error))}") from None
    except RecursionError:
        raise UsageError(f"configuration file {shown(file)} is nested too deeply to be read") from None
    for key, value in found.items():
        if wrong := _unfit(value):
            raise UsageError(f"{short(file)}: {short(key)} {wrong}")
    return found


def _unfit(value: object, room: int = DEEPEST) -> str:
    """Say why no setting can hold a value, "" when one may."""
    if isinstance(value, date | time):
        return f"holds the date or time {value}; put it in quotes"
    if isinstance(value, int) and abs(value) >= _HUGE:
        return "holds a number of more than 100 digits; give a smaller one"
    if not isinstance(value, dict | list):
        return ""
    if not room:
        return f"is nested deeper than {DEEPEST} levels; give less"
    inner = value.values() if isinstance(value, dict) else value
    return next((wrong for one in inner if (wrong := _unfit(one, room - 1))), "")


def _value(where: str, value: object, *, switch: bool, many: bool) -> object:
    """Spell a value as it would be on the command line, where it is checked."""
    if isinstance(value, bool) != switch:
        raise UsageError(
            f"{where} is {_spell(value)}; give {'true or false' if switch else 'a value in quotes'}"
        )
    if isinstance(value, dict):
        raise UsageError(f"{where} is a table; give one value")
    if many:
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, dict | list) for item in items):
            raise UsageError(f"{where} holds a table or a list; give a list of texts")
        return [str(item) for item in items]
    if isinstance(value, list):
        raise UsageError(f"{where} is a list; give one value")
    return value if switch else str(value)


def _spell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else shown(value)
