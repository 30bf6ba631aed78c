r"""Searches that go over a tree once more, worked out by hand.

particle-gibbs, n = 4, 2 sweeps, in proportion to the scores: resampling has no choice where n w is whole.
sweep 1, round 1        add .8, buy 0, cut 0, dig .8: 2, 0, 0, 2 copies
         round 2        add eat, add fry, dig cut, dig buy .5: one copy each
         round 3        add eat =5 .5, the others 0: all are finished, and only one can be the reference
sweep 2, round 1        three new ones beside the add of before, .8: add .8, buy 0, cut 0: 2, 2, 0, 0 copies
         round 2        below the old add eat .5, below the new one eat .5, fry .5; with the old add eat 1 copy each
         round 3        add eat =5 .5 twice, add fry =3 0, beside the old add eat =5 .5
"""

import pytest

from tests.support.step_story import Story, name_of, names, recipe, told

SWEEPS = Story(
    {
        "": ["add", "buy", "cut", "dig"],
        **{"add": ["eat", "fry"], "dig": ["cut", "buy"]},
        **{"add eat": ["=5"], "add fry": ["=3"], "dig cut": ["=7"], "dig buy": ["=7"]},
    },
    {
        **{"add": 0.8, "buy": 0.0, "cut": 0.0, "dig": 0.8},
        **{"add eat": 0.5, "add fry": 0.5, "dig cut": 0.5, "dig buy": 0.5},
        **{"add eat =5": 0.5, "add fry =3": 0.0, "dig cut =7": 0.0, "dig buy =7": 0.0},
    },
)


@pytest.mark.parametrize("seed", [0, 1, 2])
async def test_a_sweep_goes_on_beside_and_below_the_solution_that_was_kept(seed: int) -> None:
    what = recipe("particle-gibbs", n=4, sweeps=2, weights="bernoulli")
    outcome, lm = await told(SWEEPS, what, seed=seed)
    tree = outcome.tree
    assert names(tree) == [
        *["", "add", "buy", "cut", "dig", "add eat", "add fry", "dig cut", "dig buy"],
        *["add eat =5", "add fry =3", "dig cut =7", "dig buy =7"],
        *["add", "buy", "cut", "add eat", "add eat", "add fry", "add eat =5", "add eat =5", "add fry =3"],
    ]
    assert [tree.parent(node) for node in range(13, 22)] == [0, 0, 0, 1, 13, 13, 16, 17, 18]
    assert tree.front == [9, 19, 20, 21]
    assert what.answerer(tree) == ("5", 9, "best of the front")
    voted = recipe("particle-gibbs", answer="majority").answerer(tree)
    assert (voted.answer, name_of(tree, voted.node or 0)) == ("5", "add eat =5")
    assert (outcome.reason, len(lm.calls)) == ("all finished", 2 * (4 + 4 + 4 + 3 + 3 + 3))


async def test_the_particles_of_all_sweeps_may_answer_together() -> None:
    what = recipe("particle-gibbs", n=4, sweeps=2, weights="bernoulli", pooled=True)
    tree = (await told(SWEEPS, what))[0].tree
    assert tree.front == [9, 10, 11, 12, 9, 19, 20, 21]
