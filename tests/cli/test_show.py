"""`mctsr show`: lists, trees, nodes; model texts cannot steer the terminal, and pipes get everything."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.sample_run import IDS, NASTY, command, make_run, make_trees, node, run_record, sample, tree

MCTSR = [str(Path(sys.executable).parent / "mctsr")]

DRAWN = """\
       node     Q  N  rewards   answer  verdict
├─●       0  24.8  2  60 -10.5  70      wrong
│ ├─○     2     -  0  -         70      wrong       twin of 0
│ │    unscored: no score in the reply: 3 tries (x2)
│ ●       3    50  1  50        72      right
│ ├─○     5    10  1  10        x = 72  ungradable
│ ●       6    55  1  55        72      right
│ │    ended: context overflow: 900 > 512
│ ●       7    90  1  90        72      right       selected
╰─○       1   -90  1  -90       -       no answer   planted
  ○       4     -  0  -         -       no answer   truncated
       unscored: truncated score: 3 tries
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(make_run(tmp_path / "run"))


def on_terminal(*arguments: str, columns: int = 80, **variables: str) -> str:
    """Run the command on a terminal and return what it wrote there."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": str(columns), **variables}
    ours, theirs = pty.openpty()
    with subprocess.Popen([*MCTSR, *arguments], stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        written = b""
        while chunk := _read(ours):
            written += chunk
    os.close(ours)
    assert process.returncode == 0, written
    return written.decode().replace("\r\n", "\n")


def _read(file: int) -> bytes:
    try:
        return os.read(file, 1 << 16)
    except OSError:  # Linux says so when the other end is closed.
        return b""


def test_the_list_tells_verdict_answers_and_why_each_search_stopped(folder: str) -> None:
    said = command("show", folder)
    rows = [line.split() for line in said.out.splitlines()]
    assert said.code == 0
    assert rows[0] == ["#", "id", "verdict", "selected", "first", "gold", "nodes", "stopped"]
    assert rows[1] == ["1", "clips-1", "right", "72", "70", "72", "8", "rollouts"]
    assert rows[2][:4] == ["2", "clips-2", "failed", "-"]
    assert rows[3][2] == "ungradable"
    assert f"1 not finished; go on with: mctsr resume {folder}" in said.out


def test_the_tree_reads_from_top_to_bottom(folder: str) -> None:
    said = command("show", folder, "clips-1")
    assert said.code == 0
    assert DRAWN in said.out
    assert "selected 72 right by best value · first 70 wrong · gold 72" in said.out
    assert "stopped: rollouts · 8 nodes, 6 rollouts · 24 calls, 8,800 tokens, 32.0 s" in said.out
    assert "no draft from ask 4: server error: HTTP 500" in said.out
    assert said.out.splitlines()[-1].startswith("● path to the selected answer")


def test_an_ungraded_tree_says_so(tmp_path: Path) -> None:
    said = command("show", str(make_run(tmp_path / "run", record=run_record(gold_sha256=None))), "clips-1")
    assert "selected 72 ungraded by best value · first 70 ungraded\n" in said.out
    assert "right" not in said.out


@pytest.mark.parametrize("name", ["#1", "clips-1", "1"])
def test_a_problem_has_several_names(folder: str, name: str) -> None:
    assert command("show", folder, name).out.startswith("clips-1  #1")


def test_a_node_is_shown_in_full(folder: str) -> None:
    said = command("show", folder, "clips-1", "--node", "3").out
    assert said.startswith(
        "clips-1 node 3\nbelow node 0 · depth 1 · born of ask 3 · children 5, 6\nchosen by ask 5, 6\n"
    )
    assert "critique\n  Node 0 forgets a step.\n" in said
    assert "answer in full\n  Thinking as node 3. The answer is 72.\n" in said
    assert "reward 1, ask 3: 50 (said 100)\n  Score: 100\n" in said


def test_a_node_shows_its_reasons_and_its_end(folder: str) -> None:
    said = command("show", folder, "clips-1", "--node", "6").out
    assert "ended by ask 6: context overflow: 900 > 512" in said
    assert "never chosen" not in said
    reasons = command("show", folder, "clips-1", "--node", "2").out
    assert reasons.count("unscored, ask 2\n  no score in the reply: 3 tries\n") == 2


def test_a_tree_in_which_nothing_was_selected_and_nothing_answered_shows_dashes(tmp_path: Path) -> None:
    path = str(make_trees(tmp_path / "run", [tree("a", [node(0, unscored=["no score"])], None)]))
    row = command("show", path).out.splitlines()[1].split()
    assert row == ["1", "a", "ungraded", "-", "-", "-", "1", "rollouts"]
    said = command("show", path, "a").out
    assert "selected - ungraded by best value · first - ungraded\n" in said
    assert ["╰─○", "0", "-", "0", "-", "-", "ungraded"] in [line.split() for line in said.splitlines()]
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


def test_on_a_terminal_only_our_own_colours_arrive(folder: str) -> None:
    said = on_terminal("show", folder, "#3", columns=200)
    assert "\x1b[1m" in said
    assert "\x1b[31m" not in said
    assert "[red]not red[/] ␛[31mnot red␛[0m" in said
    assert "\x07" not in said


@pytest.mark.parametrize("columns", [60, 100])
def test_on_a_terminal_no_line_is_longer_than_it(folder: str, columns: int) -> None:
    plain = on_terminal("show", folder, columns=columns, NO_COLOR="1", TERM="dumb")
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= columns
    assert "clips-1" in plain
    assert "…" in plain


def test_a_pipe_gets_no_colours_and_no_ellipsis(folder: str) -> None:
    long = "1" * 500
    made = tree("long", [node(0, None, long, samples=[sample(1.0)], value=1.0, visits=1)], 0)
    path = make_trees(Path(folder).parent / "long", [made])
    for arguments in (("show", str(path)), ("show", str(path), "long")):
        said = command(*arguments).out
        assert long in said
        assert "…" not in said
        assert "\x1b" not in said


def test_an_encoding_without_lines_gets_plain_ones(folder: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*MCTSR, "show", folder, "1"], capture_output=True, env=environment, check=True, timeout=60
    )
    assert b"\n|-*       0  24.8" in done.stdout
    assert b"\n`-o       1" in done.stdout
    line = [*MCTSR, "show", folder, "3", "--json"]
    done = subprocess.run(line, capture_output=True, env=environment, check=True, timeout=60)
    assert json.loads(done.stdout)["tree"]["nodes"][0]["answer"] == NASTY


def test_a_closed_pipe_is_no_error_to_see(tmp_path: Path) -> None:
    deep = [
        node(i, i - 1 if i else None, str(i), samples=[sample(1.0)], value=1.0, depth=i) for i in range(3000)
    ]
    path = make_trees(tmp_path / "run", [tree("deep", deep, 2999)])
    for more in ("deep", "deep --json"):
        line = f"{MCTSR[0]} show {path} {more} | head -1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, timeout=60)
        assert done.stderr == ""
        assert done.stdout.splitlines()[1] in ("0", "141")


def test_a_deep_tree_is_drawn_in_a_narrow_picture(tmp_path: Path) -> None:
    deep = [
        node(i, i - 1 if i else None, str(i), samples=[sample(1.0)], value=1.0, depth=i) for i in range(1000)
    ]
    path = make_trees(tmp_path / "run", [tree("deep", deep, 999)])
    said = command("show", str(path), "deep").out.splitlines()
    assert len(said) > 1000
    assert max(map(len, said[3:-1])) < 120


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
