r"""ReST-MCTS*'s rounds, worked out by hand. V (N): value and visits; two children, two steps ahead, c = .7, alpha = .5.

Scores: add .6, buy .4; add cut .9, add cut dig .5; buy eat .7, buy =5 .95; buy eat =3 .1, buy eat fry .3, and =7 .8.

round 1  root: add .6 > buy .4. From add, greedily: cut .9, then dig .5: max .9. add .5 * .6 + .5 * .9 = .75 (1),
         root .75 (1). buy was not looked at and weighs nothing.
round 2  N(root) = 1, ln 1 = 0: add .75, buy .4 + 1 = 1.4: buy. Newborn eat .7, =5 .95: a solution worth .9, the end.

With the gate above 1 the search goes on:
round 2  the best newborn is finished, nothing lies ahead: =5 stays .95 and has its first visit; buy .95 (1),
         root (.75 + .95) / 2 = .85 (2)
round 3  add .75 + .7 sqrt(2 ln 2) = 1.574, buy .95 + .824 = 1.774: buy, and there eat .7 + 1 (=5 is finished).
         Newborn =3 .1, fry .3; ahead of fry: =7 .8, the end. fry .5 * .3 + .5 * .8 = .55 (1), eat .55 (1),
         buy (.55 + .95) / 2 = .75 (2), root (.75 + 2 * .75) / 3 = .75 (3)
"""

import pytest

from mctsr.tree import Tree
from tests.support.step_story import Story, name_of, names, recipe, told

STORY = Story(
    {
        **{"": ["add", "buy"], "add": ["cut", "eat"], "add cut": ["dig"]},
        **{"buy": ["eat", "=5"], "buy eat": ["=3", "fry"], "buy eat fry": ["=7"]},
    },
    {
        **{"add": 0.6, "buy": 0.4, "add cut": 0.9, "add cut dig": 0.5, "buy eat": 0.7, "buy =5": 0.95},
        **{"buy eat =3": 0.1, "buy eat fry": 0.3, "buy eat fry =7": 0.8},
    },
)
SMALL = {"children": 2, "forward": 2}


def numbers(tree: Tree) -> dict[str, tuple[float, int]]:
    used = tree.nodes[: len(tree)]
    rows = zip(used["value"].tolist(), used["visits"].tolist(), strict=True)
    return {name_of(tree, node): row for node, row in enumerate(rows)}


def same(tree: Tree, wanted: dict[str, tuple[float, int]]) -> None:
    found = numbers(tree)
    for name, (value, visits) in wanted.items():
        assert found[name][0] == pytest.approx(value, abs=1e-9), name
        assert found[name][1] == visits, name


async def test_a_round_grows_a_node_and_looks_ahead_from_the_best_newborn() -> None:
    outcome, lm = await told(STORY, recipe("rest-mcts", rounds=1, **SMALL))
    assert names(outcome.tree) == ["", "add", "buy"], "what lies ahead is not in the tree"
    same(outcome.tree, {"": (0.75, 1), "add": (0.75, 1), "buy": (0.4, 0)})
    assert (outcome.reason, outcome.ledger.asks, len(lm.calls)) == ("rounds", 2, 2 * 2 + 2 * 2)
    assert outcome.tree.states[1].samples[1].text == "what lies ahead:\n0.9: cut\n0.5: dig"


async def test_a_finished_solution_above_the_gate_ends_the_search() -> None:
    what = recipe("rest-mcts", rounds=9, **SMALL)
    outcome, lm = await told(STORY, what)
    assert names(outcome.tree) == ["", "add", "buy", "buy eat", "buy =5"]
    assert (outcome.reason, len(lm.calls)) == ("solution found", 8 + 4)
    assert what.answerer(outcome.tree) == ("5", 4, "best value")


async def test_without_a_gate_it_goes_on_for_all_its_rounds() -> None:
    what = recipe("rest-mcts", rounds=3, end_gate=1.1, **SMALL)
    outcome, lm = await told(STORY, what)
    assert names(outcome.tree)[3:] == ["buy eat", "buy =5", "buy eat =3", "buy eat fry"]
    same(
        outcome.tree,
        {
            **{"": (0.75, 3), "add": (0.75, 1), "buy": (0.75, 2), "buy =5": (0.95, 1), "buy eat": (0.55, 1)},
            **{"buy eat =3": (0.1, 0), "buy eat fry": (0.55, 1)},
        },
    )
    assert (outcome.reason, outcome.ledger.asks, len(lm.calls)) == ("rounds", 6, 12 + 4 + 2)
    assert what.answerer(outcome.tree) == ("5", 4, "best value")


async def test_looks_ahead_are_greedy_and_proposals_are_not() -> None:
    _, lm = await told(STORY, recipe("rest-mcts", rounds=1, **SMALL))
    heats = [(place.draft < 0, request.temperature) for place, request in lm.calls if place.part == "step"]
    assert heats == [(False, 0.7)] * 2 + [(True, 0.0)] * 2
