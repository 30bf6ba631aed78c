"""Run folders that a disk, an editor or another program changed: what is wrong is said in one line, nothing is lost."""

import asyncio
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mctsr.errors import RunError, UsageError
from mctsr.lm.base import Tally
from mctsr.lm.calllog import CallLog, LoggedLM
from mctsr.lm.scripted import Scripted
from mctsr.runs import files
from mctsr.runs.folder import Run
from mctsr.runs.layout import ensure_free, read_record
from mctsr.runs.reading import read_records
from mctsr.runs.records import ResultRecord
from mctsr.runs.recovery import tree_damage
from mctsr.runs.writer import RunWriter
from tests.runs.world import everything, go_on, lines, planned, run
from tests.support.sample_run import command, run_record

NAMES = ("run.json", "trees.jsonl", "results.jsonl", "grades.jsonl", "summary.json", "live/sum-2.jsonl")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run of three problems, the last of them unfinished, with a call log that ends in a decision."""
    folder = tmp_path_factory.mktemp("sound") / "run"

    async def make() -> None:
        await run(folder, planned(folder.parent, keep_calls=True))

    asyncio.run(make())
    (folder / "live").mkdir(exist_ok=True)
    log = folder / "live" / "sum-2.jsonl"
    (folder / "calls" / "sum-2.jsonl").rename(log)
    logged = LoggedLM(Scripted([]), CallLog(log))
    logged.decide(3, "time limit", Tally(2))
    logged.close()
    for name in ("results.jsonl", "grades.jsonl", "trees.jsonl"):
        whole = (folder / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(whole[:2]))
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "runs" / "run"))


# Folders that are none of ours.


def foreign(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text("somebody's")


def linked(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).symlink_to(folder.parent / "elsewhere")


FOREIGN: dict[str, Callable[[Path], object]] = {
    **{
        name: foreign(name)
        for name in ("trees.jsonl", "results.jsonl", "summary.json", "run.log", "grades.jsonl")
    },
    "run.json": lambda folder: (folder / "run.json").write_text('{"schema": "1.0", "name": "a race"}'),
    "run.json of our schema": lambda folder: (folder / "run.json").write_text(
        '{"schema": 1, "problem_ids": ["a"]}'
    ),
    "damaged run.json": foreign("run.json"),
    "live": lambda folder: (folder / "live").mkdir(),
    "live that is a link": linked("live"),
    "results.jsonl that is a link": linked("results.jsonl"),
    "results.jsonl that is a folder": lambda folder: (folder / "results.jsonl").mkdir(),
    "run.json that is a pipe": lambda folder: os.mkfifo(folder / "run.json"),
}


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_somebody_else_are_never_touched(tmp_path: Path, name: str, overwrite: bool) -> None:
    folder = tmp_path / "mine"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "sum-1.jsonl").write_text("precious")
    folder.mkdir()
    FOREIGN[name](folder)
    before = sorted((path.name, path.lstat().st_size) for path in folder.iterdir())
    with pytest.raises(
        RunError, match=r"is not a run of mctsr and holds files \(.*give another --output-dir"
    ):
        RunWriter.create(folder, run_record(), overwrite=overwrite)
    assert sorted((path.name, path.lstat().st_size) for path in folder.iterdir()) == before
    assert (tmp_path / "elsewhere" / "sum-1.jsonl").read_text() == "precious"
    with pytest.raises(RunError, match="is not a run"):
        ensure_free(folder, overwrite=overwrite)


@pytest.mark.parametrize("name", ["live", "calls", "results.jsonl", "trees.jsonl", "run.json"])
def test_a_run_with_links_is_not_overwritten_and_what_they_lead_to_stays(folder: Path, name: str) -> None:
    moved = folder.parent / "elsewhere"
    if (folder / name).exists():
        (folder / name).rename(moved)
    else:
        moved.mkdir()
    (folder / name).symlink_to(moved)
    before = everything(moved) if moved.is_dir() else moved.read_bytes()
    with pytest.raises(RunError, match=rf"has links \({name}\)"):
        RunWriter.create(folder, run_record(), overwrite=True)
    assert before == (everything(moved) if moved.is_dir() else moved.read_bytes())


def test_a_folder_with_other_files_can_hold_a_new_run_and_keeps_them(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "export").mkdir()
    RunWriter.create(tmp_path, run_record()).close()
    RunWriter.create(tmp_path, run_record(), overwrite=True).close()
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert (tmp_path / "export").is_dir()


# What no kill can have left.


@pytest.mark.parametrize("left", [0, 1, None], ids=["empty", "shortened", "missing"])
def test_trees_whose_results_are_lost_are_kept(folder: Path, left: int | None) -> None:
    trees, results = folder / "trees.jsonl", folder / "results.jsonl"
    trees.write_bytes(trees.read_bytes() + trees.read_bytes())
    before, kept = trees.read_bytes(), results.read_bytes().splitlines(keepends=True)
    if left is None:
        results.unlink()
    else:
        results.write_bytes(b"".join(kept[:left]))
    said = rf"holds {4 - (left or 0)} trees that results.jsonl does not know, and a kill leaves one at most; restore"
    with pytest.raises(RunError, match=said):
        RunWriter.reopen(folder)
    assert trees.read_bytes() == before
    results.write_bytes(b"".join(kept))
    trees.write_bytes(before[: len(before) // 2])
    RunWriter.reopen(folder).close()


def test_nothing_is_cut_before_everything_was_checked(folder: Path) -> None:
    results = folder / "results.jsonl"
    results.write_bytes(results.read_bytes().replace(b"\n", b"\r"))
    before = results.read_bytes()
    with pytest.raises(RunError, match="holds 2 trees"):
        RunWriter.reopen(folder)
    assert results.read_bytes() == before


def test_a_whole_tree_and_a_torn_one_are_more_than_one_kill_leaves(folder: Path) -> None:
    trees = folder / "trees.jsonl"
    trees.write_bytes(trees.read_bytes() + b"{}\n" + b'{"half')
    with pytest.raises(RunError, match=rf"truncate -s {trees.stat().st_size - 9} "):
        RunWriter.reopen(folder)
    trees.write_bytes(trees.read_bytes()[:-6])
    RunWriter.reopen(folder).close()
    assert len(lines(trees)) == 2


def test_trees_that_were_moved_are_not_written_behind(folder: Path) -> None:
    trees = folder / "trees.jsonl"
    trees.write_bytes(b" " + trees.read_bytes())
    with pytest.raises(RunError, match=r"no tree of 'sum-0' at byte 0.*delete this problem's line"):
        RunWriter.reopen(folder)


async def test_a_damaged_result_in_the_middle_is_solved_again_and_its_tree_stays(folder: Path) -> None:
    results, trees = folder / "results.jsonl", folder / "trees.jsonl"
    first, second = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(first[:30] + b"\xff" + first[31:] + second)
    before = trees.read_bytes()
    with RunWriter.reopen(folder) as writer:
        assert writer.ok == {"sum-1"}
    await go_on(folder)
    again = Run.open(folder)
    assert sorted(again.results()) == ["sum-0", "sum-1", "sum-2"]
    assert again.notes == ["results.jsonl, line 1: damaged (is no JSON), left out"]
    assert trees.read_bytes().startswith(before)
    assert sorted(tree["problem_id"] for tree in again.trees()) == ["sum-0", "sum-1", "sum-2"]


def test_whole_trees_stay_when_the_last_results_are_damaged(folder: Path) -> None:
    results, trees = folder / "results.jsonl", folder / "trees.jsonl"
    results.write_bytes(b"{}\n" * 2)
    before = trees.read_bytes()
    trees.write_bytes(before + b"torn")
    with RunWriter.reopen(folder) as writer:
        assert writer.ok == set()
    assert trees.read_bytes() == before


def test_a_full_disk_leaves_no_tree_without_its_result(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunWriter.reopen(folder) as writer:
        before, write = (folder / "trees.jsonl").read_bytes(), os.write
        tree, result = Run.open(folder).tree("sum-0"), Run.open(folder).results()["sum-0"]

        def full(file: int, data: bytes) -> int:
            if b'"status"' in data:
                raise OSError(28, "No space left on device")
            return write(file, data)

        monkeypatch.setattr(os, "write", full)
        for _ in range(2):
            with pytest.raises(OSError, match=rf"results.jsonl cannot be written.*mctsr resume {folder}"):
                writer.commit(tree, result)
    assert (folder / "trees.jsonl").read_bytes() == before


# One damaged run among others.


def test_a_damaged_run_takes_no_other_along(folder: Path) -> None:
    base = folder.parent
    for name in ("b", "c", "d", "e"):
        shutil.copytree(folder, base / name)
    (base / "b" / "run.json").write_bytes(b'{"schema": 1}')
    (base / "c" / "results.jsonl").unlink()
    (base / "c" / "results.jsonl").mkdir()
    (base / "d" / "run.json").unlink()
    os.mkfifo(base / "d" / "run.json")
    entries = {
        entry["name"]: entry for entry in json.loads(command("runs", "--dir", str(base), "--json").out)
    }
    assert {name: entry["state"] for name, entry in entries.items()} == {
        "run": "interrupted", "e": "interrupted", "b": "damaged", "c": "damaged", "d": "damaged",
    }  # fmt: skip
    assert "name is missing" in entries["b"]["notes"][0]
    said = command("runs", "--dir", str(base))
    assert (said.code, said.out.count("damaged: ")) == (0, 3)
    assert command("show", "ru", "--dir", str(base)).code == 0
    assert command("show", "latest", "--dir", str(base)).code == 0
    for name in ("b", "c", "d"):
        told = command("show", name, "--dir", str(base))
        assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)


# Records.


def changed(record: Any, path: list[str | int], value: object) -> Any:
    """Return a record with one value changed; `...` leaves the key out."""
    key: Any = path[0]
    copy: Any = list(record) if isinstance(record, list) else dict(record)
    if value is ... and not path[1:]:
        del copy[key]
    else:
        copy[key] = changed(record[key], path[1:], value) if path[1:] else value
    return copy


RESULTS: list[tuple[list[str | int], object, str]] = [
    (["id"], ..., "id is missing"),
    (["answers", "selected"], 7, "answers.selected is 7, must be a text"),
    (["counts", "nodes"], True, "counts.nodes is true, must be a whole number"),
    (["usage", "seconds"], None, "usage.seconds is null, must be a number"),
    (["status"], "fine", "status is 'fine', must be 'ok' or 'failed'"),
    (["wire"], {}, "wire is an object, must be a list"),
    (["overshoot"], {"calls": "3"}, "overshoot.calls is '3', must be a whole number"),
    (["offset"], -1, "offset and length must not be negative"),
    (["length"], 2**64, "length is 1.84467e+19, must be a whole number"),
]


@pytest.mark.parametrize(("path", "value", "said"), RESULTS, ids=[said for _, _, said in RESULTS])
def test_a_line_that_is_no_result_is_left_out_and_its_problem_is_open_again(
    folder: Path, path: list[str | int], value: object, said: str
) -> None:
    file = folder / "results.jsonl"
    first, second = lines(file)
    file.write_text("".join(json.dumps(line) + "\n" for line in (changed(first, path, value), second)))
    again = Run.open(folder)
    assert list(again.results()) == ["sum-1"]
    assert again.notes == [f"results.jsonl, line 1: damaged ({said}), left out"]
    with RunWriter.reopen(folder) as writer:
        assert writer.ok == {"sum-1"}


def test_grades_and_results_of_other_problems_are_left_out(folder: Path) -> None:
    for name in ("results.jsonl", "grades.jsonl"):
        (folder / name).write_bytes((folder / name).read_bytes().replace(b'"sum-1"', b'"sum-7"'))
    again = Run.open(folder)
    assert list(again.results()) == list(again.grades()) == ["sum-0"]
    assert again.notes == [
        f"{n}.jsonl: 'sum-7' is no problem of this run, left out" for n in ("results", "grades")
    ]


RUNS: list[tuple[list[str | int], object, str]] = [
    (["problem_ids"], ..., "problem_ids is missing"),
    (["problem_ids"], ["sum-0", "sum-1", "sum-1"], "names a problem twice"),
    (["problem_hashes"], [], "must have one for each of 3 problem_ids"),
    (["problems"], [{"id": "sum-0"}], r"problems\[0\] must have a text under id and text"),
    (["servers", 0, "model"], None, r"servers\[0\].model is null, must be a text"),
    (["settings", "policy"], "gpt", "settings.policy is 'gpt', must be an object"),
    (["settings", "ids"], [1], r"settings.ids\[0\] is 1, must be a text"),
    (["settings", "max_calls"], "9", "settings.max_calls is '9', must be a whole number"),
]


@pytest.mark.parametrize(("path", "value", "said"), RUNS, ids=[said for _, _, said in RUNS])
def test_a_damaged_run_json_is_an_error_that_names_the_key(
    folder: Path, path: list[str | int], value: object, said: str
) -> None:
    file = folder / "run.json"
    file.write_bytes(files.dumps(changed(json.loads(file.read_bytes()), path, value)))
    for begin in (Run.open, RunWriter.reopen):
        with pytest.raises(RunError, match=rf"run.json is damaged \(.*{said}"):
            begin(folder)


def test_a_key_that_a_later_version_may_add_is_let_pass(folder: Path) -> None:
    file = folder / "run.json"
    file.write_bytes(files.dumps({**json.loads(file.read_bytes()), "remark": "by hand"}))
    assert len(Run.open(folder).results()) == 2


TREES: list[tuple[list[str | int], object, str]] = [
    (["problem_id"], "sum-1", "it is the tree of 'sum-1'"),
    (["nodes"], ..., "nodes is missing"),
    (["nodes", 1, "id"], 0, r"nodes\[1\].id is 0, must be 1"),
    (["nodes", 0, "parent"], 1, r"nodes\[0\].parent is 1, must be an earlier node"),
    (["nodes", 1, "samples", 0], {}, r"nodes\[1\].samples\[0\].value is missing"),
    (["nodes", 1, "samples"], [], r"nodes\[1\] has not the samples"),
    (["nodes", 1, "twin"], 99, r"nodes\[1\].twin is 99"),
    (["selected"], -1, "front or selected name a node"),
    (["front"], [99], "front or selected name a node"),
    (["events", 0], {"event": "dreamt"}, r"events\[0\].event is 'dreamt', must be 'asked' or"),
    (["events", 0, "n"], None, r"events\[0\].n is null, must be a whole number"),
    (["events", 1, "changed"], [[0, 1]], r"events\[1\].changed\[0\] is a list, must be a list of 3"),
    (["events", 1, "born"], [77], r"events\[1\] names a node that is not there"),
]


@pytest.mark.parametrize(("path", "value", "said"), TREES, ids=[said for _, _, said in TREES])
def test_a_damaged_tree_is_an_error_that_names_its_problem(
    folder: Path, path: list[str | int], value: object, said: str
) -> None:
    tree, result = lines(folder / "trees.jsonl")[0], lines(folder / "results.jsonl")[0]
    data = files.dumps(changed(tree, path, value))
    (folder / "trees.jsonl").write_bytes(data + b"\n")
    (folder / "results.jsonl").write_bytes(files.dumps({**result, "offset": 0, "length": len(data)}) + b"\n")
    with pytest.raises(RunError, match=rf"the tree of 'sum-0' is damaged \({said}"):
        Run.open(folder).tree("sum-0")
    for told in (command("show", str(folder), "sum-0"), command("export", str(folder), "--format", "tree")):
        assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)


def test_a_damaged_tree_is_told_in_one_line_when_its_run_goes_on(folder: Path) -> None:
    assert tree_damage(Run.open(folder)) == ""
    trees = folder / "trees.jsonl"
    data = trees.read_bytes()
    trees.write_bytes(data[:5] + b"\xff" + data[6:])
    damage = tree_damage(Run.open(folder))
    assert damage.startswith("trees.jsonl: 1 of its trees cannot be read ('sum-0')")
    told = command("resume", str(folder))
    assert told.err.count(f"notice: {damage}\n") == 1


@pytest.mark.parametrize(("offset", "length"), [(10**9, 5), (0, 2**60), (2**62, 2**62)])
def test_a_place_outside_the_file_is_no_reason_to_run_out_of_memory(
    folder: Path, offset: int, length: int
) -> None:
    file = folder / "results.jsonl"
    file.write_bytes(files.dumps({**lines(file)[0], "offset": offset, "length": length}) + b"\n")
    with pytest.raises(RunError, match="the tree of 'sum-0' is damaged"):
        Run.open(folder).tree("sum-0")
    with pytest.raises(RunError, match="shorter than"):
        RunWriter.reopen(folder)


@pytest.mark.parametrize("make", [Path.mkdir, partial(os.mkfifo)], ids=["folder", "pipe"])
@pytest.mark.parametrize("name", [*NAMES[:4], "run.log"])
def test_what_lies_in_a_files_place_is_named(folder: Path, name: str, make: Callable[[Path], None]) -> None:
    (folder / name).unlink()
    make(folder / name)
    with pytest.raises(RunError, match=rf"{name} is no plain file"):
        RunWriter.reopen(folder)
    for arguments in (("show",), ("report",), ("show", "sum-0"), ("export", "--format", "nodes")):
        told = command(arguments[0], str(folder), *arguments[1:])
        assert told.code in (0, 2)
        assert "Traceback" not in told.err


@pytest.mark.parametrize("name", ["live", "calls"])
def test_a_file_in_a_folders_place_is_named(folder: Path, name: str) -> None:
    shutil.rmtree(folder / name)
    (folder / name).write_text("")
    with pytest.raises(RunError, match=rf"{name} is no folder"):
        RunWriter.reopen(folder)


def test_ten_thousand_results_are_checked_in_a_moment(folder: Path) -> None:
    file = folder / "results.jsonl"
    file.write_bytes(file.read_bytes() * 5000)
    began = time.process_time()
    read = read_records(file, ResultRecord)
    assert (len(read.found), read.notes) == (10_000, [])
    assert time.process_time() - began < 0.9  # 0.3 s on an idle machine


# Anything, anywhere.

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [..., None, True, -1, 0, 3, 2**40, 2**63, 1.5, 1e308, "", "x", [], {}, [[]], ["x"], {"x": 1}]
)


@st.composite
def byte_damage(draw: st.DrawFn, before: bytes) -> bytes:
    """Flip, cut or insert some bytes."""
    place = draw(st.integers(0, len(before)))
    size = draw(st.sampled_from([1, 1, 2, 40, 10**6]))
    new = draw(st.sampled_from([b"", b"", b"\n", b"0", b"}", b'"', b"\0" * 9]) | st.binary(max_size=4))
    return before[:place] + new + before[place + size * draw(st.booleans()) :]


def paths(value: Any, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """List where something can be changed in a record."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*before, key)
        yield from paths(inner, (*before, key))


