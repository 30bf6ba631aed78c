"""A real vLLM that gives one number for a whole solution at /classify, as it serves Skywork-Reward."""

import json
import math
from pathlib import Path

import pytest

from mctsr.errors import ContextOverflow, UsageError
from mctsr.judge.process.qwen import QwenPrm
from mctsr.judge.seq_rm import SeqRm
from mctsr.parts import Path as Line
from tests.support.judging import path, the_sample

from .asking import connected
from .conftest import Command, Tell
from .serving import Served, shared_blocks

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

STEPS = [
    f"Step {n}: add {n} to what there is, and so there are {n * n + 3} of them now.\n\n" for n in range(1, 9)
]
WHOLE = path(*STEPS)


def turns(line: Line) -> list[dict[str, str]]:
    """Return the chat that a path is scored as."""
    return [
        {"role": "user", "content": line.problem.text},
        {"role": "assistant", "content": line.text.strip()},
    ]


async def test_the_reward_is_the_raw_one_and_every_prefix_hits_the_cache(reward: Served, tell: Tell) -> None:
    lines = [Line(WHOLE.problem, WHOLE.nodes[: depth + 1]) for depth in range(1, len(STEPS) + 1)]
    expected, seen = 0, list[int]()
    for line in lines:
        _, reply = reward.post("/tokenize", messages=turns(line), add_generation_prompt=False)
        expected += shared_blocks(seen, reply["tokens"], reward.block)
        seen = reply["tokens"]
    before = {name: reward.metric(f"prefix_cache_{name}_total") for name in ("hits", "queries")}
    async with connected(reward, reward) as lm:
        samples = [the_sample(await SeqRm().judge(line, 0, lm.caller())) for line in lines]
    told = {name: reward.metric(f"prefix_cache_{name}_total") - before[name] for name in before}
    assert told["queries"] == sum(pooled.usage.prompt_tokens for pooled in lm.pools)
    assert told["hits"] >= expected > 0
    for line, sample in zip(lines, samples, strict=True):
        code, reply = reward.post(
            "/classify", messages=turns(line), add_generation_prompt=False, use_activation=False
        )
        assert code == 200
        assert sample.raw == pytest.approx(reply["data"][0]["probs"][0], abs=0.1)
        assert sample.value == pytest.approx(1 / (1 + math.exp(-sample.raw / 4.0)))
    assert len({round(sample.raw, 2) for sample in samples}) > 4
    assert any(not 0 <= sample.raw <= 1 for sample in samples), "rewards are not squashed"
    rate = told["hits"] / told["queries"]
    tell(
        f"seq-rm, 8 prefixes in turn: {told['hits']:.0f} of {told['queries']:.0f} tokens cached ({rate:.0%}, by "
        f"/metrics: usage is silent); rewards {min(s.raw for s in samples):.2f} to {max(s.raw for s in samples):.2f}"
    )


async def test_a_solution_that_does_not_fit_is_an_overflow(reward: Served) -> None:
    async with connected(reward, reward) as lm:
        with pytest.raises(ContextOverflow):
            await SeqRm().judge(path("word " * 2500), 0, lm.caller())


async def test_a_model_of_one_number_is_no_process_reward_model(reward: Served) -> None:
    async with connected(reward, reward) as lm:
        with pytest.raises(UsageError, match="gave rows of 1 number, not 2"):
            await QwenPrm().judge(WHOLE, 0, lm.caller())


def test_doctor_finds_the_reward(reward: Served, mctsr: Command) -> None:
    ended = mctsr(
        "doctor", "--model", "embedded", "--prm-base-url", reward.root, "--timeout", "120", "--json"
    )
    assert ended.code == 0, ended
    (role,) = [role for role in json.loads(ended.out)["roles"] if role["role"] == "prm"]
    told = {finding["probe"]: finding for finding in role["findings"]}
    assert told["seq-rm"]["state"] == "good"
    assert "gave rows of 1 number" in told["qwen-prm"]["found"]


def test_answers_are_ranked_by_the_reward(reward: Served, mctsr: Command) -> None:
    asked = ("--recipe", "best-of-n-prm", "-s", "judge=seq-rm", "-s", "n=3", "--max-tokens", "24")
    ended = mctsr(
        *("solve", "-q", "What is 2 + 2?", "--model", "embedded", "--prm-base-url", reward.url, *asked),
        *("-o", "here"),
    )
    assert ended.code == 0, ended.err
    tree = json.loads(Path("here/trees.jsonl").read_text(encoding="utf-8"))
    rewards = [node["samples"][0]["raw"] for node in tree["nodes"]]
    assert len(rewards) == 3
    assert len(set(rewards)) == len({node["text"] for node in tree["nodes"]})
