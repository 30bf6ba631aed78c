"""Runs side by side: the same problems alone, honest about what is left out, and curves that end where they must."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from mctsr.errors import RunError, UsageError
from mctsr.report import wilson
from mctsr.report.compare import Comparison, compare
from mctsr.report.curve import budgets, curve, follow
from mctsr.report.paired import mcnemar
from mctsr.runs.folder import Run
from mctsr.runs.grades import regrade
from tests.support.pair_of_runs import make_side, text_of

A = {"a": "right", "b": "wrong", "c": "right", "d": "never", "e": "right"}
B = {"a": "right", "b": "at once", "c": "lost", "d": "at once", "e": "wrong"}


def opened(tmp_path: Path, *problems: Mapping[str, str], **more: object) -> list[Run]:
    return [
        Run.open(make_side(tmp_path / f"run-{number}", each, **more)) for number, each in enumerate(problems)
    ]


def test_each_rule_is_compared_with_the_first_run_under_its_own_name(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, A, B))
    (pairs,) = found.paired
    assert [pair.rule for pair in pairs] == ["first", "selected", "majority", "oracle"]
    first, selected, _, oracle = pairs
    assert (selected.gained, selected.lost) == (("b", "d"), ("c", "e"))
    assert (selected.difference, selected.p, selected.n) == (0.0, 1.0, 5)
    assert (first.gained, first.lost) == (("b", "c", "d"), ())
    assert first.difference == pytest.approx(0.6)
    assert first.p == mcnemar(3, 0)
    assert first.low is not None
    assert first.low > 0
    assert (oracle.gained, oracle.lost) == (("d",), ())


def test_scores_are_over_the_same_problems_in_each_run(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, {**A, "only in A": "right"}, {"only in B": "right", **B}))
    assert (found.shared, found.compared, found.graded) == (5, 5, 5)
    for side, correct in zip(found.runs, (3, 3), strict=True):
        selected = next(score for score in side.scores if score.name == "selected")
        assert (selected.correct, selected.n) == (correct, 5)
        assert (selected.low, selected.high) == wilson(correct, 5)
    assert [(side.label, side.total, side.done) for side in found.runs] == [("A", 6, 6), ("B", 6, 6)]


def test_a_failed_problem_stays_in_the_scores_is_told_and_is_in_no_pair(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, {**A, "e": "failed"}, {**B, "a": "failed", "e": "failed"}, A))
    assert [side.failed for side in found.runs] == [1, 2, 0]
    assert {score.n for side in found.runs for score in side.scores} == {5}
    (against_b, *_), (against_c, *_) = found.paired
    assert (against_b.n, against_b.left_out) == (3, 2), "one that failed in both is left out once"
    assert (against_c.n, against_c.left_out) == (4, 1)
    failed = {"a", "e"}
    assert not any(failed & {*pair.gained, *pair.lost} for pair in found.paired[0])
    plain = json.loads(json.dumps(found.as_dict()))
    assert [side["failed"] for side in plain["runs"]] == [1, 2, 0]
    assert plain["paired"][0][0]["left_out"] == 2


def test_a_failed_problem_counts_as_wrong_and_an_unfinished_one_does_not_count(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, A, {**B, "a": "failed", "e": "late"}))
    assert (found.shared, found.compared, found.graded) == (5, 4, 4)
    selected = found.paired[0][1]
    assert selected.lost == ("c",)
    assert "B is interrupted: 1 of its problems have no result yet" in found.notes
    assert found.runs[1].curve is not None
    assert found.runs[1].curve.replayed == 3


def test_costs_are_over_the_problems_done_in_all_runs(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, A, {**B, "e": "late"}))
    assert [(side.cost.calls, side.cost.seconds) for side in found.runs] == [(24, 32.0), (24, 32.0)]


def test_three_runs_are_each_compared_with_the_first(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, A, B, A))
    assert [side.label for side in found.runs] == ["A", "B", "C"]
    assert [pairs[1].gained for pairs in found.paired] == [("b", "d"), ()]
    assert found.paired[1][1].difference == 0.0


def test_a_run_without_grades_has_costs_and_no_scores(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, A, B, gold_sha256=None))
    assert (found.compared, found.graded) == (5, 0)
    assert [side.scores for side in found.runs] == [(), ()]
    assert [side.curve for side in found.runs] == [None, None]
    assert found.runs[0].cost.calls == 30


def test_a_problem_that_waits_for_its_grade_is_left_out_of_the_scores(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, A, {**B, "c": "ungraded"}))
    assert (found.compared, found.graded) == (5, 4)


def test_equal_ids_with_different_questions_are_refused_by_name(tmp_path: Path) -> None:
    one = Run.open(make_side(tmp_path / "a", A))
    other = Run.open(make_side(tmp_path / "b", B, problem_hashes=["0" * 12] * 5))
    problems = [{"id": id, "text": text_of(id) + "!", "kind": None} for id in B]
    inline = Run.open(make_side(tmp_path / "c", B, problem_hashes=["0" * 12] * 5, problems=problems))
    with pytest.raises(
        RunError, match="do not ask the same under 'a', 'b', 'c', 'd', 'e'; compare runs over"
    ):
        compare([one, inline])
    found = compare([one, other])
    assert found.notes[0] == "B reads the answers of 5 problems as another kind than A"


def test_questions_that_nothing_tells_of_are_not_taken_to_be_the_same(tmp_path: Path) -> None:
    one = Run.open(make_side(tmp_path / "a", A))
    other = Run.open(make_side(tmp_path / "b", dict.fromkeys(A, "failed"), problem_hashes=["0" * 12] * 5))
    with pytest.raises(RunError, match="do not ask the same"):
        compare([one, other])


def test_runs_without_a_common_problem_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no problem in common"):
        compare(opened(tmp_path, {"a": "right"}, {"b": "right"}))


def test_one_run_is_no_comparison(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least two"):
        compare(opened(tmp_path, A))


def test_different_golds_and_graders_are_told(tmp_path: Path) -> None:
    one, other = opened(tmp_path, {"a": "right", "b": "right"}, {"a": "right", "b": "right"})
    regrade(other, {"a": "70", "b": "72"})
    notes = compare([one, Run.open(other.path)]).notes
    assert "the runs were graded with different gold answers: 'a'" in notes
    assert "the runs were graded by different graders or policies; mctsr grade makes them alike" in notes


def test_damage_is_told_with_the_runs_letter(tmp_path: Path) -> None:
    runs = opened(tmp_path, A, B)
    with (runs[1].path / "results.jsonl").open("ab") as file:
        file.write(b'{"torn')
    (note,) = compare([Run.open(run.path) for run in runs]).notes
    assert note.startswith("B: results.jsonl")


def test_a_run_whose_trees_are_damaged_is_compared_without_its_curve(tmp_path: Path) -> None:
    runs = opened(tmp_path, A, B)
    (runs[1].path / "trees.jsonl").write_bytes(b"")
    found = compare(runs)
    assert found.runs[0].curve is not None
    assert found.runs[1].curve is None
    assert found.paired[0][1].gained == ("b", "d")
    (note,) = found.notes
    assert note.startswith("no any-time curve of B: ")


def points(found: Comparison, run: int) -> list[tuple[int, int]]:
    drawn = found.runs[run].curve
    assert drawn is not None
    return [(point.tokens, point.correct) for point in drawn.points]


def test_the_curve_follows_every_answer_on_the_way(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, A, B))
    # After 100 tokens a search has its first node, after 200 its second.
    assert points(found, 0) == [(100, 0), (200, 3)]
    assert points(found, 1) == [(100, 3), (200, 3)]
    drawn = found.runs[1].curve
    assert drawn is not None
    assert drawn.steps == ((100, 3),)
    assert (drawn.ways, drawn.agreed, drawn.replayed) == ({"best value": 5}, 5, 5)
    assert [point.spent for point in drawn.points] == [100.0, 200.0]


def test_the_end_of_the_curve_is_the_selected_score(tmp_path: Path) -> None:
    found = compare(opened(tmp_path, A, {**B, "d": "failed"}))
    for side in found.runs:
        selected = next(score for score in side.scores if score.name == "selected")
        assert side.curve is not None
        end = side.curve.points[-1]
        assert (end.correct, end.n, end.low, end.high) == (
            *(selected.correct, selected.n),
            *(selected.low, selected.high),
        )


def test_a_failed_problem_stays_in_the_curves_denominator(tmp_path: Path) -> None:
    (run,) = opened(tmp_path, {"a": "right", "b": "failed"})
    tracks = follow(run, ["a", "b"])
    assert tracks.tracks == [[(100, False), (200, True)], []]
    (first, last) = curve(tracks, (100, 200)).points
    assert (first.share, last.share, last.n, last.spent) == (0.0, 0.5, 2, 100.0)


def test_budgets_are_round_numbers_that_hold_everything(tmp_path: Path) -> None:
    (run,) = opened(tmp_path, A)
    tracks = follow(run, ["a"])
    long = tracks._replace(tracks=[[(0, False), (37, False), (4_200, True)]], answered=[37])
    assert budgets([tracks]) == (100, 200)
    assert budgets([long]) == (50, 100, 200, 500, 1_000, 2_000, 5_000)
    assert budgets([tracks, long]) == budgets([long])
    assert budgets([long._replace(answered=[])]) == (5_000,)
    assert budgets([long._replace(tracks=[[]], answered=[])]) == ()
    assert budgets([]) == ()


def test_the_same_runs_give_the_same_comparison_as_strict_json(tmp_path: Path) -> None:
    runs = opened(tmp_path, A, B)
    told = [json.dumps(compare(runs).as_dict(), allow_nan=False) for _ in range(2)]
    assert told[0] == told[1]
    plain = json.loads(told[0])
    assert plain["runs"][0]["cost_each"]["calls"] == 6.0
    assert plain["runs"][0]["scores"][1]["share"] == 0.6
    assert plain["paired"][0][1]["gained"] == ["b", "d"]
    assert plain["against"] == str(runs[0].path)


def test_a_curve_begins_where_there_is_an_answer(tmp_path: Path) -> None:
    (run,) = opened(tmp_path, {"a": "right", "b": "failed", "c": "lost"})
    assert follow(run, ["a", "b", "c"]).answered == [100, 100]


@pytest.mark.parametrize(
    ("rule", "way"),
    [
        ("best value", "best value"),
        ("majority", "majority so far"),
        ("best by the weakest step", "majority so far (for best by the weakest step, which is not replayed)"),
        ("weighted vote", "majority so far (for weighted vote, which is not replayed)"),
    ],
)
def test_a_rule_that_is_not_replayed_is_named(rule: str, way: str, tmp_path: Path) -> None:
    folder = make_side(tmp_path / "run", {"a": "right"})
    results = folder / "results.jsonl"
    row = json.loads(results.read_bytes())
    results.write_text(json.dumps({**row, "selected_by": rule}) + "\n", encoding="utf-8")
    assert follow(Run.open(folder), ["a"]).ways == {way: 1}


def test_limits_that_differ_are_told_and_equal_ones_are_not(tmp_path: Path) -> None:
    usual = {"max_calls": None, "token_limit": 9000, "time_limit": None, "judge_max_tokens": 512}
    sides = [
        {**usual, "policy": {"max_tokens": 1024}},
        {**usual, "policy": {"max_tokens": 120}, "max_calls": 20, "time_limit": 1.5},
    ]
    runs = [
        Run.open(make_side(tmp_path / f"run-{number}", A, settings=settings))
        for number, settings in enumerate(sides)
    ]
    assert compare(runs).notes == (
        "the runs had different limits: --max-calls none in A, 20 in B; --time-limit none in A, 1.5 in B; "
        "--max-tokens 1,024 in A, 120 in B",
    )
    assert compare([runs[0], runs[0]]).notes == ()
