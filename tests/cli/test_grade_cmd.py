"""`mctsr grade`: verdicts anew from gold answers, without a model."""

import gzip
import json
from pathlib import Path

import pytest

from tests.support.sample_run import GOLD, IDS, command, make_run, run_record


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    write_gold(path, GOLD)
    return path


def write_gold(path: Path, gold: dict[str, str]) -> None:
    rows = [
        json.dumps({"id": id, "question": "How many clips?", "answer": answer}) for id, answer in gold.items()
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def test_changed_gold_answers_change_verdicts_and_both_are_told(tmp_path: Path, data: Path) -> None:
    folder = make_run(tmp_path / "run", record=run_record(data=str(data)))
    write_gold(data, {**GOLD, IDS[0]: "70"})
    said = command("grade", str(folder))
    rows = [line.split() for line in said.out.splitlines()]
    assert said.code == 0
    assert ["clips-1", "70", "not", "right", "right"] in rows
    assert ["clips-1", "72", "right", "not", "right"] in rows
    assert "selected answers right: 0 of 3, 0.0 % (before: 1 of 3)\n" in said.out
    assert "clips-1     wrong" in command("show", str(folder)).out


def test_grading_twice_changes_nothing_more(tmp_path: Path, data: Path) -> None:
    folder = make_run(tmp_path / "run", record=run_record(data=str(data)))
    command("grade", str(folder))
    before = (folder / "grades.jsonl").read_bytes()
    said = command("grade", str(folder), "--json")
    assert json.loads(said.out)["changes"] == []
    assert (folder / "grades.jsonl").read_bytes() == before


def test_a_run_becomes_graded_by_a_file(tmp_path: Path, data: Path) -> None:
    folder = make_run(tmp_path / "run", record=run_record(gold_sha256=None))
    said = json.loads(command("grade", str(folder), "--data", str(data), "--json").out)
    assert said["selected"]["before"] is None
    assert (said["selected"]["after"]["correct"], said["selected"]["after"]["n"]) == (1, 3)
    assert {"id": IDS[0], "answer": "72", "before": None, "after": True} in said["changes"]


def test_gold_answers_that_came_with_a_question_are_used(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", record=run_record(gold=GOLD))
    assert command("grade", str(folder)).code == 0


def test_problems_without_a_gold_answer_are_told(tmp_path: Path, data: Path) -> None:
    folder = make_run(tmp_path / "run")
    write_gold(data, {IDS[0]: "72"})
    said = command("grade", str(folder), "--data", str(data))
    kept = "1 grade kept as before, the rest ungraded"
    assert said.err == f"3 problems of the run not in these gold answers; {kept}\n"
    assert len((folder / "grades.jsonl").read_bytes().splitlines()) == 2


def test_one_problem_without_a_gold_answer_is_told(tmp_path: Path, data: Path) -> None:
    folder = make_run(tmp_path / "run")
    write_gold(data, {id: GOLD[id] for id in IDS[:3]})
    said = command("grade", str(folder), "--data", str(data))
    assert said.err.startswith("1 problem of the run not in these gold answers; ")


@pytest.mark.parametrize("given", [{}, {"other": "1"}])
def test_gold_answers_of_other_problems_are_refused_and_nothing_is_lost(
    tmp_path: Path, data: Path, given: dict[str, str]
) -> None:
    folder = make_run(tmp_path / "run")
    before = (folder / "grades.jsonl").read_bytes()
    arguments = ["--data", str(data)] if given else []
    write_gold(data, given)
    said = command("grade", str(folder), *arguments)
    assert (said.code, said.out) == (2, "")
    assert "--data FILE" in said.err
    assert (folder / "grades.jsonl").read_bytes() == before


def test_a_data_file_that_is_gone_is_named(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", record=run_record(data=str(tmp_path / "gone.jsonl")))
    said = command("grade", str(folder))
    assert said.code == 2
    assert "gone.jsonl" in said.err


def test_policies_change_verdicts_and_are_signed(tmp_path: Path, data: Path) -> None:
    folder = make_run(tmp_path / "run", record=run_record(data=str(data)))
    write_gold(data, {**GOLD, IDS[0]: "0.72"})
    answers = []
    for switch in ([], ["--strict"], ["--lenient"]):
        assert command("grade", str(folder), *switch).code == 0
        grade = json.loads((folder / "grades.jsonl").read_text(encoding="utf-8").splitlines()[0])
        answers.append((grade["verdicts"]["72"]["equal"], grade["grader"].partition(" ")[2]))
    assert answers == [(False, ""), (False, "(strict)"), (True, "(lenient)")]


PAIRS = [
    {"gold": "\\frac12", "answer": "0.5"},
    {"gold": ["1", "2"], "reply": "So \\boxed{2} and \\boxed{1}."},
    {"gold": 5, "answer": "6"},
    {"gold": 5.0, "answer": None},
    {"gold": "x", "answer": "9^{9^9}"},
    {"gold": '{"gold": ["(1,2)"], "kind": "tuple"}', "answer": 7},
]


def write_pairs(path: Path, pairs: list[object]) -> str:
    path.write_text("\n".join(map(json.dumps, pairs)) + "\n\n", encoding="utf-8")
    return str(path)


def test_pairs_are_graded_into_a_table(tmp_path: Path) -> None:
    said = command("grade", "--pairs", write_pairs(tmp_path / "pairs.jsonl", [*PAIRS]))
    assert (said.code, said.err) == (0, "")
    verdicts = [line.split()[3] for line in said.out.splitlines()[1:4:2]]
    assert verdicts == ["right", "wrong"]
    assert said.out.endswith("\n6 pairs: 2 right, 2 wrong, 1 no answer, 1 ungradable\n")


def test_pairs_are_graded_into_json_lines_in_their_order(tmp_path: Path) -> None:
    said = command("grade", "--pairs", write_pairs(tmp_path / "pairs.jsonl", [*PAIRS]), "--json")
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [row["equal"] for row in rows] == [True, True, False, False, False, False]
    assert [row["line"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert rows[1]["extracted"] == "2, 1"
    assert {"gold", "method", "reason"} < rows[0].keys()
    assert rows[4]["method"] == "none"
    verdicts = ["right", "right", "wrong", "no answer", "ungradable", "wrong"]
    assert [row["verdict"] for row in rows] == verdicts
    assert said.err == "6 pairs: 2 right, 2 wrong, 1 no answer, 1 ungradable\n"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"gold": 1}, 'a pair is an object with "gold" and with "answer" or "reply"'),
        ({"answer": 1}, "a pair is an object"),
        ({"gold": 1, "answer": 1, "reply": "1"}, "give only one of them"),
        ([1], "a pair is an object"),
        ({"gold": None, "answer": "1"}, "gold answer None is of type NoneType"),
        ({"gold": "", "answer": "1"}, "is empty"),
        ({"gold": "1", "answer": [1]}, "it must be a text, a number or null"),
    ],
)
def test_a_line_that_is_no_pair_is_named_with_its_file(tmp_path: Path, row: object, message: str) -> None:
    path = write_pairs(tmp_path / "pairs.jsonl", [{"gold": 1, "answer": 1}, row])
    said = command("grade", "--pairs", path)
    assert (said.code, said.out) == (2, "")
    assert f"{path}, line 2" in said.err
    assert message in said.err


def test_files_that_hold_no_pairs_are_refused(tmp_path: Path) -> None:
    empty, broken = tmp_path / "empty.jsonl", tmp_path / "broken.jsonl"
    empty.write_text("\n", encoding="utf-8")
    broken.write_text('{"gold": 1,', encoding="utf-8")
    for path, message in (
        (empty, "holds no pairs"),
        (broken, "line 1 is no JSON"),
        (tmp_path / "gone", "does not exist"),
    ):
        said = command("grade", "--pairs", str(path))
        assert said.code == 2
        assert message in said.err


def test_packed_pairs_with_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf{"gold": 1, "answer": "1"}\r\n'))
    said = command("grade", "--pairs", str(path))
    assert (said.code, said.out.splitlines()[-1]) == (0, "1 pair: 1 right")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"gold": 1, "answer": 1}\n'.encode("utf-16"),
            "line 1: byte 1 is not UTF-8; save the file as UTF-8",
        ),
        (b'{"gold": 1, "answer": 1}\n{"gold": "\xe9"}', "line 2: byte 11 is not UTF-8"),
        (b"\x1f\x8bbroken", "is a damaged gzip file"),
        (b"gold,answer\n1,1\n", "is CSV; JSON Lines is expected, one pair a line"),
        (b"gold\tanswer\n1\t1\n", "is TSV; JSON Lines is expected"),
        (b"PAR1\x00\xff", "is a Parquet file; JSON Lines is expected"),
        (b"[\n", "line 1 is no JSON"),
    ],
)
def test_files_of_another_format_are_named_for_what_they_are(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "pairs"
    path.write_bytes(content)
    said = command("grade", "--pairs", str(path))
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert "surrogate" not in said.err


def test_lone_surrogates_in_pairs_are_replaced(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.jsonl", [{"gold": "a\ud800", "answer": "a\ud800"}])
    for switch in ([], ["--json"]):
        assert command("grade", "--pairs", path, *switch).code == 0


def test_long_answers_are_cut_on_screen_and_whole_in_json(tmp_path: Path) -> None:
    pairs = [{"gold": "7" * 100_000, "answer": "8" * 100_000}, {"gold": 1, "answer": 1}]
    path = write_pairs(tmp_path / "pairs.jsonl", [*pairs])
    said = command("grade", "--pairs", path)
    assert max(map(len, said.out.splitlines())) < 500
    assert "777…" in said.out
    (row, _) = [json.loads(line) for line in command("grade", "--pairs", path, "--json").out.splitlines()]
    assert row["gold"] == "7" * 100_000


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["latest", "--pairs", "p.jsonl"],
        ["--pairs", "p.jsonl", "--data", "d"],
        ["latest", "--strict", "--lenient"],
    ],
)
def test_contradictory_arguments_are_refused(arguments: list[str]) -> None:
    said = command("grade", *arguments)
    assert (said.code, said.out) == (2, "")
    assert "either" in said.err or "exclude" in said.err


def test_a_file_that_asks_other_questions_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    before = (run / "grades.jsonl").read_bytes()
    other = tmp_path / "other.jsonl"
    ids = json.loads((run / "run.json").read_text())["problem_ids"]
    other.write_text(json.dumps({"id": ids[0], "question": "Something else?", "answer": "99"}) + "\n")
    said = command("grade", str(run), "--data", str(other))
    assert said.code == 2
    assert "asks another question under the id" in said.err
    assert (run / "grades.jsonl").read_bytes() == before
