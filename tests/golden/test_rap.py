r"""Reasoning via planning, worked out by hand: alpha 1/2, w_exp 1, 3 questions, two asked below a node.

r = sqrt(useful * confidence), the value of a step is the mean of r over its path, Q the best below.
  ask 1    A: useful .81, answers 1 1, r .9. B: useful .5, answers 2 3, 2 4: half of four say 2, r sqrt(.5 * .5) = .5.
  ask 2    on to A. C: useful .49, r .7, mean .8. Whole: useful .25, r .5, mean .7, finished, but C is better. A .8
  ask 3    on to C. The third question is the last, and asked without a call: useful .36, r .6, mean
           (.9 + .7 + .6) / 3 = .733: path 1, the walk is over: it is one visit of root, A, C and its end, all .733
  ask 4    nothing below A can grow: B. Both questions are the whole: one node, useful .75, answers 7 8, 7 7: confidence
           .75, r .75, mean .625: path 2, one visit of root, B and its end
"""

import re
from collections import Counter
from dataclasses import replace

import pytest

from mctsr.caller import Caller
from mctsr.engine import search
from mctsr.errors import RecipeError, ServerError
from mctsr.expand.sub_question import OVERALL, SubQuestions
from mctsr.judge.sub_question import SubQuestionReward
from mctsr.lm.base import Completion, Place, Request
from mctsr.lm.scripted import Scripted
from mctsr.parts import Draft, Path, Problem, Unscored
from mctsr.prompting import Prompts
from mctsr.recipes.registry import choose
from mctsr.runs.price import price
from mctsr.runs.settings import Settings
from mctsr.testing.laws import check_expander, check_recipe
from tests.support.judging import label
from tests.support.step_story import PROBLEM, recipe

QUESTIONS = {
    "": ["Question 1: A?", "**B?**"],
    "A?": ["C?", f"{OVERALL}\n"],
    "B?": [OVERALL, "how much  is it"],
}
ANSWERS = {
    **{"A?": "11", "B?": "2324", "A? C?": "55", f"A? {OVERALL}": "44", f"B? {OVERALL}": "7877"},
    f"A? C? {OVERALL}": "66",
}
USEFUL = {
    **{"A?": 0.81, "B?": 0.5, "A? C?": 0.49, f"A? {OVERALL}": 0.25, f"B? {OVERALL}": 0.75},
    f"A? C? {OVERALL}": 0.36,
}


ASKED = re.compile(
    r"^(?:Question(?: \d)?: )?((?:[ABC]|What is the answer to the whole problem)\?)$", re.MULTILINE
)


def asked(text: str) -> str:
    """Return the questions that stand in a prompt, joined."""
    return " ".join(ASKED.findall(text))


def says(place: Place, request: Request) -> Completion:
    said = request.messages[-1].content
    if place.part == "sub_question":
        return Completion(QUESTIONS[asked(said.partition("Answered so far:")[2])][place.draft])
    if place.part == "sub_question_answer":
        number = ANSWERS[asked(said.partition("Answered so far:")[2])][place.sample]
        return Completion(f"It follows.\nThe answer is \\boxed{{{number}}}")
    assert "boxed" not in said, "the answers are not shown to who judges the questions"
    useful = USEFUL[asked(said.partition("Questions so far:")[2])]
    if place.part == "sub_question_score":
        return Completion(f'{{"reason": "", "score": {useful * 10}}}')
    return label(yes=useful, no=1.0 - useful)


@pytest.mark.parametrize(("offers", "part"), [({"logprobs"}, "useful"), (set[str](), "score")])
async def test_the_best_mean_reward_is_found_among_questions(offers: set[str], part: str) -> None:
    what = recipe("rap", paths=2, children=2, max_steps=3)
    lm = Scripted(says, offers=frozenset(offers))
    outcome = await search(PROBLEM, what, lm)
    tree = outcome.tree
    assert [state.text.partition("\n")[0] for state in tree.states] == [
        *["", "A?", "B?", "C?", OVERALL, OVERALL, OVERALL],
    ]
    assert [tree.parent(node) for node in range(1, 7)] == [0, 0, 1, 1, 3, 2]
    assert tree.nodes["value"][:7] == pytest.approx([2.2 / 3, 2.2 / 3, 0.625, 2.2 / 3, 0.7, 2.2 / 3, 0.625])
    assert [state.samples[0].raw for state in tree.states[1:]] == pytest.approx(
        [0.9, 0.5, 0.7, 0.5, 0.6, 0.75]
    )
    assert tree.nodes["visits"][:7].tolist() == [2, 1, 1, 1, 0, 1, 1]
    assert [state.answer for state in tree.states] == [None, None, None, None, "4", "6", "7"]
    assert tree.states[2].work["confidence"] == "0.5"
    assert tree.states[1].text == "A?\nIt follows.\nThe answer is \\boxed{1}\n\n"
    assert what.answerer(tree) == ("6", 5, "best value")
    assert outcome.reason == "paths"
    assert Counter(place.part for place, _ in lm.calls) == {
        **{"sub_question": 6, "sub_question_answer": 2 + 4 + 2 + 2 + 4 + 2, f"sub_question_{part}": 6},
    }


