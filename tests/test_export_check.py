"""A file of labelled steps is checked row by row; what trainers cannot read is named with its line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import DataError, UsageError
from mctsr.export.check import Checked, check
from mctsr.export.math_shepherd import TAG, shepherd_rows, verdicts_of
from mctsr.export.paths import Labels, Solution, Step
from mctsr.export.stepwise import stepwise_rows

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
        ({**GOOD, "labels": [0.5, 1.5]}, "from 0.0 to 1.0"),
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


def test_a_file_without_rows_or_none_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no row"):
        check(written(tmp_path))
    with pytest.raises(UsageError, match="does not exist"):
        check(tmp_path / "nothing.jsonl")
    with pytest.raises(UsageError):
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
