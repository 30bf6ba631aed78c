"""Reading data sets: what is accepted, what is refused and in which words, and what never gets through."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import DataError, UsageError
from mctsr.problems import (
    problem_hash,
    problems_sha256,
    question_problem,
    read_notes,
    read_problems,
)
from mctsr.problems import (
    read_gold as read_typed,
)


def read_gold(source: str, **how: Any) -> dict[str, str]:
    """Read gold answers as records spell them."""
    return {id: str(gold) for id, gold in read_typed(source, **how).items()}


ROWS = [{"id": f"p{i}", "question": f"Question {i}?", "answer": str(i)} for i in range(5)]


def put(folder: Path, data: bytes | str, name: str = "data.jsonl") -> str:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def jsonl(*rows: object) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def test_json_lines_and_a_json_list_give_the_same_problems(tmp_path: Path) -> None:
    flat = put(tmp_path, jsonl(*ROWS))
    listed = put(tmp_path, json.dumps(ROWS, indent=4), "data.json")
    assert read_problems(flat) == read_problems(listed)
    assert [(p.id, p.text, p.kind) for p in read_problems(flat)][1] == ("p1", "Question 1?", None)
    assert read_gold(flat) == read_gold(listed) == {f"p{i}": str(i) for i in range(5)}


def test_gsm8k_rows_have_their_number_as_gold_and_a_hash_as_id(tmp_path: Path) -> None:
    source = put(
        tmp_path,
        jsonl({"question": "How many?", "answer": "1000 * 2 = <<1000*2=2000>>2000\n#### 2,000"}),
        "gsm8k_test.jsonl",
    )
    (problem,) = read_problems(source)
    assert (problem.text, problem.kind) == ("How many?", "number")
    assert len(problem.id) == 12
    assert read_gold(source) == {problem.id: "2000"}


def test_a_hashed_id_depends_on_the_text_and_not_on_the_place(tmp_path: Path) -> None:
    first = put(tmp_path, jsonl({"problem": "a"}, {"problem": "b"}), "one.jsonl")
    second = put(tmp_path, jsonl({"problem": "b"}), "two.jsonl")
    assert read_problems(first)[1].id == read_problems(second)[0].id == question_problem("b").id


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("gsm8k_test.jsonl", "number"),
        ("AIME24.jsonl", "number"),
        ("gsm-hard.jsonl", "number"),
        ("mine.jsonl", None),
    ],
)
def test_the_answer_kind_comes_from_the_name_and_never_from_the_gold(
    tmp_path: Path, name: str, kind: str | None
) -> None:
    for answer in ("7", "B", None):
        row = {"question": "Which?"} | ({} if answer is None else {"answer": answer})
        assert read_problems(put(tmp_path, jsonl(row), name))[0].kind == kind


def test_a_given_answer_kind_wins_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    source = put(tmp_path, jsonl(*ROWS), "gsm8k.jsonl")
    assert read_problems(source, kind="letter")[0].kind == "letter"
    with pytest.raises(UsageError, match="'colour' is unknown; allowed are 'number', 'letter', 'formula'"):
        read_problems(source, kind="colour")


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + jsonl(*ROWS).encode(),
        jsonl(*ROWS).replace("\n", "\r\n").encode(),
        jsonl(*ROWS).encode() + b"\n  \n",
        jsonl(*ROWS).encode().rstrip(b"\n"),
    ],
    ids=["bom", "crlf", "blank last lines", "no last newline"],
)
def test_the_usual_accidents_of_text_files_are_harmless(tmp_path: Path, data: bytes) -> None:
    assert [problem.id for problem in read_problems(put(tmp_path, data))] == [f"p{i}" for i in range(5)]


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x0b", "\x0c", "\x1e"])
def test_only_newline_bytes_separate_lines(tmp_path: Path, separator: str) -> None:
    text = f"before{separator}after"
    assert read_problems(put(tmp_path, jsonl({"problem": text})))[0].text == text


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    assert read_problems(put(tmp_path, b'{"problem": "a \\ud800 b"}\n'))[0].text == "a \ufffd b"


def test_data_without_answers_has_no_gold(tmp_path: Path) -> None:
    source = put(tmp_path, jsonl({"id": 1, "problem": "a"}, {"id": 2, "problem": "b", "answer": None}))
    assert [problem.id for problem in read_problems(source)] == ["1", "2"]
    assert read_gold(source) == {}


def test_other_columns_are_never_read(tmp_path: Path) -> None:
    row = {"id": "x", "problem": "a", "answer": 27.0, "solution": "SECRET", "code": "SECRET", "question": "a"}
    source = put(tmp_path, jsonl(row))
    assert "SECRET" not in repr((read_problems(source), read_gold(source)))
    assert read_gold(source) == {"x": "27"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (jsonl(ROWS[0]) + "{bad\n", r"line 2: not JSON .*accepted are JSON Lines"),
        (b'{"problem": "\xff"}\n', "line 1: byte 14 is not UTF-8"),
        (
            jsonl(ROWS[0], {"text": "a", "label": 1}),
            "line 2: no problem text among the fields 'label', 'text'",
        ),
        (jsonl({"problem": " \n"}), "line 1: 'problem' is ' .n'; it must be a text"),
        (jsonl({"problem": ["a"]}), "line 1: 'problem' is \\['a'\\]; it must be a text"),
        (jsonl(ROWS[0], ROWS[1], ROWS[0]), "line 3: id 'p0' stands already in .*line 1"),
        (
            jsonl({"problem": "a"}, {"problem": "a"}),
            "line 2: the same problem without an id stands already in",
        ),
        (jsonl({"problem": "a", "id": 1.5}), "line 1: 'id' is 1.5; it must be a text or a whole number"),
        (jsonl({"problem": "a", "id": ""}), "line 1: 'id' is ''"),
        (jsonl(3), "line 1: found int, not an object"),
        ('[{"problem": "a"}, 3]', "entry 2: found int, not an object"),
        ('[{"problem": "a"},', "not JSON"),
        ("a,b\n1,2\n", "begins with 'a,b': CSV without a known heading is not read; accepted are JSON Lines"),
        ("question\tanswer\n", "data.jsonl holds no problems"),
        ("What is 2+2?\n", "begins with 'What is 2.2.': plain text is not read"),
        (b"PAR1\x15\x04", "is a Parquet file that cannot be read: .*; fetch it again"),
        (b"\x1f\x8b\x08", "is a damaged gzip file: .*; fetch or pack it again"),
        ('{\n  "data": []\n}', "is one object, with the fields 'data'; put its problems in a list"),
        ("caf\xe9\n".encode("latin-1"), "line 1: byte 4 is not UTF-8"),
        (" \n\n", "holds no problems"),
        ("[]", "holds no problems"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(
    tmp_path: Path, data: bytes | str, said: str
) -> None:
    source = put(tmp_path, data)
    with pytest.raises(DataError, match=said) as caught:
        read_problems(source)
    assert "data.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("row", "notes"),
    [
        ({"question": "a", "answer": "1", "id": 3}, []),
        ({"question": "a", "answer": "1", "Answer": "2"}, ["fields not used: Answer"]),
        ({"problem": "a", "question": "b", "answer": "1"}, ["fields not used: question"]),
        ({"question": "a", "uid": 1, "solution": "s", "answer": "1"}, ["fields not used: uid, solution"]),
        (
            {"question": "a", "Gold": "1"},
            [
                "read from JSON Lines: problem from problem, question, answer from Gold, id from a hash of the text"
            ],
        ),
        (
            {"question": "a", "label": "1"},
            [
                "fields not used: label",
                "no gold answers found; if 'label' holds them, give --answer-field label",
            ],
        ),
    ],
)
def test_what_is_not_used_is_said(tmp_path: Path, row: dict[str, object], notes: list[str]) -> None:
    source = put(tmp_path, jsonl({"problem": "z", "answer": row.get("answer")}, row))
    assert len(read_problems(source)) == 2
    assert read_notes(source) == notes


def test_a_gold_answer_of_no_use_is_named_when_gold_is_read_and_no_earlier(tmp_path: Path) -> None:
    source = put(tmp_path, jsonl(ROWS[0], {"id": "x", "problem": "a", "answer": {}}))
    assert len(read_problems(source)) == 2
    with pytest.raises(DataError, match=r"data\.jsonl, line 2: gold answer \{\}"):
        read_gold(source)


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl' does not exist"):
        read_problems(str(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_problems(str(tmp_path))


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        ("1", "0"),
        ("3", "012"),
        ("99", "01234"),
        ("2-3", "12"),
        ("5-5", "4"),
        ("4-99", "34"),
        (" 2 ", "01"),
        (None, "01234"),
    ],
)
def test_a_limit_counts_from_one_and_includes_both_ends(tmp_path: Path, limit: str | None, kept: str) -> None:
    found = read_problems(put(tmp_path, jsonl(*ROWS)), limit=limit)
    assert "".join(problem.id[1:] for problem in found) == kept


@pytest.mark.parametrize("limit", ["0", "-1", "3-2", "0-2", "a", "1-", "1.5", "", "6-7"])
def test_a_limit_that_is_no_range_is_refused(tmp_path: Path, limit: str) -> None:
    with pytest.raises(UsageError, match="limit"):
        read_problems(put(tmp_path, jsonl(*ROWS)), limit=limit)


def test_ids_pick_in_the_order_of_the_file_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    source = put(tmp_path, jsonl(*ROWS))
    assert [problem.id for problem in read_problems(source, ids=("p3", "p1"))] == ["p1", "p3"]
    assert [problem.id for problem in read_problems(source, ids=("p3", "p1"), limit="1")] == ["p1"]
    with pytest.raises(UsageError, match="no problem has the id 'pp3'; did you mean 'p3'"):
        read_problems(source, ids=("p1", "pp3"))


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        (jsonl(*ROWS[:2]), ["Question 0?", "Question 1?"]),
        (json.dumps(ROWS[:1]), ["Question 0?"]),
        ("\ufeff" + jsonl(ROWS[0]), ["Question 0?"]),
        ("  What is two and two?\n", ["What is two and two?"]),
        ("[3, 4] is an interval; how long is it?", ["[3, 4] is an interval; how long is it?"]),
        ("{x} and {y} are sets.\nAre they equal?", ["{x} and {y} are sets.\nAre they equal?"]),
        ("[1, 2]", ["[1, 2]"]),
    ],
)
def test_standard_input_holds_rows_or_one_question(text: str, texts: list[str]) -> None:
    assert [problem.text for problem in read_problems("-", stdin=text)] == texts


def test_standard_input_is_read_when_it_is_not_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        @staticmethod
        def read() -> str:
            return "How many?"

    monkeypatch.setattr("sys.stdin", Stream)
    assert read_problems("-")[0].text == "How many?"


def test_gold_from_standard_input_is_that_of_its_rows() -> None:
    assert read_gold("-", stdin=jsonl(*ROWS[:1])) == {"p0": "0"}
    assert read_gold("-", stdin="a question") == {}


def test_nothing_on_standard_input_is_an_error() -> None:
    with pytest.raises(DataError, match="the question is empty"):
        read_problems("-", stdin=" \n")


def test_hashes_follow_problems(tmp_path: Path) -> None:
    problems = read_problems(put(tmp_path, jsonl(*ROWS)))
    assert problems_sha256(problems) != problems_sha256(problems[::-1])
    assert problem_hash(problems[0]) != problem_hash(problems[1])


@given(
    st.lists(
        st.fixed_dictionaries({"problem": st.text().filter(str.strip)}, optional={"note": st.text()}),
        min_size=1,
    )
)
def test_any_text_survives_reading(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    numbered = [{"id": i, **row} for i, row in enumerate(rows)]
    source = put(tmp_path_factory.getbasetemp(), jsonl(*numbered), "any.jsonl")
    assert [problem.text for problem in read_problems(source)] == [row["problem"] for row in rows]


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_one_object_over_several_lines_is_one_problem(tmp_path: Path, bom: bytes) -> None:
    source = put(
        tmp_path, bom + json.dumps({"id": "a", "question": "2+2?", "answer": "4"}, indent=2).encode()
    )
    assert [(p.id, p.text) for p in read_problems(source)] == [("a", "2+2?")]
    assert read_gold(source) == {"a": "4"}
    text = Path(source).read_text(encoding="utf-8-sig")
    assert [p.id for p in read_problems("-", stdin=text)] == ["a"]


def test_a_list_of_many_names_is_cut_and_long_names_are_shortened(tmp_path: Path) -> None:
    row = {f"field{i}": 1 for i in range(30)} | {"z" * 500: 1}
    source = put(tmp_path, jsonl({"question": "a", **row}))
    (note,) = read_notes(source)
    assert note.endswith("field9 and 21 more")
    with pytest.raises(DataError, match="and 21 more; name its field by") as caught:
        read_problems(put(tmp_path, jsonl(row)))
    assert len(str(caught.value)) < 800
    with pytest.raises(UsageError) as unknown:
        read_problems(put(tmp_path, jsonl(*ROWS)), ids=["x" * 10_000])
    assert len(str(unknown.value)) < 400


def test_a_home_folder_that_nobody_has_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"'~nosuchuser/d\.jsonl' begins with ~nosuchuser, whose home"):
        read_problems("~nosuchuser/d.jsonl")
    monkeypatch.setenv("HOME", str(tmp_path))
    put(tmp_path, jsonl(*ROWS))
    assert len(read_problems("~/data.jsonl")) == 5


class _Piped:
    """Standard input as bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"caf\xe9", "standard input, line 1: byte 4 is not UTF-8"),
        (b'{"question": "a"}\n{"question": "\xff"}\n', "standard input, line 2: byte 15 is not UTF-8"),
    ],
)
def test_standard_input_is_as_strict_as_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, said: str
) -> None:
    monkeypatch.setattr("sys.stdin", _Piped(data))
    with pytest.raises(DataError, match=said):
        read_problems("-")
    with pytest.raises(DataError, match=said.removeprefix("standard input, ")):
        read_problems(put(tmp_path, data))


def test_a_question_may_come_with_any_line_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", _Piped("\ufeffä?\r\nb\rc\n".encode()))
    assert read_problems("-")[0].text == "ä?\nb\nc"


def test_standard_input_that_is_closed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(DataError, match="standard input is closed; give a file"):
        read_problems("-")
