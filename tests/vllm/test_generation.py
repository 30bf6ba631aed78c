"""A real vLLM that writes: doctor, steps by token ids, what its cache holds, limits, cancelled calls, label words."""

import asyncio
import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mctsr import Descent, Mean, Recipe, best_value, puct, rollouts_done, search
from mctsr.errors import ContextOverflow
from mctsr.expand.step import Steps
from mctsr.judge.certainty import SelfCertainty
from mctsr.judge.labels import Labels
from mctsr.judge.llm_judge import LlmJudge
from mctsr.judge.process.gen_prm import GenPrm
from mctsr.judge.process.think_prm import ThinkPrm
from mctsr.lm.base import Message, Place, Request
from mctsr.parts import Problem, Unscored, Verdict
from tests.support.judging import path

from .asking import Call, connected
from .conftest import Command, Tell
from .serving import Served, shared_blocks

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

ROSES = Problem(
    "roses", "Patricia has 30 roses. She gave 24 away and bought 15. How many has she now?", "number"
)
HERE = Place("p", 0, "here")
SAY = (Message("user", "Is 2 + 2 = 4 right? Answer Yes or No."),)
SMALL = ("-s", "max_steps=3", "-s", "max_step_tokens=32")


def findings(told: str, role: str = "policy") -> dict[str, dict[str, Any]]:
    (entry,) = [entry for entry in json.loads(told)["roles"] if entry["role"] == role]
    return {finding["probe"]: finding for finding in entry["findings"]}


def lines(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]


