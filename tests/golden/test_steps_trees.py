r"""Trees of steps, worked out by hand; two children a rollout. q (n): value and visits.

The four PUCT and UCT searches tell one story. Scores: add .8, buy .6; add cut .5, add dig .7; add dig =3 .4,
add dig =5 .6; add cut =7 .3, add cut =9 .1; buy eat .3, buy =5 .9; buy eat =3 .2, buy eat =7 .1.

puct-prm, c = 1, prior 1/2: a step without visits is worth its score, no bonus while N(root) = 0.
  ask 1-3  root; add (.8 > .6); add dig (.7 > .5), whose two solutions are finished: path 1.
           add dig .5 (2), add .5 (2), root .5 (2)
  ask 4    add .5 + .5 sqrt 2 / 3 = .736, buy .6 + .5 sqrt 2 = 1.307: buy; =5 is finished: path 2.
           buy .9 (1), root 1.9 / 3 = .633 (3)
  ask 5    add .5 + .5 sqrt 3 / 3 = .789, buy .9 + .5 sqrt 3 / 2 = 1.333: buy eat, both finished: path 3.
           buy eat .15 (2), buy 1.2 / 3 = .4 (3), root 2.2 / 5 = .44 (5)
  answer   best: buy =5; weighted vote: 5 has .6 + .9, 3 has .4 + .2, 7 has .1

ts-llm, init = 1: tokens of chance .9 and .1 for add and buy, so priors .9 and .1; the factor ln(...) + 1 is 1.00015.
  ask 1-3  as above: path 1. Priors below: cut .5, dig .5; there is nothing to tell siblings apart.
  ask 4    add .5 + .9 sqrt 2 / 3 = .924, buy .6 + .1 sqrt 2 = .741: add; dig is spent: add cut, both finished: path 2.
           add cut .2 (2), add 1.4 / 4 = .35 (4), root .35 (4)
  answer   weighted vote: 5 has .6, 3 has .4, 7 has .3, 9 has .1

rstar-math, c = 2: a step's own score is its first visit; no bonus while N(parent) = 0, and ln 1 = 0.
  ask 1-3  as above: path 1. add dig (.7 + .4 + .6) / 3 = .567 (3), add (.8 + .4 + .6) / 3 = .6 (3), root .5 (2)
  ask 4    add .6 + 2 sqrt(ln 2 / 3) = 1.561, buy .6 + 2 sqrt(ln 2) = 2.265: buy; =5 is finished: path 2.
           buy eat .3 (1), buy (.6 + .9) / 2 = .75 (2), root 1.9 / 3 = .633 (3)

grave-steps, ref = 1, no bias: every score is a playout. Scores: add .8, buy .6; add buy .9, add dig .1.
  ask 2    add .8 > buy .6: add. Then add (.8 + .9 + .1) / 3 = .6, and the code of buy was worth .6 and .9.
  ask 3    add: Q = .6, as everywhere: .6. buy: n = 1, n_amaf = 2, b = 2/3: .6 / 3 + .75 * 2 / 3 = .7: buy.
           Its own mean alone, .6, would have tied with add and lost to it.
           buy add .2, buy =5 .4: buy 1.2 / 3 = .4 (3)
  ask 4    add: n = 3, n_amaf = 4 with .5: (1.8 + 2) / 7 = .543. buy: n_amaf = 4, (1.2 + 2.1) / 7 = .471: add buy.

mcps-steps, ref = 1: the same story and tree.
  ask 3    at the root permutations are the AMAF statistics. add .6; buy (.6 + 2 * .75 + 2 * .75) / 5 = .72: buy
  ask 4    add (1.8 + 2 + 2) / 11 = .527, buy (1.2 + 2.1 + 2.1) / 11 = .491: add; buy .9 there, dig .1: add buy
"""

from dataclasses import replace

import pytest

from mctsr.tree import Tree
from tests.support.step_story import Story, name_of, names, recipe, told

STORY = Story(
    {
        "": ["add", "buy"],
        **{"add": ["cut", "dig"], "add dig": ["=3", "=5"], "add cut": ["=7", "=9"]},
        **{"buy": ["eat", "=5"], "buy eat": ["=3", "=7"]},
    },
    {
        **{"add": 0.8, "buy": 0.6, "add cut": 0.5, "add dig": 0.7, "add dig =3": 0.4, "add dig =5": 0.6},
        **{"add cut =7": 0.3, "add cut =9": 0.1},
        **{"buy eat": 0.3, "buy =5": 0.9, "buy eat =3": 0.2, "buy eat =7": 0.1},
    },
    {"add": 0.9, "buy": 0.1},
)
FIRST_PATH = ["", "add", "buy", "add cut", "add dig", "add dig =3", "add dig =5"]

SHARED = Story(
    {"": ["add", "buy"], "add": ["buy", "dig"], "buy": ["add", "=5"], "add buy": ["=3", "=7"]},
    {
        **{"add": 0.8, "buy": 0.6, "add buy": 0.9, "add dig": 0.1, "buy add": 0.2, "buy =5": 0.4},
        **{"add buy =3": 0.5, "add buy =7": 0.3},
    },
)


def numbers(tree: Tree) -> dict[str, tuple[float, int]]:
    """Return value and visits of the nodes by name."""
    used = tree.nodes[: len(tree)]
    rows = zip(used["value"].tolist(), used["visits"].tolist(), strict=True)
    return {name_of(tree, node): row for node, row in enumerate(rows)}


