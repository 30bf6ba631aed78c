"""The report adds up right, keeps failures in the denominator, and reads no tree."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.report import Report, report, wilson
from mctsr.runs.folder import Run
from mctsr.runs.writer import RunWriter
from tests.support.sample_run import IDS, clips_nodes, grade, make_run, make_trees, result, run_record, tree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run")


def read(folder: Path) -> Report:
    return report(Run.open(folder))


@pytest.mark.parametrize(
    ("correct", "n", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_the_published_one(correct: int, n: int, low: float, high: float) -> None:
    assert wilson(correct, n) == pytest.approx((low, high), abs=5e-5)


def test_nothing_known_is_the_whole_range() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("correct", "n"), [(1, 0), (-1, 4), (5, 4)])
def test_impossible_counts_are_refused(correct: int, n: int) -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(correct, n)


@given(st.integers(1, 10**6), st.data())
def test_the_interval_holds_the_share_and_mirrors(n: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, n))
    low, high = wilson(correct, n)
    assert 0.0 <= low <= correct / n <= high <= 1.0
    mirrored = wilson(n - correct, n)
    assert math.isclose(low, 1 - mirrored.high, abs_tol=1e-12)


@given(st.integers(1, 1000), st.data())
def test_more_of_the_same_makes_the_interval_narrower(n: int, data: st.DataObject) -> None:
    correct = data.draw(st.integers(0, n))
    small, large = wilson(correct, n), wilson(4 * correct, 4 * n)
    assert large.high - large.low < small.high - small.low


def test_the_four_scores_stand_side_by_side_with_failures_in_the_denominator(folder: Path) -> None:
    found = read(folder)
    assert [(score.name, score.correct, score.n) for score in found.scores] == [
        ("first", 0, 3),
        ("selected", 1, 3),
        ("majority", 0, 3),
        ("oracle", 1, 3),
    ]
    assert found.selected is not None
    assert (found.selected.low, found.selected.high) == wilson(1, 3)
    assert found.scores[3].note == "any node correct; not a score of the recipe"
    assert found.failures == {"clips-2": "no first answer: server error: HTTP 500"}


def test_an_interrupted_run_says_how_far_it_came(folder: Path) -> None:
    found = read(folder)
    assert (found.state, found.done, found.total) == ("interrupted", 3, 4)


def test_costs_are_totals_and_means(folder: Path) -> None:
    found = read(folder)
    assert (found.cost.calls, found.cost.prompt_tokens, found.cost.completion_tokens) == (27, 9000, 900)
    assert (found.cost.cached_tokens, found.cost.call_seconds, found.cost.seconds) == (30, 22.5, 36.0)
    each = found.cost.per(found.done)
    assert each is not None
    assert (each.calls, each.prompt_tokens, each.seconds) == (9, 3000, 12)
    assert found.cost.per(0) is None


def test_everything_that_went_wrong_is_counted(folder: Path) -> None:
    found = read(folder)
    wrong = {name: count for name, count in found.counts.items() if count}
    assert wrong == {
        "failed": 1,
        "ungradable": 1,
        "ungradable_answers": 2,
        "nodes": 9,
        "rollouts": 6,
        "unscored": 4,
        "truncated": 1,
        "duplicates": 1,
        "retried": 6,
        "failed_calls": 6,
        "repeated": 3,
    }
    assert {"empty", "no_answer", "replayed", "stale"} <= found.counts.keys()
    assert found.unscored_reasons == {"no score in the reply": 2, "truncated score": 1}
    assert (found.overshoot, found.wire) == ({"tokens": [40, 40]}, ("dropped response_format",))
    assert found.stopped == {"rollouts": 2}


def test_a_run_without_gold_answers_has_no_score(tmp_path: Path) -> None:
    found = read(make_run(tmp_path / "run", record=run_record(gold_sha256=None)))
    assert (found.scores, found.selected, found.pending) == ((), None, 0)
    assert found.as_dict()["graded"] is False


def test_results_that_wait_for_their_grade_are_told_and_not_counted(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record([IDS[0]])) as writer:
        grown = tree(IDS[0], clips_nodes(), 7)
        writer.commit(grown, result(IDS[0], grown))
    found = read(tmp_path / "run")
    assert found.pending == 1
    assert [score.n for score in found.scores] == [0, 0, 0, 0]


def test_problems_without_gold_answers_are_neither_counted_nor_waited_for(tmp_path: Path) -> None:
    ids = ("graded", "failed", "failed without gold", "without gold")
    with RunWriter.create(tmp_path / "run", run_record(ids, gold_ids=["graded", "failed"])) as writer:
        for id in ids:
            grown = None if "failed" in id else tree(id, clips_nodes(), 7)
            writer.commit(grown, result(id, grown))
        writer.grade(grade("graded", "72", {"70": False, "72": True}))
    found = read(tmp_path / "run")
    assert [(score.correct, score.n) for score in found.scores] == [(0, 2), (1, 2), (0, 2), (1, 2)]
    assert found.pending == 0


def test_what_was_noted_on_the_way_is_told(tmp_path: Path) -> None:
    found = read(make_run(tmp_path / "run", record=run_record(notices=["the servers changed"])))
    assert found.notes == ("the servers changed",)


def test_a_result_without_an_answer_is_not_right(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record(["a"])) as writer:
        grown = tree("a", clips_nodes()[1:2], None)
        writer.commit(grown, result("a", grown))
        writer.grade(grade("a", "3", {}))
    found = read(tmp_path / "run")
    assert [(score.correct, score.n) for score in found.scores] == [(0, 1)] * 4
    assert found.counts["no_answer"] == 1


def test_a_run_of_failures_alone_is_failed_and_scores_nothing(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record(IDS[:2])) as writer:
        for id in IDS[:2]:
            writer.commit(None, result(id, None))
    found = read(tmp_path / "run")
    assert found.state == "failed"
    assert [(score.correct, score.n) for score in found.scores] == [(0, 2)] * 4
    assert found.as_dict()["cost_right"] is None


def test_an_empty_run_can_be_reported(tmp_path: Path) -> None:
    RunWriter.create(tmp_path / "run", run_record()).close()
    found = read(tmp_path / "run")
    assert (found.done, found.cost.calls, found.cost.per(found.done)) == (0, 0, None)
    assert [score.share for score in found.scores] == [None] * 4


def test_the_report_reads_no_tree(folder: Path) -> None:
    before = read(folder)
    (folder / "trees.jsonl").unlink()
    assert read(folder) == before


def test_the_report_goes_through_strict_json(folder: Path) -> None:
    plain = json.loads(json.dumps(read(folder).as_dict(), allow_nan=False))
    assert plain["scores"][1] == {
        **{"name": "selected", "correct": 1, "n": 3, "share": 1 / 3, "note": ""},
        **wilson(1, 3)._asdict(),
    }
    assert plain["cost_right"] == plain["cost"]
    assert plain["cost_each"]["calls"] == 9
    assert plain["graded"] is True


def test_a_torn_line_is_noted(folder: Path) -> None:
    with (folder / "results.jsonl").open("ab") as file:
        file.write(b'{"schema":1,"id":"la')
    (note,) = read(folder).notes
    assert "results.jsonl" in note


def test_the_model_is_what_the_server_named_else_what_was_asked_for(tmp_path: Path) -> None:
    assert read(make_trees(tmp_path / "a", [])).model == "tiny-model"
    asked = {"policy": {"model": "mine"}, "judge": None}
    assert read(make_trees(tmp_path / "b", [], servers=[], settings=asked)).model == "mine"
