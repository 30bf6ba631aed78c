"""Writing a run folder: what a kill at any byte leaves behind, and that one process writes at a time."""

import multiprocessing
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.batch import run_record
from mctsr.errors import RunError
from mctsr.lm.scripted import Scripted
from mctsr.runs import files
from mctsr.runs.folder import Run
from mctsr.runs.layout import ensure_free, file_name, lock_folder
from mctsr.runs.records import RunRecord
from mctsr.runs.writer import RunWriter
from tests.runs.world import NOW, connected, everything, lines, planned, run


def record(tmp_path: Path) -> RunRecord:
    return run_record(planned(tmp_path), connected(Scripted([])), NOW)


@pytest.fixture
async def finished(tmp_path: Path) -> Path:
    """Make a run of three solved problems."""
    await run(tmp_path / "run", planned(tmp_path))
    return tmp_path / "run"


def test_run_json_is_there_before_anything_else_is(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "deep" / "run", record(tmp_path)) as writer:
        assert Run.open(writer.folder).record["problem_ids"] == ["sum-0", "sum-1", "sum-2"]
        assert not list(writer.folder.glob("live/*"))


def test_a_folder_that_holds_a_run_is_refused_with_the_two_ways_out(tmp_path: Path) -> None:
    RunWriter.create(tmp_path / "run", record(tmp_path)).close()
    with pytest.raises(RunError, match=r"mctsr resume .*run.*--overwrite"):
        RunWriter.create(tmp_path / "run", record(tmp_path))


def test_a_folder_with_files_of_the_same_names_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.log").write_text("mine")
    with pytest.raises(RunError, match=r"not a run of mctsr and holds files \(run.log\)"):
        RunWriter.create(tmp_path / "run", record(tmp_path))
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.log"]
    assert (tmp_path / "run" / "run.log").read_text() == "mine"


@pytest.mark.parametrize("names", [None, (), ("results.jsonl", "notes.txt")])
def test_a_folder_is_free_when_beginning_a_run_there_deletes_nothing(
    tmp_path: Path, names: tuple[str, ...] | None
) -> None:
    for name in names or ():
        (tmp_path / name).touch()
    ensure_free(tmp_path if names is not None else tmp_path / "not" / "there")


