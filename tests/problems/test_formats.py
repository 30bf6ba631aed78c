"""Files of every accepted format give the same problems, and what is wrong with one row is said or counted."""

import builtins
import gzip
import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mctsr.errors import DataError, MissingExtra, UsageError
from mctsr.problems import Columns, describe, read_gold, read_notes, read_problems
from mctsr.problems.hub import hub_answers, read_hub

ROWS = [
    {"id": "a", "question": 'He said "no",\nthen left; why?', "answer": "1"},
    {"id": "b", "question": "Ünd?", "answer": "2,5"},
]


def lines() -> str:
    return "".join(json.dumps(row) + "\n" for row in ROWS)


def table(delimiter: str) -> str:
    import csv

    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, ["id", "question", "answer"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue()


def parquet() -> bytes:
    import pyarrow
    from pyarrow import parquet as file

    out = io.BytesIO()
    file.write_table(pyarrow.Table.from_pylist(ROWS), out)
    return out.getvalue()


FORMATS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "lines": ("d.jsonl", lambda: lines().encode(), "JSON Lines"),
    "list": ("d.json", lambda: json.dumps(ROWS, indent=1).encode(), "JSON list"),
    "one list in an object": ("d.json", lambda: json.dumps({"rows": ROWS}).encode(), "JSON object"),
    "the same over lines": ("d.json", lambda: json.dumps({"rows": ROWS}, indent=2).encode(), "JSON object"),
    "named objects": (
        "d.json",
        lambda: json.dumps({str(i): row for i, row in enumerate(ROWS)}, indent=2).encode(),
        "JSON object",
    ),
    "wrapped lines": (
        "d.jsonl",
        lambda: "\n".join(json.dumps({f"P{i}": row}) for i, row in enumerate(ROWS)).encode(),
        "JSON Lines",
    ),
    "csv": ("d.csv", lambda: table(",").encode(), "CSV"),
    "csv with a mark": ("d.csv", lambda: table(",").encode("utf-8-sig"), "CSV"),
    "csv by another name": ("d.txt", lambda: table(",").encode(), "CSV"),
    "csv with semicolons": ("d.csv", lambda: table(";").encode(), "CSV"),
    "tsv": ("d.tsv", lambda: table("\t").encode(), "TSV"),
    "packed lines": ("d.jsonl.gz", lambda: gzip.compress(lines().encode("utf-8-sig")), "JSON Lines, gzip"),
    "packed csv": ("d.csv.gz", lambda: gzip.compress(table(",").encode()), "CSV, gzip"),
    "parquet": ("d.parquet", parquet, "Parquet"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_holds_the_same_problems(tmp_path: Path, name: str) -> None:
    file, make, format = FORMATS[name]
    path = tmp_path / file
    path.write_bytes(make())
    assert describe(str(path)).format == format
    found = [(p.id, p.text.replace("\r\n", "\n")) for p in read_problems(str(path))]
    assert found == [(row["id"], row["question"]) for row in ROWS]
    assert {id: str(gold) for id, gold in read_gold(str(path)).items()} == {"a": "1", "b": "2,5"}


def test_a_packed_table_or_lines_may_come_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for data in (gzip.compress(lines().encode()), lines().encode(), table(",").encode()):
        monkeypatch.setattr("sys.stdin", type("Piped", (), {"buffer": io.BytesIO(data)}))
        assert [p.id for p in read_problems("-")] == ["a", "b"]
    assert len(read_problems("-", stdin="Problem, with a comma:\nis 2 < 3?")) == 1


def test_an_empty_cell_is_no_value(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("id,question,answer\n1,a,\n2,b,7\n\n")
    assert read_gold(str(path)).keys() == {"2"}
    assert [p.id for p in read_problems(str(path))] == ["1", "2"]


def test_a_wrong_row_of_a_table_is_named_by_the_line_it_begins_in(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text('id,question\n1,"a\nb"\n2,b,c\n')
    with pytest.raises(DataError, match=r"d\.csv, line 4: 3 cells under a heading of 2; --skip-bad"):
        read_problems(str(path))
    assert [p.id for p in read_problems(str(path), skip_bad=True)] == ["1"]


def test_a_damaged_packed_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl.gz"
    path.write_bytes(gzip.compress(lines().encode() * 50)[:-20])
    with pytest.raises(DataError, match="is a damaged gzip file"):
        read_problems(str(path))


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Let a package be not installed."""
    load = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> ModuleType:
        if name.split(".", maxsplit=1)[0] == package:
            raise ImportError(name)
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_parquet_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d.parquet").write_bytes(parquet())
    without(monkeypatch, "pyarrow")
    with pytest.raises(MissingExtra, match=r"pip install 'mctsr\[parquet\]'"):
        read_problems(str(tmp_path / "d.parquet"))


BAD = [
    '{"question": "a", "answer": 1}',
    "{no json",
    '{"question": "a", "answer": 2}',
    '{"question": "", "answer": 3}',
    "17",
    '{"question": "b", "answer": {}}',
    '{"id": [], "question": "c"}',
]


def test_rows_that_are_wrong_are_left_out_and_counted_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text("\n".join(BAD))
    with pytest.raises(DataError, match=r"line 2: not JSON .*; --skip-bad leaves such rows out"):
        read_problems(str(path))
    assert [p.text for p in read_problems(str(path), skip_bad=True)] == ["a", "b"]
    assert len(read_gold(str(path), skip_bad=True)) == 1
    found = describe(str(path), skip_bad=True)
    assert (found.odd["left out"], found.odd["an answer that is none"], found.odd["no gold answer"]) == (
        5,
        1,
        1,
    )
    rows, gold = read_notes(str(path), skip_bad=True)
    assert rows.startswith("5 rows left out: ")
    assert [part in rows for part in ("line 2", "line 3", "line 4", "line 5", "and 2 more")] == [
        True, True, False, True, True,
    ]  # fmt: skip
    assert gold.startswith("1 gold answer left out for being none: ")


def test_a_file_without_one_good_row_is_an_error_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n')
    with pytest.raises(DataError, match=r"no row is left of 2; the first: .*line 1: no problem text"):
        read_problems(str(path), skip_bad=True)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            Columns("ask"),
            "no row has the field 'ask' of --problem-field; there are 'id', 'question', 'answer'",
        ),
        (Columns(answer="Answer"), "no row has the field 'Answer' of --answer-field"),
        (Columns(id="nr"), "no row has the field 'nr' of --id-field"),
    ],
)
def test_a_field_that_no_row_has_is_refused(tmp_path: Path, columns: Columns, said: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(lines())
    with pytest.raises(UsageError, match=said):
        read_gold(str(path), columns=columns)


def test_a_row_without_the_id_that_was_asked_for_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"nr": 1, "question": "a"}\n{"id": 2, "question": "b"}\n')
    with pytest.raises(DataError, match="line 2: no id in 'nr'; every row needs one there"):
        read_problems(str(path), columns=Columns(id="nr"))


class Hub:
    """Stands for the package `datasets`."""

    def __init__(self, found: dict[str, list[dict[str, object]]] | Exception) -> None:
        self.found = found
        self.config = SimpleNamespace(HF_HUB_OFFLINE=False)
        self.offline: list[bool] = []

    def disable_progress_bars(self) -> None:
        """Nothing moves here."""

    def load_dataset(self, name: str) -> dict[str, list[dict[str, object]]]:
        self.offline.append(self.config.HF_HUB_OFFLINE)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Any], None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mctsr.problems.hub.hub_answers", lambda: True)
    read_hub.cache_clear()
    return lambda found: monkeypatch.setitem(sys.modules, "datasets", Hub(found))


def test_a_name_of_the_hub_is_read_where_no_file_has_it(hub: Callable[[Any], None], tmp_path: Path) -> None:
    hub({"train": [{"question": "t", "answer": "1"}], "test": [{"question": "e", "answer": "2"}]})
    assert [p.text for p in read_problems("org/sums")] == ["e"]
    assert [p.text for p in read_problems("org/sums:train")] == ["t"]
    assert describe("org/sums").format == "data set org/sums, split test"
    with pytest.raises(DataError, match=r"'org/sums:dev' has no such split; it has train, test"):
        read_problems("org/sums:dev")
    (tmp_path / "org").mkdir()
    (tmp_path / "org" / "sums").write_text(lines())
    assert [p.id for p in read_problems("org/sums")] == ["a", "b"]
    with pytest.raises(DataError, match=r"'org/more' does not exist"):
        read_problems("org/more")


def test_a_hub_out_of_reach_is_one_line(hub: Callable[[Any], None]) -> None:
    hub(ConnectionError("no route\nto host"))
    with pytest.raises(DataError, match=r"'org/sums' is no file and no data set .*: no route to host; give"):
        read_problems("org/sums")


def test_a_hub_that_does_not_answer_is_asked_for_what_is_cached_only(
    hub: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    hub({"test": [{"question": "e", "answer": "2"}]})
    monkeypatch.setattr("mctsr.problems.hub.hub_answers", lambda: False)
    assert [p.text for p in read_problems("org/sums")] == ["e"]
    assert sys.modules["datasets"].offline == [True]
    assert not sys.modules["datasets"].config.HF_HUB_OFFLINE
    hub(ConnectionError("OfflineModeIsEnabled"))
    with pytest.raises(DataError, match="the hub does not answer, and it is not cached"):
        read_problems("org/more")


def test_whether_the_hub_answers_is_found_out_in_one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Session:
        def head(self, address: str, timeout: float) -> None:
            asked.append((address, timeout))
            if len(asked) > 1:
                raise ConnectionError

    monkeypatch.setattr("huggingface_hub.get_session", Session)
    assert hub_answers()
    assert not hub_answers()
    assert len(asked) == 2
    assert all(seconds <= 5 for _, seconds in asked)


def test_a_silent_hub_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    release = Event()

    class Session:
        def head(self, address: str, timeout: float) -> None:
            release.wait(20)

    monkeypatch.setattr("huggingface_hub.get_session", Session)
    start = time.monotonic()
    assert not hub_answers(0.1)
    assert time.monotonic() - start < 5
    release.set()


def test_the_hub_without_its_package_names_the_extra(
    hub: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "datasets")
    with pytest.raises(MissingExtra, match=r"pip install 'mctsr\[datasets\]'"):
        read_problems("org/sums")
    with pytest.raises(DataError, match="does not exist"):
        read_problems("org/sums.jsonl")