def one(**parts: str | Completion) -> Scripted:
    told = {"sub_question": "How many?", "sub_question_answer": "The answer is \\boxed{3}", **parts}
    return Scripted(lambda place, _: told[place.part], offers=frozenset({"logprobs"}))


async def grown(lm: Scripted, problem: Problem = PROBLEM, answers: int = 8) -> Draft:
    expander = SubQuestions(answers)
    caller = Caller(lm, Prompts(), problem.id, 1)
    root = (await expander.open(problem, 1, caller))[0]
    assert isinstance(root, Draft)
    found = (await expander.grow(Path(problem, ()).plus(root), 1, caller))[0]
    assert isinstance(found, Draft)
    return found


async def test_a_reply_without_words_ends_its_node_unscored() -> None:
    for lm in (one(sub_question=" "), one(sub_question="<think>Well.</think>"), one(sub_question_answer="")):
        found = await grown(lm)
        assert (found.unscored, found.done, found.answer) == ("empty reply", True, None)


async def test_answers_that_hold_nothing_have_no_confidence_and_cost_all_draws() -> None:
    lm = one(sub_question_answer="I cannot tell.")
    found = await grown(lm, answers=5)
    assert (found.work["confidence"], found.text) == ("0", "How many?\nI cannot tell.\n\n")
    assert sum(place.part == "sub_question_answer" for place, _ in lm.calls) == 5
    cut = await grown(one(sub_question_answer=Completion("The answer is \\boxed{3}", finish="length")))
    assert (cut.work["confidence"], cut.truncated) == ("0", True)


@pytest.mark.parametrize(
    ("question", "final"),
    [
        ("What is the answer to the whole problem?", True),
        ("Sub-question 2: what is the answer to the whole problem", True),
        ("How many are left?", True),
        ("1. How many are left?", True),
        ("The next question is:\n\n**How many are left?**\nIt ends the matter.", True),
        ("How many?", False),
        ("?", False),
        ("3.5 dozen are how many?", False),
        ("What is 3 + 4?", False),
    ],
)
async def test_a_solution_ends_with_the_problems_own_question(question: str, final: bool) -> None:
    problem = Problem("p", "Ann has 4 eggs and eats 1. How  many are left?", "number")
    found = await grown(one(sub_question=question), problem)
    assert (found.done, found.answer) == ((True, "3") if final else (False, None))


async def test_a_reply_that_asks_nothing_is_taken_by_its_last_line() -> None:
    assert (await grown(one(sub_question="Next:\nCount the eggs."))).text.startswith("Count the eggs.\n")


async def test_what_was_no_sub_question_is_not_judged() -> None:
    draft = Draft("3 + 4 = 7\n\n", step=True)
    lm = one(sub_question_useful=label(yes=0.9, no=0.1))
    said = await SubQuestionReward().judge(Path(PROBLEM, ()).plus(draft), 0, Caller(lm, Prompts(), "p", 1))
    assert said == Unscored("no sub-question")
    assert not lm.calls


def hashed(place: Place, request: Request) -> Completion:
    luck = place.seed(1)
    if place.part == "sub_question":
        return Completion(["How many now?", "What is left?", OVERALL, ""][luck % 4])
    if place.part == "sub_question_answer":
        return Completion(f"The answer is \\boxed{{{luck % 3}}}")
    return label(yes=luck % 97 / 97, no=1 - luck % 97 / 97) if luck % 9 else Completion("Hm.")


def model() -> Scripted:
    return Scripted(hashed, offers=frozenset({"logprobs"}))


async def test_the_laws_of_expanders_hold() -> None:
    def differs(place: Place, request: Request) -> Completion:
        asks = place.part == "sub_question"
        return Completion(f"How many in {place.draft}?") if asks else hashed(place, request)

    await check_expander(SubQuestions(), lm=lambda: Scripted(differs))


@pytest.mark.parametrize("width", [1, 3])
async def test_a_search_ends_repeats_itself_and_answers_with_what_was_written(width: int) -> None:
    what = replace(recipe("rap", paths=4, children=3), width=width)
    await check_recipe(what, calls=600, problem=PROBLEM, lm=model)


async def test_a_server_that_fails_at_times_ends_no_search() -> None:
    def fails(place: Place, request: Request) -> Completion | ServerError:
        return ServerError("busy", status=503) if place.seed(4) % 37 == 0 else hashed(place, request)

    outcome = await search(PROBLEM, recipe("rap", paths=4), Scripted(fails, offers=frozenset({"logprobs"})))
    assert not outcome.failed
    assert not outcome.tree.nodes["in_flight"].any()


def test_a_dry_run_counts_at_most_what_a_rollout_costs() -> None:
    found = price([PROBLEM], recipe("rap", paths=0, rollouts=1), Prompts(), Settings())
    assert 4 * (1 + 2 + 1) < found.calls <= 4 * (1 + 8 + 1)
    assert recipe("rap").needs == frozenset()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": 1.5}, "alpha is 1.5"),
        ({"answers": 0}, "answers is 0"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"temperature": 3.0}, "temperature is 3.0"),
        ({"children": 0}, "children is 0"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(given: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=f"^{message}; it must"):
        choose("rap", given).build()