def test_a_folder_with_results_is_not_free(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text("{}\n")
    with pytest.raises(RunError, match="not a run of mctsr"):
        ensure_free(tmp_path)


def test_overwriting_deletes_the_run_and_nothing_else(finished: Path, tmp_path: Path) -> None:
    (finished / "notes.txt").write_text("mine")
    (finished / "live").mkdir(exist_ok=True)
    (finished / "live" / "old.jsonl").write_text("mine, too")
    (finished / "live" / "sum-1.jsonl").write_text("{}\n")
    (finished / "calls").mkdir()
    (finished / "calls" / "sum-2.jsonl").write_text("{}\n")
    RunWriter.create(finished, record(tmp_path), overwrite=True).close()
    assert (finished / "notes.txt").read_text() == "mine"
    assert [path.name for path in (finished / "live").iterdir()] == ["old.jsonl"]
    assert not list((finished / "calls").iterdir())
    assert Run.open(finished).unfinished() == ["sum-0", "sum-1", "sum-2"]


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be made"):
        RunWriter.create(tmp_path / "file", record(tmp_path))


def hold(
    folder: Path, held: "multiprocessing.synchronize.Event", done: "multiprocessing.synchronize.Event"
) -> None:
    lock_folder(folder)
    held.set()
    done.wait(20)


def test_two_processes_never_write_one_folder(finished: Path, tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    held, done = spawn.Event(), spawn.Event()
    other = spawn.Process(target=hold, args=(finished, held, done))
    other.start()
    try:
        assert held.wait(20)
        assert Run.open(finished).state == "running"
        for begin in (
            RunWriter.reopen,
            lambda folder: RunWriter.create(folder, record(tmp_path), overwrite=True),
        ):
            with pytest.raises(RunError, match="being written by another process"):
                begin(finished)
    finally:
        other.kill()
        other.join()
    assert Run.open(finished).state == "finished"
    RunWriter.reopen(finished).close()


def test_reopening_a_folder_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no run"):
        RunWriter.reopen(tmp_path)


@pytest.mark.parametrize("cut", [1, 2, 40, 400])
def test_a_torn_result_takes_its_problem_back_and_its_tree_with_it(finished: Path, cut: int) -> None:
    results, trees = finished / "results.jsonl", finished / "trees.jsonl"
    first = Run.open(finished).results()["sum-0"]
    kept = results.read_bytes().split(b"\n")[0] + b"\n"
    results.write_bytes(results.read_bytes()[: max(len(kept), results.stat().st_size - cut)])
    whole = {line["id"] for line in lines(results)}
    with RunWriter.reopen(finished) as writer:
        assert writer.ok == whole
    assert results.read_bytes().endswith(b"\n")
    assert {tree["problem_id"] for tree in lines(trees)} == whole
    assert trees.stat().st_size == max(r["offset"] + r["length"] + 1 for r in lines(results))
    assert Run.open(finished).results()["sum-0"] == first


def test_a_kill_at_any_byte_of_a_commit_leaves_a_folder_that_can_be_opened(
    finished: Path, tmp_path: Path
) -> None:
    trees, results = (finished / name for name in ("trees.jsonl", "results.jsonl"))
    tree, result = trees.read_bytes(), results.read_bytes()
    last = Run.open(finished).results()["sum-2"]
    states = [
        (tree[:size], result[: result[:-1].rfind(b"\n") + 1]) for size in range(last["offset"], len(tree), 97)
    ]
    states += [(tree, result[:size]) for size in range(result[:-1].rfind(b"\n") + 1, len(result), 31)]
    for number, (some_trees, some_results) in enumerate(states):
        folder = tmp_path / f"copy-{number}"
        shutil.copytree(finished, folder)
        (folder / "trees.jsonl").write_bytes(some_trees)
        (folder / "results.jsonl").write_bytes(some_results)
        RunWriter.reopen(folder).close()
        found = Run.open(folder)
        assert found.unfinished() == ["sum-2"]
        assert [tree["problem_id"] for tree in found.trees()] == ["sum-0", "sum-1"]
        assert found.notes == []


def test_a_whole_line_that_is_no_record_stays_and_counts_for_nothing(finished: Path) -> None:
    with (finished / "results.jsonl").open("ab") as file:
        file.write(b"\0" * 50 + b"\n")
    before = everything(finished)
    with RunWriter.reopen(finished) as writer:
        assert len(writer.ok) == 3
    assert b"line 4: damaged (is no JSON), left out" in (finished / "run.log").read_bytes()
    assert (finished / "results.jsonl").read_bytes() in before


def test_trees_that_are_gone_are_not_passed_over(finished: Path) -> None:
    (finished / "trees.jsonl").write_bytes(b"")
    with pytest.raises(RunError, match="shorter than"):
        RunWriter.reopen(finished)


def test_the_call_log_of_a_finished_problem_is_dropped_on_opening(finished: Path) -> None:
    with RunWriter.reopen(finished) as writer:
        live = writer.live_path("sum-1")
        live.parent.mkdir(exist_ok=True)
        live.write_bytes(b'{"t":"sent"}\n')
        other = writer.live_path("sum-9")
        other.write_bytes(b"")
    (finished / f"{files.TEMPORARY}abc").write_bytes(b"half")
    RunWriter.reopen(finished).close()
    assert not live.exists()
    assert other.exists()
    assert not list(finished.glob(f"{files.TEMPORARY}*"))


async def test_call_logs_can_be_kept(tmp_path: Path) -> None:
    await run(tmp_path / "run", planned(tmp_path, keep_calls=True))
    assert sorted(path.name for path in (tmp_path / "run" / "calls").iterdir()) == [
        f"sum-{i}.jsonl" for i in range(3)
    ]
    assert not list((tmp_path / "run" / "live").iterdir())


def test_the_log_takes_any_text(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", record(tmp_path)) as writer:
        writer.log("lone \ud800")
    assert b"lone ?" in everything(tmp_path / "run")


@given(st.lists(st.text(st.characters(exclude_categories=())), min_size=2, max_size=2, unique=True))
def test_call_logs_have_safe_and_different_names(ids: list[str]) -> None:
    names = [file_name(id) for id in ids]
    assert names[0].casefold() != names[1].casefold()
    for name in names:
        assert len(name.encode()) <= 100
        assert not set(name) & set('/\\:\0*?"<>| ')
        assert not name.startswith((".", "-", "~."))


@pytest.mark.parametrize("id", ["../../etc/passwd", "x" * 300, "日本", ".", "", "A", "a b", "con/aux", "-rf"])
def test_odd_ids_stay_inside_the_folder(tmp_path: Path, id: str) -> None:
    with RunWriter.create(tmp_path / "run", record(tmp_path)) as writer:
        live = writer.live_path(id)
    assert live.parent == tmp_path / "run" / "live"
    live.parent.mkdir()
    live.write_bytes(b"")
    assert [path.name for path in live.parent.iterdir()] == [live.name]
