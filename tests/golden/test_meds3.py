r"""MedS3's search, worked out by hand; two steps a node, two completions a step, right is 5. V (n): value and visits.

c = 2; V <- (V + mean of the children by visits) / 2 after each new child, the root has its children's mean alone.
  ask 1    the root: add, completions 5 and 3: .5 (1); buy, 3 and 3: 0 (1); root .25 (2)
  ask 2    add .5 + 2 sqrt(ln 2) = 2.165, buy 1.665: add. Below it cut, 5 and 5: 1 (1), add (.5 + 1) / 2 = .75 (2);
           then the answer 3, wrong: 0 (1), left open, add (.75 + .5) / 2 = .625 (3), root 1.875 / 4 = .46875 (4)
  ask 3    add .625 + 2 sqrt(ln 4 / 3) = 1.985, buy 2 sqrt(ln 4) = 2.355: buy. eat, 3 and 3: 0 (1), buy 0 (2); then
           the answer 5, right and ended: 1 (1), buy (0 + .5) / 2 = .25 (3), root (1.875 + .75) / 6 = .4375 (6)
  ask 4    add .625 + 2 sqrt(ln 6 / 3) = 2.171, buy 1.796: add; cut 1 + 2 sqrt(ln 3) = 3.096, the answer 2.096: cut. All
           its completions were right: one child finishes, 1 (1). cut 1 (2), add (.625 + 2 / 3) / 2 = .645833 (4),
           root (4 * .645833 + .75) / 7 = .476190 (7)
  ask 5    add .645833 + 2 sqrt(ln 7 / 4) = 2.041, buy .25 + 2 sqrt(ln 7 / 3) = 1.861: add; cut is spent: the answer 3
           is reflected on, completions 5 and 3: .5 (1). The answer (0 + .5) / 2 = .25 (2), and now it is ended.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from mctsr.engine import Outcome, search
from mctsr.errors import RecipeError, ServerError
from mctsr.expand.moves.reflect import ACTION, REFLECTION
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.scripted import Scripted
from mctsr.prompting import Prompts
from mctsr.runs.price import price
from mctsr.runs.settings import Settings
from mctsr.select.descent import Descent
from mctsr.select.labels.reflecting import EndRight, uct_trajectory
from mctsr.testing.laws import check_recipe, check_selector
from mctsr.tree import Tree
from tests.support.judging import label
from tests.support.step_story import PROBLEM, recipe

OFFERS = frozenset({"steps", "logprobs"})
STEPS: Mapping[str, Sequence[str]] = {
    **{"": ["add", "buy"], "add": ["cut", "=3"], "buy": ["eat", "=5"], "eat": ["dig", "=3"]},
    **{"Wait": ["redo"], "redo": ["=5", "=3"], "cut": ["dig", "=5"], "dig": ["=5", "=3"]},
}
COMPLETED = {"add": "53", "buy": "33", "cut": "55", "eat": "33", "redo": "53", "dig": "53"}
SCORES = {"add": 0.8, "buy": 0.4, "cut": 0.5, "eat": 0.9, "=3": 0.2, "=5": 0.7, "redo": 0.6, "dig": 0.3}


def says(place: Place, request: Request) -> Completion:
    if place.part == "judge_label":
        score = SCORES[_last(request.messages[-2].content)]
        return label(yes=score, no=1 - score)
    last = _last(request.begun)
    if place.part == "mc_estimate":
        answer = COMPLETED[last][place.sample % 2]
        return Completion(f"So \\boxed{{{answer}}}", usage=Usage(1, 1), stop="")
    if place.part == "finish":
        return Completion("dig\n\nThe answer is \\boxed{5}", usage=Usage(1, 1), stop="")
    words = STEPS["Wait" if request.begun.endswith(REFLECTION) else last]
    word = words[place.draft % len(words)]
    if word.startswith("="):
        return Completion(f"The answer is \\boxed{{{word[1:]}}}", usage=Usage(1, 1), stop="")
    return Completion(f"{word}\n\n", usage=Usage(1, 1), stop="\n\n")


def _last(text: str) -> str:
    words = text.split("\n\n")
    last = next((word.strip() for word in reversed(words) if word.strip()), "")
    return f"={last[-2]}" if last.startswith("The answer") else last


async def known(answer: str) -> bool:
    return answer == "5"


async def told(**arguments: object) -> tuple[Outcome, Scripted]:
    lm = Scripted(says, offers=OFFERS)
    what = recipe("meds3", children=2, completions=4, fewest=2, **arguments)
    return await search(PROBLEM, what, lm, referee=known if what.uses_gold else None), lm


def same(tree: Tree, wanted: Sequence[tuple[str, float, int]]) -> None:
    used = tree.nodes[: len(tree)]
    assert [_last(state.text) for state in tree.states] == [name for name, _, _ in wanted]
    assert used["value"].tolist() == pytest.approx([value for _, value, _ in wanted], abs=1e-6)
    assert used["visits"].tolist() == [visits for _, _, visits in wanted]


async def test_values_are_shares_of_right_completions_and_move_half_way() -> None:
    outcome, lm = await told(right=2, uses_gold=True)
    same(
        outcome.tree,
        [
            *[("", 0.476190, 7), ("add", 0.645833, 4), ("buy", 0.25, 3)],
            *[("cut", 1.0, 2), ("=3", 0.0, 1), ("eat", 0.0, 1), ("=5", 1.0, 1), ("=5", 1.0, 1)],
        ],
    )
    assert outcome.reason == "right answers"
    assert [state.ended for state in outcome.tree.states] == [""] * 6 + ["finished"] * 2
    assert [state.work.get(ACTION) for state in outcome.tree.states] == [
        *[None] * 4,
        *["finish", None, "finish", "finish"],
    ]
    assert Counter(place.part for place, _ in lm.calls) == {"step": 6, "finish": 1, "mc_estimate": 2 * 4}
    assert recipe("meds3").answerer(outcome.tree).answer == "5"


async def test_a_wrong_answer_is_reflected_on_once_and_then_ended() -> None:
    outcome, lm = await told(nodes=9, uses_gold=True)
    tree = outcome.tree
    assert outcome.reason == "nodes"
    assert tree.states[8].text == f"{REFLECTION}redo\n\n"
    assert tree.states[8].work == {ACTION: "reflect"}
    assert (tree.parent(8), tree.states[4].ended) == (4, "finished")
    assert tree.value(4) == pytest.approx(0.25)
    assert tree.nodes["visits"][4] == 2
    begun = [request.begun for place, request in lm.calls if place.part == "step"][-1]
    assert begun == f"add\n\nThe answer is \\boxed{{3}}{REFLECTION}"
    # Below the reflection no reflections are left: a wrong answer ends at its birth.
    outcome, _ = await told(nodes=40, right=0, uses_gold=True)
    below = [outcome.tree.line(node) for node in range(len(outcome.tree))]
    for line in below:
        assert sum(outcome.tree.states[node].work.get(ACTION) == "reflect" for node in line) <= 1
    assert outcome.reason == "exhausted"
    assert all(state.ended for state in outcome.tree.states if state.answer is not None)


async def test_without_reflections_every_answer_is_an_end() -> None:
    outcome, _ = await told(reflections=0, uses_gold=True, right=0, nodes=40)
    assert not any(state.work.get(ACTION) == "reflect" for state in outcome.tree.states)
    assert all(state.ended == "finished" for state in outcome.tree.states if state.answer is not None)


async def test_without_known_answers_the_completions_above_say_what_is_wrong() -> None:
    # Below add 5 was the first answer, and below buy 3 the only one: what says otherwise is wrong, and is mended once.
    tree = (await told(nodes=7))[0].tree
    answers = [node for node, state in enumerate(tree.states) if state.answer is not None]
    found = {(tree.parent(i), _last(tree.states[i].text)): tree.states[i].samples[0].value for i in answers}
    assert (found[1, "=3"], found[2, "=5"]) == (0.0, 0.0)
    assert {_last(tree.states[i].text): tree.states[i].ended for i in answers[:2]} == {
        "=5": "finished",
        "=3": "",
    }


async def test_deeper_steps_take_fewer_completions() -> None:
    lm = Scripted(says, offers=OFFERS)
    what = recipe("meds3", children=2, completions=9, fewest=2, nodes=5, uses_gold=True)
    outcome = await search(PROBLEM, what, lm, referee=known)
    taken = [len(json.loads(state.samples[0].text)) for state in outcome.tree.states[1:4]]
    assert taken == [9 // 2, 9 // 2, 9 // 3]


async def test_with_a_judge_of_steps_the_product_of_the_scores_leads() -> None:
    outcome, lm = await told(judge="llm-judge", nodes=5)
    assert Counter(place.part for place, _ in lm.calls) == {"step": 4, "judge_label": 4}
    tree, score = outcome.tree, uct_trajectory(2.0)
    assert _last(tree.states[3].text) == "cut"
    # add .8 * cut .5; N(add) = 3, n(cut) = 1

    found = score(tree, np.array([3, 1]))
    assert found == pytest.approx([0.4 + 2 * np.sqrt(np.log(3)), 0.8 + 2 * np.sqrt(np.log(4) / 3)])
    # An answer below the gate stays open, one above it is an end.
    assert tree.states[4].ended == ""
    outcome, _ = await told(judge="llm-judge", nodes=5, low_gate=0.2)
    assert outcome.tree.states[4].ended == "finished"


async def test_a_model_with_nothing_to_add_where_it_should_finish_has_ended_there() -> None:
    def silent(place: Place, request: Request) -> Completion:
        if place.part == "finish":
            return Completion("", usage=Usage(1, 1), stop="")
        ends = place.part == "mc_estimate"
        return Completion(
            "So \\boxed{5}" if ends else "2 + 3 = 5.\n\n", usage=Usage(1, 1), stop="" if ends else "\n\n"
        )

    what = recipe("meds3", children=1, completions=4, fewest=2, uses_gold=True)
    outcome = await search(PROBLEM, what, Scripted(silent, offers=OFFERS), referee=known)
    last = outcome.tree.states[-1]
    assert (last.text, last.answer, last.ended, last.unscored) == ("", "5", "finished", ["empty reply"])
    assert outcome.reason == "exhausted"


@pytest.mark.parametrize("judge", ["mc-estimate", "llm-judge"])
@pytest.mark.parametrize("width", [1, 3])
async def test_a_search_ends_repeats_itself_and_answers_with_what_was_written(judge: str, width: int) -> None:
    what = replace(recipe("meds3", children=2, completions=4, fewest=2, judge=judge), width=width)
    await check_recipe(what, calls=400, problem=PROBLEM, lm=lambda: Scripted(says, offers=OFFERS))


@pytest.mark.parametrize("judge", ["mc-estimate", "llm-judge"])
async def test_a_server_that_fails_at_times_ends_no_search(judge: str) -> None:
    def fails(place: Place, request: Request) -> Completion | ServerError:
        return ServerError("busy", status=503) if place.seed(4) % 9 == 0 else says(place, request)

    what = recipe("meds3", children=2, judge=judge, nodes=30)
    for seed in range(4):
        outcome = await search(PROBLEM, what, Scripted(fails, offers=OFFERS), seed=seed)
        assert not outcome.failed
        assert not outcome.tree.nodes["in_flight"].any()


def test_the_selector_keeps_the_laws() -> None:
    check_selector(EndRight(Descent(uct_trajectory(), 2)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"children": "0"}, "children is 0"),
        ({"finish_at": "2"}, "finish_at is 2.0; it "),
        ({"low_gate": "-1"}, "low_gate is -1.0; it "),
        ({"c": "-1"}, "c is -1.0; it "),
        ({"c": "-1", "judge": "llm-judge"}, "c is -1.0; it "),
        ({"nodes": "0"}, "nodes is 0"),
        ({"right": "-1"}, "right is -1; it "),
        ({"reflections": "-1"}, "reflections is -1; it "),
        ({"uses_gold": "true", "judge": "llm-judge"}, "it goes with judge='mc-estimate'"),
        ({"aggregate": "min"}, "so aggregate='min' has no meaning"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(RecipeError) as caught:
        recipe("meds3", **given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_dry_run_prices_the_root_and_its_children() -> None:
    found = price([PROBLEM], recipe("meds3", nodes=4, uses_gold=True), Prompts(), Settings())
    assert (found.calls, found.at_least) == (3 + 3 * 10, False)
