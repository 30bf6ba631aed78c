"""The arguments of a recipe: checked against its signature, converted to its annotations."""

import inspect
import json
import math
import types
import typing
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from mctsr.errors import RecipeError
from mctsr.recipe import Recipe

from .source import told

T = typing.TypeVar("T")


def bind(name: str, function: Callable[..., Recipe], given: Mapping[str, object]) -> dict[str, object]:
    """Return all arguments of `function`, those `given` converted and checked.

    Raises:
        RecipeError: An argument is unknown, missing or of the wrong type.
    """
    every = inspect.signature(function).parameters
    parameters = {
        key: each for key, each in every.items() if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    }
    try:
        hints = typing.get_type_hints(function)
    except Exception as error:
        raise RecipeError(f"recipe {name!r}: its annotations cannot be read: {told(error)}") from error
    for key in given:
        if key not in parameters:
            close = get_close_matches(key, parameters, 1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            allowed = ", ".join(parameters) or "none"
            raise RecipeError(f"recipe {name!r} has no argument {key!r}; {hint}allowed are: {allowed}")
    bound: dict[str, object] = {}
    for key, parameter in parameters.items():
        if key in given:
            bound[key] = convert(f"recipe {name!r}, argument {key!r}", given[key], hints.get(key, str))
        elif parameter.default is inspect.Parameter.empty:
            raise RecipeError(f"recipe {name!r} needs the argument {key!r}; give -s {key}=…")
        else:
            bound[key] = _recordable(name, key, parameter.default)
    return bound


def _recordable(name: str, key: str, default: object) -> object:
    try:
        json.dumps(default, allow_nan=False)
    except (TypeError, ValueError):
        raise RecipeError(
            f"recipe {name!r}, argument {key!r} has the default {default!r}, which a run cannot record; allowed are "
            "numbers, texts, booleans, None, and lists of these"
        ) from None
    return default


def convert(what: str, value: object, hint: object) -> object:
    """Convert `value` to the annotation `hint`: bool, int, float, str, Literal, or a union of these and None.

    Raises:
        RecipeError: It does not fit.
    """
    for option in _options(hint):
        if option is type(None) and (value is None or value in ("none", "null")):
            return None
        if typing.get_origin(option) is typing.Literal and value in typing.get_args(option):
            return value
        if option in _READERS:
            try:
                return _READERS[option](value)
            except (TypeError, ValueError, KeyError):
                continue
    raise RecipeError(f"{what} is {value!r}; allowed is {_spell(hint)}")


def _options(hint: object) -> tuple[object, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _spell(hint: object) -> str:
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(map(repr, typing.get_args(hint)))
    return getattr(hint, "__name__", str(hint)) if isinstance(hint, type) else str(hint)


def _bool(value: object) -> bool:
    return value if isinstance(value, bool) else {"true": True, "false": False}[str(value).lower()]


def _ascii(value: T) -> T:
    """Refuse digits of other scripts, which Python would read."""
    if isinstance(value, str) and not value.isascii():
        raise ValueError(value)
    return value


def _int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(value)
    return int(_ascii(value))


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(value)
    number = float(_ascii(value))
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


_READERS: Mapping[object, Callable[[object], object]] = {bool: _bool, int: _int, float: _float, str: _str}
