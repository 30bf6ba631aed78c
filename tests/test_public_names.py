"""What `mctsr` offers by name, and what its own README imports."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mctsr

README = Path(__file__).parents[1] / "README.md"
NAMES = mctsr.__all__


def python_blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def offered() -> list[str]:
    """Return what the README's table of parts lists as shipped, dots of omission as Python's."""
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in README.read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    (head,) = [row for row in table if "shipped" in row]
    at, begin = head.index("shipped"), table.index(head)
    cells = [row[at] for row in table[begin + 2 :] if len(row) == len(head)]
    return [code.replace("…", "...") for cell in cells for code in re.findall(r"`([^`]+)`", cell)]


def test_names_are_listed_once_and_in_order() -> None:
    assert list(NAMES) == sorted(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_every_listed_name_can_be_imported_and_is_the_one_of_its_module(name: str) -> None:
    found = getattr(mctsr, name)
    home = inspect.getmodule(found)
    assert home is None or home.__name__.startswith(("mctsr.", "builtins", "collections", "typing"))
    assert not inspect.ismodule(found)


def test_what_can_be_imported_is_what_is_listed() -> None:
    assert dir(mctsr) == sorted(NAMES)
    namespace: dict[str, object] = {}
    exec("from mctsr import *", namespace)
    assert namespace.keys() - {"__builtins__"} == set(NAMES)


def test_type_checkers_and_python_see_the_same_names() -> None:
    """The names under TYPE_CHECKING are those found at run time, each in the module it is imported from."""
    tree = ast.parse(Path(mctsr.__file__).read_text(encoding="utf-8"))
    imports = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module != "typing"
    ]
    shown = {alias.name: str(node.module) for node in imports for alias in node.names}
    assert shown.keys() == set(NAMES)
    for name, module in shown.items():
        assert getattr(sys.modules.get(module) or __import__(module, fromlist=["_"]), name) is getattr(
            mctsr, name
        )


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="module 'mctsr' has no attribute 'Recipes'"):
        _ = mctsr.Recipes
    done = subprocess.run(
        [sys.executable, "-c", "from mctsr import Recipes"], capture_output=True, text=True, check=False
    )
    assert "cannot import name 'Recipes'" in done.stderr


def test_the_readmes_recipes_import_from_the_package_itself_and_nowhere_below() -> None:
    imports = [
        node
        for block in python_blocks()
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom | ast.Import)
    ]
    ours = [node for node in imports if "mctsr" in ast.unparse(node)]
    assert ours
    for node in ours:
        assert isinstance(node, ast.ImportFrom), ast.unparse(node)
        assert node.module == "mctsr", ast.unparse(node)
        assert {alias.name for alias in node.names} <= set(NAMES)


def test_the_parts_that_the_readme_calls_shipped_exist_with_those_arguments() -> None:
    shown = [ast.parse(code, mode="eval").body for code in offered()]
    names = set()
    for code in shown:
        called = code.func if isinstance(code, ast.Call) else code
        if not isinstance(called, ast.Name):
            assert isinstance(called, ast.Constant), ast.unparse(code)
            assert called.value is None
            continue
        names.add(called.id)
        parameters = inspect.signature(getattr(mctsr, called.id)).parameters
        if isinstance(code, ast.Call):
            assert {str(keyword.arg) for keyword in code.keywords} <= set(parameters), ast.unparse(code)
    assert {"SelfRefine", "SelfReward", "Anywhere", "best_value"} <= names
    assert names <= set(NAMES)
