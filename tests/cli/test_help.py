"""Help, version, exit codes and pipes of the command as a whole."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import COMMAND, Command, Serve

COMMANDS = [
    "solve",
    "resume",
    "show",
    "report",
    "compare",
    "grade",
    "runs",
    "export",
    "data",
    "doctor",
    "recipes",
    "model get",
    "model list",
]
ENTRIES = {"--help", "--version", "--install-completion", "--show-completion"}


@pytest.mark.parametrize("command", ["", *COMMANDS])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help(mctsr: Command, command: str, flag: str) -> None:
    ended = mctsr(*command.split(), flag)
    assert (ended.code, ended.err) == (0, "")
    assert f"Usage: mctsr {command}".strip() in ended.out


@pytest.mark.parametrize("command", ["solve", "resume", "data", "doctor"])
def test_every_option_can_be_given_as_a_variable_of_its_name(mctsr: Command, command: str) -> None:
    shown = mctsr(command, "--help").out
    options = set(re.findall(r"^│ (--[a-z][a-z-]+)", shown, re.MULTILINE)) - ENTRIES
    assert len(options) >= 6
    if command == "resume":
        # A run has its own addresses; what a shell has set for all runs must not move it.
        options -= {"--base-url", "--judge-base-url", "--prm-base-url"}
    # What was wrapped over lines is joined again.
    text = re.sub(r"\s*│\n│\s*", " ", shown)
    for name in options:
        variable = "MCTSR_" + name[2:].upper().replace("-", "_")
        assert re.search(rf"env var: [A-Z_, ]*{variable}\b", text), name


def test_the_version_is_the_packages(mctsr: Command) -> None:
    ended = mctsr("--version")
    assert ended.code == 0
    assert re.fullmatch(r"mctsr \d+\.\d+\.\d+\n", ended.out)


def test_without_arguments_the_help_is_shown(mctsr: Command) -> None:
    ended = mctsr()
    assert ended.code == 2
    assert "solve" in ended.out


@pytest.mark.parametrize("arguments", ["nothing", "--nothing", "solve --nothing", "model nothing", "resume"])
def test_what_does_not_exist_is_one_line_and_exit_code_2(mctsr: Command, arguments: str) -> None:
    ended = mctsr(*arguments.split())
    assert (ended.code, ended.out) == (2, "")
    assert re.fullmatch(r"error: .*; see mctsr[a-z ]* --help\n", ended.err)


def test_the_module_can_be_run(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["recipes", "recipes --json", "solve --help"])
def test_a_closed_pipe_is_quiet(command: str) -> None:
    with subprocess.Popen(
        [*COMMAND, *command.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(10) in (0, 141)


def test_an_error_of_the_program_itself_shows_no_values(serve: Serve) -> None:
    """A traceback is for a bug, and must not print variables: a key may be among them."""
    program = (
        "import sys; from importlib.metadata import entry_points as e;"
        "main = next(iter(e(group='console_scripts', name='mctsr'))).load();"
        "import mctsr.batch as b; b.plan = lambda *a: 1 / 0; sys.exit(main())"
    )
    arguments = ["solve", "-q", "2+2?", "--base-url", "http://127.0.0.1:9", "--api-key", "sk-very-secret"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "sk-very-secret" not in done.stderr + done.stdout
