"""`mctsr report`: what is said, for people and as JSON."""

import json
from pathlib import Path
from unittest import mock

import pytest

from mctsr.report import report
from mctsr.runs.folder import Run
from mctsr.runs.writer import RunWriter
from tests.support.sample_run import (
    IDS,
    clips_nodes,
    command,
    make_run,
    make_trees,
    node,
    result,
    run_record,
    sample,
    tree,
)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(make_run(tmp_path / "run"))


def test_the_scores_stand_in_one_table(folder: str) -> None:
    said = command("report", folder)
    assert said.code == 0
    rows = [line.split() for line in said.out.splitlines()]
    assert ["first", "0", "3", "0.0", "%", "0.0", "–", "56.1"] in rows
    assert ["selected", "1", "3", "33.3", "%", "6.1", "–", "79.2"] in rows
    assert "oracle (any node correct; not a score of the recipe)      1   3  33.3 %" in said.out


def test_an_interrupted_run_says_how_to_go_on(folder: str) -> None:
    said = command("report", folder).out
    assert said.startswith(
        f"{folder}  interrupted\nmctsr on tiny-model, 3 of 4 problems done, 1 of them failed\n"
    )
    assert f"Interrupted; go on with: mctsr resume {folder}\n" in said


def test_counters_above_zero_have_a_line_and_those_at_zero_share_one(folder: str) -> None:
    said = command("report", folder).out
    for line in (
        "problems failed                                  1",
        "selected answers that cannot be graded           1",
        "all answers in the trees that cannot be graded   2",
        "  no score in the reply                          2\n  truncated score                                1",
        "replies cut at max tokens, the judge's included  1",
        "drafts that repeat the text of another           1",
        "calls repeated after a kill                      3",
        "at zero: the 5 other counters, see --json",
    ):
        assert f"{line}\n" in said
    assert not [line for line in said.splitlines() if line.endswith("  0")]


def test_a_run_in_which_nothing_went_wrong_says_so_in_a_line(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record(["a"])) as writer:
        grown = tree("a", [node(0, None, "72", samples=[sample(50.0)], visits=1, value=50.0)], 0)
        none = dict.fromkeys(result("a", grown)["counts"], 0)
        writer.commit(grown, result("a", grown, counts=none))
    said = command("report", str(tmp_path / "run")).out
    assert "\nnothing failed, was cut off, lost or repeated\n" in said
    assert "what else happened" not in said


def test_the_share_that_the_prefix_cache_held_has_a_line_and_is_in_json(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record(["a", "b"])) as writer:
        for id, cached in (("a", None), ("b", 60)):
            parts = {"completion_tokens": 9, "cached_tokens": cached, "prompt_tokens": 100}
            roles = {"policy": parts, "judge": {**parts, "cached_tokens": None, "prompt_tokens": 50}}
            usage = {**parts, "prompt_tokens": 150, "calls": 3, "seconds": 1.0, "roles": roles}
            grown = tree(id, clips_nodes(), 7)
            writer.commit(grown, result(id, grown, usage=usage))
    said = command("report", str(tmp_path / "run")).out
    assert "\nprefix cache 30 % of prompt tokens where told (policy 30 %, judge not told)\n" in said
    cache = json.loads(command("report", str(tmp_path / "run"), "--json").out)["prefix_cache"]
    assert cache["told"] == cache["roles"]["policy"]
    assert cache["told"] == {"prompt_tokens": 200, "cached_tokens": 60, "rate": 0.3}
    assert cache["roles"]["judge"]["rate"] is None


def test_searches_are_counted_by_why_they_stopped(folder: str) -> None:
    said = command("report", folder).out
    assert "why the searches stopped  problems\nall rollouts done                2\n" in said


