"""Sweeps, sub-questions and salvage from the command line, on one chat server."""

import json
from pathlib import Path

import pytest

from tests.support import fake_ways
from tests.support.fake_ways import Model

from .conftest import Command, Serve

SOLUTION = "2 + 2 = 4.\n\nNothing is left.\n\nThe final answer is \\boxed{4}"


@pytest.mark.parametrize(
    ("name", "arguments", "calls"),
    [
        ("particle-gibbs", ["n=2", "sweeps=2"], 2 * (2 * 3 + 3)),
        # Two equal beams, every step below the threshold: one of them is written again from its beginning.
        ("scope", ["base=beam n=2 m=1", "threshold=0.8", "least=0"], 2 * (2 * 3 + 3)),
    ],
)
def test_a_search_goes_over_its_tree_again(
    mctsr: Command, serve: Serve, name: str, arguments: list[str], calls: int
) -> None:
    server = serve('{"score": 7}', extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    given = [word for argument in arguments for word in ("-s", argument)]
    ended = mctsr("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", name, *given, "-o", "here")
    assert ended.code == 0, ended.err
    assert ended.out.strip() == SOLUTION
    result = json.loads(Path("here", "results.jsonl").read_text(encoding="utf-8"))
    assert result["usage"]["calls"] == calls
    assert mctsr("show", "here").code == 0
    assert mctsr("resume", "here").code == 0
    exported = mctsr("export", "here", "-f", "stepwise", "--labels", "soft", "-o", "-")
    assert exported.code == 0, exported.err
    assert json.loads(exported.out.splitlines()[0])["completions"] == SOLUTION.split("\n\n")


def test_sub_questions_need_no_more_than_a_chat(mctsr: Command, serve: Serve) -> None:
    # To everything the server says one text: a question, answers that agree, and a score.
    server = serve('{"score": 7}')
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", "rap", "-o", "here"),
        *("-s", "children=2", "-s", "max_steps=3"),
    )
    assert ended.code == 0, ended.err
    assert ended.out.count('{"score": 7}') == 2 * 2 + 1
    result = json.loads(Path("here", "results.jsonl").read_text(encoding="utf-8"))
    assert result["usage"]["calls"] == 2 * (2 + 2 + 1) + (2 + 1)
    assert result["answers"]["selected"] == "7"
    shown = mctsr("show", "here", "1", "--node", "3")
    assert shown.code == 0, shown.err
    assert "What is the answer to the whole problem?" in shown.out
    assert "confidence" in shown.out
