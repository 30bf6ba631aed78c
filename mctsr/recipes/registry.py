"""Find a recipe by name and check its arguments against its signature."""

import hashlib
import importlib
import importlib.util
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path

from mctsr.errors import RecipeError, UsageError, user_path
from mctsr.recipe import Recipe

from . import RECIPES
from .arguments import bind
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
    function = _found(name)
    arguments = bind(name, function, given or {})
    return Chosen(name, function, arguments, _source_hash(function))


def find(name: str) -> Callable[..., Recipe]:
    """Return the function behind a known name, `module:function` or `file.py:function`.

    One that has no name of its own is being written: where its arguments all have defaults, it is called once.

    Raises:
        RecipeError: There is none, or what it composes is no recipe; says what is known, or what is wrong.
    """
    function = _found(name)
    if name not in names() and all(
        parameter.default is not parameter.empty
        for parameter in inspect.signature(function).parameters.values()
    ):
        choose(name).build()
    return function


def _found(name: str) -> Callable[..., Recipe]:
    """Import the function that a name stands for."""
    where = names().get(name, name)
    module, colon, attribute = where.rpartition(":")
    if not colon:
        raise RecipeError(_no_such_name(name))
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.append(here)
    try:
        with redirect_stdout(sys.stderr):
            loaded = (
                _load_file(user_path(module)) if module.endswith(".py") else importlib.import_module(module)
            )
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
