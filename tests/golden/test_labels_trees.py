r"""Trees of labels, worked out by hand.

omega-prm, 4 completions, the right answer is 7:
  root       add buy =7 (right), add cut dig eat =3 (100 tokens), buy =3 (50 tokens), add buy =7 (right): MC .5
  search 1   .5^.5 .9^(100/500) = .692362 (vector A15), .5^.5 .9^(50/500) = .699695; nothing was searched, so
             U = 0: buy =3. Beginnings: buy. Its completions are wrong: MC 0, so the first error is in step 1
  search 2   the root's other one, .692362 + .125 sqrt 1 / 2 = .754862, is the only one in the pool
             beginnings: add, add cut, add cut dig, add cut dig eat; l = 0, h = 3, m = 1: add cut
             completions: add cut =7 (right), add cut fix get =9 twice, add cut =3: MC .25; l = 2, m = 2: add cut dig
             completions are wrong: MC 0, h = 1: the first error is in step 3; add and add cut dig eat are never asked
  search 3   the pool: add cut fix get =9, once; the other is the same text, and add cut =3 is one step
             beginnings: add cut fix, add cut fix get; l = 0, h = 1, m = 0: add cut fix, all right: MC 1; l = m = 1:
             add cut fix get, wrong: MC 0, h = 0: the first error is in step 4
  then       no state with 0 < MC < 1 has a rollout left: exhausted

math-shepherd, 2 solutions, 2 completions of each step, the right answer is 5; the scores are the table's:
  add (5, 3: .5), add =5 right: 1. The weakest step is .5. buy (3, 5: .5), buy eat (3, 3: 0), buy eat =3 wrong: 0.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mctsr.engine import search
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.scripted import Scripted
from mctsr.recipes.labels.math_shepherd import by_weakest_step
from mctsr.testing.laws import check_shape
from mctsr.tree import Sample, State, Tree
from tests.support.rollout_story import Rollouts, names, numbers, searched, text_of, words
from tests.support.step_story import OFFERS, PROBLEM, recipe

OMEGA = Rollouts(
    {
        "": ["add buy =7", "add cut dig eat =3", "buy =3", "add buy =7"],
        "buy": ["=3", "eat =4"],
        "add cut": ["=7", "fix get =9", "=3", "fix get =9"],
        "add cut dig": ["=3"],
        "add cut fix": ["=7"],
        "add cut fix get": ["=9", "=8"],
    },
    {"add cut dig eat =3": 100, "buy =3": 50, "add cut fix get =9": 30},
)


async def test_omega_prm_finds_first_errors_by_halving() -> None:
    outcome, lm = await searched(OMEGA, recipe("omega-prm", completions=4, uses_gold=True), known="7")
    tree = outcome.tree
    assert numbers(tree) == {
        "": (0.5, 4),
        "buy": (0.0, 4),
        "add cut": (0.25, 4),
        "add cut dig": (0.0, 4),
        "add cut fix": (1.0, 4),
        "add cut fix get": (0.0, 4),
    }
    errors = {words(state.text): state.ended for state in tree.states if "error" in state.ended}
    assert errors == {
        "buy =3": "first error in step 1",
        "add cut dig eat =3": "first error in step 3",
        "add cut fix get =9": "first error in step 4",
    }
    assert [request.begun for _, request in lm.calls[4::4]] == [
        f"{text_of(begun)}\n\n"
        for begun in ("buy", "add cut", "add cut dig", "add cut fix", "add cut fix get")
    ]
    assert len(lm.calls) == 6 * 4
    assert outcome.reason == "exhausted"
    check_shape(tree)


async def test_omega_prm_says_of_every_solution_why_it_is_not_searched() -> None:
    outcome, _ = await searched(OMEGA, recipe("omega-prm", completions=4, uses_gold=True), known="7")
    tree = outcome.tree
    ended = {words(state.text): state.ended for state in tree.states[1:5]}
    assert ended["add buy =7"] == "finished"
    below = {
        words(state.text): state.ended for state in tree.states if words(state.text).startswith("add cut")
    }
    assert below["add cut =3"] == "finished", "one step: there is nothing to halve"
    assert [state.ended for state in tree.states if words(state.text) == "add cut fix get =9"] == [
        "first error in step 4",
        f"same text as {names(tree).index('add cut fix get =9')}",
        *["finished"] * 2,
    ], "known already; and one step more below add cut fix get"


async def test_omega_prm_answers_as_the_first_solutions_do_and_knows_nothing_better() -> None:
    story = Rollouts({**OMEGA.after, "": ["buy =3", "add buy =7", "buy =3", "add cut dig eat =3"]})
    what = recipe("omega-prm", completions=4, uses_gold=True)
    outcome, _ = await searched(story, what, known="7")
    said = what.answerer(outcome.tree)
    assert (said.answer, said.by) == ("3", "majority")
    assert [words(outcome.tree.states[node].text) for node in outcome.tree.front] == list(story.after[""])


@pytest.mark.parametrize(("known", "reason"), [("7", "all solutions right"), ("8", "no solution right")])
async def test_omega_prm_leaves_problems_that_are_too_easy_or_too_hard(known: str, reason: str) -> None:
    story = Rollouts({"": ["add =7", "add buy =7"]})
    outcome, lm = await searched(story, recipe("omega-prm", completions=4, uses_gold=True), known=known)
    assert (outcome.reason, len(lm.calls)) == (reason, 4)
    assert not outcome.failed


async def test_omega_prm_stops_after_so_many_searches() -> None:
    what = recipe("omega-prm", completions=4, searches=2, uses_gold=True)
    outcome, lm = await searched(OMEGA, what, known="7")
    assert outcome.reason == "searches"
    assert len(lm.calls) == 4 * 4
    assert sum(state.ended.startswith("first error in") for state in outcome.tree.states) == 2


async def test_omega_prm_without_known_answers_takes_the_first_solutions_majority_for_right() -> None:
    # 7 and 3 are told twice each, 7 first. What is told below buy, a mistake, changes nothing about that.
    one, _ = await searched(OMEGA, recipe("omega-prm", completions=4, uses_gold=True), known="7")
    outcome, _ = await searched(OMEGA, recipe("omega-prm", completions=4))
    assert numbers(outcome.tree) == numbers(one.tree)
    # Where most of the first solutions say 3, those are right.
    story = Rollouts(
        {**OMEGA.after, "": ["buy =3", "add buy =7", "buy =3", "buy =3"], "add": ["=3"], "add buy": ["=7"]}
    )
    outcome, _ = await searched(story, recipe("omega-prm", completions=4))
    assert numbers(outcome.tree) == {"": (0.75, 4), "add": (1.0, 4), "add buy": (0.0, 4)}
    errors = {words(state.text): state.ended for state in outcome.tree.states if "error" in state.ended}
    assert errors == {"add buy =7": "first error in step 2"}


async def test_omega_prm_looks_for_no_error_in_a_solution_that_was_cut_off() -> None:
    def says(place: Place, request: Request) -> Completion:
        told = OMEGA(place, request)
        cut = not request.begun and place.draft == 1
        return replace(told, text=told.text[:20], finish="length", stop=None) if cut else told

    async def seven(answer: str) -> bool:
        return answer == "7"

    what, lm = recipe("omega-prm", completions=4, uses_gold=True), Scripted(says, offers=OFFERS)
    tree = (await search(PROBLEM, what, lm, referee=seven)).tree
    assert numbers(tree) == {"": (0.5, 4), "buy": (0.0, 4)}, "it counts as wrong, as in other estimates"
    assert [state.ended for state in tree.states[1:5]] == [
        *("finished", "cut off", "first error in step 1", "finished"),
    ]


@pytest.mark.parametrize("width", [2, 5])
async def test_omega_prm_searches_several_solutions_at_a_time(width: int) -> None:
    what = recipe("omega-prm", completions=4, uses_gold=True)
    outcome, _ = await searched(OMEGA, what, known="7", width=width)
    one, _ = await searched(OMEGA, what, known="7")
    assert numbers(outcome.tree) == numbers(one.tree)


# Math-Shepherd

SOLUTIONS = (("add", "=5"), ("buy", "eat", "=3"))
COMPLETIONS = {"": ("=5", "=3"), "add": ("=5", "=3"), "buy": ("=3", "=5"), "buy eat": ("=3", "=3")}


def shepherd(place: Place, request: Request) -> Completion:
    begun = words(request.begun)
    if place.part == "mc_estimate":
        return Completion(text_of(COMPLETIONS[begun][place.sample]), usage=Usage(1, 1), stop="")
    so_far = tuple(begun.split())
    solution = SOLUTIONS[place.draft] if not so_far else next(s for s in SOLUTIONS if s[0] == so_far[0])
    word = solution[len(so_far)]
    ends = word[0] == "="
    return Completion(
        text_of(word) + ("" if ends else "\n\n"), usage=Usage(1, 1), stop="" if ends else "\n\n"
    )


def line(tree: Tree, node: int) -> str:
    return " ".join(words(tree.states[i].text) for i in tree.line(node)[1:])


async def labelled(**arguments: Any) -> tuple[Tree, Scripted, str | None]:
    async def referee(answer: str) -> bool | None:
        return answer == "5"

    what, lm = recipe("math-shepherd", n=2, completions=2, **arguments), Scripted(shepherd, offers=OFFERS)
    outcome = await search(PROBLEM, what, lm, referee=referee)
    assert outcome.reason == "all finished"
    return outcome.tree, lm, what.answerer(outcome.tree).answer


async def test_math_shepherd_completes_every_step_and_gives_no_solution_up() -> None:
    tree, lm, answer = await labelled(uses_gold=True)
    values = {line(tree, node): tree.value(node) for node in range(1, len(tree))}
    assert values == {"add": 0.5, "add =5": 1.0, "buy": 0.5, "buy eat": 0.0, "buy eat =3": 0.0}
    parts = [place.part for place, _ in lm.calls]
    assert (parts.count("step"), parts.count("mc_estimate")) == (5, 2 * 3)
    assert answer == "5"


async def test_math_shepherd_without_known_answers_counts_agreement_with_the_problems_own_completions() -> (
    None
):
    # Of the problem itself 5 is the first of 5, 3; that all below buy eat say 3 makes it no more right.
    tree, lm, answer = await labelled()
    values = {line(tree, node): tree.value(node) for node in range(len(tree))}
    assert values == {"": 0.5, "add": 0.5, "add =5": 1.0, "buy": 0.5, "buy eat": 0.0, "buy eat =3": 0.0}
    assert [place.part for place, _ in lm.calls].count("mc_estimate") == 2 * 3 + 2
    assert answer == "5"


def weighed(*solutions: tuple[str, Sequence[float]]) -> Tree:
    tree = Tree()
    tree.add(-1, State("", step=True))
    for answer, values in solutions:
        above = 0
        for i, value in enumerate(values):
            last = i == len(values) - 1
            above = tree.add(above, State(f"{answer} {i}", answer if last else None, step=True))
            tree.judged(above, (Sample(value, value),))
            tree.nodes["value"][above] = value
    return tree


def test_a_solution_is_worth_its_weakest_step() -> None:
    tree = weighed(("1", [0.9, 0.2, 1.0]), ("2", [0.5, 0.6]), ("1", [0.4, 0.9]), ("3", [0.1]))
    assert by_weakest_step("best")(tree) == ("2", 5, "best by the weakest step")
    assert by_weakest_step("weighted")(tree).answer == "1", ".2 + .4 are more than .5"
    assert by_weakest_step("majority")(tree).answer == "1"
    assert by_weakest_step("weighted")(tree).node == 7, "of equal answers the one with the best path speaks"


def test_without_a_finished_solution_nobody_is_chosen() -> None:
    tree = weighed(("1", [0.9]))
    tree.states[1].answer = None
    assert by_weakest_step("best")(tree).answer is None
