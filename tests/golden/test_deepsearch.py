r"""DeepSearch's walks, worked out by hand. q / N (N); two children, four steps at most, 5 is the known answer.

A newborn that is no end has a visit of its own. Entropy: a step's is -ln of its one token's chance, ln 2 = .693 unless
said; =7 below add cut has .105.

paper    weights max(i / l, .1)
  ask 1  root: no end; both scores 0, so on to add
  ask 2  add: =3 is wrong, -1. add -.5 / 2 = -.25 (2), root -.1 (1).
         buy .4 tanh(-.1) + .01 sqrt(1/4) = -.0349, cut .4 tanh(-.25) + .01 sqrt(2/4) = -.0909: buy
  ask 3  buy: =7 is wrong, =5 is right and backed up. buy .5 / 2 = .25 (2); root was below 0: .1 / 2 = .05 (2).
         The only leaf left is add cut.
  ask 4  cut: =9 and =7 are wrong; of =7 the model was more certain (mean .497 against .693).
         cut -.667 / 2 = -.333 (2), add (-.5 - .333) / 3 = -.278 (3), root is above 0 and keeps .1 / 3 = .033 (3)

code     weights (i + 1) / (l + 1)
  ask 2  add -2/3 / 2 = -.333 (2), root -1/3 (1).
         buy .4 tanh(-1/3) + .01 sqrt(1/4) = -.1236, cut .4 tanh(-1/3) + .01 sqrt(2/4) = -.1215: cut
  ask 3  cut -.75 / 2 = -.375 (2), add (-2/3 - 1/2) / 3 = -.389 (3), root (-1/3 - 1/4) / 2 = -.292 (2)
  ask 4  buy 2/3 / 2 = .333 (2), root was below 0: 1/3 / 3 = .111 (3)
"""

import math

import pytest

from mctsr.engine import Outcome, search
from mctsr.errors import ServerError
from mctsr.lm.base import Completion, Place, Request
from mctsr.lm.scripted import Scripted
from mctsr.recipe import Recipe
from mctsr.tree import Tree
from tests.support.step_story import OFFERS, PROBLEM, Story, model, name_of, names, recipe

STORY = Story(
    {
        **{"": ["add", "buy"], "add": ["cut", "=3"], "add cut": ["=9", "=7"]},
        **{"buy": ["=7", "=5"]},
    },
    {"add =3": 0.2, "buy =7": 0.45, "buy =5": 0.9, "add cut =9": 0.3, "add cut =7": 0.1},
    {"add cut =7": 0.9},
)
SMALL = {"children": 2, "max_steps": 4, "trajectories": 3}


async def grown(what: Recipe, story: Story = STORY) -> tuple[Outcome, Scripted]:
    async def right(answer: str) -> bool:
        return answer == "5"

    lm = model(story)
    return await search(PROBLEM, what, lm, referee=right if what.uses_gold else None), lm


def same(tree: Tree, wanted: dict[str, tuple[float, int]]) -> None:
    used = tree.nodes[: len(tree)]
    found = {name_of(tree, i): (used["value"][i], used["visits"][i]) for i in range(len(tree))}
    for name, (value, visits) in wanted.items():
        assert found[name] == (pytest.approx(value, abs=1e-9), visits), name


async def test_ends_are_backed_up_one_a_family_and_the_best_leaf_is_next() -> None:
    what = recipe("deepsearch", uses_gold=True, **SMALL)
    outcome, lm = await grown(what)
    assert names(outcome.tree) == [
        *["", "add", "buy", "add cut", "add =3", "buy =7", "buy =5", "add cut =9", "add cut =7"],
    ]
    same(
        outcome.tree,
        {
            **{"": (0.1 / 3, 3), "add": (-5 / 18, 3), "buy": (0.25, 2), "add cut": (-1 / 3, 2)},
            **{"add =3": (-1.0, 1), "buy =7": (-1.0, 0), "buy =5": (1.0, 1)},
            **{"add cut =9": (-1.0, 0), "add cut =7": (-1.0, 1)},
        },
    )
    assert (outcome.reason, len(lm.calls)) == ("trajectories", 2 * 4)
    assert what.answerer(outcome.tree) == ("5", 6, "best value")


