"""The shape of the code: ceilings, import layers, and what may be loaded when.

Every rule is a function from sources to complaints. The real tree must draw none, and a small tree that
breaks one rule must draw one: a rule that never complains proves nothing.
"""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent

LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("kernels", "prompting", "grading", "lm.base"),
    ("tree", "caller", "draws"),
    ("exchange", "changes"),
    ("parts",),
    ("recipe",),
    ("select", "expand", "judge", "backup", "stop", "answer", "lm"),
    ("rollout",),
    ("engine",),
    ("recipes", "testing"),
    ("problems", "runs"),
    ("batch",),
    ("report", "export", "view"),
    ("cli",),
)
LAYER_OF = {unit: number for number, units in enumerate(LAYERS) for unit in units}
WITHOUT_GOLD = LAYER_OF["recipes"]

FILE_LINES = 250
BODY_LINES = {"kernels": 60}
OTHER_BODY_LINES = 40
#: Numba knows no keyword-only parameters, so kernels may take more.
POSITIONAL = {"kernels": 8}
OTHER_POSITIONAL = 6
NESTING = 3
MODULES_A_FOLDER = 16

ONLY_IN = {"numba": "kernels", "llvmlite": "kernels", "typer": "cli", "rich": "cli"}

HEAVY = {
    *("numpy", "numba", "llvmlite", "aiohttp", "orjson", "sympy", "math_verify", "latex2sympy2_extended"),
    *("xllamacpp", "vllm", "torch", "pyarrow", "pandas", "datasets"),
}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """One source file: its dotted name as installed, where it lies, its syntax tree and its length."""

    name: str
    path: Path
    tree: ast.Module
    lines: int

    @property
    def unit(self) -> str:
        """The entry of the layer table that this module belongs to; empty for the package itself."""
        return unit_of(self.name)


class Import(NamedTuple):
    """One imported module: its dotted name, how many dots led to it, and the name taken from it."""

    target: str
    level: int
    name: str
    line: int


def unit_of(name: str) -> str:
    parts = name.split(".")[1:]
    if parts[:1] == ["lm"]:
        # What every layer may know of a language model is its protocol; `lm/__init__` runs with it.
        return "lm.base" if parts == ["lm"] or parts[:2] == ["lm", "base"] else "lm"
    return parts[0] if parts else ""


def read_modules(root: Path) -> list[Module]:
    """Parse every source file of the library and of the command line below `root`."""
    found = []
    for folder, package in ((root / "mctsr", "mctsr"), (root / "cli", "mctsr.cli")):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *(part for part in parts if part != "__init__")))
            text = path.read_text(encoding="utf-8")
            found.append(Module(name, path, ast.parse(text, str(path)), len(text.splitlines())))
    return found


def imports_of(module: Module, known: set[str]) -> Iterator[Import]:
    """List what a module imports anywhere in it, relative names resolved, submodules preferred."""
    package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, 0, "", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                anchor = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*anchor, base] if base else anchor)
            for alias in node.names:
                deeper = f"{base}.{alias.name}"
                yield Import(deeper if deeper in known else base, node.level, alias.name, node.lineno)


def wrong_layers(modules: list[Module]) -> list[str]:
    """A module imports only from earlier layers, or from its own folder by relative import."""
    known = {module.name for module in modules}
    complaints = [f"{m.name}: not in the layer table" for m in modules if m.unit and m.unit not in LAYER_OF]
    for module in modules:
        for found in imports_of(module, known):
            if found.target.split(".")[0] != "mctsr" or module.unit not in LAYER_OF:
                continue
            if not allowed(module, found, known):
                complaints.append(f"{module.name}:{found.line} imports {found.target}")
    return complaints


def allowed(module: Module, found: Import, known: set[str]) -> bool:
    unit = unit_of(found.target)
    if found.target not in known or unit not in LAYER_OF:
        return False
    if unit != module.unit:
        return LAYER_OF[unit] < LAYER_OF[module.unit]
    same_folder = module.path.parent.name == found.target.rpartition(".")[0].rpartition(".")[2]
    return found.level == 1 or not same_folder


def wrong_third_parties(modules: list[Module]) -> list[str]:
    """Numba lives only in the kernels, typer and rich only in the command line."""
    return [
        f"{module.name}:{found.line} imports {found.target}"
        for module in modules
        for found in imports_of(module, set())
        if ONLY_IN.get(found.target.split(".")[0], module.unit) != module.unit
    ]


