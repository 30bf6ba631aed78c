"""What surrounds the command: streams that are closed or full, paths of every kind, Ctrl-C while it loads."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .conftest import COMMAND, Command, Serve

SMALL = ("--recipe", "zero-shot")
NOWHERE = ("--base-url", "http://127.0.0.1:9/v1")
LONG = "x" * 300


def in_shell(*arguments: object, streams: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a shell does that closes or redirects some streams."""
    script = f'"$@" {streams}'
    return subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
        check=False,
    )


# Streams


@pytest.mark.parametrize("streams", [">&-", "2>&-", "<&-", ">&- 2>&- <&-", "2>/dev/full"])
def test_a_run_loses_nothing_when_streams_are_closed(serve: Serve, data: Path, streams: str) -> None:
    ended = in_shell("solve", data, "--base-url", serve().url, *SMALL, "-o", "here", streams=streams)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(Path("here/results.jsonl").read_text().splitlines()) == 3
    for file in Path("here").glob("*.jsonl"):
        for line in file.read_text().splitlines():
            json.loads(line)
    if ">&-" not in streams.replace("2>&-", ""):
        assert "selected" in ended.stdout


@pytest.mark.parametrize("command", [("recipes", "--json"), ("--help",), ("--version",)])
@pytest.mark.parametrize("streams", [">&-", "<&-", ">&- 2>&-"])
def test_reading_commands_need_no_streams(command: tuple[str, ...], streams: str) -> None:
    ended = in_shell(*command, streams=streams)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_questions_from_a_closed_stream_are_asked_for_otherwise() -> None:
    ended = in_shell("solve", "-", *NOWHERE, "--quiet", streams="<&-")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "error: standard input is closed; give a file, or pipe something in\n"


@pytest.mark.parametrize("command", [("recipes",), ("--help",), ("--version",)])
def test_an_output_that_is_full_is_said_in_one_line(command: tuple[str, ...]) -> None:
    ended = in_shell(*command, streams=">/dev/full")
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: the output: no space left on device; free some space")
    assert ended.stderr.count("\n") == 1


# Paths


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "~nosuchuser/d.jsonl", *NOWHERE),
        ("solve", "-q", "x", *NOWHERE, "-C", "~nosuchuser/c.toml"),
        ("solve", "-q", "x", *NOWHERE, "--prompts", "~nosuchuser/p"),
        ("solve", "-q", "x", *NOWHERE, "-o", "~nosuchuser/o"),
        ("solve", "-q", "x", "-m", "~nosuchuser/m.gguf"),
    ],
)
def test_a_home_folder_that_nobody_has_is_said(mctsr: Command, arguments: tuple[str, ...]) -> None:
    ended = mctsr(*arguments)
    assert ended.code == 2
    assert "begins with ~nosuchuser, whose home folder is unknown" in ended.err


def test_a_home_folder_is_found_wherever_a_path_can_be_given(
    mctsr: Command, serve: Serve, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    data.rename(home / "d.jsonl")
    (home / "c.toml").write_text(f"base_url = '{serve().url}'")
    ended = mctsr("solve", "~/d.jsonl", *SMALL, "-C", "~/c.toml", "-o", "~/run")
    assert ended.code == 0, ended.err
    assert mctsr("export", home / "run", "-f", "nodes", "-o", "~/nodes.jsonl").code == 0
    assert (home / "nodes.jsonl").is_file()


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", LONG, *NOWHERE),
        ("solve", "-q", "x", *NOWHERE, "-o", LONG),
        ("solve", "-q", "x", *NOWHERE, "-o", f"folder/{LONG}/run"),
        ("solve", "-q", "x", *NOWHERE, "--prompts", LONG),
        ("solve", "-q", "x", *NOWHERE, "-C", LONG),
        ("solve", "-q", "x", "-m", f"{LONG}.gguf"),
        ("solve", "-q", "x", *NOWHERE, "--recipe", f"{LONG}.py:f"),
        ("solve", "-q", "x", *NOWHERE, "-s", LONG),
        ("solve", "-q", "x", *NOWHERE, "--answer-kind", LONG),
        ("solve", "-q", "x", *NOWHERE, "--temperature", LONG),
        ("solve", "-q", "x", "--base-url", f"ftp://{LONG}"),
        ("show", LONG),
    ],
)
def test_a_name_that_is_too_long_is_wrong_input_in_one_short_line(
    mctsr: Command, arguments: tuple[str, ...]
) -> None:
    ended = mctsr(*arguments)
    assert ended.code == 2, ended.err
    (line,) = (line for line in ended.err.splitlines() if line.startswith("error: "))
    assert LONG not in line
    assert len(line) < 900
    assert not Path("folder").exists()


def test_a_data_file_with_a_long_name_makes_a_run_folder_that_can_be_made(
    mctsr: Command, serve: Serve, data: Path
) -> None:
    long = data.rename(data.with_name("é" * 120 + ".jsonl"))
    ended = mctsr("solve", long, "--base-url", serve().url, *SMALL)
    assert ended.code == 0, ended.err
    (folder,) = Path("runs").iterdir()
    assert len(folder.name.encode()) <= 200


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_is_read_only_is_said_before_anything_is_asked(mctsr: Command, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    ended = mctsr("solve", "-q", "x", *NOWHERE, "-o", "closed/run")
    assert ended.code == 2
    assert "cannot be written; give another --output-dir" in ended.err


def test_a_file_in_place_of_a_folder_is_said(mctsr: Command, data: Path) -> None:
    ended = mctsr("solve", data, *NOWHERE, "-o", f"{data.name}/run")
    assert ended.code == 2
    assert f"{data} is no folder; give another --output-dir" in ended.err


# Signals


@pytest.mark.parametrize("milliseconds", [60, 120, 250])
def test_ctrl_c_while_the_command_loads_is_quiet(milliseconds: int) -> None:
    with subprocess.Popen(
        [*COMMAND, "solve", "-q", "x", *NOWHERE, "--wait-for-server", "30", "--display", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        time.sleep(milliseconds / 1000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    # Before Python listens, the signal itself ends the process; a shell calls that 130, too.
    assert process.returncode in (130, -signal.SIGINT)
    assert out == ""
    assert "Traceback" not in err
