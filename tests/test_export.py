"""Exports load with the real datasets package, whatever a run contains, and appear whole or not at all."""

import json
import os
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RunError, UsageError
from mctsr.export.nodes import node_rows
from mctsr.export.rows import correct
from mctsr.export.tree import tree_rows
from mctsr.export.write import FORMATS, default_path, write
from mctsr.runs.folder import Run
from mctsr.runs.records import NodeRecord, TreeRecord
from tests.support.sample_run import IDS, NASTY, grade, make_run, make_trees, node, sample, tree

Rows = list[dict[str, object]]
BIG = "x" * 6_000_000
"""Two nodes of this fill the first rows from which a loader takes its types."""


def load(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Rows:
    """Read a file as a user of datasets would, without a network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(cache / "home"))
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    loaded = load_dataset("json", data_files=str(path), split="train", cache_dir=str(cache / "data"))
    return [dict(row) for row in loaded]


def lines(path: Path) -> Rows:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def unscored(number: int, parent: int | None = None, text: str = "?") -> NodeRecord:
    return node(number, parent, text=text, unscored=["no score in the reply: 3 tries"])


def scored(number: int, parent: int | None = None, value: float = 3) -> NodeRecord:
    return node(number, parent, "4", samples=[sample(value)], visits=1, value=value)


RUNS: Mapping[str, list[TreeRecord]] = {
    "nulls first": [tree("a", [unscored(0), unscored(1)], None), tree("b", [unscored(0), scored(1, 0)], 1)],
    "never scored": [tree("a", [unscored(0)], 0), tree("b", [unscored(0)], 0)],
    "more nulls than a loader looks at": [
        tree("a", [unscored(0, text=BIG), unscored(1, text=BIG)], None),
        tree("b", [unscored(0), scored(1, 0)], 1),
    ],
    "nulls later": [
        tree("b", [scored(0)], 0),
        tree("c", [unscored(0, text=BIG), unscored(1, text=BIG)], None),
        tree("d", [unscored(0)], 0),
    ],
    "answers that look like numbers": [
        tree("a", [scored(0), node(1, 0, "x + 1"), node(2, 0, "2026-01-01T00:00:00Z"), node(3, 0, "007")], 0)
    ],
}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.open(make_run(tmp_path / "run"))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", RUNS)
def test_datasets_reads_back_what_was_written(
    form: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.open(make_trees(tmp_path / "run", RUNS[name]))
    path = write(run, form).path
    assert path is not None
    assert load(path, tmp_path, monkeypatch) == lines(path)


@pytest.mark.parametrize("form", FORMATS)
def test_datasets_reads_back_the_sample_run(
    form: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rows, *others = write(run, form)
    assert path == default_path(run, form)
    assert others == [None, None]
    assert len(read := load(path, tmp_path, monkeypatch)) == rows
    assert read == lines(path)


def shape(value: object) -> object:
    """Describe types as a loader sees them; an empty list and null fit anything."""
    if isinstance(value, Mapping):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return ["list", *(shape(inner) for inner in value[:1])]
    return type(value).__name__


@st.composite
def trees(draw: st.DrawFn) -> list[TreeRecord]:
    made = []
    for number in range(draw(st.integers(1, 3))):
        nodes: list[NodeRecord] = []
        for id in range(draw(st.integers(1, 4))):
            parent = draw(st.sampled_from([None, *range(id)]))
            nodes.append(scored(id, parent) if draw(st.booleans()) else unscored(id, parent))
        made.append(tree(f"p{number}", nodes, draw(st.sampled_from([None, 0]))))
    return made


class Grown:
    """Stands for a run in memory."""

    def __init__(self, grown: list[TreeRecord]) -> None:
        self.grown = grown

    def trees(self) -> Iterator[TreeRecord]:
        return iter(self.grown)

    def grades(self) -> dict[str, object]:
        return {}


@given(trees())
def test_every_row_has_the_keys_and_types_of_the_first(grown: list[TreeRecord]) -> None:
    run = cast(Run, Grown(grown))
    any_scored = any(made["samples"] for each in grown for made in each["nodes"])
    first, *others = list(node_rows(run))
    for row in others:
        for key, seen in cast(dict[str, object], shape(row)).items():
            assert seen == shape(first)[key] or seen in ("NoneType", ["list"])  # type: ignore[index]
    assert (first["value"] is not None and first["samples"] != []) == any_scored
    assert len({tuple(row) for row in node_rows(run)} | {tuple(first)}) == 1
    assert len({tuple(made) for row in tree_rows(run) for made in cast(Rows, row["nodes"])}) == 1


@given(trees())
def test_no_node_is_lost_or_doubled(grown: list[TreeRecord]) -> None:
    run = cast(Run, Grown(grown))
    wanted = sorted((each["problem_id"], made["id"]) for each in grown for made in each["nodes"])
    flat = [(row["problem_id"], row["node_id"]) for row in node_rows(run)]
    nested = [(row["problem_id"], made["id"]) for row in tree_rows(run) for made in cast(Rows, row["nodes"])]
    assert sorted(cast(list[tuple[str, int]], flat)) == wanted
    assert sorted(cast(list[tuple[str, int]], nested)) == wanted


def test_a_node_row_says_what_a_training_set_needs(run: Run) -> None:
    rows = {(row["problem_id"], row["node_id"]): row for row in node_rows(run)}
    best = rows[IDS[0], 7]
    assert {key: best[key] for key in ("parent_id", "depth", "answer", "value", "visits", "samples")} == {
        "parent_id": 6,
        "depth": 3,
        "answer": "72",
        "value": 90.0,
        "visits": 1,
        "samples": [90.0],
    }
    assert (best["selected"], best["planted"], best["correct"]) == (True, False, "yes")
    assert [rows[IDS[0], i]["correct"] for i in (0, 1, 5)] == ["no", "unknown", "unknown"]
    meta = json.loads(cast(str, rows[IDS[0], 3]["meta"]))
    assert (meta["raw"], meta["judge"], meta["gold"]) == ([100.0], ["Score: 100"], "72")
    assert meta["work"] == {"critique": "Node 0 forgets a step."}


def test_numbers_keep_their_decimal_point_and_texts_their_bytes(run: Run) -> None:
    out = BytesIO()
    assert write(run, "nodes", out)[:2] == (None, 9)
    text = out.getvalue().decode()
    assert '"value":90.0,' in text
    assert '"samples":[60.0,-10.5]' in text
    assert "日本" in text
    assert json.loads(text.split("\n")[8])["answer"] == NASTY


def test_a_tree_row_keeps_the_record_of_the_tree(run: Run) -> None:
    row = next(iter(tree_rows(run)))
    record = run.tree(IDS[0])
    assert json.loads(cast(str, row["events"])) == record["events"]
    nodes = cast(Rows, row["nodes"])
    assert [made["parent"] for made in nodes] == [-1, -1, 0, 0, 1, 3, 3, 6]
    assert [made["samples"] for made in nodes] == [made["samples"] for made in record["nodes"]]
    assert (row["selected"], row["gold"]) == (7, "72")


@pytest.mark.parametrize(
    ("answer", "word"), [("1", "yes"), ("2", "no"), ("x", "unknown"), (None, "unknown"), ("new", "unknown")]
)
def test_only_certain_verdicts_count(answer: str | None, word: str) -> None:
    assert correct(answer, grade("a", "1", {"1": True, "2": False, "x": None})) == word
    assert correct(answer, None) == "unknown"


def test_a_file_is_replaced_whole(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er" / "out.jsonl"
    write(run, "nodes", target)
    before = target.read_bytes()
    trees = run.path / "trees.jsonl"
    trees.write_bytes(trees.read_bytes().replace(b'"schema"', b'"sc', 2)[:-40])
    with pytest.raises(UsageError, match="damaged"):
        write(Run.open(run.path), "nodes", target, overwrite=True)
    assert target.read_bytes() == before
    assert os.listdir(target.parent) == ["out.jsonl"]


def test_a_link_keeps_pointing_and_a_pipe_is_written_to(run: Run, tmp_path: Path) -> None:
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.write_text("old")
    link.symlink_to(real)
    with pytest.raises(UsageError, match="is there already; replace it with --overwrite"):
        write(run, "tree", link)
    assert real.read_text() == "old"
    write(run, "tree", link, overwrite=True)
    assert link.is_symlink()
    assert len(lines(real)) == 2
    assert write(run, "tree", Path(os.devnull)).rows == 2
    assert not Path(os.devnull).is_file()


def test_a_folder_or_a_wrong_format_is_an_error_in_one_line(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: Is a directory"):
        write(run, "nodes", tmp_path)
    with pytest.raises(UsageError, match="allowed are tree, nodes"):
        write(run, "csv")


@pytest.mark.parametrize(
    "name", ["trees.jsonl", "run.json", "results.jsonl", "Run.Log", "summary.json", "live/a.jsonl", "calls/x"]
)
def test_the_own_files_of_any_run_are_never_written_over(run: Run, tmp_path: Path, name: str) -> None:
    other = Run.open(make_run(tmp_path / "other"))
    for owner in (run, other):
        (owner.path / "calls").mkdir()
        before = {path: path.read_bytes() for path in owner.path.rglob("*") if path.is_file()}
        link = owner.path / "link.jsonl"
        link.symlink_to(owner.path / name)
        for target in (owner.path / name, link, owner.path / "export" / ".." / name):
            with pytest.raises(RunError, match=r"belongs to the run in .*give another file with -o"):
                write(run, "nodes", target)
        link.unlink()
        assert {path: path.read_bytes() for path in owner.path.rglob("*") if path.is_file()} == before


def test_a_name_of_ours_is_free_where_no_run_is_and_other_names_are_free_in_a_run(
    run: Run, tmp_path: Path
) -> None:
    for target in (tmp_path / "trees.jsonl", run.path / "mine.jsonl", run.path / "export" / "trees.jsonl"):
        assert write(run, "tree", target).rows == 2
