"""A file of labelled steps is checked row by row; what trainers cannot read is named with its line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import DataError, UsageError
from mctsr.export.check import Checked, check
from mctsr.export.labels import Labels, Solution, Step
from mctsr.export.math_shepherd import TAG, shepherd_rows, verdicts_of
from mctsr.export.stepwise import stepwise_rows
from tests.support.sample_run import command

GOOD = {"prompt": "p", "completions": ["a", "b"], "labels": [True, False]}
SOFT = {**GOOD, "labels": [0.5, 0.75]}
SHEPHERD = {"input": f"p a {TAG}\nb {TAG}", "label": "p a +\nb -", "task": "t"}


def written(tmp_path: Path, *rows: object) -> Path:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        (GOOD, Checked("stepwise", "hard", 2, 4, 2, 0.0, 1.0)),
        (SOFT, Checked("stepwise", "soft", 2, 4, 2, 0.5, 0.75)),
        (SHEPHERD, Checked("math-shepherd", "hard", 2, 4, 2, 0.0, 1.0)),
        ({**GOOD, "labels": [1, 0]}, Checked("stepwise", "hard", 2, 4, 2, 0.0, 1.0)),
        ({**GOOD, "labels": [1, 0.5]}, Checked("stepwise", "soft", 2, 4, 2, 0.5, 1.0)),
        ({**SHEPHERD, "label": "p a 0.2500\nb 1.0000"}, Checked("math-shepherd", "soft", 2, 4, 2, 0.25, 1.0)),
    ],
)
def test_rows_that_fit_are_counted(row: object, wanted: Checked, tmp_path: Path) -> None:
    assert check(written(tmp_path, row, row)) == wanted


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ([], "no stepwise row"),
        ({"text": "a"}, "no stepwise row"),
        ({**GOOD, "prompt": 1}, "prompt must be a text"),
        ({**GOOD, "completions": []}, "at least one"),
        ({**GOOD, "completions": ["a", " "]}, "none empty"),
        ({**GOOD, "labels": [True]}, "2 completions have 1 labels"),
        ({**GOOD, "labels": [True, 1.0]}, "all be true or false"),
        ({**GOOD, "labels": [0.5, 1.5]}, "label 2 is 1.5, must be from 0.0 to 1.0"),
        ({**GOOD, "labels": [2, 1]}, "label 1 is 2, must be"),
        ({**SHEPHERD, "label": "p a 0.5\nb 1.5000"}, "label 2 is 1.5, must be"),
        ({**SHEPHERD, "label": "p a -0.25\nb 0.5"}, "label 1 is -0.25, must be"),
        ({**SHEPHERD, "label": "p a 7\nb 1e3"}, "label 1 is 7, must be"),
        ({"input": f"p a {TAG}\n {TAG}", "label": "p a +\n -"}, "step 2 of input has no text"),
        ({"input": f"p Step 1: {TAG}", "label": "p Step 1: +"}, "step 1 of input has no text"),
        ({"input": f"p Step 1: a {TAG}\nStep 2: {TAG}", "label": "p Step 1: a +\nStep 2: -"}, "step 2 of"),
        (SOFT, "a stepwise row with soft labels among stepwise rows with hard ones"),
        (SHEPHERD, "a math-shepherd row"),
        ({**SHEPHERD, "input": "p a"}, "no step tag"),
        ({**SHEPHERD, "label": "p a +\nc -"}, "no verdict in the place of tag 2"),
        ({**SHEPHERD, "label": "p a +\nb ?"}, "no verdict in the place of tag 2"),
        ({**SHEPHERD, "label": "p a +\nb - and"}, "behind the last tag"),
        ({**SHEPHERD, "label": "p a +\nb 0.5"}, "mixes"),
        ({**SHEPHERD, "label": 1}, "must be texts"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_line(row: object, fault: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=fault) as error:
        check(written(tmp_path, GOOD, row))
    assert "rows.jsonl, line 2: " in str(error.value)


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    file.write_bytes(file.read_bytes() + b'{"prompt": "to')
    with pytest.raises(DataError, match="line 2"):
        check(file)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"\n", "is empty; delete it"),
        (b" \r\n", "is empty; delete it"),
        (b'{"prompt": "to', "is cut off; write the file again"),
        (b'{"prompt": "to\n', "is cut off; write the file again"),
        (b'{"prompt" "p"}\n', "is not JSON; mend"),
        (b"plain words\n", "is not JSON; mend"),
        (b'{"prompt": "\xff"}\n', "is not UTF-8 text; save"),
        (b'\xef\xbb\xbf{"prompt": "p"}\n', "begins with a byte order mark; save"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_in_plain_words(line: bytes, said: str, tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    file.write_bytes(file.read_bytes() + line)
    with pytest.raises(DataError, match=rf"rows\.jsonl, line 2 {said}"):
        check(file)
    ended = command("export", "--check", str(file))
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_a_verdict_that_is_followed_by_a_digit_is_read_as_far_as_it_goes() -> None:
    assert verdicts_of(f"1 {TAG}5 {TAG}0", "1 +5 -0") == ["+", "-"]
    assert verdicts_of(f"1 {TAG}5 {TAG}", "1 +5 0.5") == ["+", "0.5"]


def test_a_file_without_rows_or_none_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no row"):
        check(written(tmp_path))
    with pytest.raises(UsageError, match="does not exist"):
        check(tmp_path / "nothing.jsonl")
    with pytest.raises(UsageError, match=r"give a file, .* is a folder"):
        check(tmp_path)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda text: text.strip() and TAG not in text
)
SCORES = st.floats(0, 1)


@given(TEXTS, st.lists(st.tuples(TEXTS, SCORES), min_size=1, max_size=5), st.sampled_from(["hard", "soft"]))
def test_what_is_written_is_read_back_whatever_the_texts_are(
    problem: str, pairs: list[tuple[str, float]], kind: str
) -> None:
    steps = tuple(Step(text, score, 1) for text, score in pairs)
    labels = Labels(kind)
    (row,) = shepherd_rows(iter([Solution("p", problem, 1, "", steps)]), labels, "task")
    verdicts = verdicts_of(str(row["input"]), str(row["label"]))
    hard = ["+" if score > 0.5 else "-" for _, score in pairs]
    assert verdicts == (hard if kind == "hard" else [f"{score:.4f}" for _, score in pairs])
    (row,) = stepwise_rows(iter([Solution("p", problem, 1, "", steps)]), labels)
    assert row["completions"] == [text.rstrip() for text, _ in pairs]