def test_a_run_without_a_finished_problem_has_no_numbers_yet(tmp_path: Path) -> None:
    RunWriter.create(tmp_path / "run", run_record()).close()
    assert command("report", str(tmp_path / "run")).out == (
        f"{tmp_path / 'run'}  interrupted\n"
        "mctsr on tiny-model, no problem is finished yet (0 of 4)\n"
        f"Interrupted; go on with: mctsr resume {tmp_path / 'run'}\n"
    )


def test_an_interval_of_nothing_is_a_dash(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record(["a", "b"], gold_ids=["b"])) as writer:
        writer.commit(None, result("a", None))
    rows = [line.split() for line in command("report", str(tmp_path / "run")).out.splitlines()]
    assert ["selected", "0", "0", "-", "-"] in rows


def test_a_model_file_goes_by_its_base_name_and_json_has_it_in_full(tmp_path: Path) -> None:
    server = {**run_record()["servers"][0], "model": "/models/deep/down/tiny.gguf"}
    make_trees(tmp_path / "run", [], servers=[server])
    for name in (("report", str(tmp_path / "run")), ("runs", "--dir", str(tmp_path))):
        said = command(*name).out
        assert "tiny.gguf" in said
        assert "deep" not in said
        assert "/models/deep/down/tiny.gguf" in command(*name, "--json").out


def test_json_keeps_the_counters_at_zero(folder: str) -> None:
    counts = json.loads(command("report", folder, "--json").out)["counts"]
    assert not [name for name in counts if " " in name]
    assert [counts[name] for name in ("no_answer", "empty", "replayed", "stale")] == [0, 0, 0, 0]


def test_a_problem_that_waits_for_its_grade_is_told_with_the_command(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record(["a", "b"], gold_ids=["a"])) as writer:
        for id in ("a", "b"):
            grown = tree(id, clips_nodes(), 7)
            writer.commit(grown, result(id, grown))
    said = command("report", str(tmp_path / "run")).out
    assert f"1 problem is not graded yet: mctsr grade {tmp_path / 'run'}\n" in said


def test_costs_failures_limits_and_server_changes_are_shown(folder: str) -> None:
    said = command("report", folder).out
    assert "prompt tokens      9,000      3,000           9,000\n" in said
    assert "limits passed: tokens: in 2 problems, by at most 40\n" in said
    assert "changed for the server: dropped response_format\n" in said
    assert "failed problems\n  clips-2  no first answer: server error: HTTP 500\n" in said


def test_a_run_without_gold_answers_is_ungraded(tmp_path: Path) -> None:
    said = command("report", str(make_run(tmp_path / "run", record=run_record(gold_sha256=None))))
    assert said.code == 0
    assert "ungraded: the data has no gold answers\n" in said.out
    assert "95 %" not in said.out


def test_a_run_in_which_all_failed_names_the_reasons_and_the_way_on(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record(IDS[:1])) as writer:
        writer.commit(None, result(IDS[0], None))
    said = command("report", str(tmp_path / "run")).out
    assert said.startswith(f"{tmp_path / 'run'}  failed\n")
    assert f"Try the failed ones again: mctsr resume {tmp_path / 'run'}\n" in said


def test_texts_from_a_server_are_shown_harmlessly(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record(["a"])) as writer:
        writer.commit(None, result("a", None, stopped="[bold]\x1b[2J boom", wire=["\x07"]))
    said = command("report", str(tmp_path / "run")).out
    assert "a  [bold]␛[2J boom" in said
    assert not {"\x1b", "\x07"} & set(said)


def test_json_is_the_report(folder: str) -> None:
    said = command("report", folder, "--json")
    assert said.out.count("\n") == 1
    assert json.loads(said.out) == json.loads(json.dumps(report(Run.open(Path(folder))).as_dict()))


def test_a_thousand_results_are_reported_without_their_trees(tmp_path: Path) -> None:
    grown = [tree(f"p{i}", [], None) for i in range(1000)]
    with mock.patch("os.fsync"):
        folder = make_trees(tmp_path / "run", grown)
    (folder / "trees.jsonl").unlink()
    assert "1,000 of 1,000 problems done" in command("report", str(folder)).out
