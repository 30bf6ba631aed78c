"""Recipes over steps from the command line: one server, two servers, the dry run, and the real embedded model."""

import json
from pathlib import Path

import pytest

from mctsr.engine import search
from mctsr.expand.step import Steps
from mctsr.lm.connect import connect
from mctsr.lm.options import RoleOptions, Settings
from mctsr.parts import Problem
from mctsr.recipes.registry import choose
from tests.support import fake_ways
from tests.support.fake_server import Body
from tests.support.fake_ways import Model

from .conftest import Command, Serve

SOLUTION = "2 + 2 = 4.\n\nNothing is left.\n\nThe final answer is \\boxed{4}"

SURE = {
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "4"},
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "4", "logprob": -0.1, "top_logprobs": []}]},
        }
    ]
}


def records(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path("here", name).read_text(encoding="utf-8").splitlines()]


def nodes() -> list[dict[str, object]]:
    found = records("trees.jsonl")[0]["nodes"]
    assert isinstance(found, list)
    return found


def test_beams_are_judged_by_the_model_that_wrote_them(mctsr: Command, serve: Serve) -> None:
    # The fake server's chat has no log-probabilities: one call shows it, and each opinion is a score.
    server = serve('{"score": 7}', extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", "beam", "-s", "n=4", "-s", "m=2"),
        *("-o", "here"),
    )
    assert ended.code == 0, ended.err
    assert ended.out.strip() == SOLUTION
    assert len(server.bodies) == 1 + 12
    found = nodes()
    assert [node["depth"] for node in found] == [0] + [1] * 4 + [2] * 4 + [3] * 4
    assert {node["value"] for node in found} == {None, 0.7}
    result = records("results.jsonl")[0]
    assert result["usage"]["calls"] == 2 * 12  # type: ignore[index]
    assert result["selected_by"] == "weighted vote"
    assert result["answers"] == {"first": "4", "selected": "4", "majority": "4", "distinct": ["4"]}


def test_a_tree_is_searched_by_the_models_own_certainty(mctsr: Command, serve: Serve) -> None:
    server = serve(SURE, extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", "puct-prm", "-o", "here"),
        *("-s", "judge=self-certainty", "-s", "paths=2", "-s", "children=2"),
    )
    assert ended.code == 0, ended.err
    assert ended.out.strip() == SOLUTION
    assert len(server.bodies) == 1, "log-probabilities are tried once, and no judgement is asked for"
    found = nodes()
    # The model says one text by heart: equal drafts are one node, and nothing is left behind the first path.
    assert "".join(str(node["text"]) for node in found) == SOLUTION
    assert [node["work"] for node in found[1:]] == [{"times": "2"}] * 3
    assert [node["value"] for node in found[1:]] == pytest.approx([0.6065306597] * 3)
    assert records("results.jsonl")[0]["usage"]["calls"] == 6  # type: ignore[index]


def test_particles_are_weighed_by_a_reward_model_on_a_server_of_its_own(mctsr: Command, serve: Serve) -> None:
    def score(body: Body) -> list[list[float]]:
        return [[0.25, 0.75]] * body["messages"][-1]["content"].count("<extra_0>")

    policy = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    prm = serve(models=("rm",), extra={"owned_by": "vllm"}, more=fake_ways.pooling(score))
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", policy.url, "--prm-base-url", prm.url, "-o", "here"),
        *("--recipe", "particle-filter", "-s", "n=3", "-s", "judge=qwen-prm", "-s", "aggregate=min"),
    )
    assert ended.code == 0, ended.err
    assert ended.out.strip() == SOLUTION
    assert {node["value"] for node in nodes()} == {None, 0.75}
    result = records("results.jsonl")[0]
    assert result["usage"]["calls"] == 2 * 9  # type: ignore[index]
    assert result["selected_by"] == "best of the front"
    assert mctsr("resume", "here").code == 0


