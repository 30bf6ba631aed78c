"""What a run is going to cost, counted by hand."""

import time
from dataclasses import replace

import pytest

from mctsr.parts import Ledger, Problem
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.runs.price import (
    CHARACTERS_A_TOKEN,
    JUDGEMENT_TOKENS,
    MOST_CALLS,
    REPLY_TOKENS,
    SECONDS,
    STEPS,
    Estimate,
    price,
)
from mctsr.runs.settings import RoleOptions, Settings
from mctsr.stop import never
from mctsr.tree import Tree
from tests.testing.replies import recipe

PROMPTS = Prompts()
PLAIN = Settings(policy=RoleOptions("fake", "http://127.0.0.1:9/v1"))


def problems(count: int) -> list[Problem]:
    return [Problem(f"p{i}", f"What is {i % 10} and {i // 10}?", "number") for i in range(count)]


def asked(problem: Problem) -> int:
    """Count the prompt tokens of a plain answer."""
    said = PROMPTS["answer"].fill({"problem": problem.text})
    return sum(len(text) for _, text in said) // CHARACTERS_A_TOKEN


def test_one_answer_costs_its_prompt_and_a_reply_of_typical_length() -> None:
    given = problems(1)
    found = price(given, recipe("zero-shot"), PROMPTS, PLAIN)
    assert found == Estimate(1, 1, 1.0, asked(given[0]), REPLY_TOKENS, roles=("policy",))
    assert (found.total_calls, found.total_tokens) == (1, asked(given[0]) + REPLY_TOKENS)


def test_the_means_of_the_first_twenty_stand_for_all() -> None:
    given = problems(50)
    found = price(given, recipe("zero-shot"), PROMPTS, PLAIN)
    mean = sum(map(asked, given[:20])) / 20
    assert found == Estimate(50, 20, 1.0, mean, REPLY_TOKENS, roles=("policy",))
    assert (found.total_calls, found.total_tokens) == (50, round(50 * (mean + REPLY_TOKENS)))


def test_without_problems_nothing_is_spent() -> None:
    found = price([], recipe("mctsr"), PROMPTS, PLAIN)
    assert found == Estimate(0, 0, 0.0, 0.0, 0.0)
    assert (found.total_calls, found.total_tokens) == (0, 0)


@pytest.mark.parametrize(
    ("name", "arguments", "policy", "judge"),
    [
        ("zero-shot", {}, 1, 0),
        ("self-consistency", {"n": 5}, 5, 0),
        ("best-of-n", {"n": 5, "samples": 3}, 5, 15),
        ("self-refine", {"rollouts": 3}, 7, 0),
        ("mctsr", {"rollouts": 8}, 17, 18),
        ("mctsr-code", {"rollouts": 16}, 33, 34),
    ],
)
def test_replies_and_judgements_are_counted_apart(
    name: str, arguments: dict[str, int], policy: int, judge: int
) -> None:
    found = price(problems(2), recipe(name, **arguments), PROMPTS, PLAIN)
    assert found.calls == policy + judge
    assert found.completion_tokens == policy * REPLY_TOKENS + judge * JUDGEMENT_TOKENS


def test_short_limits_on_replies_make_them_short() -> None:
    brief = replace(PLAIN, policy=RoleOptions("fake", max_tokens=10), judge_max_tokens=5)
    found = price(problems(2), recipe("best-of-n", n=4), PROMPTS, brief)
    assert found.completion_tokens == 4 * 10 + 4 * 5
    long = replace(PLAIN, policy=RoleOptions("fake", max_tokens=10**6), judge_max_tokens=10**6)
    assert price(problems(2), recipe("best-of-n", n=4), PROMPTS, long).completion_tokens == 4 * 360


def test_limits_on_calls_and_tokens_apply_and_that_on_time_does_not() -> None:
    what = recipe("mctsr", rollouts=8)
    # Three calls open the tree, four make a rollout; asks in flight are finished.
    assert price(problems(1), what, PROMPTS, replace(PLAIN, max_calls=4)).calls == 7
    assert price(problems(1), what, PROMPTS, replace(PLAIN, token_limit=1)).calls == 3
    assert price(problems(1), what, PROMPTS, replace(PLAIN, time_limit=1e-9)).calls == 35


def test_longer_prompts_cost_more() -> None:
    given = problems(1)
    long = [replace(given[0], text="x" * 4000)]
    cheap, dear = (price(which, recipe("mctsr"), PROMPTS, PLAIN) for which in (given, long))
    assert dear.calls == cheap.calls
    assert dear.prompt_tokens - cheap.prompt_tokens == pytest.approx(35 * 1000, rel=0.02)