async def test_the_released_code_weighs_early_steps_more_and_so_goes_another_way() -> None:
    what = recipe("deepsearch-code", uses_gold=True, **SMALL)
    outcome, _ = await grown(what)
    assert names(outcome.tree)[5:] == ["add cut =9", "add cut =7", "buy =7", "buy =5"]
    same(
        outcome.tree,
        {
            **{"": (1 / 9, 3), "add": (-7 / 18, 3), "buy": (1 / 3, 2), "add cut": (-0.375, 2)},
            **{"add cut =9": (-1.0, 0), "add cut =7": (-1.0, 1), "buy =7": (-1.0, 0), "buy =5": (1.0, 1)},
        },
    )


async def test_a_judge_stands_for_the_known_answer_and_is_asked_of_ends_alone() -> None:
    what = recipe("deepsearch", **SMALL)
    outcome, lm = await grown(what)
    # .2 and .9 of 1 are -.6 and .8; below add cut the more certain one counts, though the other has the better score.
    same(
        outcome.tree,
        {
            **{"add =3": (-0.6, 1), "buy =7": (-0.1, 0), "buy =5": (0.8, 1)},
            **{"add cut =9": (-0.4, 0), "add cut =7": (-0.8, 1), "add cut": (-0.8 * 2 / 3 / 2, 2)},
        },
    )
    assert sum(place.part == "judge_label" for place, _ in lm.calls) == 5


async def test_the_first_wrong_end_needs_no_log_probabilities() -> None:
    what = recipe("deepsearch", wrong="first", uses_gold=True, **SMALL)
    assert "logprobs" not in what.needs
    assert "logprobs" in recipe("deepsearch", wrong="first", entropy_weight=0.4).needs
    outcome, _ = await grown(what)
    same(outcome.tree, {"add cut =9": (-1.0, 1), "add cut =7": (-1.0, 0)})


@pytest.mark.parametrize(
    ("name", "taken", "left"), [("deepsearch", "add", "=3"), ("deepsearch-code", "=3", "add")]
)
async def test_an_end_without_an_answer_counts_as_wrong_and_comes_last_in_the_code(
    name: str, taken: str, left: str
) -> None:
    story = Story({"": ["add", "=3"]}, {}, {"add": 0.9})
    what = recipe(name, uses_gold=True, children=2, max_steps=1)
    outcome, _ = await grown(what, story)
    same(outcome.tree, {taken: (-1.0, 1), left: (-1.0, 0), "": (-0.1 if name == "deepsearch" else -0.5, 1)})


async def test_an_uncertain_step_is_preferred_when_its_entropy_counts() -> None:
    story = Story(
        {"": ["add", "buy"], "add": ["=3", "cut"], "add cut": ["=3", "=9"], "buy": ["=3", "=5"]},
        {},
        {"add cut": 0.1, "buy": 0.9},
    )
    for weight, third in ((0.0, "buy"), (0.4, "add cut")):
        what = recipe("deepsearch", uses_gold=True, children=2, max_steps=4, entropy_weight=weight)
        outcome, _ = await grown(what, story)
        tree = outcome.tree
        assert name_of(tree, tree.parent(5) or 0) == third
        assert tree.own_array("entropy")[tree.parent(5) or 0] == pytest.approx(
            -math.log(0.9 if weight == 0 else 0.1)
        )


async def test_without_ends_that_can_be_judged_the_search_still_ends() -> None:
    def fails(place: Place, request: Request) -> Completion | ServerError:
        return ServerError("busy", status=503) if place.part == "judge_label" else STORY(place, request)

    outcome = await search(PROBLEM, recipe("deepsearch", **SMALL), Scripted(fails, offers=OFFERS))
    assert outcome.reason == "exhausted"
    assert not outcome.tree.nodes["in_flight"].any()
