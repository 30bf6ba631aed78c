"""Reward models that are of the wrong kind, refuse, hang or talk nonsense: what a run says, marks and keeps.

A model that can never answer as it is asked ends the run in one line. What concerns one text marks its node, and the
search goes on. A problem in which nothing could be scored for a server's faults has failed, and resume tries it again.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support import fake_ways
from tests.support.fake_server import Answer, Body, FakeServer, hang
from tests.support.fake_ways import Model
from tests.support.reward_models import (
    CHATTY,
    GOOD,
    label_chat,
    label_text,
    per_step,
    refusing,
    scorer,
    steps_of,
)

from .conftest import Command, Ended, Serve

SOLUTION = "2 + 2 = 4.\n\nNothing is left.\n\nThe final answer is \\boxed{4}"
TOO_LONG = "This model's maximum context length is 20 tokens. However, you requested 30 tokens."


class Bench(NamedTuple):
    """A policy, a reward model, and what runs a search on both."""

    policy: FakeServer
    prm: FakeServer
    solve: Callable[..., Ended]


class Switch:
    """An endpoint that may be given another answer."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def __call__(self, body: Body) -> tuple[int, Any]:
        return self.answer(body)


@pytest.fixture
def bench(mctsr: Command, serve: Serve) -> Callable[..., Bench]:
    def make(more: dict[str, Answer] | None = None, *, text: str = SOLUTION, **how: Any) -> Bench:
        policy = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(text)))
        prm = serve(
            how.pop("reply", "hi"), models=("rm",), extra={"owned_by": "vllm"}, more=more or {}, **how
        )

        def solve(judge: str = "qwen-prm", *arguments: str) -> Ended:
            lines = [json.dumps({"id": id, "question": f"{id}: 2+2?", "answer": "4"}) for id in "ab"]
            Path("sums.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
            return mctsr(
                *("solve", "sums.jsonl", "--base-url", policy.url, "--prm-base-url", prm.url, "-o", "here"),
                *("--recipe", "beam", "-s", "n=2", "-s", "m=2", "-s", f"judge={judge}", *arguments),
            )

        return Bench(policy, prm, solve)

    return make


def lines(name: str) -> list[dict[str, Any]]:
    text = Path("here", name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def reasons() -> list[str]:
    """List why nodes have no score, each reason once."""
    nodes = [node for tree in lines("trees.jsonl") for node in tree["nodes"]]
    return sorted({reason for node in nodes for reason in node["unscored"]})


def errors(ended: Ended) -> list[str]:
    assert "Traceback" not in ended.err
    return [line for line in ended.err.splitlines() if line.startswith("error: ")]


# The wrong kind of model

RUNNER = "vllm serve MODEL --runner pooling"
PER_STEP = "serve a process reward model that gives one pair of probabilities a step"
LABELLING = "serve a process reward model that says '+' or '-' after a step"
WRONG: dict[str, tuple[str, dict[str, Any], int, tuple[str, ...]]] = {
    "a generation server": ("qwen-prm", {}, 1, ("answered 404", "/pooling needs a reward model", RUNNER)),
    "a server that says so": (
        "qwen-prm",
        {"more": refusing("The model does not support Pooling API")},
        1,
        ("does not support Pooling API", "/pooling needs", RUNNER),
    ),
    "an embedding model": (
        "qwen-prm",
        {"more": scorer(lambda body: [[0.5] * 100] * steps_of(body))},
        2,
        ("gave rows of 100 numbers, not 2", PER_STEP, "asked at /pooling"),
    ),
    "a score too many": (
        "qwen-prm",
        {"more": scorer(lambda body: [[0.5, 0.5]] * (steps_of(body) + 1))},
        2,
        ("gave 2 scores for 1 step", PER_STEP, "asked at /pooling"),
    ),
    "a model of one reward": (
        "qwen-prm",
        {"more": {"/classify": scorer(lambda _: [[1.5]])["/classify"]}},
        1,
        ("answered 404", "/pooling needs", RUNNER),
    ),
    "a generation server for rewards": ("seq-rm", {}, 1, ("answered 404", "/classify needs", RUNNER)),
    "a model of two labels": (
        "seq-rm",
        {"more": scorer(lambda _: [[0.2, 0.8]])},
        2,
        ("gave 2 numbers in 1 row", "serve a reward model with one label", "asked at /classify"),
    ),
    "a chat model": (
        "chat-token-prm",
        {"reply": label_chat(CHATTY)},
        2,
        ("does not label steps", "most likely is 'so'", LABELLING, "asked at /chat/completions"),
    ),
    "a chat model that takes plain text": (
        "token-prm",
        {"reply": label_chat(CHATTY), "more": label_text(CHATTY)},
        2,
        ("does not label steps", LABELLING, "asked at /completions"),
    ),
    "labels of several tokens": (
        "token-prm",
        {"reply": label_chat(GOOD), "more": label_text({"▁": 0.95, "x": 0.05})},
        2,
        ("white space where '+' or '-' was to be; each must be one token", LABELLING),
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_model_of_the_wrong_kind_ends_the_run_in_one_line_that_says_what_to_serve(
    kind: str, bench: Callable[..., Bench]
) -> None:
    judge, how, code, words = WRONG[kind]
    ended = bench(**how).solve(judge)
    (said,) = errors(ended)
    assert (ended.code, ended.out) == (code, "")
    for word in (*words, "--prm-base-url", "--prm-model"):
        assert word in said
    assert Path("here/results.jsonl").read_text(encoding="utf-8") == ""


def test_when_the_right_model_is_served_the_run_goes_on_where_it_stood(
    bench: Callable[..., Bench], mctsr: Command
) -> None:
    served = Switch(lambda _: (404, {"detail": "Not Found"}))
    ended = bench({"/pooling": served}).solve()
    assert ended.code == 1
    assert "2 of 2 problems not finished" in ended.err
    assert "mctsr resume here" in ended.err
    served.answer = scorer()["/pooling"]
    assert mctsr("resume", "here").code == 0
    results = lines("results.jsonl")
    assert [(result["status"], result["answers"]["selected"]) for result in results] == [("ok", "4")] * 2
    assert sum(result["counts"]["replayed"] for result in results) == 4, (
        "the first steps were not written anew"
    )


@pytest.mark.parametrize("times", [1, 2])
def test_what_a_wrong_model_said_is_not_believed_when_the_right_one_is_served(
    times: int, bench: Callable[..., Bench], mctsr: Command
) -> None:
    served = Switch(scorer(lambda body: [[0.5] * 100] * steps_of(body))["/pooling"])
    made = bench({"/pooling": served})
    assert made.solve().code == 2
    for _ in range(times - 1):
        assert mctsr("resume", "here").code == 2
    served.answer = scorer()["/pooling"]
    written = len(made.policy.posts)
    assert mctsr("resume", "here").code == 0
    results = lines("results.jsonl")
    assert [(result["status"], result["answers"]["selected"]) for result in results] == [("ok", "4")] * 2
    assert sum(result["counts"]["replayed"] for result in results) >= 2, (
        "the first steps were not written anew"
    )
    assert len(made.policy.posts) > written


# Refusals, silence, nonsense


def test_a_400_to_every_text_fails_the_problems_and_resume_tries_them_again(
    bench: Callable[..., Bench], mctsr: Command
) -> None:
    served = Switch(refusing("something is odd")["/pooling"])
    ended = bench({"/pooling": served}).solve()
    (said,) = errors(ended)
    assert ended.code == 1
    assert said.startswith("error: all 2 problems failed: ")
    assert "answered 400: something is odd" in said
    assert [result["status"] for result in lines("results.jsonl")] == ["failed", "failed"]
    served.answer = scorer()["/pooling"]
    assert mctsr("resume", "here").code == 0
    last = {result["id"]: result for result in lines("results.jsonl")}
    assert [(last[id]["status"], last[id]["answers"]["selected"]) for id in "ab"] == [("ok", "4")] * 2
    assert [last[id]["counts"]["replayed"] for id in "ab"] == [2, 2]


def test_a_400_to_one_text_marks_its_node_and_no_more(bench: Callable[..., Bench]) -> None:
    refused: list[Body] = []

    def first_of_a(body: Body) -> bool:
        if not refused and body["messages"][1]["content"].startswith("a:"):
            refused.append(body)
            return True
        return False

    ended = bench(refusing("something is odd", when=first_of_a)).solve()
    assert (ended.code, len(refused)) == (0, 1)
    assert [result["answers"]["selected"] for result in lines("results.jsonl")] == ["4", "4"]
    (reason,) = reasons()
    assert reason.startswith("server error: http")
    assert reason.endswith("answered 400: something is odd")
    assert "calls failed for good" in ended.out
    assert "evaluations without a score" in ended.out


def test_one_call_that_hangs_marks_its_node_and_the_search_goes_on(bench: Callable[..., Bench]) -> None:
    made = bench(scorer())
    made.prm.queue(hang())
    ended = made.solve("qwen-prm", "--timeout", "0.5", "--max-retries", "0")
    assert ended.code == 0
    assert [result["answers"]["selected"] for result in lines("results.jsonl")] == ["4", "4"]
    (reason,) = reasons()
    assert "no reply within 0.5 s" in reason


def test_a_model_that_always_hangs_fails_the_problems_and_resume_tries_them_again(
    bench: Callable[..., Bench], mctsr: Command
) -> None:
    made = bench(scorer())
    made.prm.queue(*[hang()] * 4)
    ended = made.solve("qwen-prm", "--timeout", "0.5", "--max-retries", "0")
    (said,) = errors(ended)
    assert ended.code == 1
    assert "all 2 problems failed" in said
    assert "no reply within 0.5 s" in said
    assert mctsr("resume", "here").code == 0
    assert {result["id"]: result["status"] for result in lines("results.jsonl")} == {"a": "ok", "b": "ok"}


def test_a_path_longer_than_the_models_context_marks_its_node_and_is_no_fault(
    bench: Callable[..., Bench],
) -> None:
    ended = bench(refusing(TOO_LONG, when=lambda body: steps_of(body) > 1)).solve()
    assert (ended.code, errors(ended)) == (0, [])
    assert [result["status"] for result in lines("results.jsonl")] == ["ok", "ok"]
    (reason,) = reasons()
    assert reason.startswith("context overflow: ")
    assert "problems without a selected answer" in ended.out


def test_a_wrong_number_of_scores_marks_its_node(bench: Callable[..., Bench]) -> None:
    more = scorer(lambda body: [[0.5, 0.5]] * (steps_of(body) + (steps_of(body) == 2)))
    ended = bench(more).solve()
    assert ended.code == 0
    assert reasons() == ["wrong number of scores: 3 for 2 steps"]
    assert "wrong number of scores" in ended.out


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, "0.5"])
def test_a_score_that_is_no_number_is_never_a_value(bad: object, bench: Callable[..., Bench]) -> None:
    def odd(body: Body) -> list[list[Any]]:
        return [[0.5, bad]] if body["messages"][1]["content"].startswith("a:") else per_step(body)

    ended = bench(scorer(odd)).solve()
    assert ended.code == 0, "the other problem is solved"
    results = {result["id"]: result for result in lines("results.jsonl")}
    assert results["b"]["answers"]["selected"] == "4"
    assert results["a"]["status"] == "failed"
    assert "a score is NaN, infinite or no number; serve the reward model in another --dtype" in ended.out


# Odd steps


@pytest.mark.parametrize("text", ["", "\n\n\n\n   \n\n"], ids=["nothing", "white space"])
def test_empty_steps_are_marked_and_never_scored(text: str, bench: Callable[..., Bench]) -> None:
    made = bench(scorer(), text=text)
    ended = made.solve()
    assert (ended.code, errors(ended)) == (0, [])
    assert reasons() == ["empty reply"]
    assert not made.prm.posts
    assert "nothing could be scored" in ended.out


def test_a_step_of_ten_thousand_characters_is_scored_whole(bench: Callable[..., Bench]) -> None:
    long = "x + 1 = 2 " * 1000
    made = bench(scorer(), text=f"{long}\n\nThe final answer is \\boxed{{4}}")
    ended = made.solve("qwen-prm", "-s", "max_step_tokens=9000", "--max-tokens", "9000")
    assert ended.code == 0
    assert [result["answers"]["selected"] for result in lines("results.jsonl")] == ["4", "4"]
    assert all(long.strip() in body["messages"][-1]["content"] for _, body in made.prm.posts)
    assert {len(node["text"]) for node in lines("trees.jsonl")[0]["nodes"]} >= {len(long) + 2}


def test_a_step_that_is_longer_than_allowed_is_cut_marked_and_gone_on_with(
    bench: Callable[..., Bench],
) -> None:
    made = bench(scorer(), text="x + 1 = 2 " * 1000 + "\n\nThe final answer is \\boxed{4}")
    ended = made.solve("qwen-prm", "-s", "max_step_tokens=3000", "--max-tokens", "9000")
    assert ended.code == 0
    nodes = lines("trees.jsonl")[0]["nodes"]
    assert [node["truncated"] for node in nodes if "x" in node["text"][:9]] == [True, True, False, False]
    assert [result["answers"]["selected"] for result in lines("results.jsonl")] == ["4", "4"]
    assert "replies cut at max tokens" in ended.out
