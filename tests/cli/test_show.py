"""`mctsr show`: lists, trees, nodes; model texts cannot steer the terminal, and pipes get everything."""

import json
from pathlib import Path

import pytest

from mctsr.runs.writer import RunWriter
from tests.support.sample_run import (
    IDS,
    NASTY,
    command,
    make_run,
    make_trees,
    node,
    result,
    run_record,
    sample,
    tree,
)
from tests.support.step_run import make_step_run

DRAWN = """\
node       from     Q  N  answer  verdict                     rewards
● 0           -  24.8  2  70      wrong                       60 -10.5
├─○ 2         0     -  0  70      wrong       same text as 0  -
│   unscored: no score in the reply: 3 tries (x2)
╰─● 3         0    50  1  72      right                       50
  ├─○ 5       3    10  1  x = 72  ungradable                  10
  ╰─● 6       3    55  1  72      right                       55
    │ ended: context overflow: 900 > 512
    ╰─● 7     6    90  1  72      right       selected        90
○ 1           -   -90  1  -       no answer   planted         -90
╰─○ 4         1     -  0  -       no answer   truncated       -
    unscored: truncated score: 3 tries
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(make_run(tmp_path / "run"))


def test_the_list_tells_verdict_answers_and_why_each_search_stopped(folder: str) -> None:
    said = command("show", folder)
    rows = [line.split() for line in said.out.splitlines()]
    assert said.code == 0
    assert rows[0] == ["#", "id", "verdict", "selected", "first", "gold", "nodes", "stopped"]
    assert rows[1] == ["1", "clips-1", "right", "72", "70", "72", "8", "all", "rollouts", "done"]
    assert rows[2][:4] == ["2", "clips-2", "failed", "-"]
    assert rows[3][2] == "ungradable"
    assert f"1 problem not finished; go on with: mctsr resume {folder}\n" in said.out


def test_the_tree_reads_from_top_to_bottom(folder: str) -> None:
    said = command("show", folder, "clips-1")
    assert said.code == 0
    assert DRAWN in said.out
    assert "selected 72 right (node 7, best value) · first 70 wrong · gold 72" in said.out
    assert "stopped: all rollouts done · 8 nodes, 6 rollouts · 24 calls, 8,800 tokens, 32.0 s" in said.out
    assert "no draft from ask 4: server error: HTTP 500" in said.out
    assert said.out.splitlines()[-1].startswith("● path to the selected answer")


def test_an_ungraded_tree_says_so(tmp_path: Path) -> None:
    said = command("show", str(make_run(tmp_path / "run", record=run_record(gold_sha256=None))), "clips-1")
    assert "selected 72 ungraded (node 7, best value) · first 70 ungraded\n" in said.out
    assert "right" not in said.out


def test_a_search_over_steps_shows_the_whole_solution_and_one_step_a_node(tmp_path: Path) -> None:
    said = command("show", str(make_step_run(tmp_path / "run")), "sum").out
    begin = said.index("selected solution, the steps down to node 3\n  Multiply first: 3*4 = 12.\n")
    assert begin < said.index("  print(2 + 12)\n") < said.index("\nnode ")
    (row,) = (line for line in said.splitlines() if "Step 2: 2+12 = 15." in line)
    assert "0.25" in row
    assert "answer is 15." in row
    (row,) = (line for line in said.splitlines() if "Add first." in line)
    assert "ungraded" not in row


def test_a_step_is_shown_in_its_solution(tmp_path: Path) -> None:
    run = str(make_step_run(tmp_path / "run"))
    said = command("show", run, "sum", "--node", "4").out
    assert "\nstep\n  Step 2: 2+12 = 15.\n" in said
    assert "\nsolution in full\n  Multiply first: 3*4 = 12.\n" in said
    assert "Q 0.25 · N 1 · answer 15 ungraded\n" in said
    begin = command("show", run, "sum", "--node", "0").out
    assert begin.startswith("sum node 0\nthe beginning, before any step · depth 0")
    assert "answer" not in begin
    assert "solution" not in begin


@pytest.mark.parametrize("name", ["#1", "clips-1", "1"])
def test_a_problem_has_several_names(folder: str, name: str) -> None:
    assert command("show", folder, name).out.startswith("clips-1  #1")


def test_a_node_is_shown_in_full(folder: str) -> None:
    said = command("show", folder, "clips-1", "--node", "3").out
    assert said.startswith(
        "clips-1 node 3\nbelow node 0 · depth 1 · made in ask 3 · children: nodes 5, 6\nchosen in asks 5, 6\n"
    )
    assert "critique\n  Node 0 forgets a step.\n" in said
    assert "answer in full\n  Thinking as node 3. The answer is 72.\n" in said
    assert "reward 1, ask 3: 50 (full marks are reduced: said 100, counts 50)\n  Score: 100\n" in said


def test_a_node_shows_its_reasons_and_its_end(folder: str) -> None:
    said = command("show", folder, "clips-1", "--node", "6").out
    assert "ended in ask 6: context overflow: 900 > 512" in said
    assert "never chosen" not in said
    reasons = command("show", folder, "clips-1", "--node", "2").out
    assert reasons.count("unscored, ask 2\n  no score in the reply: 3 tries\n") == 2


def test_a_tree_in_which_nothing_was_selected_and_nothing_answered_shows_dashes(tmp_path: Path) -> None:
    path = str(make_trees(tmp_path / "run", [tree("a", [node(0, unscored=["no score"])], None)]))
    row = command("show", path).out.splitlines()[1].split()
    assert row == ["1", "a", "ungraded", "-", "-", "-", "1", "all", "rollouts", "done"]
    said = command("show", path, "a").out
    assert "selected - ungraded (best value) · first - ungraded\n" in said
    assert ["○", "0", "-", "-", "0", "-", "ungraded", "-"] in [line.split() for line in said.splitlines()]
    assert "Q - · N 0 · answer - ungraded\n" in command("show", path, "a", "--node", "0").out
    shown = json.loads(command("show", path, "a", "--json").out)
    assert (shown["tree"]["selected"], shown["result"]["answers"]["selected"]) == (None, None)


def test_json_holds_everything_unchanged(folder: str) -> None:
    listed = json.loads(command("show", folder, "--json").out)
    assert [entry["id"] for entry in listed] == list(IDS[:3])
    assert listed[0]["verdicts"] == {"first": "wrong", "selected": "right", "majority": "wrong"}
    shown = json.loads(command("show", folder, "#3", "--json").out)
    assert shown["tree"]["nodes"][0]["answer"] == NASTY
    assert shown["verdicts"] == ["ungradable"]
    found = json.loads(command("show", folder, "#3", "--node", "0", "--json").out)
    assert found["node"]["samples"][0]["text"] == NASTY
    assert found["chosen_by"] == []


@pytest.mark.parametrize("arguments", [("#3",), ("#3", "--node", "0"), ()])
def test_texts_of_a_model_are_shown_and_never_obeyed(folder: str, arguments: tuple[str, ...]) -> None:
    said = command("show", folder, *arguments).out
    assert "[red]not red[/] ␛[31mnot red␛[0m ␇\\u202e ☃ 🧮" in said
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(said)


def test_a_run_without_a_finished_problem_says_so_and_how_to_go_on(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run", run_record()):
        said = command("show", str(tmp_path / "run")).out
        assert said == "no problem is finished yet (0 of 4); the run is going on\n"
    (tmp_path / "run" / "live").mkdir(exist_ok=True)
    (tmp_path / "run" / "live" / "clips-1.jsonl").touch()
    said = command("show", str(tmp_path / "run")).out
    assert said == (
        "no problem is finished yet (0 of 4, 1 begun, whose replies so far are kept); "
        f"go on with: mctsr resume {tmp_path / 'run'}\n"
    )
    assert json.loads(command("show", str(tmp_path / "run"), "--json").out) == []


def test_one_of_a_kind_is_written_in_the_singular(tmp_path: Path) -> None:
    nodes = [node(0, answer="1", samples=[sample(1.0)], value=1.0), node(1, 0), node(2, 0)]
    grown = tree("a", nodes, 0)
    with RunWriter.create(tmp_path / "run", run_record(["a"])) as writer:
        made = result("a", grown)
        counts, usage = {**made["counts"], "nodes": 1}, {**made["usage"], "calls": 1}
        writer.commit(grown, result("a", grown, counts=counts, usage=usage))
    said = command("show", str(tmp_path / "run"), "a").out
    assert "· 1 node, 1 rollout · 1 call, 3,300 tokens," in said


def test_the_help_tells_both_forms_of_a_number() -> None:
    said = " ".join(command("show", "--help").out.replace("│", " ").split())
    assert "3 or '#3' for the third" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("clips-2",), "no first answer: server error: HTTP 500"),
        (("late-4",), "the problem is not finished"),
        (("clips",), "fits 2 problems"),
        (("#9",), "'#1' to '#4'"),
        (("clips-1", "--node", "8"), "give 0 to 7"),
        (("--node", "1"), "give its ID"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(folder: str, arguments: tuple[str, ...], words: str) -> None:
    said = command("show", folder, *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert words in said.err


def test_a_run_has_several_names(tmp_path: Path) -> None:
    make_run(tmp_path / "2026-01-02T03-04-05-sample")
    for name in (
        "latest",
        "2026",
        "2026-01-02T03-04-05-sample",
        str(tmp_path / "2026-01-02T03-04-05-sample"),
    ):
        assert command("show", name, "--dir", str(tmp_path)).code == 0
    said = command("show", "nothing", "--dir", str(tmp_path))
    assert said.code == 2
    assert "2026-01-02T03-04-05-sample" in said.err