def test_a_recipe_that_needs_something_of_the_server_is_priced_too() -> None:
    what = recipe("zero-shot")
    picky = replace(what, expander=replace(what.expander, needs=frozenset({"logprobs"})))  # type: ignore[type-var]
    assert price(problems(1), picky, PROMPTS, PLAIN).calls == 1


def test_it_takes_no_time_worth_mentioning() -> None:
    began = time.perf_counter()
    price(problems(200), recipe("mctsr", rollouts=32), PROMPTS, PLAIN)
    assert time.perf_counter() - began < 5


def test_what_happens_once_such_as_compiling_takes_no_time_from_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mctsr.runs.price.SECONDS", 0.3)
    what, slow = recipe("mctsr", rollouts=8), [0.5]

    def stopper(tree: Tree, ledger: Ledger) -> str | None:
        time.sleep(slow.pop() if slow else 0.0)
        return what.stopper(tree, ledger)

    found = price(problems(1), replace(what, stopper=stopper), PROMPTS, PLAIN)
    assert (found.at_least, found.calls, slow) == (False, 35, [])


def without_end() -> Recipe:
    return replace(recipe("mctsr"), stopper=never())


@pytest.mark.parametrize("what", [without_end(), recipe("mctsr", rollouts=10**24)], ids=["never", "huge"])
def test_a_search_without_an_end_is_followed_for_a_while(what: Recipe) -> None:
    began = time.perf_counter()
    found = price(problems(3), what, PROMPTS, PLAIN)
    assert time.perf_counter() - began < SECONDS + 4
    assert found.at_least
    assert 100 < found.calls <= MOST_CALLS
    assert found.total_calls == round(3 * found.calls)


@pytest.mark.parametrize("arguments", [{"n": 10**24}, {"n": 3, "samples": 10**24}, {"n": MOST_CALLS + 1}])
def test_a_population_that_never_gets_ready_costs_at_least_what_is_followed(
    arguments: dict[str, int],
) -> None:
    found = price(problems(1), recipe("best-of-n", **arguments), PROMPTS, PLAIN)
    assert found.at_least
    assert found.calls <= MOST_CALLS
    assert found.calls == MOST_CALLS or arguments["n"] == MOST_CALLS + 1
    assert found.completion_tokens > 0


def test_a_limit_on_calls_ends_a_search_without_an_end() -> None:
    found = price(problems(2), without_end(), PROMPTS, replace(PLAIN, max_calls=30))
    assert (found.at_least, found.calls) == (False, 31)


def test_a_width_that_no_memory_holds_is_no_hindrance() -> None:
    assert price(problems(1), replace(recipe("mctsr"), width=10**12), PROMPTS, PLAIN).calls == 35


@pytest.mark.parametrize(
    ("name", "bound"),
    [("mctsr", False), ("best-of-n", False), ("beam", True), ("omega-prm", True), ("math-shepherd", True)],
)
def test_what_shorter_solutions_or_agreement_would_save_makes_the_price_a_bound(
    name: str, bound: bool
) -> None:
    assert price(problems(1), recipe(name), PROMPTS, PLAIN).at_most is bound


def test_a_limit_is_told_and_leaves_the_length_of_solutions_and_the_roles_as_they_are() -> None:
    what = recipe("puct-prm")
    free, short = (price(problems(1), what, PROMPTS, replace(PLAIN, max_calls=most)) for most in (None, 6))
    assert (free.limit, short.limit) == ("", "call limit")
    assert short.calls < 20 < free.calls
    assert short.steps == free.steps == STEPS
    assert short.roles == free.roles == ("judge", "policy")
    assert price(problems(1), what, PROMPTS, replace(PLAIN, token_limit=9)).limit == "token limit"


@pytest.mark.parametrize(
    ("name", "roles"),
    [("math-shepherd", ("policy",)), ("omega-prm", ("policy",)), ("beam", ("judge", "policy"))],
)
def test_roles_are_those_that_are_asked(name: str, roles: tuple[str, ...]) -> None:
    assert price(problems(1), recipe(name), PROMPTS, PLAIN).roles == roles


def test_a_recipe_that_asks_a_reward_model_says_so() -> None:
    assert price(problems(1), recipe("beam", judge="qwen-prm"), PROMPTS, PLAIN).roles == ("policy", "prm")