def problems(*texts: str) -> Path:
    file = Path("problems.jsonl")
    rows = [{"id": f"p{i}", "question": text, "answer": "4"} for i, text in enumerate(texts)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_doctor_finds_what_the_server_does(policy: Served, mctsr: Command) -> None:
    ended = mctsr("doctor", "--base-url", policy.url, "--timeout", "120", "--json")
    assert ended.code == 0, ended
    told = findings(ended.out)
    assert told["reachable"]["found"].startswith("vllm 0.")
    assert told["context"]["found"] == "2048 tokens"
    assert told["continuing"]["found"] == "by token ids: goes on"
    assert told["stop strings"]["found"] == "obeyed, named, and kept in the step"
    assert told["own end"]["found"] == "told apart from a stop string"
    assert told["ids in = ids out"]["found"].startswith("the same: ")
    assert told["cached tokens"]["found"].startswith("counted: ")
    assert told["log-probabilities"]["found"].startswith("20 alternatives")
    assert told["JSON Schema"]["found"] == "obeyed"
    assert told["seeds"]["found"].startswith("differ")
    assert told["token limit"]["found"].startswith("kept: ")
    weak = {name for name, finding in told.items() if finding["state"] != "good"}
    assert weak <= {"seeds"}, "a seed may repeat only while nothing else is asked"
    assert {"steps", "prefill", "token_ids", "logprobs", "schema"} <= set(json.loads(ended.out)["offers"])


def grown(call: Call) -> bool:
    return bool(call.request.begun)


async def test_a_tree_grown_by_ids_reads_again_only_what_fits_no_block(policy: Served, tell: Tell) -> None:
    expander = Steps(max_step_tokens=40, max_steps=4, logprobs=0, temperature=0.8)
    recipe = Recipe(expander, SelfCertainty(), Descent(puct(), n=3), Mean(), rollouts_done(6), best_value)
    before = {name: policy.metric(f"prefix_cache_{name}_total") for name in ("hits", "queries")}
    async with connected(policy, needs=recipe.needs) as lm:
        tried = {name: policy.metric(f"prefix_cache_{name}_total") for name in before}
        outcome = await search(ROSES, recipe, lm)
        offered = lm.offers
    assert "token_ids" in offered
    assert tried["queries"] > before["queries"], "the way was tried out"
    steps = [call for call in lm.calls if grown(call)]
    opened = [call for call in lm.calls if not grown(call)]
    assert len(outcome.tree) == 1 + len(lm.calls), "self-certainty asks nobody"
    assert steps, "no step was continued"
    assert all("continued by token ids" in call.reply.wire for call in steps)
    for call in steps:
        # Every id that the server gave goes back in, and none more.
        assert call.request.begun_ids
        code, said = policy.post("/detokenize", tokens=list(call.request.begun_ids))
        assert (code, said["prompt"]) == (200, call.request.begun)
        assert call.prompt == opened[0].prompt + len(call.request.begun_ids)
        assert call.cached == (call.prompt - 1) // policy.block * policy.block, call
    told = {name: policy.metric(f"prefix_cache_{name}_total") - tried[name] for name in before}
    assert told["hits"] == sum(call.cached for call in lm.calls)
    assert told["queries"] == sum(call.prompt for call in lm.calls)
    rate = told["hits"] / told["queries"]
    tell(
        f"step growth by ids: {told['hits']:.0f} of {told['queries']:.0f} prompt tokens cached ({rate:.0%}), "
        f"every whole block of {len(steps)} continued steps; usage and /metrics agree"
    )


async def test_a_step_is_as_certain_as_its_tokens_were(policy: Served) -> None:
    expander = Steps(max_step_tokens=24, max_steps=2, logprobs=0, temperature=0.8)
    recipe = Recipe(expander, SelfCertainty(), Descent(puct(), n=2), Mean(), rollouts_done(2), best_value)
    async with connected(policy, needs=recipe.needs) as lm:
        outcome = await search(ROSES, recipe, lm)
    of = {call.reply.text: call.reply for call in lm.calls}
    judged = [state for state in outcome.tree.states if state.samples]
    assert judged
    for state in judged:
        tokens = of[state.text].tokens
        assert len(tokens) == of[state.text].usage.completion_tokens
        mean = math.fsum(token.logprob for token in tokens) / len(tokens)
        assert state.samples[0].value == pytest.approx(math.exp(mean))


@pytest.mark.parametrize("judge", ["llm-judge", "self-certainty", "mc-estimate"])
def test_a_run_by_steps_says_how_turns_were_continued(
    judge: str, policy: Served, mctsr: Command, tell: Tell
) -> None:
    began = time.monotonic()
    # Each estimate is four solutions to the end.
    rollouts, steps = (1, 2) if judge == "mc-estimate" else (2, 3)
    asked = ("--recipe", "puct-prm", "-s", f"judge={judge}", "-s", f"rollouts={rollouts}", *SMALL)
    file = problems("What is 2 + 2?")
    ended = mctsr(
        *("solve", file, "--base-url", policy.url, *asked, "-s", "children=2", "-s", f"max_steps={steps}"),
        *("-o", "here", "--judge-max-tokens", "96"),
    )
    assert ended.code == 0, ended.err
    servers = json.loads(Path("here/run.json").read_text(encoding="utf-8"))["servers"]
    assert {entry["way"] for entry in servers} == {"token ids"}
    (result,) = lines("here/results.jsonl")
    assert result["status"] == "ok"
    assert "continued by token ids" in result["wire"]
    assert result["counts"]["failed_calls"] == 0
    usage = result["usage"]
    assert usage["cached_tokens"] > 0
    shown = mctsr("report", "here")
    assert "prefix cache" in shown.out
    tell(
        f"solve with {judge}: {usage['calls']} calls, {usage['cached_tokens']} of {usage['prompt_tokens']} "
        f"prompt tokens cached ({usage['cached_tokens'] / usage['prompt_tokens']:.0%}), "
        f"{time.monotonic() - began:.0f} s"
    )


def test_a_prompt_that_does_not_fit_ends_its_node_and_not_the_run(policy: Served, mctsr: Command) -> None:
    file = problems("Count: " + "word " * 2500, "What is 2 + 2?")
    asked = (
        "--recipe",
        "puct-prm",
        "-s",
        "judge=self-certainty",
        "-s",
        "rollouts=1",
        "-s",
        "children=2",
        *SMALL,
    )
    ended = mctsr("solve", file, "--base-url", policy.url, *asked, "-o", "here")
    assert ended.code == 0, ended.err
    long, short = sorted(lines("here/results.jsonl"), key=lambda result: str(result["id"]))
    assert long["status"] == "ok"
    assert long["counts"]["failed_calls"] == 2
    assert short["counts"]["failed_calls"] == 0
    tree = next(line for line in lines("here/trees.jsonl") if line["problem_id"] == "p0")
    assert "context overflow" in json.dumps(tree["nodes"] + tree["events"])


@pytest.mark.parametrize("words", [2500, 2100])
async def test_an_overflow_is_known_as_one_in_every_way(words: int, policy: Served) -> None:
    long = (Message("user", "word " * words),)
    async with connected(policy) as lm:
        for request in (
            Request(long),
            Request(long, stop=("\n\n",)),
            Request(long, begun="So"),
            Request((), begun="word " * words),
        ):
            with pytest.raises(ContextOverflow):
                await lm.complete(HERE, request)


async def test_a_prompt_of_just_the_context_leaves_no_room_to_write(policy: Served) -> None:
    text = "word " * 2048
    assert len(policy.tokens(text.strip())) == 2048
    async with connected(policy) as lm:
        with pytest.raises(ContextOverflow):
            await lm.complete(HERE, Request((), begun=text.strip()))


@pytest.mark.parametrize("request_", [Request(SAY), Request(SAY, begun="Once"), Request((), begun="Once")])
async def test_a_cancelled_call_stops_on_the_server(request_: Request, policy: Served, tell: Tell) -> None:
    async with connected(policy, needs=frozenset({"steps"}), max_tokens=1900) as lm:
        # What can be said only at length: nothing ends it before the limit.
        endless = Request(
            request_.messages and (Message("user", "Write a very long story about a ship."),),
            begun=request_.begun,
            schema={"type": "string", "minLength": 8000},
        )
        call = asyncio.create_task(lm.complete(HERE, endless))
        while not await asyncio.to_thread(policy.metric, "num_requests_running"):
            assert not call.done(), call.result()
            await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        seconds = await asyncio.to_thread(policy.idle, 10.0)
    tell(f"a cancelled call was gone from the server after {seconds:.2f} s")


async def test_a_connection_that_the_server_has_closed_costs_no_try(policy: Served) -> None:
    # vLLM closes what was idle for five seconds.
    async with connected(policy) as lm:
        for _ in range(2):
            await lm.complete(HERE, Request(SAY, max_tokens=1))
            await asyncio.sleep(5.5)
    assert [call.reply.retries for call in lm.calls] == [0, 0]


def test_an_interrupted_run_leaves_nothing_running_and_asks_nothing_twice(
    policy: Served, mctsr: Command, tell: Tell
) -> None:
    file = problems("Patricia has 30 roses and buys 15. How many has she?", "What is 2 + 2?")
    asked = ("--recipe", "puct-prm", "-s", "judge=self-certainty", "-s", "rollouts=3", "-s", "children=2")
    command = [sys.executable, "-m", "mctsr.cli", "solve", str(file), "--base-url", policy.url]
    command += [*asked, "-s", "max_steps=4", "-s", "max_step_tokens=48", "-o", "here"]
    solving = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    logs = Path("here/live")
    while not any('"reply"' in log.read_text(encoding="utf-8") for log in logs.glob("*.jsonl")):
        assert solving.poll() is None, solving.communicate()
        time.sleep(0.05)
    solving.send_signal(signal.SIGINT)
    solving.communicate(timeout=60)
    assert solving.returncode == 130
    seconds = policy.idle(10.0)
    assert mctsr("resume", "here").code == 0
    counts = [result["counts"] for result in lines("here/results.jsonl")]
    assert len(counts) == 2
    assert sum(count["replayed"] for count in counts) > 0
    assert sum(count["failed_calls"] for count in counts) == 0
    tell(
        f"Ctrl-C: the server was idle after {seconds:.2f} s; the resumed run took "
        f"{sum(count['replayed'] for count in counts)} calls from the log"
    )


async def test_words_are_reported_however_unlikely(policy: Served) -> None:
    labels = Labels("Yes", "No").spellings
    single = {word for word in labels if len(policy.tokens(word)) == 1}
    assert {"Yes", " Yes", "No", " No"} <= single
    plain = Request(SAY, temperature=0.0, max_tokens=1, logprobs=20)
    exact = Request(SAY, temperature=0.0, max_tokens=1, logprobs=0, labels=labels)
    async with connected(policy) as lm:
        top = (await lm.complete(HERE, plain)).tokens[0]
        chosen = (await lm.complete(HERE, exact)).tokens[0]
        raw = Request((), begun="Is 2 + 2 = 4 right? Say Yes or No:", max_tokens=1, logprobs=0, labels=labels)
        behind_text = (await lm.complete(HERE, raw)).tokens[0]
    said = dict(chosen.top)
    assert single <= said.keys()
    assert said.keys() <= single | {chosen.text}
    for word, logprob in top.top:
        if word in single:
            assert said[word] == pytest.approx(logprob, abs=0.05)
    assert single <= dict(behind_text.top).keys()


PROMPT = """+++
inputs = ["problem", "answer"]
output = "text"
source = "Own wording, for a very small model."
+++
{{role "user"}}
Is 1 + 1 = 2 right? Answer Yes or No.
{{role "assistant"}}
Yes
{{role "user"}}
Is 1 + 1 = 5 right? Answer Yes or No.
{{role "assistant"}}
No
{{role "user"}}
Is 3 + 3 = 6 right? Answer Yes or No.
{{role "assistant"}}
Yes
{{role "user"}}
{{problem}} {{answer}} Is it right? Answer Yes or No.
"""


def test_a_judge_that_says_yes_or_no_costs_one_token_an_opinion(
    policy: Served, mctsr: Command, tell: Tell
) -> None:
    Path("own").mkdir()
    Path("own/judge_label.md").write_text(PROMPT, encoding="utf-8")
    file = problems("What is 2 + 2?")
    asked = ("--recipe", "best-of-n-prm", "-s", "n=4", "-s", "judge=llm-judge", "--prompts", "own")
    ended = mctsr(
        "solve", file, "--base-url", policy.url, *asked, "-o", "here", "--keep-calls", "--max-tokens", "48"
    )
    assert ended.code == 0, ended.err
    (result,) = lines("here/results.jsonl")
    (log,) = Path("here/calls").glob("*.jsonl")
    replies = [line for line in lines(str(log)) if line["t"] == "reply" and "/judge_label/" in line["key"]]
    assert len(replies) == 4
    assert {line["usage"]["completion_tokens"] for line in replies} == {1}
    (tree,) = lines("here/trees.jsonl")
    scores = [node["samples"][0]["value"] for node in tree["nodes"] if node["samples"]]
    assert len(scores) == 4
    assert all(0.0 < score < 1.0 for score in scores)
    assert result["counts"]["asked_again"] == 0
    tell(f"llm-judge by exact labels: 4 opinions of 1 token, scores {', '.join(f'{s:.3f}' for s in scores)}")


async def test_a_judge_asked_behind_the_steps_reads_little_more_than_its_question(
    policy: Served, tell: Tell
) -> None:
    expander = Steps(max_step_tokens=48, max_steps=4, temperature=0.8)
    recipe = Recipe(expander, LlmJudge(), Descent(puct(), n=2), Mean(), rollouts_done(5), best_value)
    async with connected(policy, needs=recipe.needs, max_tokens=96) as lm:
        await search(ROSES, recipe, lm)
    read = {call.place: policy.rendered(turns(call)) for call in lm.calls}
    for call in lm.calls:
        ids = read[call.place]
        if is_step(call):
            # What it was asked, what it had said, and what it says now but for the last token.
            ids += [*call.request.begun_ids, *call.reply.ids[:-1]]
        else:
            assert call.prompt == len(ids)
    judged = [call for call in lm.calls if not is_step(call)]
    assert judged
    for call in judged:
        ask = call.place.ask
        before = [c for c in lm.calls if c.place.ask < ask or (c.place.ask == ask and is_step(c))]
        shared = max(shared_blocks(read[c.place], read[call.place], policy.block) for c in before)
        assert call.cached >= shared > 0, call
    rate = sum(call.cached for call in judged) / sum(call.prompt for call in judged)
    tell(
        f"llm-judge in a search: {len(judged)} opinions, {rate:.0%} of their prompt tokens cached; of all "
        f"{len(lm.calls)} calls {lm.hit_rate():.0%}"
    )


def turns(call: Call) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in call.request.messages]


def is_step(call: Call) -> bool:
    return call.request.role == "policy"


@pytest.mark.parametrize("judge", [GenPrm(), ThinkPrm(max_tokens=64)], ids=["gen-prm", "think-prm"])
async def test_judges_that_go_on_writing_do_so_by_ids(
    judge: GenPrm | ThinkPrm, policy: Served, tell: Tell
) -> None:
    where = path("Step 1: 3 * 4 = 12.\n\n", "Step 2: 2 + 12 = 14.\n\n")
    async with connected(policy, policy, needs=judge.needs) as lm:
        found = await judge.judge(where, 0, lm.caller())
    # A model that was never trained for it may say neither Yes nor No; how it is asked is real all the same.
    assert isinstance(found, Verdict) or found.reason.startswith("no label in the reply"), found
    begun = [call for call in lm.calls if call.request.begun]
    assert begun
    assert all("continued by token ids" in call.reply.wire for call in begun)
    assert begun[-1].cached > 0
    name = type(judge).__name__
    outcome = f"unscored ({found.reason[:40]} …)" if isinstance(found, Unscored) else "scored"
    tell(f"{name}: {len(lm.calls)} calls, {lm.hit_rate():.0%} of prompt tokens cached, {outcome}")
