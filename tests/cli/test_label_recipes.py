"""Recipes that label, from the command line: solved, exported, checked."""

import json
import re
from pathlib import Path

import pytest

from tests.support import fake_ways
from tests.support.fake_ways import Model

from .conftest import Command, Serve

SOLUTION = "2 + 2 = 4.\n\nNothing is left.\n\nThe final answer is \\boxed{4}"


@pytest.mark.parametrize(
    ("name", "arguments", "calls", "paths"),
    [
        ("omega-prm", ["completions=3"], 3, 1),
        ("math-shepherd", ["n=2", "completions=2"], 2 * 3 + 2 * 2 * 2, 1),
    ],
)
@pytest.mark.parametrize("gold", ["true", "false"])
def test_a_run_of_labels_is_solved_exported_and_checked(
    mctsr: Command, serve: Serve, name: str, arguments: list[str], calls: int, paths: int, gold: str
) -> None:
    Path("sums.jsonl").write_text('{"id": "a", "question": "2+2?", "answer": "4"}\n', encoding="utf-8")
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    given = [part for argument in [*arguments, f"uses_gold={gold}"] for part in ("-s", argument)]
    ended = mctsr("solve", "sums.jsonl", "--base-url", server.url, "--recipe", name, *given, "-o", "here")
    assert ended.code == 0, ended.err
    result = json.loads(Path("here/results.jsonl").read_text(encoding="utf-8"))
    # Without known answers the problem itself is completed, too.
    own = 2 if (name, gold) == ("math-shepherd", "false") else 0
    assert result["usage"]["calls"] == calls + own
    assert result["answers"]["selected"] == "4"
    exported = mctsr("export", "here", "-f", "math-shepherd")
    assert exported.code == 0, exported.err
    assert exported.err.startswith(f"{paths} path")
    assert mctsr("export", "--check", exported.out.strip()).code == 0
    assert mctsr("export", "here", "-f", "math-shepherd").code == 2, "it is there already"
    assert ("test result" in mctsr("report", "here").out) == (gold == "true")


@pytest.mark.parametrize(
    ("name", "paper"), [("omega-prm", "arXiv:2406.06592"), ("math-shepherd", "arXiv:2312.08935")]
)
def test_a_recipe_names_its_paper_and_what_differs(mctsr: Command, name: str, paper: str) -> None:
    ended = mctsr("recipes", name)
    assert ended.code == 0
    assert paper in ended.out
    assert "Calls:" in ended.out
    assert "Not kept:" in ended.out


def test_labels_by_known_answers_need_known_answers(mctsr: Command, serve: Serve) -> None:
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", "omega-prm", "-s", "uses_gold=true")
    )
    assert ended.code == 2
    assert ended.err.count("\n") <= 2
    assert not server.posts


def test_scores_of_a_search_that_was_told_the_answers_are_marked_as_no_test(
    mctsr: Command, serve: Serve, data: Path
) -> None:
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    base = ("--base-url", server.url, "--recipe", "omega-prm", "-s", "completions=2")
    solved = mctsr("solve", data, *base, "-s", "uses_gold=true", "-o", "told")
    for ended in (solved, mctsr("report", "told")):
        assert ended.code == 0, ended.err
        scores = ended.out[ended.out.index("\nanswer ") : ended.out.index("\ncost ")]
        assert [line.split("  ")[0] for line in scores.split("\n")[2:4]] == [
            "first",
            "selected (no test result)",
        ]
        assert "selected and majority: no test result: the search was told which answers are right" in scores
    found = json.loads(mctsr("report", "told", "--json").out)["scores"]
    assert [score["note"].startswith("no test result") for score in found] == [False, True, True, False]
    assert mctsr("solve", data, *base, "-o", "plain").code == 0
    compared = mctsr("compare", "plain", "told").out
    assert "B: no test result: the search was told" in compared
    assert "* no test result: the search was told" in compared
    rows = [line for line in compared.splitlines() if line.startswith(("selected ", "first ", "B - A"))]
    assert [row.count("*") for row in rows[:6]] == [0, 1, 0, 1, 1, 0]
    assert "*" not in mctsr("compare", "plain", "plain").out
    assert re.search(r"^told .* labels ", mctsr("runs", "--dir", ".").out, re.MULTILINE)
