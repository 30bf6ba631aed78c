"""`mctsr export`: data on stdout, talk on stderr."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import fake_ways
from tests.support.sample_run import command, make_run, make_trees, node, tree
from tests.support.step_run import make_step_run, root, step, step_tree

from .conftest import Command, Serve

MCTSR = str(Path(sys.executable).parent / "mctsr")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run")


@pytest.mark.parametrize(("form", "rows"), [("tree", "2 trees"), ("nodes", "9 nodes")])
def test_the_path_of_the_file_is_what_is_printed(folder: Path, form: str, rows: str) -> None:
    said = command("export", str(folder), "--format", form)
    assert said == (0, f"{folder}/export/{form}.jsonl\n", f"{rows}\n")
    assert (folder / "export" / f"{form}.jsonl").is_file()


def test_stdout_gets_the_rows_and_nothing_else(folder: Path) -> None:
    said = command("export", str(folder), "--format", "nodes", "-o", "-")
    assert [json.loads(line)["node_id"] for line in said.out.splitlines()] == [*range(8), 0]
    assert said.err == "9 nodes\n"
    assert not (folder / "export").exists()


def test_a_file_of_ones_own_gets_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    said = command("export", str(folder), "--format", "tree", "-o", str(tmp_path / "mine.jsonl"), "--json")
    assert json.loads(said.out) == {"path": str(tmp_path / "mine.jsonl"), "format": "tree", "rows": 2}
    text = command("export", str(folder), "--format", "tree", "-o", "-").out
    assert (tmp_path / "mine.jsonl").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("arguments", [("--format", "csv"), (), ("--format", "nodes", "-o", "/dev/null/x")])
def test_a_mistake_is_one_line_and_exit_code_2(folder: Path, arguments: tuple[str, ...]) -> None:
    said = command("export", str(folder), *arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)


def test_a_missing_format_is_asked_for_with_what_is_allowed(folder: Path) -> None:
    said = command("export", str(folder))
    assert said.err == (
        "error: give a run and --format tree or nodes or stepwise or math-shepherd, or --check FILE; "
        "see mctsr export --help\n"
    )
    assert command("export", "--format", "tree").err == said.err


def test_one_row_is_one_tree(tmp_path: Path) -> None:
    folder = make_trees(tmp_path / "run", [tree("a", [node(0, answer="1")], 0)])
    assert command("export", str(folder), "--format", "tree", "-o", "-").err == "1 tree\n"


def test_a_closed_pipe_is_no_error_to_see(folder: Path) -> None:
    line = f"{MCTSR} export {folder} --format nodes -o - | head -c 9; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout[:9] == '{"problem'
    assert done.stdout[9:].strip() in ("0", "141")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("form", ["stepwise", "math-shepherd"])
def test_steps_are_written_with_their_card_and_the_balance_of_labels(form: str, tmp_path: Path) -> None:
    folder = make_step_run(tmp_path / "run")
    said = command("export", str(folder), "--format", form)
    assert said.out == f"{folder}/export/{form}.jsonl\n"
    card = folder / "export" / f"{form}.card.md"
    assert said.err == f"3 paths, 6 steps, 66.7 % of them above the threshold; card: {card}\n"
    assert card.is_file()
    told = json.loads(command("export", str(folder), "--format", form, "--json", "--overwrite").out)
    assert told == {"path": said.out.strip(), "format": form, "rows": 3, "card": str(card)}


def test_problems_without_a_good_path_are_told(tmp_path: Path) -> None:
    folder = make_step_run(tmp_path / "run")
    said = command("export", str(folder), "-f", "stepwise", "--threshold", "0.8", "-o", "-")
    assert said.err == (
        "3 paths, 6 steps, 50.0 % of them above the threshold; "
        "1 of 1 problem without a finished path of good steps\n"
    )


def test_how_steps_are_labelled_can_be_given(tmp_path: Path) -> None:
    folder = make_step_run(tmp_path / "run", scale=None)
    options = ("--labels", "soft", "--min-visits", "2", "--scale", "-1,1")
    rows = command("export", str(folder), "-f", "stepwise", "-o", "-", *options).out.splitlines()
    assert [json.loads(row)["labels"] for row in rows] == [[0.95, 0.875], [0.75]]


@pytest.mark.parametrize(
    "options",
    [
        ("stepwise", "--labels", "both"),
        ("stepwise", "--threshold", "2"),
        ("stepwise", "--min-visits", "-1"),
        ("stepwise", "--scale", "1"),
        ("nodes", "--labels", "hard"),
    ],
)
def test_unfit_labels_are_one_line_and_exit_code_2(options: tuple[str, ...], tmp_path: Path) -> None:
    folder = make_step_run(tmp_path / "run")
    said = command("export", str(folder), "--format", *options)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert options[1].removeprefix("--") in said.err


@pytest.mark.parametrize("form", ["stepwise", "math-shepherd"])
def test_a_run_of_whole_answers_has_no_steps_to_label(folder: Path, form: str) -> None:
    said = command("export", str(folder), "--format", form)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "hold whole answers, not steps" in said.err
    assert not (folder / "export").exists() or not list((folder / "export").iterdir())


@pytest.mark.parametrize("form", ["stepwise", "math-shepherd"])
def test_a_file_of_steps_is_checked_and_its_balance_told(form: str, tmp_path: Path) -> None:
    folder = make_step_run(tmp_path / "run")
    file = command("export", str(folder), "--format", form).out.strip()
    said = command("export", "--check", file)
    assert said == (0, f"{form} with hard labels: 3 rows, 6 steps\n66.7 % of the steps good\n", "")
    command("export", str(folder), "--format", form, "--labels", "soft", "--overwrite")
    said = command("export", "--check", file)
    assert said.out == (
        f"{form} with soft labels: 3 rows, 6 steps\nlabels from 0.25 to 1, 66.7 % above 0.5\n"
    )
    assert json.loads(command("export", "--check", file, "--json").out)["good"] == 4


def test_a_file_that_does_not_fit_is_one_line_and_exit_code_2(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"prompt": "p", "completions": ["a"], "labels": []}\n', encoding="utf-8")
    said = command("export", "--check", str(file))
    assert said == (2, "", f"error: {file}, line 1: 1 completions have 0 labels; each needs one\n")
    assert command("export", str(folder), "--check", str(file)).code == 2
    assert command("export", "--check", str(tmp_path / "none")).code == 2


@pytest.mark.parametrize("place", ["default", "rows", "card"])
def test_a_file_that_is_there_is_replaced_only_when_that_is_said(place: str, tmp_path: Path) -> None:
    folder, mine = make_step_run(tmp_path / "run"), tmp_path / "mine.jsonl"
    there = mine.with_name("mine.card.md") if place == "card" else mine
    arguments = ["export", str(folder), "-f", "stepwise", *([] if place == "default" else ["-o", str(mine)])]
    if place == "default":
        there = folder / "export" / "stepwise.jsonl"
        there.parent.mkdir()
    there.write_text("mine", encoding="utf-8")
    said = command(*arguments)
    assert said == (
        2,
        "",
        f"error: {there} is there already; replace it with --overwrite, or give another file with -o\n",
    )
    assert there.read_text(encoding="utf-8") == "mine"
    assert [path for path in there.parent.iterdir() if path.is_file()] == [there], (
        "nothing else is written either"
    )
    assert command(*arguments, "--overwrite").code == 0
    assert "mine" not in there.read_text(encoding="utf-8")


@pytest.mark.parametrize(("recipe", "form"), [("math-shepherd", "stepwise"), ("beam", "tree")])
def test_what_to_do_next_is_to_export_labels_where_a_recipe_makes_them(
    mctsr: Command, serve: Serve, recipe: str, form: str
) -> None:
    Path("sums.jsonl").write_text('{"id": "a", "question": "2+2?", "answer": "4"}\n', encoding="utf-8")
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(fake_ways.Model("So \\boxed{4}")))
    asked = ("--recipe", recipe, "-s", "n=1", *(("-s", "m=1") if recipe == "beam" else ()), "-o", "here")
    ended = mctsr("solve", "sums.jsonl", "--base-url", server.url, *asked)
    assert ended.err.splitlines()[-1] == f"next: mctsr show here · mctsr export here --format {form}"


def test_no_visit_at_all_can_be_asked_for(tmp_path: Path) -> None:
    nodes = [root(), step(1, 0, "a", 0.9, visits=0)]
    folder = str(make_step_run(tmp_path / "run", [step_tree("p", nodes)]))
    said = command("export", folder, "-f", "stepwise", "-o", "-")
    assert (said.code, "1 steps with a value that were never visited; give --min-visits 0" in said.err) == (
        2,
        True,
    )
    assert command("export", folder, "-f", "stepwise", "-o", "-", "--min-visits", "0").code == 0
