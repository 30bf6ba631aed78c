"""A real vLLM that says + or - behind each step: the label-reading judges, to the exact probability.

The server reports at most five alternatives a token, where judges ask for twenty.
"""

import json
import math
from pathlib import Path

import pytest

from mctsr.judge.process.chat_token import ChatTokenPrm
from mctsr.judge.process.shepherd import TokenPrm, openr_prm
from mctsr.judge.steps import steps_of
from mctsr.parts import Path as Line
from mctsr.parts import Verdict
from tests.support.judging import path, the_sample

from .asking import Kept, connected
from .conftest import Command, Tell
from .serving import Served, shared_blocks

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

STEPS = [
    f"Step {n}: add {n} to what there is, and so there are {n * n + 3} of them now.\n\n" for n in range(1, 9)
]
WHOLE = path(*STEPS)


def prefix(depth: int) -> Line:
    """Return the path of the first `depth` steps."""
    return Line(WHOLE.problem, WHOLE.nodes[: depth + 1])


async def judged(judge: TokenPrm | ChatTokenPrm, lm: Kept) -> list[float]:
    """Score every step in turn, the last one of each prefix."""
    return [the_sample(await judge.judge(prefix(n), 0, lm.caller())).value for n in range(1, len(STEPS) + 1)]


@pytest.mark.parametrize("judge", [TokenPrm(), openr_prm()], ids=["math-shepherd", "openr"])
async def test_a_step_is_worth_the_label_behind_its_tag(judge: TokenPrm, labels: Served, tell: Tell) -> None:
    async with connected(labels, labels) as lm:
        scores = await judged(judge, lm)
    plus, minus = labels.tokens("+"), labels.tokens("-")
    assert len(lm.calls) == len(STEPS)
    assert len({round(score, 3) for score in scores}) > 1, "what was read makes no difference"
    seen = list[int]()
    for depth, (score, call) in enumerate(zip(scores, lm.calls, strict=True), 1):
        text = judge.text(WHOLE.problem.text, steps_of(prefix(depth)))
        ids = labels.tokens(text, opened=True)
        assert (ids[0], ids.count(ids[0])) == (labels.tokens("", opened=True)[0], 1)
        assert call.prompt == len(ids), "the text was opened once, and nothing was put around it"
        code, reply = labels.post(
            "/v1/completions",
            prompt=ids,
            max_tokens=1,
            temperature=0,
            logprobs=1,
            logprob_token_ids=plus + minus,
        )
        assert code == 200
        said = reply["choices"][0]["logprobs"]["top_logprobs"][0]
        good, bad = math.exp(said["+"]), math.exp(said["-"])
        assert score == pytest.approx(good / (good + bad), abs=0.02)
        assert call.cached >= shared_blocks(seen, ids, labels.block)
        seen = ids
    assert lm.calls[-1].cached > 0
    tell(f"token-prm ({judge.tag!r}), 8 steps in turn: {lm.hit_rate():.0%} of prompt tokens cached")


async def test_a_chat_of_labels_is_read_in_the_same_way(labels: Served, tell: Tell) -> None:
    judge = ChatTokenPrm()
    async with connected(labels, labels) as lm:
        scores = await judged(judge, lm)
    assert all(0.0 < score < 1.0 for score in scores)
    seen = list[int]()
    for depth, call in enumerate(lm.calls, 1):
        turns = judge.turns(WHOLE.problem.text, steps_of(prefix(depth)))
        ids = labels.rendered([(turn.role, turn.content) for turn in turns])
        assert call.prompt == len(ids)
        assert call.cached >= shared_blocks(seen, ids, labels.block)
        seen = ids
    tell(f"chat-token-prm, 8 steps in turn: {lm.hit_rate():.0%} of prompt tokens cached")


async def test_an_aggregate_asks_for_the_steps_that_nobody_scored(labels: Served) -> None:
    async with connected(labels, labels) as lm:
        found = await TokenPrm(aggregate=min).judge(prefix(3), 0, lm.caller())
        alone = await TokenPrm().judge(prefix(3), 0, lm.caller())
    assert isinstance(found, Verdict)
    assert isinstance(alone, Verdict)
    assert len(lm.calls) == 4
    assert found.samples[0].raw == pytest.approx(alone.samples[0].raw, abs=0.02)
    assert found.samples[0].value <= found.samples[0].raw


def test_doctor_tells_the_label_protocols_apart(labels: Served, mctsr: Command) -> None:
    ended = mctsr(
        "doctor", "--base-url", labels.url, "--prm-base-url", labels.url, "--timeout", "120", "--json"
    )
    roles = {role["role"]: role for role in json.loads(ended.out)["roles"]}
    told = {finding["probe"]: finding for finding in roles["prm"]["findings"]}
    assert told["token-prm"]["found"].startswith("3 scores for 3 steps")
    assert told["chat-token-prm"]["found"].startswith("3 scores for 3 steps")
    own = {finding["probe"]: finding for finding in roles["policy"]["findings"]}
    assert own["log-probabilities"]["found"] == "5 alternatives a token, 20 asked for"


@pytest.mark.parametrize("judge", ["token-prm", "chat-token-prm"])
def test_a_beam_is_steered_by_labels(judge: str, labels: Served, mctsr: Command, tell: Tell) -> None:
    asked = ("--recipe", "beam", "-s", f"judge={judge}", "-s", "n=4", "-s", "m=2", "-s", "max_steps=3")
    ended = mctsr(
        *("solve", "-q", "What is 2 + 2?", "--base-url", labels.url, "--prm-base-url", labels.url),
        *(*asked, "-s", "max_step_tokens=16", "-o", "here", "--keep-calls"),
    )
    assert ended.code == 0, ended.err
    run = json.loads(Path("here/run.json").read_text(encoding="utf-8"))
    assert [server["role"] for server in run["servers"]] == ["policy", "judge", "prm"]
    result = json.loads(Path("here/results.jsonl").read_text(encoding="utf-8"))
    tree = json.loads(Path("here/trees.jsonl").read_text(encoding="utf-8"))
    steps = [node for node in tree["nodes"] if node["text"].strip()]
    assert steps
    assert all(len(node["samples"]) == 1 for node in steps)
    assert result["counts"]["unscored"] == 0
    usage = result["usage"]
    tell(
        f"beam with {judge}: {usage['calls']} calls, {usage['cached_tokens']} of {usage['prompt_tokens']} "
        "prompt tokens cached"
    )
