"""`mctsr runs`: every run with its state."""

import json
from pathlib import Path

import pytest

from mctsr.runs.writer import RunWriter
from tests.cli.test_show_screen import on_terminal
from tests.support.sample_run import IDS, command, make_run, make_trees, result, run_record


@pytest.fixture
def base(tmp_path: Path) -> Path:
    make_trees(tmp_path / "b-finished", [], created="2026-01-03T00:00:00+00:00")
    make_run(tmp_path / "a-interrupted")
    with RunWriter.create(
        tmp_path / "c-failed", run_record(IDS[:1], created="2026-01-04T00:00:00+00:00")
    ) as writer:
        writer.commit(None, result(IDS[0], None))
    (tmp_path / "no-run").mkdir()
    return tmp_path


def test_runs_are_listed_by_date_with_state_and_score(base: Path) -> None:
    said = command("runs", "--dir", str(base))
    heading, first, *_ = (line.split() for line in said.out.splitlines())
    assert (said.code, said.err) == (0, "")
    assert heading[:4] == ["run", "state", "problems", "selected@1"]
    assert first[:5] == ["a-interrupted", "interrupted", "3/4", "33.3", "%"]
    assert first[5:] == ["6.1", "–", "79.2", "2026-01-02", "03:04", "mctsr", "tiny-model"]
    assert "no-run" not in said.out


def test_a_run_that_is_being_written_is_running(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "now", run_record()):
        (entry,) = json.loads(command("runs", "--dir", str(tmp_path), "--json").out)
    assert (entry["state"], entry["done"], entry["problems"]) == ("running", 0, 4)


def test_json_lists_every_run(base: Path) -> None:
    entries = json.loads(command("runs", "--dir", str(base), "--json").out)
    assert [(entry["name"], entry["state"]) for entry in entries][0::2] == [
        ("a-interrupted", "interrupted"),
        ("c-failed", "failed"),
    ]
    reported = [command("report", entry["path"], "--json").out for entry in entries]
    assert [json.loads(text)["name"] for text in reported] == [entry["name"] for entry in entries]
    assert entries[0]["selected"]["correct"] == 1
    assert entries[1]["selected"] is None
    assert entries[2]["failed"] == 1


def test_no_runs_is_no_error(tmp_path: Path) -> None:
    said = command("runs", "--dir", str(tmp_path / "none"))
    assert said.code == 0
    assert "mctsr solve" in said.out
    assert json.loads(command("runs", "--dir", str(tmp_path), "--json").out) == []


@pytest.mark.parametrize("columns", [80, 100])
def test_the_name_of_a_run_is_whole_on_a_terminal_and_other_columns_make_room(
    tmp_path: Path, columns: int
) -> None:
    name = "2026-11-30T21-15-33-math-shepherd-gsm8k-2"
    make_run(tmp_path / name)
    said = on_terminal("runs", "--dir", str(tmp_path), columns=columns, NO_COLOR="1", TERM="dumb")
    assert name in said
    assert max(map(len, said.splitlines())) <= columns
    assert "no room for: " in said


def test_a_name_that_fills_a_terminal_is_cut(tmp_path: Path) -> None:
    make_run(tmp_path / ("long" * 40))
    said = on_terminal("runs", "--dir", str(tmp_path), columns=100, NO_COLOR="1", TERM="dumb")
    assert "long…" in said
    assert max(map(len, said.splitlines())) <= 100
