"""`mctsr grade`: verdicts anew from gold answers, without a model."""

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
    rows = [json.dumps({"id": id, "question": "How many?", "answer": answer}) for id, answer in gold.items()]
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
    assert said.err == "3 problems of the run have no gold answer and stay ungraded\n"


def test_one_problem_without_a_gold_answer_is_told_in_the_singular(tmp_path: Path, data: Path) -> None:
    folder = make_run(tmp_path / "run")
    write_gold(data, {id: GOLD[id] for id in IDS[:3]})
    said = command("grade", str(folder), "--data", str(data))
    assert said.err == "1 problem of the run has no gold answer and stays ungraded\n"


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
