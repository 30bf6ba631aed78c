"""Bytes of a run folder: strict JSON, whole lines, files that are old or new and nothing between."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RunError
from mctsr.runs import files

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(VALUES)
def test_whatever_is_written_is_one_line_of_strict_utf8_json(value: object) -> None:
    data = files.dumps(value)
    assert b"\n" not in data
    text = data.decode("utf-8")
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@given(st.lists(st.text()) | st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)))
def test_what_is_written_is_read_back(value: object) -> None:
    assert files.loads(files.dumps(value)) == value


def test_characters_are_written_as_they_are() -> None:
    assert files.dumps({"a": "日本 é"}) == '{"a":"日本 é"}'.encode()


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": Infinity}', '"\\ud800"'])
def test_only_strict_json_is_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        files.loads(text.encode())


def test_lines_are_split_at_newline_bytes_alone(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\u2028b\r\n\x0bc\ntorn".encode())
    lines = files.read_lines(path)
    assert [(line.offset, line.data.decode()) for line in lines.whole] == [(0, "a\u2028b\r"), (7, "\x0bc")]
    assert lines.torn == b"torn"


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert files.read_lines(tmp_path / "none") == files.Lines([], b"")


def test_a_part_that_a_file_does_not_have_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"0123456789")
    assert files.read_part(path, 3, 4) == b"3456"
    for offset, length in ((0, 11), (11, 0), (-1, 2), (2**62, 2**62), (5, -1)):
        with pytest.raises(RunError, match="has 10 bytes"):
            files.read_part(path, offset, length)


def test_a_line_that_cannot_be_written_whole_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = os.open(tmp_path / "lines", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    files.append_line(file, b"first", tmp_path / "lines")
    write = os.write
    left = [1]

    def full(handle: int, data: bytes) -> int:
        if not left:
            raise OSError(28, "No space left on device")
        left.pop()
        return write(handle, data[:3])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(
        OSError, match=r"lines cannot be written: No space.* go on with: mctsr resume /"
    ) as full_disk:
        files.append_line(file, b"second", tmp_path / "lines")
    assert full_disk.value.errno == 28
    os.close(file)
    assert (tmp_path / "lines").read_bytes() == b"first\n"


def test_an_atomic_write_that_fails_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    files.write_atomic(path, b"old")

    def broken(file: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match=r"run\.json cannot be written: Input/output"):
        files.write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
