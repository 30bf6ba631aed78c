"""`mctsr show` on terminals of any width, in pipes, in poor encodings, and with trees of any depth."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sample_run import NASTY, command, make_run, make_trees, node, sample, tree

MCTSR = [str(Path(sys.executable).parent / "mctsr")]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(make_run(tmp_path / "run"))


def on_terminal(*arguments: str, columns: int = 80, **variables: str) -> str:
    """Run the command on a terminal and return what it wrote there."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": str(columns), **variables}
    ours, theirs = pty.openpty()
    with subprocess.Popen([*MCTSR, *arguments], stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        written = b""
        while chunk := _read(ours):
            written += chunk
    os.close(ours)
    assert process.returncode == 0, written
    return written.decode().replace("\r\n", "\n")


def _read(file: int) -> bytes:
    try:
        return os.read(file, 1 << 16)
    except OSError:  # Linux says so when the other end is closed.
        return b""


def test_on_a_terminal_only_our_own_colours_arrive(folder: str) -> None:
    said = on_terminal("show", folder, "#3", columns=200)
    assert "\x1b[1m" in said
    assert "\x1b[31m" not in said
    assert "[red]not red[/] ␛[31mnot red␛[0m" in said
    assert "\x07" not in said


@pytest.mark.parametrize("columns", [60, 100])
def test_on_a_terminal_no_line_is_longer_than_it(folder: str, columns: int) -> None:
    plain = on_terminal("show", folder, columns=columns, NO_COLOR="1", TERM="dumb")
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= columns
    assert "clips-1" in plain
    assert "…" in plain


def test_a_pipe_gets_no_colours_and_no_ellipsis(folder: str) -> None:
    long = "1" * 500
    made = tree("long", [node(0, None, long, samples=[sample(1.0)], value=1.0, visits=1)], 0)
    path = make_trees(Path(folder).parent / "long", [made])
    for arguments in (("show", str(path)), ("show", str(path), "long")):
        said = command(*arguments).out
        assert long in said
        assert "…" not in said
        assert "\x1b" not in said


def test_an_encoding_without_lines_gets_plain_ones(folder: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*MCTSR, "show", folder, "1"], capture_output=True, env=environment, check=True, timeout=60
    )
    assert b"\n* 0           -  24.8" in done.stdout
    assert b"\n|-o 2         0" in done.stdout
    assert b"\n`-* 3         0" in done.stdout
    line = [*MCTSR, "show", folder, "3", "--json"]
    done = subprocess.run(line, capture_output=True, env=environment, check=True, timeout=60)
    assert json.loads(done.stdout)["tree"]["nodes"][0]["answer"] == NASTY


def test_a_closed_pipe_is_no_error_to_see(tmp_path: Path) -> None:
    deep = [
        node(i, i - 1 if i else None, str(i), samples=[sample(1.0)], value=1.0, depth=i) for i in range(3000)
    ]
    path = make_trees(tmp_path / "run", [tree("deep", deep, 2999)])
    for more in ("deep", "deep --json"):
        line = f"{MCTSR[0]} show {path} {more} | head -1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, timeout=60)
        assert done.stderr == ""
        assert done.stdout.splitlines()[1] in ("0", "141")


def test_a_deep_tree_goes_on_at_the_left_and_says_at_which_depth(tmp_path: Path) -> None:
    deep = [
        node(i, i - 1 if i else None, str(i), samples=[sample(1.0)], value=1.0, depth=i) for i in range(1000)
    ]
    path = make_trees(tmp_path / "run", [tree("deep", deep, 999)])
    said = command("show", str(path), "deep").out.splitlines()
    assert len(said) > 1000
    assert max(map(len, said[3:-1])) < 120
    at = said.index("… depth 22, below node 21")
    assert said[at - 1].split() == ["╰─●…", "21", "20", "1", "0", "21", "ungraded", "1"]
    assert said[at + 1].startswith("╰─● 22  ")


@pytest.mark.parametrize("columns", [60, 100])
def test_a_deep_tree_fits_a_terminal(tmp_path: Path, columns: int) -> None:
    deep = [
        node(i, i - 1 if i else None, str(i), samples=[sample(1.0)], value=1.0, depth=i) for i in range(100)
    ]
    path = make_trees(tmp_path / "run", [tree("deep", deep, 99)])
    said = on_terminal("show", str(path), "deep", columns=columns, NO_COLOR="1", TERM="dumb").splitlines()
    assert max(map(len, said)) <= columns
    rows = [line.replace("…", " ").split() for line in said if "─●" in line]
    assert [(row[1], row[2]) for row in rows] == [(str(i), str(i - 1)) for i in range(1, 100)]