@pytest.mark.parametrize(
    ("name", "arguments", "calls"),
    [
        # Equal drafts are one node: 3 writes and a score in the first round, then 2 and 2 ahead, to the end.
        ("rest-mcts", {"rounds": "1"}, 3 + 1 + 2 * 2),
        ("deepsearch", {"children": "2", "wrong": "first"}, 2 * 3 + 1),
        ("deepsearch-code", {"children": "2", "wrong": "first"}, 2 * 3 + 1),
        ("agentprm", {"n": "3"}, 3 * 3 + 3),
        ("agentprm-code", {"n": "3"}, 3 * 3 + 3),
    ],
)
def test_one_chat_server_is_enough_for_more_recipes(
    mctsr: Command, serve: Serve, name: str, arguments: dict[str, str], calls: int
) -> None:
    server = serve('{"score": 7}', extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    given = [word for key, value in arguments.items() for word in ("-s", f"{key}={value}")]
    ended = mctsr("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", name, *given, "-o", "here")
    assert ended.code == 0, ended.err
    assert records("results.jsonl")[0]["usage"]["calls"] == calls  # type: ignore[index]
    shown = mctsr("show", "here")
    assert shown.code == 0
    if name != "rest-mcts":
        assert ended.out.strip() == SOLUTION
        exported = mctsr("export", "here", "-f", "stepwise", "--labels", "soft", "-o", "-")
        assert exported.code == 0, exported.err
        row = json.loads(exported.out.splitlines()[0])
        assert row["completions"] == SOLUTION.split("\n\n")
        value = 2 * 0.7 - 1
        weights = {
            "deepsearch": [1 / 3 / 2, 2 / 3 / 2, 1.0],
            "deepsearch-code": [2 / 4 / 2, 3 / 4 / 2, 1.0],
            "agentprm": [0.95**2, 0.95, 1.0],
            "agentprm-code": [1.0, 0.95, 0.95**2],
        }[name]
        assert row["labels"] == pytest.approx([(1 + weight * value) / 2 for weight in weights])


def test_a_reward_model_that_nobody_serves_is_told_before_the_first_call(
    mctsr: Command, serve: Serve
) -> None:
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    ended = mctsr(
        *("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", "beam", "-s", "judge=qwen-prm"),
    )
    assert ended.code == 2
    assert "error: the recipe needs a reward model" in ended.err
    assert "--prm-base-url" in ended.err
    assert not server.posts
    assert not server.bodies


@pytest.mark.parametrize(("name", "calls"), [("beam", 192), ("particle-filter", 192), ("tot", 600)])
def test_a_dry_run_tells_the_price(mctsr: Command, serve: Serve, name: str, calls: int) -> None:
    server = serve(extra={"owned_by": "vllm"}, more=fake_ways.vllm(Model(SOLUTION)))
    ended = mctsr("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", name, "--dry-run")
    assert ended.code == 0
    assert str(calls) in ended.out + ended.err


@pytest.mark.parametrize(
    ("name", "paper"),
    [
        ("beam", "arXiv:2408.03314"),
        ("particle-filter", "arXiv:2502.01618"),
        ("particle-gibbs", "arXiv:2502.01618"),
        ("rap", "arXiv:2305.14992"),
        ("scope", "arXiv:2602.24110"),
        ("puct-prm", "arXiv:2410.09671"),
        ("ts-llm", "arXiv:2309.17179"),
        ("rstar-math", "arXiv:2501.04519"),
        ("mcps-steps", "arXiv:2510.06381"),
        ("tot", "arXiv:2305.10601"),
        ("best-of-n-prm", "arXiv:2305.20050"),
        ("dvts", "Beeching et al. 2024"),
        ("grave-steps", "Cazenave 2015"),
        ("rest-mcts", "arXiv:2406.03816"),
        ("deepsearch", "arXiv:2509.25454"),
        ("deepsearch-code", "arXiv:2509.25454"),
        ("agentprm", "arXiv:2502.10325"),
        ("agentprm-code", "arXiv:2502.10325"),
    ],
)
def test_every_recipe_names_its_paper_and_what_differs(mctsr: Command, name: str, paper: str) -> None:
    ended = mctsr("recipes", name)
    assert ended.code == 0
    assert paper in ended.out
    assert "Calls:" in ended.out


@pytest.mark.embedded
async def test_a_real_model_is_searched_step_by_step(llama_url: str) -> None:
    small = {"paths": 2, "rollouts": 3, "children": 2, "max_step_tokens": 16, "boundary": "line"}
    what = choose("puct-prm", {**small, "judge": "self-certainty", "max_steps": 2}).build()
    assert isinstance(what.expander, Steps)
    async with connect(Settings(policy=RoleOptions(None, llama_url)), needs=what.needs) as there:
        outcome = await search(Problem("p", "What is 2 + 3?", "number"), what, there.models)
    assert not outcome.failed
    assert outcome.ledger.tally.calls <= 12
    scored = [node for node in range(1, len(outcome.tree)) if outcome.tree.scored(node)]
    assert scored, outcome.ledger.unscored
    for node in scored:
        assert 0.0 < outcome.tree.states[node].samples[0].value <= 1.0
