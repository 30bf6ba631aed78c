"""`mctsr compare`: what is said of runs side by side, for people and as JSON."""

import json
from pathlib import Path

import pytest

from mctsr.report.compare import compare
from mctsr.runs.folder import Run
from tests.support.pair_of_runs import make_side
from tests.support.sample_run import NASTY, command

A = {"a": "right", "b": "wrong", "c": "right", "d": "never", "e": "right"}
B = {"a": "right", "b": "at once", "c": "lost", "d": "at once", "e": "wrong"}


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    return str(make_side(tmp_path / "one", A)), str(make_side(tmp_path / "two", B, recipe="best-of-n"))


def test_everything_is_said_in_tables(runs: tuple[str, str]) -> None:
    said = command("compare", *runs)
    assert (said.code, said.err) == (0, "")
    rows = [line.split() for line in said.out.splitlines()]
    assert f"A  {runs[0]}  mctsr(rollouts=6) on tiny-model, 5 of 5 problems done\n" in said.out
    assert "5 problems in all runs, 5 of them done in all, 5 graded\n" in said.out
    score = ["3", "=", "60.0", "%", "(23.1", "–", "88.2)"]
    assert ["selected", *score, *score] in rows
    assert "oracle: any node correct; not a score of the recipe\n" in said.out
    assert ["B", "-", "A", "first", "+60.0", "+20.0", "to", "+100.0", "0.250", "3", "0"] in rows
    assert "selected right in B, not in A: b, d\nselected right in A, not in B: c, e\n" in said.out
    assert ["calls", "6", "6", "1.00"] in rows
    assert ["tokens", "2,200", "2,200", "1.00"] in rows
    assert ["100", "0.0", "%", "(0.0", "–", "43.4)", "60.0", "%", "(23.1", "–", "88.2)"] in rows
    assert "B: replayed as best value; the end is the recorded answer in all of 5 problems\n" in said.out


def test_failed_problems_are_shown_beside_the_scores_and_left_out_of_pairs(tmp_path: Path) -> None:
    paths = [str(make_side(tmp_path / "one", A)), str(make_side(tmp_path / "two", {**B, "a": "failed"}))]
    said = command("compare", *paths)
    rows = [line.split() for line in said.out.splitlines()]
    assert ["failed", "0", "1"] in rows
    assert "B - A: 1 problem left out, failed in either run; 4 pairs compared\n" in said.out
    assert ["B", "-", "A", "selected", "0.0", "too", "few", "pairs", "-", "2", "2"] in rows


def test_json_has_everything_in_full(runs: tuple[str, str]) -> None:
    said = command("compare", *runs, "--json")
    wanted = compare([Run.open(Path(path)) for path in runs]).as_dict()
    assert json.loads(said.out) == json.loads(json.dumps(wanted))


def test_many_flips_are_cut_for_people_and_kept_in_json(tmp_path: Path) -> None:
    ids = [f"p{number:02}" for number in range(14)]
    make_side(tmp_path / "one", dict.fromkeys(ids, "never"))
    make_side(tmp_path / "two", dict.fromkeys(ids, "right"))
    paths = str(tmp_path / "one"), str(tmp_path / "two")
    assert (
        "not in A: p00, p01, p02, p03, p04, p05, p06, p07, p08, p09 and 4 more\n"
        in command("compare", *paths).out
    )
    assert json.loads(command("compare", *paths, "--json").out)["paired"][0][1]["gained"] == ids


def test_names_below_the_folder_of_runs_are_found(runs: tuple[str, str], tmp_path: Path) -> None:
    assert command("compare", "one", "tw", "--dir", str(tmp_path)).code == 0


def test_an_interrupted_run_is_compared_with_a_note(tmp_path: Path, runs: tuple[str, str]) -> None:
    late = make_side(tmp_path / "late", {**B, "e": "late"})
    said = command("compare", runs[0], str(late))
    assert said.code == 0
    assert "5 problems in all runs, 4 of them done in all, 4 graded\n" in said.out
    assert "B is interrupted: 1 of its problems have no result yet\n" in said.out


def test_without_grades_there_are_costs_alone(tmp_path: Path) -> None:
    paths = [str(make_side(tmp_path / name, A, gold_sha256=None)) for name in ("one", "two")]
    said = command("compare", *paths)
    assert said.code == 0
    assert "no scores: no problem is done and graded in all runs\n" in said.out
    assert "cost a problem" in said.out
    assert "%" not in said.out


@pytest.mark.parametrize(
    "arguments", [(), ("{one}",), ("{one}", "nowhere"), ("{one}", "{damaged}"), ("{one}", "{other}")]
)
def test_what_cannot_be_compared_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], runs: tuple[str, str], tmp_path: Path
) -> None:
    damaged = make_side(tmp_path / "damaged", A)
    (damaged / "run.json").write_text("{", encoding="utf-8")
    other = make_side(tmp_path / "other", {"z": "right"})
    places = {"one": runs[0], "damaged": str(damaged), "other": str(other)}
    said = command("compare", *(argument.format(**places) for argument in arguments))
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith("error: ")


def test_ids_that_try_to_steer_a_terminal_are_shown_harmlessly(tmp_path: Path) -> None:
    paths = [str(make_side(tmp_path / way, {NASTY: way})) for way in ("never", "right")]
    said = command("compare", *paths)
    assert "not in A: [red]not red[/]" in said.out
    assert not {"\x1b", "\x07"} & set(said.out)
