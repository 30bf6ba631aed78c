"""Find a recipe by name and check its arguments against its signature."""

import hashlib
import importlib
import importlib.util
import inspect
import json
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path

from mctsr.errors import RecipeError, UsageError
from mctsr.recipe import Recipe

from . import RECIPES
from .source import candidates, told

GROUP = "mctsr.recipes"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A recipe function with checked arguments.

    Attributes:
        name: As the user gave it.
        function: The documented keyword function.
        arguments: Every argument, defaults included.
        source_sha256: Hash of the file the function is in.
    """

    name: str
    function: Callable[..., Recipe]
    arguments: Mapping[str, object]
    source_sha256: str

    def build(self) -> Recipe:
        """Compose the recipe; parts check their own values and raise RecipeError."""
        try:
            # Standard output is for data; what a recipe prints is talk.
            with redirect_stdout(sys.stderr):
                recipe = self.function(**self.arguments)
        except UsageError:
            raise
        except (Exception, SystemExit) as error:
            raise RecipeError(f"recipe {self.name!r} broke: {told(error)}") from error
        if not isinstance(recipe, Recipe):
            raise RecipeError(
                f"recipe {self.name!r} returned {type(recipe).__name__}; it must return a Recipe"
            )
        return recipe


def names() -> dict[str, str]:
    """Return every known name and where its function is; imports none of them."""
    found = {point.name: point.value for point in entry_points(group=GROUP)}
    return dict(sorted({**found, **RECIPES}.items()))


def choose(name: str, given: Mapping[str, object] | None = None) -> Chosen:
    """Find the recipe `name` and check the arguments `given`.

    Args:
        name: A known name, `module:function`, or `file.py:function`.
        given: Arguments by name; texts are converted to the annotated type.

    Raises:
        RecipeError: Unknown name, unknown argument or unfit value; says what is allowed.
    """
    function = find(name)
    arguments = bind(name, function, given or {})
    return Chosen(name, function, arguments, _source_hash(function))


def find(name: str) -> Callable[..., Recipe]:
    """Return the function behind a known name, `module:function` or `file.py:function`.

    Raises:
        RecipeError: There is none; says what is known.
    """
    where = names().get(name, name)
    module, colon, attribute = where.rpartition(":")
    if not colon:
        raise RecipeError(_no_such_name(name))
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        with redirect_stdout(sys.stderr):
            loaded = _load_file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except RecipeError:
        raise
    except (Exception, SystemExit) as error:
        raise RecipeError(f"recipe {name!r}: {module} does not import: {told(error)}") from error
    function = getattr(loaded, attribute, None)
    if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        file = Path(str(getattr(loaded, "__file__", module)))
        raise RecipeError(
            f"recipe {name!r}: {module} has no function {attribute!r}; {_offered(file, module)}"
        )
    return typing.cast(Callable[..., Recipe], function)


def _no_such_name(name: str) -> str:
    """Word what a name without a colon was probably meant to be: a file, a module, a name misspelt."""
    for file in (Path(name), Path(f"{name}.py")):
        if file.suffix == ".py" and file.is_file():
            return f"recipe {name!r} names no function; {_offered(file, str(file))}"
    if name.endswith(".py"):
        return f"recipe file {name!r} does not exist; give file.py:function"
    close = get_close_matches(name, names(), 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    known = ", ".join(names())
    return f"no recipe {name!r}; {hint}known are {known}, or give module:function or file.py:function"


def _offered(file: Path, module: str) -> str:
    """Say which functions of a file could be given."""
    found = [f"{module}:{function}" for function in candidates(file)]
    return (
        f"give {' or '.join(found)}" if found else f"none in it looks like a recipe; give {module}:function"
    )


def _load_file(file: Path) -> types.ModuleType:
    if not file.is_file():
        raise RecipeError(f"recipe file {str(file)!r} does not exist; give file.py:function")
    # Under its stem alone a file called select.py would take the place of the standard module.
    name = f"recipe:{file.resolve()}"
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise RecipeError(f"recipe file {str(file)!r} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _source_hash(function: Callable[..., Recipe]) -> str:
    file = inspect.getsourcefile(function)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


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


def _int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(value)
    return int(value)


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(value)
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


_READERS: Mapping[object, Callable[[object], object]] = {bool: _bool, int: _int, float: _float, str: _str}
