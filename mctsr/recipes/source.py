"""Recipe code as files: which functions could be recipes, and where an error happened.

Knows files, lines and what a recipe's signature looks like. Imports and runs nothing.
"""

import ast
import sysconfig
import traceback
from pathlib import Path

_OURS = Path(__file__).resolve().parents[1]
_PLACES = sysconfig.get_paths()
_STANDARD = tuple(Path(_PLACES[name]).resolve() for name in ("stdlib", "platstdlib"))
_INSTALLED = tuple(Path(_PLACES[name]).resolve() for name in ("purelib", "platlib"))


def told(error: BaseException) -> str:
    """Say in one line what was raised and where: "AttributeError: … (mine.py:6)".

    The place is the deepest one in code that belongs to no library: a mistake in a user's score shows its own
    line, also when NumPy raised. Where all code is a library's, it is the deepest one outside the standard library.
    """
    words = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    place = _place(error)
    return f"{words} ({place})" if place else words


def candidates(file: Path) -> list[str]:
    """List the functions of a file that could be recipes, in order; none when it is no Python.

    These are public functions that can be called by keywords alone and do not say that they return something else.
    """
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return []
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return [node.name for node in functions if _could_be_recipe(node)]


def _could_be_recipe(function: ast.FunctionDef) -> bool:
    if function.returns is not None:
        return "Recipe" in ast.unparse(function.returns)
    taken = function.args.posonlyargs + function.args.args
    return len(taken) == len(function.args.defaults)


def _place(error: BaseException) -> str:
    frames = [
        (Path(frame.filename).resolve(), frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<")
    ]
    outside = [
        (file, line) for file, line in frames if not _below(file, _STANDARD) or _below(file, _INSTALLED)
    ]
    own = [(file, line) for file, line in outside if not _below(file, (_OURS, *_INSTALLED))]
    if not outside:
        return ""
    file, line = (own or outside)[-1]
    return f"{file.relative_to(_OURS.parent) if _below(file, (_OURS,)) else file.name}:{line}"


def _below(file: Path, folders: tuple[Path, ...]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)