def gold_readers(modules: list[Module]) -> list[str]:
    """Nothing up to the recipes names `read_gold`, by import or as an attribute."""
    complaints = []
    for module in modules:
        if LAYER_OF.get(module.unit, 0) > WITHOUT_GOLD:
            continue
        for node in ast.walk(module.tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Attribute):
                names = [node.attr]
            if "read_gold" in names and module.unit:
                complaints.append(f"{module.name}:{getattr(node, 'lineno', 0)} uses read_gold")
    return complaints


def too_long_files(modules: list[Module]) -> list[str]:
    return [f"{m.name}: {m.lines} lines, at most {FILE_LINES}" for m in modules if m.lines > FILE_LINES]


def functions_of(module: Module) -> Iterator[FunctionNode]:
    return (node for node in ast.walk(module.tree) if isinstance(node, FUNCTIONS))


def body_lines(function: FunctionNode) -> int:
    """Count the lines of a body, its docstring left out."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return 0
    first: int = min([body[0].lineno, *(d.lineno for d in getattr(body[0], "decorator_list", []))])
    return (function.end_lineno or first) - first + 1


def too_long_bodies(modules: list[Module]) -> list[str]:
    return [
        f"{module.name}.{function.name}: body of {body_lines(function)} lines, at most {limit}"
        for module in modules
        for limit in [BODY_LINES.get(module.unit, OTHER_BODY_LINES)]
        for function in functions_of(module)
        if body_lines(function) > limit
    ]


def commands_of(modules: list[Module]) -> set[str]:
    """Name the functions that Typer calls: decorated by, or handed to, `.command()` or `.callback()`."""
    named = set()
    for module in modules:
        if module.unit != "cli":
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and registers(node.func):
                named |= {ast.unparse(arg).rpartition(".")[2] for arg in node.args}
            elif isinstance(node, FUNCTIONS) and any(registers(d) for d in node.decorator_list):
                named.add(node.name)
    return named


def registers(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("command", "callback")
    )


def too_many_parameters(modules: list[Module]) -> list[str]:
    """Recipes and Typer commands are exempt: their parameters are a user's settings."""
    commands = commands_of(modules)
    complaints = []
    for module in modules:
        for function in functions_of(module):
            exempt = module.unit == "recipes" or (module.unit == "cli" and function.name in commands)
            taken = [arg.arg for arg in function.args.posonlyargs + function.args.args]
            count = len(taken) - (taken[:1] in (["self"], ["cls"]))
            limit = POSITIONAL.get(module.unit, OTHER_POSITIONAL)
            if count > limit and not exempt:
                complaints.append(f"{module.name}.{function.name}: {count} positional, at most {limit}")
    return complaints


BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


def nesting(node: ast.AST, *, in_else: bool = False) -> int:
    """Measure how deep blocks lie in blocks; `elif` is no deeper, a function inside starts anew."""
    inner = 0
    for field, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        is_elif = (
            isinstance(node, ast.If)
            and field == "orelse"
            and len(children) == 1
            and isinstance(children[0], ast.If)
            and children[0].col_offset == node.col_offset
        )
        for child in children:
            if isinstance(child, ast.AST) and not isinstance(child, (*FUNCTIONS, ast.Lambda)):
                inner = max(inner, nesting(child, in_else=is_elif))
    return inner + (isinstance(node, BLOCKS) and not in_else)


def too_deep(modules: list[Module]) -> list[str]:
    complaints = []
    for module in modules:
        for function in functions_of(module):
            depth = max(nesting(statement) for statement in function.body)
            if depth > NESTING:
                complaints.append(f"{module.name}.{function.name}: nesting {depth}, at most {NESTING}")
    return complaints


def crowded_folders(modules: list[Module]) -> list[str]:
    folders: dict[Path, int] = {}
    for module in modules:
        if module.path.name != "__init__.py":
            folders[module.path.parent] = folders.get(module.path.parent, 0) + 1
    return [
        f"{folder.name}/: {count} modules, at most {MODULES_A_FOLDER}"
        for folder, count in folders.items()
        if count > MODULES_A_FOLDER
    ]


