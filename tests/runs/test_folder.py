"""Reading run folders: finished, broken off, being written, damaged."""

from datetime import datetime
from pathlib import Path

import pytest

from mctsr.errors import RunError, ServerError
from mctsr.lm.base import Place, Request
from mctsr.lm.scripted import Reply, Scripted
from mctsr.runs import files
from mctsr.runs.folder import Run, find_run, list_runs, new_folder
from mctsr.runs.layout import read_record
from mctsr.runs.writer import RunWriter
from tests.runs.world import by_place, go_on, planned, run


@pytest.fixture
async def finished(tmp_path: Path) -> Run:
    """Make a run of three solved problems."""
    await run(tmp_path / "runs" / "2026-01-02T03-04-05-mctsr-sums", planned(tmp_path))
    return Run.open(tmp_path / "runs" / "2026-01-02T03-04-05-mctsr-sums")


def test_results_trees_and_grades_are_found_by_id(finished: Run) -> None:
    assert list(finished.results()) == list(finished.grades()) == ["sum-0", "sum-1", "sum-2"]
    assert finished.tree("sum-1")["problem"] == "What is 1 and 2?"
    assert [tree["problem_id"] for tree in finished.trees()] == ["sum-0", "sum-1", "sum-2"]
    assert (finished.state, finished.unfinished(), finished.notes) == ("finished", [], [])


def test_reading_results_never_touches_trees(finished: Run) -> None:
    (finished.path / "trees.jsonl").unlink()
    again = Run.open(finished.path)
    assert len(again.results()) == 3
    assert again.state == "finished"
    with pytest.raises(RunError, match="the tree of 'sum-0' is damaged"):
        again.tree("sum-0")


def test_torn_and_damaged_lines_are_left_out_and_noted(finished: Run) -> None:
    results = finished.path / "results.jsonl"
    whole = results.read_bytes().split(b"\n")
    results.write_bytes(b"\n".join([whole[0], b"\0\0", whole[1], whole[2][:50]]))
    again = Run.open(finished.path)
    assert list(again.results()) == ["sum-0", "sum-1"]
    assert again.notes == [
        "results.jsonl, line 2: damaged (is no JSON), left out",
        "results.jsonl: the last line was torn off after 50 bytes, left out",
    ]
    assert again.state == "interrupted"
    assert again.unfinished() == ["sum-2"]


def test_the_last_line_of_an_id_wins(finished: Run) -> None:
    first = finished.results()["sum-0"]
    with RunWriter.reopen(finished.path) as writer:
        writer.commit(None, {**first, "stopped": "later"})
    again = Run.open(finished.path)
    assert again.results()["sum-0"]["stopped"] == "later"
    assert list(again.results()) == ["sum-1", "sum-2", "sum-0"]
    assert [tree["problem_id"] for tree in again.trees()] == ["sum-1", "sum-2"]


@pytest.mark.parametrize(
    ("id", "said"), [("sum-7", "the run has 3 problems and none with this id"), ("", "none with this id")]
)
def test_a_tree_that_is_not_there_is_explained(finished: Run, id: str, said: str) -> None:
    with pytest.raises(RunError, match=said):
        finished.tree(id)


async def test_a_run_in_which_every_problem_failed_is_failed(tmp_path: Path) -> None:
    def broken(place: Place, request: Request) -> Reply:
        return ServerError("out of order") if place.problem == "sum-0" else by_place(place, request)

    await run(tmp_path / "one", planned(tmp_path, 1), Scripted(broken))
    failed = Run.open(tmp_path / "one")
    assert failed.state == "failed"
    with pytest.raises(RunError, match="the problem failed: no first answer: server error: out of order"):
        failed.tree("sum-0")
    await go_on(tmp_path / "one")
    assert Run.open(tmp_path / "one").state == "finished"
    await run(tmp_path / "two", planned(tmp_path, 2), Scripted(broken))
    assert Run.open(tmp_path / "two").state == "finished"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "run.json is damaged"),
        (b"[]", "not the record of a run"),
        (b'{"schema": 999}', "schema 999, this version reads up to 1; update mctsr"),
    ],
)
def test_a_folder_that_cannot_be_read_says_why(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(RunError, match="holds no run"):
        Run.open(tmp_path)
    (tmp_path / "run.json").write_bytes(data)
    with pytest.raises(RunError, match=said):
        Run.open(tmp_path)


def test_folders_are_named_by_time_and_never_twice(tmp_path: Path) -> None:
    now = datetime(2026, 1, 2, 3, 4, 5)
    first = new_folder(tmp_path, "mctsr-sums", now)
    assert first.name == "2026-01-02T03-04-05-mctsr-sums"
    first.mkdir()
    assert new_folder(tmp_path, "mctsr-sums", now).name == "2026-01-02T03-04-05-mctsr-sums-2"


def test_runs_are_listed_by_age_and_found_by_name(finished: Run) -> None:
    base = finished.path.parent
    older = base / "2025-other"
    older.mkdir()
    (older / "run.json").write_bytes(
        files.dumps({**read_record(finished.path), "created": "2025-01-01T00:00:00+00:00"})
    )
    (base / "no run").mkdir()
    (base / "damaged").mkdir()
    (base / "damaged" / "run.json").write_bytes(b"{")
    runs, damaged = list_runs(base)
    assert [found.path for found in runs] == [older, finished.path]
    assert [(path.name, "damaged (unexpected" in why) for path, why in damaged] == [("damaged", True)]
    for name in (str(finished.path), finished.path.name, "2026", "latest"):
        assert find_run(name, base) == finished.path
    assert find_run("dam", base) == base / "damaged"
    with pytest.raises(RunError, match="'20' fits 2 runs"):
        find_run("20", base)
    with pytest.raises(RunError, match=r"no run 'x'.*2025-other"):
        find_run("x", base)
    with pytest.raises(RunError, match="none yet"):
        find_run("latest", base / "nowhere")
