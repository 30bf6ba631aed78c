"""`mctsr doctor`: what the servers do, which recipes that is enough for, and the exit code for scripts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mctsr.errors import RecipeError
from mctsr.recipes import RECIPES
from mctsr.recipes.needs import needs_of_all
from tests.support import fake_ways
from tests.support.doctor_fakes import VLLM, model, well
from tests.support.fake_server import Body

from .conftest import Command, Serve

OWN = """
from mctsr.recipes.sampling.zero_shot import zero_shot
from dataclasses import dataclass, replace

@dataclass(frozen=True, slots=True)
class Needy:
    inner: object
    needs: frozenset = frozenset({NEEDS})
    async def open(self, problem, n, llm):
        return await self.inner.open(problem, n, llm)
    async def grow(self, path, n, llm):
        return await self.inner.grow(path, n, llm)

def needy():
    plain = zero_shot()
    return replace(plain, expander=Needy(plain.expander))
"""


def told(mctsr: Command, *arguments: object, code: int = 0) -> dict[str, Any]:
    ended = mctsr("doctor", *arguments, "--json")
    assert ended.code == code, ended
    found: dict[str, Any] = json.loads(ended.out)
    return found


def findings(found: dict[str, Any], role: str = "policy") -> dict[str, dict[str, Any]]:
    (entry,) = [entry for entry in found["roles"] if entry["role"] == role]
    return {finding["probe"]: finding for finding in entry["findings"]}


def needy(words: str) -> str:
    Path("own.py").write_text(OWN.replace("NEEDS", words), encoding="utf-8")
    return "own.py:needy"


def test_the_table_shows_what_was_found_and_which_recipes_can_run(mctsr: Command, serve: Serve) -> None:
    server = serve(well(), extra=VLLM, more=fake_ways.vllm(model()))
    ended = mctsr("doctor", "--base-url", server.url)
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == f"policy  fake at {server.url}"
    assert lines[1].split("  ")[0] == "probe"
    rows = {line[:19].strip(): line[19:].strip() for line in lines[2:]}
    assert rows["continuing"].startswith("by token ids: goes on")
    assert rows["JSON Schema"].startswith("obeyed")
    assert "mctsr, mctsr-code" in ended.out


def test_an_address_of_another_shape_is_shown_as_it_is_taken(mctsr: Command, serve: Serve) -> None:
    server = serve(well())
    given = server.url.removeprefix("http://").removesuffix("/v1")
    assert f"at {server.url} (given as {given})" in mctsr("doctor", "--base-url", given).out
    found = told(mctsr, "--base-url", given)
    assert (found["roles"][0]["given"], found["roles"][0]["base_url"]) == (given, server.url)


def test_programs_are_told_the_same(mctsr: Command, serve: Serve) -> None:
    server = serve(well(names="", opens=lambda body: False))
    found = told(mctsr, "--base-url", server.url)
    assert found["ok"] is True
    assert found["offers"] == ["logprobs", "schema", "steps"]
    assert findings(found)["continuing"]["lacks"] == ["prefill", "token_ids"]
    assert {recipe["name"] for recipe in found["recipes"]} >= set(RECIPES)
    plain = next(recipe for recipe in found["recipes"] if recipe["name"] == "mctsr")
    assert plain == {"name": "mctsr", "needs": [], "missing": [], "unknown": "", "can_run": True}


def test_what_recipes_need_is_what_their_parts_say() -> None:
    found = {needs.name: needs for needs in needs_of_all()}
    assert set(found) >= set(RECIPES)
    assert not [needs for name, needs in found.items() if name in RECIPES and needs.unknown]
    assert found["self-consistency"].words == frozenset()


def test_a_recipe_that_cannot_tell_its_needs_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise RecipeError(f"{name} is broken")

    monkeypatch.setattr("mctsr.recipes.needs.choose", broken)
    assert {needs.unknown for needs in needs_of_all()} >= {"mctsr is broken", "zero-shot is broken"}


def test_a_server_that_cannot_be_reached_is_exit_code_1(mctsr: Command) -> None:
    ended = mctsr("doctor", "--base-url", "http://127.0.0.1:9/v1")
    assert ended.code == 1
    assert "no server answers at http://127.0.0.1:9/v1" in ended.out
    assert ended.out.endswith("can run: none\n")
    assert told(mctsr, "--base-url", "http://127.0.0.1:9/v1", code=1)["ok"] is False


def test_a_narrow_terminal_shows_every_finding_in_full(
    mctsr: Command, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "this model was built on a rainy day and wants no log-probabilities to be looked at, not today"
    server = serve(well(), refuses={"logprobs": words})
    monkeypatch.setattr("mctsr.cli.screen.render._columns", lambda _: 80)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    shown = re.sub(r"\x1b\[[\d;]*m", "", mctsr("doctor", "--base-url", server.url).out)
    lines = shown.splitlines()
    begins, ends = lines[1].index("found"), lines[1].index("what it means")
    assert words in " ".join(" ".join(line[begins:ends] for line in lines).split())
    assert max(map(len, lines)) <= 80
    assert "…" not in shown


@pytest.mark.parametrize("way", ["gone", "silent", "refusing"])
def test_where_no_search_can_run_no_recipe_is_named(way: str, mctsr: Command, serve: Serve) -> None:
    if way == "gone":
        url = "http://127.0.0.1:9/v1"
    elif way == "silent":
        url = serve(lambda body: "").url
    else:
        url = serve(well(), refuses={"messages": "no chat here"}).url
    ended = mctsr("doctor", "--base-url", url)
    assert ended.code == 1
    assert ended.out.splitlines()[-1] == "can run: none"
    assert not any(name in ended.out for name in RECIPES if name not in ("mctsr", "steps"))
    assert not any(recipe["can_run"] for recipe in told(mctsr, "--base-url", url, code=1)["recipes"])


def test_a_model_that_is_not_served_is_exit_code_1(mctsr: Command, serve: Serve) -> None:
    ended = mctsr("doctor", "--base-url", serve(well()).url, "--model", "other")
    assert ended.code == 1
    assert "model 'other' is not served" in ended.out


def test_a_server_without_completions_is_exit_code_1(mctsr: Command, serve: Serve) -> None:
    server = serve(well(), refuses={"messages": "no chat here"})
    found = told(mctsr, "--base-url", server.url, code=1)
    assert findings(found)["completions"]["state"] == "bad"
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--base-url", "no address"),
        ("--base-url", "localhost:1", "--timeout", "0"),
        ("--base-url", "localhost:1", "--extra-body", "[]"),
        ("--base-url", "localhost:1", "--no-such-flag"),
        ("--model", "embedded", "--prm-model", "big"),
    ],
)
def test_bad_flags_are_exit_code_2(mctsr: Command, arguments: tuple[str, ...]) -> None:
    ended = mctsr("doctor", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")


def test_no_key_is_shown(mctsr: Command, serve: Serve) -> None:
    server = serve(well(), key="sesame-open")
    for extra in ([], ["--json"]):
        ended = mctsr("doctor", "--base-url", server.url, "--api-key", "sesame-open", *extra)
        assert ended.code == 0
        assert "sesame" not in ended.out + ended.err


def test_a_judge_of_its_own_is_examined_too(mctsr: Command, serve: Serve) -> None:
    policy, judge = serve(well()), serve(well(), models=("j",))
    found = told(mctsr, "--base-url", policy.url, "--judge-base-url", judge.url)
    assert [entry["model"] for entry in found["roles"]] == ["fake", "j"]
    assert findings(found, "judge")["JSON Schema"]["found"] == "obeyed"


def rows(n: int) -> Any:
    """Make a reward model that gives `n` rows too many."""

    def score(body: Body) -> list[list[float]]:
        steps = body["messages"][-1]["content"].count("<extra_0>")
        return [[0.25, 0.75]] * (steps + n)

    return {"/pooling": fake_ways.pooling(score)["/pooling"]}


def test_a_reward_model_gives_as_many_scores_as_there_are_steps(mctsr: Command, serve: Serve) -> None:
    policy, prm = serve(well()), serve(models=("rm",), extra=VLLM, more=rows(0))
    found = told(mctsr, "--base-url", policy.url, "--prm-base-url", prm.url)
    scores = findings(found, "prm")
    assert scores["qwen-prm"]["found"] == "3 scores for 3 steps: 0.75, 0.75, 0.75"
    assert scores["seq-rm"]["state"] == "unknown"
    assert "token-prm" not in scores, "a server that pools is not asked to chat"
    assert "pooling" in found["offers"]
    assert "classify" not in found["offers"]
    assert not prm.bodies


def test_a_reward_model_with_a_wrong_number_of_scores_is_exit_code_1(mctsr: Command, serve: Serve) -> None:
    policy, prm = serve(well()), serve(models=("rm",), extra=VLLM, more=rows(1))
    found = told(mctsr, "--base-url", policy.url, "--prm-base-url", prm.url, code=1)
    assert findings(found, "prm")["qwen-prm"]["found"] == "wrong number of scores: 4 for 3 steps"
    assert findings(found, "prm")["scores"]["state"] == "bad"
    assert "pooling" not in found["offers"]


def test_a_chat_model_at_the_reward_models_address_is_seen(mctsr: Command, serve: Serve) -> None:
    policy, prm = serve(well()), serve(well())
    ended = mctsr("doctor", "--base-url", policy.url, "--prm-base-url", prm.url)
    assert ended.code == 1
    assert "none, by any protocol" in ended.out


def test_a_chat_model_without_text_completion_is_said_to_take_no_plain_text(
    mctsr: Command, serve: Serve
) -> None:
    policy, prm = serve(well()), serve(well(opens=lambda body: False, names=""))
    scores = findings(told(mctsr, "--base-url", policy.url, "--prm-base-url", prm.url, code=1), "prm")
    assert scores["token-prm"]["found"].startswith("the model of the prm role cannot go on from plain text")
    assert scores["token-prm"]["state"] == "weak"
    assert "no label in the reply" in scores["chat-token-prm"]["found"]
    assert scores["scores"]["state"] == "bad"


def test_a_reward_model_without_a_chat_template_is_seen_to_label_plain_text(
    mctsr: Command, serve: Serve
) -> None:
    def complete(body: Body) -> tuple[int, Any]:
        tops = {"+": -0.2877, "-": -1.3863}
        logprobs = {"tokens": ["+"], "token_logprobs": [-0.2877], "top_logprobs": [tops]}
        return 200, {"choices": [{"text": "+", "finish_reason": "length", "logprobs": logprobs}]}

    untold = {"messages": "default template is no longer allowed"}
    policy, prm = serve(well()), serve(extra=VLLM, refuses=untold, more={"/v1/completions": complete})
    found = told(mctsr, "--base-url", policy.url, "--prm-base-url", prm.url)
    assert findings(found, "prm")["token-prm"]["found"] == "3 scores for 3 steps: 0.75, 0.75, 0.75"
    assert "prm" in found["offers"]
    assert "pooling" not in found["offers"]


def test_a_reward_model_that_is_gone_hides_nothing_of_the_policy(mctsr: Command, serve: Serve) -> None:
    found = told(mctsr, "--base-url", serve(well()).url, "--prm-base-url", "http://127.0.0.1:9/v1", code=1)
    assert findings(found)["JSON Schema"]["found"] == "obeyed"
    assert findings(found, "prm")["reachable"]["state"] == "bad"


def test_solve_refuses_a_recipe_whose_needs_are_not_met_and_begins_nothing(
    mctsr: Command, serve: Serve
) -> None:
    server = serve(well(names="", opens=lambda body: False))
    recipe = needy('"prefill"')
    ended = mctsr("solve", "-q", "2+2?", "--base-url", server.url, "--recipe", recipe, "-o", "here")
    assert ended.code == 2
    assert f"the recipe needs prefill; policy at {server.url} (other) was found without prefill" in ended.err
    assert not Path("here").exists()
    assert all("alphabet" in str(body["messages"]) for body in server.bodies), "only the trials were sent"


def test_solve_looks_for_log_probabilities_before_it_begins(mctsr: Command, serve: Serve) -> None:
    mute = serve("4")
    ended = mctsr(
        "solve", "-q", "2+2?", "--base-url", mute.url, "--recipe", needy('"logprobs"'), "-o", "here"
    )
    assert ended.code == 2
    assert "was found without logprobs" in ended.err
    assert len(mute.bodies) == 1
    able = serve(well())
    ended = mctsr(
        "solve", "-q", "2+2?", "--base-url", able.url, "--recipe", needy('"logprobs"'), "-o", "here"
    )
    assert ended.code == 0


def test_solve_says_of_each_server_what_it_lacks(mctsr: Command, serve: Serve) -> None:
    policy, prm = serve(well(names="", opens=lambda body: False)), serve("4")
    needs = needy('"prefill", "logprobs", "prm"')
    servers = ("--base-url", policy.url, "--prm-base-url", prm.url)
    ended = mctsr("solve", "-q", "2+2?", *servers, "--recipe", needs, "-o", "here")
    assert ended.code == 2
    assert f"; policy at {policy.url} (other) was found without prefill; choose" in ended.err
    mute = serve("4")
    servers = ("--base-url", mute.url, "--prm-base-url", prm.url)
    ended = mctsr("solve", "-q", "2+2?", *servers, "--recipe", needs, "-o", "here")
    policy_lacks = f"policy at {mute.url} (other) was found without logprobs, prefill"
    assert f"{policy_lacks}; prm at {prm.url} (other) was found without logprobs;" in ended.err


def test_solve_with_a_recipe_that_needs_scores_names_the_missing_reward_model(
    mctsr: Command, serve: Serve
) -> None:
    server = serve(well())
    ended = mctsr(
        "solve", "-q", "2+2?", "--base-url", server.url, "--recipe", needy('"pooling"'), "-o", "here"
    )
    assert ended.code == 2
    assert "without pooling" in ended.err
    assert not server.bodies


@pytest.mark.embedded
def test_a_real_llama_cpp_server_is_found_to_do_what_it_does(mctsr: Command, llama_url: str) -> None:
    found = told(mctsr, "--base-url", llama_url)
    seen = findings(found)
    assert found["roles"][0]["kind"] == "llama.cpp"
    assert set(found["offers"]) == {"steps", "prefill", "logprobs", "schema"}
    assert seen["continuing"]["found"].startswith("by text")
    assert seen["stop strings"]["found"] == "obeyed, named, and kept in the step"
    assert seen["own end"]["state"] == seen["cached tokens"]["state"] == "good"
    assert seen["ids in = ids out"]["found"].startswith("the same")
    assert seen["log-probabilities"]["found"].startswith("20 alternatives")
    assert seen["seeds"]["found"].startswith("differ")
