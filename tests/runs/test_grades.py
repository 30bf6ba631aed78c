"""Grading a finished run again, from the outside."""

from pathlib import Path

import pytest

from mctsr.errors import RunError
from mctsr.grading import Grader
from mctsr.runs.folder import Run
from mctsr.runs.grades import Change, gold_sha256, grade_result, regrade, with_gold
from mctsr.runs.writer import RunWriter
from tests.runs.world import lines, planned, run


@pytest.fixture
async def finished(tmp_path: Path) -> Run:
    """Make a run of three solved problems."""
    await run(tmp_path / "run", planned(tmp_path))
    return Run.open(tmp_path / "run")


def test_every_spelling_of_a_tree_has_a_verdict(finished: Run) -> None:
    for id, grade in finished.grades().items():
        answers = {node["answer"] for node in finished.tree(id)["nodes"]} - {None}
        assert grade["verdicts"].keys() == answers
        assert grade["grader"] == Grader.version


def test_an_answer_is_graded_as_it_is_spelt() -> None:
    result = {
        "id": "p",
        "answers": {"first": "1,000", "selected": "1000", "majority": None, "distinct": ["1,000"]},
    }
    with Grader() as grader:
        grade = grade_result(grader, "1000", result)  # type: ignore[arg-type]
    assert {answer: verdict["equal"] for answer, verdict in grade["verdicts"].items()} == {
        "1,000": True,
        "1000": True,
    }


def test_regrading_with_the_same_gold_changes_nothing(finished: Run) -> None:
    before = (finished.path / "grades.jsonl").read_bytes()
    assert regrade(finished, {id: grade["gold"] for id, grade in finished.grades().items()}) == []
    assert (finished.path / "grades.jsonl").read_bytes() == before


def test_regrading_with_other_gold_names_the_verdicts_that_changed(finished: Run) -> None:
    selected = finished.results()["sum-1"]["answers"]["selected"]
    assert selected is not None
    before = finished.grades()["sum-1"]["verdicts"][selected]["equal"]
    other = "999" if before else selected
    gold = {id: grade["gold"] for id, grade in finished.grades().items()} | {"sum-1": other}
    del gold["sum-2"]
    changes = regrade(finished, gold)
    assert Change("sum-1", selected, before, not before) in changes
    assert {change.after for change in changes if change.id == "sum-2"} == {None}
    again = Run.open(finished.path)
    assert list(again.grades()) == ["sum-0", "sum-1"]
    assert again.grades()["sum-1"]["verdicts"][selected]["equal"] is not before
    assert lines(finished.path / "trees.jsonl") == list(finished.trees())


def test_a_hash_of_gold_answers_does_not_depend_on_their_order() -> None:
    assert gold_sha256({"a": "1", "b": "2"}) == gold_sha256({"b": "2", "a": "1"}) != gold_sha256({"a": "1"})


def test_run_json_names_the_problems_with_gold_and_no_gold_answer(finished: Run) -> None:
    record = with_gold(finished.record, {"sum-2": "7654321", "sum-0": "7654321", "of another file": "1"})
    assert record["gold_ids"] == ["sum-0", "sum-2"]
    assert "7654321" not in str(record)
    assert {**record, "gold_ids": [], "gold_sha256": None} == with_gold(record, {})


def test_regrading_tells_run_json_which_problems_have_gold_now(finished: Run) -> None:
    gold = {"sum-1": "999"}
    regrade(finished, gold)
    assert Run.open(finished.path).record == with_gold(finished.record, gold)


def test_a_run_that_is_being_written_is_not_regraded(finished: Run) -> None:
    with RunWriter.reopen(finished.path), pytest.raises(RunError, match="being written"):
        regrade(finished, {})