def same(tree: Tree, wanted: dict[str, tuple[float, int]]) -> None:
    found = numbers(tree)
    for name, (value, visits) in wanted.items():
        assert found[name][0] == pytest.approx(value, abs=1e-9), name
        assert found[name][1] == visits, name


@pytest.mark.parametrize(("answer", "by"), [("best", "best value"), ("weighted", "weighted vote")])
async def test_puct_goes_straight_to_a_solution_and_branches_then(answer: str, by: str) -> None:
    what = recipe("puct-prm", paths=3, children=2, c=1.0, answer=answer)
    outcome, lm = await told(STORY, what)
    assert names(outcome.tree) == [*FIRST_PATH, "buy eat", "buy =5", "buy eat =3", "buy eat =7"]
    same(
        outcome.tree,
        {
            **{"": (0.44, 5), "add": (0.5, 2), "buy": (0.4, 3), "add cut": (0.5, 0), "add dig": (0.5, 2)},
            **{"add dig =3": (0.4, 1), "buy eat": (0.15, 2), "buy =5": (0.9, 1)},
        },
    )
    said = what.answerer(outcome.tree)
    assert (said.answer, said.by) == ("5", by)
    assert name_of(outcome.tree, said.node or 0) == ("buy =5" if answer == "best" else "add dig =5")
    assert (outcome.reason, len(lm.calls)) == ("paths", 2 * 10)


async def test_the_policys_own_likelihoods_are_priors() -> None:
    what = recipe("ts-llm", paths=2, children=2, init=1.0)
    outcome, lm = await told(STORY, what)
    assert names(outcome.tree) == [*FIRST_PATH, "add cut =7", "add cut =9"]
    assert outcome.tree.nodes["prior"][1:5] == pytest.approx([0.9, 0.1, 0.5, 0.5])
    same(outcome.tree, {"": (0.35, 4), "add": (0.35, 4), "buy": (0.6, 0), "add cut": (0.2, 2)})
    assert what.answerer(outcome.tree) == ("5", 6, "weighted vote")
    assert (outcome.reason, len(lm.calls)) == ("paths", 2 * 8)


async def test_without_likelihoods_all_siblings_have_the_same_prior() -> None:
    def silent(*asked: object) -> object:
        said = STORY(*asked)  # type: ignore[arg-type]
        return said if said.tokens[0].top else type(said)(said.text, usage=said.usage, stop=said.stop)

    outcome, _ = await told(silent, recipe("ts-llm", paths=1, children=2))  # type: ignore[arg-type]
    assert outcome.tree.nodes["prior"][1:5].tolist() == [0.5] * 4


async def test_the_score_of_a_step_is_its_first_visit_and_ends_are_added_to_the_path() -> None:
    what = recipe("rstar-math", paths=2, children=2)
    outcome, lm = await told(STORY, what)
    assert names(outcome.tree) == [*FIRST_PATH, "buy eat", "buy =5"]
    same(
        outcome.tree,
        {
            **{"": (1.9 / 3, 3), "add": (0.6, 3), "buy": (0.75, 2), "add dig": (1.7 / 3, 3)},
            **{"add cut": (0.5, 1), "buy eat": (0.3, 1), "buy =5": (0.9, 1)},
        },
    )
    assert what.answerer(outcome.tree) == ("5", 8, "best value")
    assert (outcome.reason, len(lm.calls)) == ("paths", 2 * 8)


@pytest.mark.parametrize(("name", "more"), [("grave-steps", {"bias": 0.0}), ("mcps-steps", {})])
async def test_what_a_step_was_worth_elsewhere_leads_to_it(name: str, more: dict[str, float]) -> None:
    what = recipe(name, rollouts=4, children=2, ref=1, **more)
    outcome, lm = await told(SHARED, what)
    assert names(outcome.tree) == [
        *["", "add", "buy", "add buy", "add dig", "buy add", "buy =5", "add buy =3", "add buy =7"],
    ]
    same(outcome.tree, {"add": (2.6 / 5, 5), "buy": (0.4, 3), "add buy": (1.7 / 3, 3), "": (3.8 / 8, 8)})
    assert what.answerer(outcome.tree) == ("3", 7, "best value")
    assert (outcome.reason, len(lm.calls)) == ("rollouts", 2 * 8)


async def test_without_shared_statistics_the_same_search_stays_where_it_was() -> None:
    # A bias that large leaves the step's own mean alone, and .59 is below the .6 of add.
    story = replace(SHARED, score={**SHARED.score, "buy": 0.59})
    outcome, _ = await told(story, recipe("grave-steps", rollouts=3, children=2, ref=1, bias=1e9))
    assert names(outcome.tree)[5:] == ["add buy =3", "add buy =7"]
    outcome, _ = await told(story, recipe("grave-steps", rollouts=3, children=2, ref=1))
    assert names(outcome.tree)[5:] == ["buy add", "buy =5"]


async def test_equal_drafts_are_one_node_with_their_share_as_prior() -> None:
    story = Story({"": ["add", "buy", "add", "add"]}, {"add": 0.8, "buy": 0.6})
    outcome, lm = await told(story, recipe("puct-prm", rollouts=1, children=4))
    assert names(outcome.tree) == ["", "add", "buy"]
    assert outcome.tree.nodes["prior"][1:3].tolist() == [0.75, 0.25]
    assert len(lm.calls) == 4 + 2