Rule = Callable[[list[Module]], list[str]]
RULES: tuple[Rule, ...] = (
    wrong_layers,
    wrong_third_parties,
    gold_readers,
    too_long_files,
    too_long_bodies,
    too_many_parameters,
    too_deep,
    crowded_folders,
)


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    return read_modules(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_code_keeps_the_rule(rule: Rule, modules: list[Module]) -> None:
    assert {"mctsr.errors", "mctsr.engine", "mctsr.lm.local.embedded"} <= {module.name for module in modules}
    complaints = rule(modules)
    assert not complaints, "\n".join(complaints)


def body(lines: int) -> str:
    return "def f():\n    '''Doc.\n\n    More.\n    '''\n" + "    x = 1\n" * lines


def blocks(depth: int) -> str:
    return (
        "def f():\n"
        + "".join("    " * n + "if x:\n" for n in range(1, depth + 1))
        + "    " * (depth + 1)
        + "y\n"
    )


ELIFS = "def f():\n    if a:\n        b\n" + "    elif c:\n        d\n" * 9
ELSE_IFS = (
    blocks(3) + "    else:\n        if a:\n            if b:\n                if c:\n                    d\n"
)
SEVEN = "a, b, c, d, e, f, g"

KEPT = [
    {
        "mctsr/tree.py": "from mctsr.kernels.node import NODE\nimport mctsr.errors\n",
        "mctsr/kernels/node.py": "",
    },
    {"mctsr/kernels/walk.py": "from .node import NODE\nimport numba\n", "mctsr/kernels/node.py": ""},
    {"mctsr/lm/server.py": "from .base import Call\n", "mctsr/lm/base.py": ""},
    {
        "mctsr/parts.py": "from mctsr.lm.base import Call\n",
        "mctsr/lm/base.py": "",
        "mctsr/lm/__init__.py": "",
    },
    {"mctsr/recipes/refine/a.py": "from mctsr.recipes.shared import x\n", "mctsr/recipes/shared.py": ""},
    {"cli/show.py": "import typer, rich.table\nfrom mctsr.view.tree import x\n", "mctsr/view/tree.py": ""},
    {"mctsr/runs/grades.py": "from x import y as read_gold\nproblems.read_gold()\n"},
    {"mctsr/tree.py": "\n" * 250},
    {"mctsr/tree.py": body(40), "mctsr/kernels/walk.py": body(60)},
    {"mctsr/tree.py": "class A:\n    def f(self, a, b, c, d, e, f, *, g): ...\n"},
    {"mctsr/recipes/a.py": f"def mctsr({SEVEN}): ...\n"},
    {"mctsr/kernels/walk.py": f"def f({SEVEN}, h): ...\n"},
    {"cli/show.py": f"@app.command()\ndef show({SEVEN}): ...\n"},
    {"cli/main.py": "app.command('show')(show.show)\n", "cli/show.py": f"def show({SEVEN}): ...\n"},
    {"mctsr/tree.py": blocks(3)},
    {"mctsr/tree.py": ELIFS},
    {f"mctsr/select/m{n}.py": "" for n in range(16)} | {"mctsr/select/__init__.py": ""},
]

BROKEN: list[tuple[Rule, str, dict[str, str]]] = [
    (wrong_layers, "mctsr.tree:1 imports mctsr.parts", {"mctsr/tree.py": "from mctsr.parts import Ask\n"}),
    (
        wrong_layers,
        "mctsr.tree:2 imports mctsr.parts",
        {"mctsr/tree.py": "def f():\n    from mctsr import parts\n"},
    ),
    (wrong_layers, "mctsr.tree:1 imports mctsr.parts", {"mctsr/tree.py": "from .parts import Ask\n"}),
    (wrong_layers, "imports mctsr.cli", {"mctsr/report.py": "import mctsr.cli\n", "cli/__init__.py": ""}),
    (wrong_layers, "imports mctsr", {"mctsr/report.py": "from mctsr import solve\n"}),
    (wrong_layers, "imports mctsr.gone", {"mctsr/report.py": "from mctsr.gone import solve\n"}),
    (
        wrong_layers,
        "mctsr.select.a:1 imports mctsr.expand.b",
        {"mctsr/select/a.py": "from mctsr.expand.b import x\n", "mctsr/expand/b.py": ""},
    ),
    (
        wrong_layers,
        "mctsr.select.a:1 imports mctsr.select.b",
        {"mctsr/select/a.py": "from mctsr.select.b import x\n", "mctsr/select/b.py": ""},
    ),
    (
        wrong_layers,
        "mctsr.lm.base:1 imports mctsr.lm.server",
        {"mctsr/lm/base.py": "from .server import x\n", "mctsr/lm/server.py": ""},
    ),
    (
        wrong_layers,
        "mctsr.lm:1 imports mctsr.lm.server",
        {"mctsr/lm/__init__.py": "from .server import x\n", "mctsr/lm/server.py": ""},
    ),
    (wrong_layers, "mctsr.prompting:1 imports mctsr.tree", {"mctsr/prompting.py": "import mctsr.tree\n"}),
    (wrong_layers, "mctsr.extra: not in the layer table", {"mctsr/extra.py": ""}),
    (wrong_third_parties, "mctsr.tree:1 imports numba", {"mctsr/tree.py": "from numba import njit\n"}),
    (wrong_third_parties, "mctsr.view:1 imports rich.tree", {"mctsr/view/__init__.py": "import rich.tree\n"}),
    (wrong_third_parties, "mctsr.runs:2 imports typer", {"mctsr/runs.py": "if 1:\n    import typer\n"}),
    (gold_readers, "mctsr.engine:1 uses", {"mctsr/engine.py": "from mctsr.problems import read_gold as g\n"}),
    (gold_readers, "mctsr.recipes.a:2 uses", {"mctsr/recipes/a.py": "import x\nx.read_gold()\n"}),
    (too_long_files, "251 lines", {"mctsr/tree.py": "\n" * 251}),
    (too_long_files, "mctsr.cli.show: 251 lines", {"cli/show.py": "\n" * 251}),
    (too_long_bodies, "41 lines", {"mctsr/tree.py": body(41)}),
    (too_long_bodies, "61 lines", {"mctsr/kernels/walk.py": body(61)}),
    (too_many_parameters, "7 positional", {"mctsr/tree.py": f"def f({SEVEN}): ...\n"}),
    (too_many_parameters, "9 positional", {"mctsr/kernels/walk.py": f"def f({SEVEN}, h, i): ...\n"}),
    (too_many_parameters, "7 positional", {"cli/render.py": f"def draw({SEVEN}): ...\n"}),
    (
        too_many_parameters,
        "7 positional",
        {"mctsr/tree.py": f"class A:\n    async def f(self, {SEVEN}): ...\n"},
    ),
    (too_deep, "nesting 4", {"mctsr/tree.py": blocks(4)}),
    (too_deep, "nesting 4", {"mctsr/tree.py": ELSE_IFS}),
    (crowded_folders, "select/: 17 modules", {f"mctsr/select/m{n}.py": "" for n in range(17)}),
]


def plant(root: Path, files: dict[str, str]) -> list[Module]:
    """Write a small tree with the given files (and the few that they import) and parse it."""
    for name, text in (
        {"mctsr/errors.py": "", "mctsr/parts.py": "", "mctsr/__init__.py": ""} | files
    ).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_modules(root)


@pytest.mark.parametrize("files", KEPT, ids=lambda files: "+".join(list(files)[:2]))
def test_what_is_allowed_draws_no_complaint(files: dict[str, str], tmp_path: Path) -> None:
    planted = plant(tmp_path, files)
    assert [complaint for rule in RULES for complaint in rule(planted)] == []


@pytest.mark.parametrize(("rule", "said", "files"), BROKEN)
def test_a_broken_rule_draws_a_complaint(
    rule: Rule, said: str, files: dict[str, str], tmp_path: Path
) -> None:
    complaints = rule(plant(tmp_path, files))
    assert any(said in complaint for complaint in complaints), complaints


def loaded_after(program: str) -> set[str]:
    """Run a program in a fresh interpreter; gives the heavy packages that it loaded."""
    report = "\nimport sys\nsys.stderr.write('loaded: ' + ' '.join(sys.modules))\n"
    done = subprocess.run(
        [sys.executable, "-c", program + report], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stderr.rpartition("loaded: ")[2].split()} & HEAVY


HELP = """
import sys
from importlib.metadata import entry_points

sys.argv = ["mctsr", "--help"]
main = next(iter(entry_points(group="console_scripts", name="mctsr"))).load()
try:
    main()
except SystemExit as end:
    assert not end.code, end
"""


@pytest.mark.parametrize(
    "program",
    [
        "import mctsr",
        "import mctsr\ndir(mctsr)",
        "import mctsr.errors, mctsr.lm.local.gguf, mctsr.lm.local.embedded",
        HELP,
    ],
    ids=["import", "dir", "models", "help"],
)
def test_starting_loads_nothing_heavy(program: str) -> None:
    assert loaded_after(program) == set()


def test_what_is_loaded_is_seen() -> None:
    assert loaded_after("import numpy.linalg") == {"numpy"}
