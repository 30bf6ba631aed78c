"""A real vLLM that scores steps at /pooling, as it serves Qwen2.5-Math-PRM: how many scores, and whose they are."""

import json
from pathlib import Path

import pytest

from mctsr.errors import ContextOverflow
from mctsr.judge.aggregate import minimum
from mctsr.judge.process.qwen import MARK, SYSTEM, QwenPrm
from mctsr.parts import Path as Line
from mctsr.parts import Unscored
from tests.support.judging import path, the_sample

from .asking import connected
from .conftest import Command, Tell
from .serving import Served

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

STEPS = [
    "Step 1: First multiply: 3 * 4 = 12.\n\n",
    "Step 2: In code:\n```python\nx = 2 + 12\n\nprint(x)\n```\n\n",
    "Step 3: So \\[ 2 + 3 \\cdot 4 = 14. \\]\n\n",
    "  Step 4: 答案是十四, ки, <|endoftext|>.\n\n",
    "The answer is \\boxed{14}.",
]
WHOLE = path(*STEPS)
QUESTION = "Patricia has 30 roses. She gave 24 away and bought 15 more. Explain in full how many she has now."
ROUNDING = 0.02
"""bfloat16, and other requests in the batch."""


def prefix(depth: int) -> Line:
    """Return the path of the first `depth` steps."""
    return Line(WHOLE.problem, WHOLE.nodes[: depth + 1])


async def test_there_is_one_score_a_step_and_each_stands_behind_its_own(steps: Served, tell: Tell) -> None:
    # A model that reads from left to right scores a step alike whatever comes later.
    async with connected(steps, steps) as lm:
        alone = [
            the_sample(await QwenPrm().judge(prefix(n), 0, lm.caller())).raw for n in range(1, len(STEPS) + 1)
        ]
        assert [len(pooled.rows) for pooled in lm.pools] == [1, 2, 3, 4, 5]
        worst = the_sample(await QwenPrm(aggregate=minimum).judge(WHOLE, 0, lm.caller()))
    together = [row[1] for row in lm.pools[-1].rows]
    assert together == pytest.approx(alone, abs=ROUNDING)
    assert max(together) - min(together) > 3 * ROUNDING, "the steps differ"
    assert worst.value == pytest.approx(min(together))
    assert worst.raw == pytest.approx(together[-1])
    assert all(sum(row) == pytest.approx(1.0, abs=0.01) for row in lm.pools[-1].rows)
    tell(
        f"qwen-prm: 5 scores for 5 steps, {', '.join(f'{score:.3f}' for score in together)}; the same step by step"
    )


async def test_what_is_sent_is_what_the_published_model_reads(steps: Served) -> None:
    async with connected(steps, steps) as lm:
        await QwenPrm().judge(WHOLE, 0, lm.caller())
    text = "".join(step.strip() + MARK for step in STEPS)
    turns = [("system", SYSTEM), ("user", WHOLE.problem.text), ("assistant", text)]
    code, reply = steps.post(
        "/tokenize",
        messages=[{"role": role, "content": content} for role, content in turns],
        add_generation_prompt=False,
    )
    assert code == 200
    assert lm.pools[0].usage.prompt_tokens == reply["count"]
    (mark,) = steps.tokens(MARK)
    assert reply["tokens"].count(mark) == len(STEPS)


async def test_a_step_that_holds_the_mark_has_no_score_since_it_would_have_two(steps: Served) -> None:
    odd = f"Step 1: the token {MARK} stands here.\n\n"
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": odd.strip() + MARK}]
    code, reply = steps.post("/pooling", messages=turns, add_generation_prompt=False)
    assert code == 200
    assert len(reply["data"][0]["data"]) == 2, "the server itself counts marks, not steps"
    async with connected(steps, steps) as lm:
        found = await QwenPrm().judge(path(odd), 0, lm.caller())
    assert isinstance(found, Unscored)
    assert MARK in found.reason
    assert not lm.pools


async def test_a_path_that_does_not_fit_is_an_overflow(steps: Served) -> None:
    async with connected(steps, steps) as lm:
        with pytest.raises(ContextOverflow):
            await QwenPrm().judge(path("word " * 2500), 0, lm.caller())


def test_doctor_counts_the_scores(steps: Served, mctsr: Command) -> None:
    ended = mctsr("doctor", "--model", "embedded", "--prm-base-url", steps.root, "--timeout", "120", "--json")
    assert ended.code == 0, ended
    (role,) = [role for role in json.loads(ended.out)["roles"] if role["role"] == "prm"]
    told = {finding["probe"]: finding for finding in role["findings"]}
    assert told["qwen-prm"]["found"].startswith("3 scores for 3 steps")
    assert told["seq-rm"]["state"] == "unknown"


def test_a_real_model_writes_and_a_real_reward_model_scores(
    steps: Served, mctsr: Command, tell: Tell
) -> None:
    before = steps.metric("prefix_cache_queries_total")
    asked = ("--recipe", "beam", "-s", "judge=qwen-prm", "-s", "aggregate=min", "-s", "n=2", "-s", "m=2")
    ended = mctsr(
        *("solve", "-q", QUESTION, "--model", "embedded", "--prm-base-url", steps.url, *asked),
        *("-s", "max_steps=3", "-s", "max_step_tokens=12", "-o", "here"),
    )
    assert ended.code == 0, ended.err
    tree = json.loads(Path("here/trees.jsonl").read_text(encoding="utf-8"))
    written = [node for node in tree["nodes"] if node["text"].strip()]
    assert written
    assert all(len(node["samples"]) == 1 for node in written)
    depth = {i: 0 if node["parent"] is None else -1 for i, node in enumerate(tree["nodes"])}
    for i, node in enumerate(tree["nodes"]):
        depth[i] = 0 if node["parent"] is None else depth[node["parent"]] + 1
    assert max(depth.values()) >= 2, "no path has two steps"
    result = json.loads(Path("here/results.jsonl").read_text(encoding="utf-8"))
    assert result["counts"]["unscored"] == 0
    assert steps.metric("prefix_cache_queries_total") == before, "vLLM scores tokens without its cache"
    tell(
        f"beam on llama.cpp with qwen-prm: {len(written)} steps, each with its score; vLLM reads each path anew"
    )


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("seq-rm", "/classify needs a reward model with such scores"),
        ("token-prm", "needs text completion"),
        ("chat-token-prm", "--prm-base-url"),
    ],
)
def test_a_judge_of_another_kind_ends_the_run_in_one_line(
    judge: str, said: str, steps: Served, mctsr: Command
) -> None:
    asked = ("--recipe", "best-of-n-prm", "-s", f"judge={judge}", "-s", "n=2", "--max-tokens", "8", "--quiet")
    ended = mctsr("solve", "-q", "2+2?", "--model", "embedded", "--prm-base-url", steps.url, *asked)
    assert ended.code in (1, 2)
    (line,) = ended.err.strip().splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_a_reward_model_cannot_be_the_one_that_writes(steps: Served, mctsr: Command) -> None:
    ended = mctsr("solve", "-q", "2+2?", "--base-url", steps.url, "--recipe", "zero-shot", "--quiet")
    assert ended.code == 1
    assert "serves for pooling" in ended.err
    assert mctsr("doctor", "--base-url", steps.url).code == 1
