"""`mctsr export`: data on stdout, talk on stderr."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sample_run import command, make_run, make_trees, node, tree

MCTSR = str(Path(sys.executable).parent / "mctsr")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run")


@pytest.mark.parametrize(("form", "rows"), [("tree", "2 trees"), ("nodes", "9 nodes")])
def test_the_path_of_the_file_is_what_is_printed(folder: Path, form: str, rows: str) -> None:
    said = command("export", str(folder), "--format", form)
    assert said == (0, f"{folder}/export/{form}.jsonl\n", f"{rows}\n")
    assert (folder / "export" / f"{form}.jsonl").is_file()


def test_stdout_gets_the_rows_and_nothing_else(folder: Path) -> None:
    said = command("export", str(folder), "--format", "nodes", "-o", "-")
    assert [json.loads(line)["node_id"] for line in said.out.splitlines()] == [*range(8), 0]
    assert said.err == "9 nodes\n"
    assert not (folder / "export").exists()


def test_a_file_of_ones_own_gets_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    said = command("export", str(folder), "--format", "tree", "-o", str(tmp_path / "mine.jsonl"), "--json")
    assert json.loads(said.out) == {"path": str(tmp_path / "mine.jsonl"), "format": "tree", "rows": 2}
    text = command("export", str(folder), "--format", "tree", "-o", "-").out
    assert (tmp_path / "mine.jsonl").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("arguments", [("--format", "csv"), (), ("--format", "nodes", "-o", "/dev/null/x")])
def test_a_mistake_is_one_line_and_exit_code_2(folder: Path, arguments: tuple[str, ...]) -> None:
    said = command("export", str(folder), *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)


def test_a_missing_format_is_asked_for_with_what_is_allowed(folder: Path) -> None:
    said = command("export", str(folder))
    assert said.err == "error: give --format tree or nodes; see mctsr export --help\n"


def test_one_row_is_one_tree(tmp_path: Path) -> None:
    folder = make_trees(tmp_path / "run", [tree("a", [node(0, answer="1")], 0)])
    assert command("export", str(folder), "--format", "tree", "-o", "-").err == "1 tree\n"


def test_a_closed_pipe_is_no_error_to_see(folder: Path) -> None:
    line = f"{MCTSR} export {folder} --format nodes -o - | head -c 9; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout[:9] == '{"problem'
    assert done.stdout[9:].strip() in ("0", "141")
    assert "Traceback" not in done.stderr