@st.composite
def record_damage(draw: st.DrawFn, before: bytes) -> bytes:
    """Put something odd into one record, which stays JSON."""
    whole = before.splitlines(keepends=True)
    number = draw(st.integers(0, len(whole) - 1))
    record = json.loads(whole[number])
    path = draw(st.sampled_from(sorted(paths(record), key=str)))
    value = draw(ODD)
    try:
        whole[number] = files.dumps(changed(record, list(path), value)) + b"\n"
    except TypeError:
        whole[number] = b"0\n"
    return b"".join(whole)


def read_everything(folder: Path) -> None:
    """Read a run in all ways there are; a wrong one ends in one line and exit code 2."""
    ways = [
        ("runs", "--dir", str(folder.parent), "--json"),
        ("show", str(folder)),
        ("show", str(folder), "sum-0"),
        ("show", str(folder), "#2", "--node", "1"),
        ("report", str(folder)),
        ("export", str(folder), "--format", "tree", "-o", os.devnull),
        ("export", str(folder), "--format", "nodes", "-o", os.devnull),
    ]
    for way in ways:
        told = command(*way)
        assert told.code in (0, 2), told
        assert told.code == 0 or told.err.startswith("error: "), told


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(NAMES), kind=st.sampled_from([byte_damage, record_damage]))
def test_any_damage_to_any_file_ends_well_or_in_one_clear_line(
    sound: Path, monkeypatch: pytest.MonkeyPatch, data: st.DataObject, name: str, kind: Any
) -> None:
    monkeypatch.setattr("mctsr.lm.calllog.PATIENCE", 0.05)
    with tempfile.TemporaryDirectory() as base:
        folder = Path(shutil.copytree(sound, Path(base) / "run"))
        (folder / name).write_bytes(data.draw(kind((folder / name).read_bytes())))
        read_everything(folder)
        try:
            RunWriter.reopen(folder).close()
            asyncio.run(asyncio.wait_for(go_on(folder), 20))
        except UsageError:
            return
        read_everything(folder)
        assert read_record(folder)["problem_ids"]
