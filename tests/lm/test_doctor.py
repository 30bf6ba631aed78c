"""The doctor believes what comes back, not what a server says it takes."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from mctsr.errors import UsageError
from mctsr.lm.connect import Keys, connect
from mctsr.lm.doctor.basics import COUNT
from mctsr.lm.doctor.examine import JUDGING, TEXT, Examined, Named, examine
from mctsr.lm.doctor.finding import Finding
from mctsr.lm.options import RoleOptions, Settings
from tests.support import fake_ways
from tests.support.doctor_fakes import VLLM, logprobs, model, well
from tests.support.fake_server import Body, FakeServer, Reply, hang, status

FAR = RoleOptions("m", "http://127.0.0.1:9/v1")


def settings(server: FakeServer, **more: Any) -> Settings:
    return Settings(policy=RoleOptions(None, server.url), timeout=5.0, max_retries=0, **more)


async def examined(server: FakeServer, probes: Sequence[Named] = TEXT) -> Examined:
    async with server:
        return await examine("policy", settings(server), Keys(), probes)


def seen(found: Examined, probe: str) -> Finding:
    (finding,) = [finding for finding in found.findings if finding.probe == probe]
    return finding


async def test_a_server_that_does_everything_is_found_to_do_everything() -> None:
    server = FakeServer(
        well(), extra=VLLM, more=fake_ways.vllm(model()), pages={"/version": {"version": "0.33"}}
    )
    found = await examined(server)
    states = {finding.probe: finding.state for finding in found.findings}
    assert states.pop("cached tokens") == "weak", "the fake counts none"
    assert set(states.values()) == {"good"}, found.findings
    assert found.runs
    assert found.offers == {"steps", "prefill", "token_ids", "logprobs", "schema"}
    assert seen(found, "reachable").found == "vllm 0.33"
    assert seen(found, "context").found == "4096 tokens"
    assert seen(found, "continuing").found == "by token ids: goes on"
    assert seen(found, "log-probabilities").found.startswith("20 alternatives")


async def test_the_ids_of_a_turn_go_back_in_as_they_came_out() -> None:
    server = FakeServer(well(), extra=VLLM, more=fake_ways.vllm(model()))
    await examined(server)
    prompts = [body["prompt"] for path, body in server.posts if path == "/v1/completions"]
    # The last two look for the cache.
    opened, gone_on = prompts[-4:-2]
    assert gone_on[: len(opened)] == opened
    assert len(gone_on) == len(opened) + 8


async def test_a_cache_of_long_blocks_is_seen_by_a_long_prompt() -> None:
    # vLLM on a CPU caches blocks of 128 tokens, and a short prompt sent twice was taken for no cache at all.
    plain, known = fake_ways.vllm(model()), set[tuple[int, ...]]()

    def complete(body: Body) -> tuple[int, Any]:
        code, said = plain["/v1/completions"](body)
        blocks = [tuple(body["prompt"][:end]) for end in range(128, len(body["prompt"]), 128)]
        said["usage"]["prompt_tokens_details"] = {
            "cached_tokens": 128 * sum(block in known for block in blocks)
        }
        known.update(blocks)
        return code, said

    found = await examined(FakeServer(well(), extra=VLLM, more={**plain, "/v1/completions": complete}))
    counted = seen(found, "cached tokens")
    assert (counted.state, counted.found[:8]) == ("good", "counted:"), counted


async def test_no_more_than_some_twenty_requests_are_sent() -> None:
    server = FakeServer(well(), extra=VLLM, more=fake_ways.vllm(model()))
    await examined(server)
    assert len(server.bodies) + len(server.posts) + len(server.gets) <= 22


async def test_llama_cpp_goes_on_by_text_and_counts_what_it_had_cached() -> None:
    extra = {"owned_by": "llamacpp"}
    found = await examined(FakeServer(well(), extra=extra, more=fake_ways.llama_cpp(model())))
    assert seen(found, "continuing").found == "by text: goes on"
    assert seen(found, "continuing").lacks == {"token_ids"}
    assert seen(found, "stop strings").state == seen(found, "own end").state == "good"
    assert seen(found, "ids in = ids out").found.startswith("the same")
    assert seen(found, "cached tokens").found.startswith("counted: 3 of")


async def test_a_server_that_answers_a_begun_turn_anew_is_left_with_quotation() -> None:
    found = await examined(FakeServer(well(opens=lambda body: False, names="")))
    turn = seen(found, "continuing")
    assert turn.found.startswith("by quoted: says something else")
    assert turn.state == "weak"
    assert turn.gives == {"steps"}
    assert turn.lacks == {"prefill", "token_ids"}


async def test_a_chat_server_that_goes_on_does_so_by_prefill() -> None:
    found = await examined(FakeServer(well(names="")))
    assert seen(found, "continuing").found == "by prefill: goes on"
    assert seen(found, "stop strings").found == "obeyed, but not named"
    assert seen(found, "own end").found == "not told apart from a stop string"
    assert seen(found, "ids in = ids out").found == "no token ids come back"


@pytest.mark.parametrize(
    ("extra", "names", "opens"),
    [
        ({"owned_by": "sglang"}, "matched_stop", lambda body: bool(body.get("continue_final_message"))),
        ({"owned_by": "library"}, "", lambda body: True),
        ({}, "", lambda body: bool(body["messages"][-1].get("prefix"))),
        ({}, "stop_reason", lambda body: body.get("add_generation_prompt") is False),
    ],
    ids=["sglang", "ollama", "a mark on the message", "two flags"],
)
async def test_every_dialect_of_prefill_is_found_by_what_comes_back(
    extra: dict[str, str], names: str, opens: Callable[[Body], bool]
) -> None:
    found = await examined(FakeServer(well(names=names, opens=opens), extra=extra))
    assert seen(found, "continuing").found == "by prefill: goes on"
    assert found.offers == {"steps", "prefill", "logprobs", "schema"}
    assert seen(found, "stop strings").state == ("good" if names else "weak")


async def test_what_had_to_be_changed_for_a_server_is_told() -> None:
    found = await examined(FakeServer(well(), refuses={"top_k": "top_k is unknown"}), JUDGING)
    assert seen(found, "completions").means == "changed for this server: dropped top_k"


async def test_a_stop_string_that_is_taken_and_ignored_is_seen() -> None:
    def deaf(body: Body) -> Reply | None:
        return "1, 2, 3, 4, 5, 6, 7" if body["messages"][0]["content"] == COUNT else None

    found = await examined(FakeServer(well(deaf)))
    assert seen(found, "stop strings").found == "not obeyed: the reply went on and is cut here"


async def test_a_stop_string_that_is_refused_is_seen() -> None:
    found = await examined(FakeServer(well(), refuses={"stop": "stop is not supported"}))
    assert seen(found, "stop strings").found == "not taken"


@pytest.mark.parametrize(
    ("said", "words"),
    [("The sea is blue.", "not obeyed: 'The sea is blue.'"), ('{"word": "gamma"}', "not obeyed")],
)
async def test_a_schema_that_is_taken_and_ignored_is_seen(said: str, words: str) -> None:
    found = await examined(FakeServer(well(lambda body: said if "response_format" in body else None)))
    assert seen(found, "JSON Schema").found.startswith(words)
    assert "schema" not in found.offers


async def test_a_schema_that_is_refused_is_seen() -> None:
    found = await examined(FakeServer(well(), refuses={"response_format": "response_format is unknown"}))
    assert seen(found, "JSON Schema").found == "not taken"


@pytest.mark.parametrize(
    ("given", "words", "offered"),
    [
        (None, "none come back", False),
        (logprobs(0), "of the token itself alone", True),
        (logprobs(5), "5 alternatives a token, 20 asked for", True),
    ],
)
async def test_log_probabilities_are_counted(given: dict[str, Any] | None, words: str, offered: bool) -> None:
    choice = {"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop", "logprobs": given}
    spoilt = {"choices": [choice]}
    found = await examined(FakeServer(well(lambda body: spoilt if "logprobs" in body else None)))
    assert seen(found, "log-probabilities").found == words
    assert ("logprobs" in found.offers) is offered


async def test_a_schema_is_not_blamed_for_a_thought_that_used_all_tokens() -> None:
    thinks = {"content": None, "reasoning": "the sea …", "finish_reason": "length"}
    found = await examined(FakeServer(well(lambda body: thinks if "response_format" in body else None)))
    assert seen(found, "JSON Schema").state == "unknown"


def _draft(body: Body, text: str) -> Reply | None:
    return text if "random" in body["messages"][0]["content"] else None


async def test_drafts_that_are_all_alike_are_seen() -> None:
    found = await examined(FakeServer(well(lambda body: _draft(body, "the same"))))
    assert seen(found, "seeds").found == "two seeds gave the same text at temperature 1"


async def test_a_seed_that_repeats_nothing_is_seen() -> None:
    count = iter(range(100))
    found = await examined(FakeServer(well(lambda body: _draft(body, f"word {next(count)}"))))
    assert seen(found, "seeds").found == "differ; one seed repeats nothing"


async def test_a_seed_that_repeats_only_alone_is_told_apart() -> None:
    calls = iter(["a", "b", "c", "c"])
    found = await examined(FakeServer(well(lambda b: next(calls) if _draft(b, "x") else None)))
    assert seen(found, "seeds").found == "differ; one seed repeats only while nothing else is asked"


async def test_a_token_limit_that_is_ignored_is_seen() -> None:
    found = await examined(FakeServer(well(lambda body: _draft(body, f"{body['seed']} " + "word " * 30))))
    assert seen(found, "token limit").found == "not kept: 31 tokens, 10 were allowed"


async def test_a_thought_is_seen() -> None:
    said = {"content": "4", "reasoning": "two and two"}
    found = await examined(
        FakeServer(well(lambda body: said if body["messages"][0]["content"] != COUNT else None))
    )
    assert seen(found, "thinking").state == "weak"
    assert seen(found, "thinking").found.startswith("on")


async def test_a_thought_that_uses_all_tokens_is_suspected() -> None:
    said = {"content": None, "finish_reason": "length"}
    found = await examined(FakeServer(well(lambda body: said)), JUDGING)
    assert seen(found, "completions").found.startswith("an empty reply, cut off after")
    assert seen(found, "thinking").found.startswith("perhaps on and hidden")


@pytest.mark.parametrize("probes", [TEXT, JUDGING], ids=["policy", "judge"])
async def test_of_a_server_that_says_nothing_nothing_is_told(probes: Sequence[Named]) -> None:
    found = await examined(FakeServer(lambda body: ""), probes)
    states = {finding.probe: (finding.found, finding.state) for finding in found.findings}
    for probe in ("reachable", "context", "completions", "cached tokens"):
        states.pop(probe, None)
    assert states
    assert {(said.split(": ")[-1], state) for said, state in states.values()} <= {
        ("nothing was said", "unknown"),
        ("nothing was said", "weak"),
    }, states
    assert "no search can run" in seen(found, "completions").means
    assert (found.runs, found.offers) == (False, frozenset())
    assert not any(finding.gives or finding.lacks for finding in found.findings)


async def test_one_reply_that_is_empty_does_not_condemn_a_server() -> None:
    empty = {"content": "", "finish_reason": "stop"}
    found = await examined(
        FakeServer(well(lambda body: None if body.get("stop") or "seed" in body else empty))
    )
    assert found.runs


async def test_a_probe_that_breaks_takes_no_other_along() -> None:
    server = FakeServer(
        well(), refuses={"logprobs": "internal confusion", "response_format": "no schema here"}
    )
    server.refuses = {"logprobs": "the model says no"}
    found = await examined(server)
    assert seen(found, "log-probabilities").found.startswith("not tried: ")
    assert seen(found, "log-probabilities").state == "unknown"
    assert seen(found, "JSON Schema").found == "obeyed"
    assert found.runs


async def test_without_completions_nothing_else_is_tried() -> None:
    server = FakeServer(well())
    server.queue(*(status(404, "no such route"),) * 5)
    found = await examined(server)
    assert not found.runs
    assert [finding.probe for finding in found.findings] == ["reachable", "context", "completions"]
    assert "404" in seen(found, "completions").found


async def test_a_server_that_hangs_is_given_up_in_time() -> None:
    async with FakeServer(well()) as server:
        server.queue(*(hang(),) * 3)
        found = await examine(
            "policy", Settings(policy=RoleOptions(None, server.url), timeout=0.2, max_retries=0), Keys(), TEXT
        )
    assert "no reply within 0.2 s" in seen(found, "completions").found


async def test_what_cannot_be_reached_is_one_finding() -> None:
    found = await examine("policy", Settings(policy=FAR), Keys(), TEXT)
    assert [(finding.probe, finding.state) for finding in found.findings] == [("reachable", "bad")]
    assert found.server is None
    assert not found.runs


async def test_a_model_that_is_not_served_is_one_finding() -> None:
    async with FakeServer(well(), models=("one", "two")) as server:
        asked = Settings(policy=RoleOptions("three", server.url))
        found = await examine("policy", asked, Keys(), TEXT)
    assert [finding.probe for finding in found.findings] == ["model"]
    assert "it serves one, two" in found.findings[0].found


async def test_a_key_that_is_refused_is_one_finding_without_the_key() -> None:
    async with FakeServer(well(), key="right-and-long") as server:
        found = await examine("policy", settings(server), Keys("wrong-and-long"), TEXT)
    assert [(finding.probe, finding.state) for finding in found.findings] == [("reachable", "bad")]
    assert "wrong-and-long" not in found.findings[0].found


async def test_a_judge_is_examined_though_the_policy_is_gone() -> None:
    async with FakeServer(well(), models=("j",)) as server:
        asked = Settings(policy=FAR, judge=RoleOptions(None, server.url), timeout=5.0, max_retries=0)
        found = await examine("judge", asked, Keys(), JUDGING)
    assert found.server is not None
    assert (found.server.role, found.server.model) == ("judge", "j")
    assert seen(found, "JSON Schema").found == "obeyed"


async def test_a_judge_on_the_policys_server_is_sent_its_key() -> None:
    async with FakeServer(well(), models=("p", "j"), key="right-and-long") as server:
        asked = Settings(
            policy=RoleOptions("p", server.url), judge=RoleOptions("j"), timeout=5.0, max_retries=0
        )
        found = await examine("judge", asked, Keys("right-and-long"), JUDGING)
    assert found.runs
    assert {body["model"] for body in server.bodies} == {"j"}


NEEDED = frozenset({"logprobs"})


async def test_log_probabilities_of_the_reward_model_are_enough() -> None:
    async with FakeServer("4") as policy, FakeServer(well()) as prm:
        asked = settings(policy, prm=RoleOptions(None, prm.url))
        async with connect(asked, needs=NEEDED | {"prm"}) as there:
            assert [found.role for found in there.servers] == ["policy", "judge", "prm"]


async def test_a_reward_model_that_is_not_needed_neither_helps_nor_is_blamed() -> None:
    async with FakeServer("4") as policy, FakeServer(well()) as able, FakeServer("4") as mute:
        for prm in (able, mute):
            asked = settings(policy, prm=RoleOptions(None, prm.url))
            with pytest.raises(UsageError, match="without logprobs; choose") as caught:
                async with connect(asked, needs=NEEDED):
                    pass
            assert "prm" not in str(caught.value)
            assert not prm.bodies


async def test_a_need_that_nobody_meets_names_both_sides() -> None:
    async with FakeServer("4") as policy:
        with pytest.raises(
            UsageError, match=f"the recipe needs logprobs; policy at {policy.url} .* without logprobs"
        ):
            async with connect(settings(policy), needs=NEEDED):
                pass


async def test_a_trial_that_fails_for_another_reason_refuses_nothing() -> None:
    async with FakeServer("4") as policy:
        policy.queue(status(400, "not today"))
        async with connect(settings(policy), needs=NEEDED):
            assert len(policy.bodies) == 1


async def test_a_recipe_without_needs_is_not_tried_out() -> None:
    async with FakeServer("4") as policy, connect(settings(policy)):
        assert not policy.bodies
