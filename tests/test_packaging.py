"""What is installed: every folder and file of the package, and nothing beside it.

A folder that is missing from `packages` works in an editable install and is absent from the wheel.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = {"mctsr": "mctsr", "cli": "mctsr/cli", "prompts": "mctsr/prompts"}


def folders_with_code(root: Path) -> set[str]:
    """Name the packages that the source folders hold: those with a module, and the prompts."""
    names = {"mctsr.prompts"}
    for folder, installed in SOURCES.items():
        for path in (root / folder).rglob("*.py"):
            inside = path.parent.relative_to(root / folder).parts
            names.add(".".join((*installed.split("/"), *inside)))
    return names


def listed_packages(root: Path) -> list[str]:
    with (root / "pyproject.toml").open("rb") as file:
        packages: list[str] = tomllib.load(file)["tool"]["setuptools"]["packages"]
    return packages


def installed_files(root: Path) -> set[str]:
    """List what the wheel must hold, as paths inside it."""
    wanted = {"mctsr/py.typed"}
    for folder, installed in SOURCES.items():
        for pattern in ("*.py", "*.md"):
            for path in (root / folder).rglob(pattern):
                wanted.add(f"{installed}/{path.relative_to(root / folder).as_posix()}")
    return wanted


def copy_tree(target: Path) -> Path:
    """Copy what a build reads, so that it leaves nothing in the checkout."""
    target.mkdir()
    for name in SOURCES:
        shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target)
    return target


def build(what: str, source: Path, target: Path) -> Path:
    """Build an `sdist` or a `wheel` with the backend that pyproject.toml names, as installers do."""
    target.mkdir(exist_ok=True)
    program = f"import setuptools.build_meta as b, sys; print(b.build_{what}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(target)], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target / done.stdout.splitlines()[-1]


def build_via_sdist(source: Path, scratch: Path) -> Path:
    archive = build("sdist", source, scratch / "dist")
    with tarfile.open(archive) as file:
        file.extractall(scratch / "unpacked", filter="data")
    (unpacked,) = (scratch / "unpacked").iterdir()
    return build("wheel", unpacked, scratch / "dist")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as users get it: built from the sdist."""
    scratch = tmp_path_factory.mktemp("build")
    return build_via_sdist(copy_tree(scratch / "source"), scratch)


def test_every_folder_is_listed_and_every_listed_folder_exists() -> None:
    listed = listed_packages(ROOT)
    assert set(listed) == folders_with_code(ROOT)
    assert len(listed) == len(set(listed))
    assert listed == sorted(listed)


def test_a_folder_that_is_not_listed_is_seen(tmp_path: Path) -> None:
    tree = copy_tree(tmp_path / "tree")
    (tree / "mctsr" / "recipes" / "planted").mkdir()
    (tree / "mctsr" / "recipes" / "planted" / "one.py").write_text("")
    assert folders_with_code(tree) - set(listed_packages(tree)) == {"mctsr.recipes.planted"}
    with zipfile.ZipFile(build_via_sdist(tree, tmp_path)) as archive:
        assert "mctsr/recipes/planted/one.py" in installed_files(tree) - set(archive.namelist())


def test_the_wheel_holds_every_module_and_prompt_and_only_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    package = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    assert package == installed_files(ROOT)
    assert any(name.startswith("mctsr/prompts/") for name in package)
    assert {name.partition("/")[0] for name in package} == {"mctsr"}


def test_the_unpacked_wheel_runs_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site")}
    program = (
        "import mctsr, importlib.resources as r;"
        "print(mctsr.__file__);"
        "print(*sorted(p.name for p in (r.files('mctsr') / 'prompts').iterdir()))"
    )
    for command, said in (
        (["-c", program], str(tmp_path / "site" / "mctsr" / "__init__.py")),
        (["-m", "mctsr.cli", "--help"], "solve"),
    ):
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout


def test_the_two_commands_and_the_continuous_check_can_be_run() -> None:
    for name in ("scripts/test", "scripts/quickstart", ".ci/run"):
        assert os.access(ROOT / name, os.X_OK), name
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line.strip() and not line.startswith(("#", "set ", "cd "))]
    assert [command.split()[:2] for command in commands] == [["exec", "scripts/test"]]


def test_every_dependency_has_a_tested_version() -> None:
    constraints = (ROOT / "scripts" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in constraints if line and not line.startswith("#")]
    names = [name for name, _, version in (pin.partition("==") for pin in pins) if version]
    assert len(names) == len(pins) == len(set(names))
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["embedded"], *extras["dev"]]
    bare = {requirement.partition(">=")[0].partition("[")[0] for requirement in wanted}
    assert bare <= set(names)
