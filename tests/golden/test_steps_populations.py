r"""Populations of solutions, worked out by hand.

beam, n = 4, m = 2      front     newborn with their scores                         survivors
round 1                 4 roots   add .9, buy .2, cut .8, dig .1                     add, cut, twice each
round 2                 add cut   add eat .7, add =3 .6, cut =5 .5, cut fry .65      add eat, cut fry, twice each
round 3                           add eat =5 .4, add eat =3 .3, cut fry =3 .35, cut fry =5 .6: all are finished
weighted vote           5: .4 + .6 = 1, 3: .3 + .35 = .65; the best is the last one; two votes each: the first seen

dvts, n = 4, m = 2      subtree 0                     subtree 1
round 1                 add .3, buy .9: buy           cut .2, dig .1: cut
round 2                 buy =3 .8, buy =4 .7: ends    cut eat .4, cut fry .3: cut eat
round 3                                               cut eat =5 .45, twice
weighted vote           3: .8, 4: .7, 5: .45 + .45 = .9

particle-filter, n = 4, in proportion to the scores: systematic resampling has no choice where n w is whole.
round 1                 add .8, buy .4, cut .4, dig 0: 2, 1, 1, 0 copies
round 2                 add =3 .4, add =5 .4, buy =5 .4, cut eat .4: one copy each
round 3                 cut eat =5 .5: all are finished

tot, breadth 2, 2 children, 2 votes of ten
level 1                 add (8, 6) .7, buy (1, 3) .2, cut (9, 7) .8, dig (5, 5) .5: cut, add
level 2                 cut =3 .6, cut eat .4, add =5 .9, add fry .1: both survivors are finished
"""

import numpy as np
import pytest

from mctsr.engine import search
from mctsr.recipes.populations.dvts import last_siblings
from mctsr.select.frontier import Frontier
from mctsr.select.particles import Particles, Weight
from tests.support.step_story import PROBLEM, Story, model, name_of, names, recipe, told

FIRST = ["add", "buy", "cut", "dig"]

BEAM = Story(
    {
        "": FIRST,
        "add": ["eat", "=3"],
        "cut": ["=5", "fry"],
        "add eat": ["=5", "=3"],
        "cut fry": ["=3", "=5"],
    },
    {
        **{"add": 0.9, "buy": 0.2, "cut": 0.8, "dig": 0.1},
        **{"add eat": 0.7, "add =3": 0.6, "cut =5": 0.5, "cut fry": 0.65},
        **{"add eat =5": 0.4, "add eat =3": 0.3, "cut fry =3": 0.35, "cut fry =5": 0.6},
    },
)

DVTS = Story(
    {"": FIRST, "buy": ["=3", "=4"], "cut": ["eat", "fry"], "cut eat": ["=5"]},
    {
        **{"add": 0.3, "buy": 0.9, "cut": 0.2, "dig": 0.1},
        **{"buy =3": 0.8, "buy =4": 0.7, "cut eat": 0.4, "cut fry": 0.3, "cut eat =5": 0.45},
    },
)

PARTICLES = Story(
    {"": FIRST, "add": ["=3", "=5"], "buy": ["=5"], "cut": ["eat"], "cut eat": ["=5"]},
    {
        **{"add": 0.8, "buy": 0.4, "cut": 0.4, "dig": 0.0},
        **{"add =3": 0.4, "add =5": 0.4, "buy =5": 0.4, "cut eat": 0.4, "cut eat =5": 0.5},
    },
)

TOT = Story(
    {"": FIRST, "add": ["=5", "fry"], "cut": ["=3", "eat"]},
    {
        **{"add": (8, 6), "buy": (1, 3), "cut": (9, 7), "dig": (5, 5)},
        **{"cut =3": (6, 6), "cut eat": (4, 4), "add =5": (9, 9), "add fry": (1, 1)},
    },
)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("weighted", ("5", "add eat =5", "weighted vote")),
        ("best", ("5", "cut fry =5", "best of the front")),
        ("majority", ("5", "add eat =5", "majority")),
    ],
)
async def test_a_beam_search_keeps_the_best_of_all_beams(answer: str, found: tuple[str, str, str]) -> None:
    what = recipe("beam", n=4, m=2, answer=answer)
    outcome, lm = await told(BEAM, what)
    assert names(outcome.tree) == [
        *["", "add", "buy", "cut", "dig", "add eat", "add =3", "cut =5", "cut fry"],
        *["add eat =5", "add eat =3", "cut fry =3", "cut fry =5"],
    ]
    assert outcome.tree.front == [9, 10, 11, 12]
    said = what.answerer(outcome.tree)
    assert said.node is not None
    assert (said.answer, name_of(outcome.tree, said.node), said.by) == found
    assert outcome.reason == "all finished"
    assert len(lm.calls) == 2 * 12


async def test_subtrees_never_mix_and_all_their_last_steps_vote() -> None:
    what = recipe("dvts", n=4, m=2)
    outcome, lm = await told(DVTS, what)
    assert names(outcome.tree) == [
        *["", "add", "buy", "cut", "dig", "buy =3", "buy =4", "cut eat", "cut fry"],
        *["cut eat =5", "cut eat =5"],
    ]
    assert outcome.tree.own_array("subtree")[1:11].tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 1, 1]
    assert last_siblings(outcome.tree) == [5, 6, 9, 10]
    assert what.answerer(outcome.tree) == ("5", 9, "weighted vote")
    assert len(lm.calls) == 2 * 10


@pytest.mark.parametrize("seed", [0, 1, 2])
async def test_particles_are_copied_by_their_weight(seed: int) -> None:
    what = recipe("particle-filter", n=4, weights="bernoulli")
    outcome, lm = await told(PARTICLES, what, seed=seed)
    assert names(outcome.tree) == [
        *["", "add", "buy", "cut", "dig", "add =3", "add =5", "buy =5", "cut eat", "cut eat =5"],
    ]
    assert outcome.tree.front == [5, 6, 7, 9]
    assert what.answerer(outcome.tree) == ("5", 9, "best of the front")
    voted = recipe("particle-filter", n=4, answer="majority").answerer(outcome.tree)
    assert voted == ("5", 6, "majority")
    assert len(lm.calls) == 2 * 9


def test_the_weights_of_particles_are_those_asked_for() -> None:
    what = recipe(
        "particle-filter",
        **{"n": 4, "weights": "softmax", "resampling": "multinomial", "hottest": 3.0, "cooling": 5},
        weight_temperature=2.0,
    )
    weight = Weight("softmax", 2.0, hottest=3.0, until=5)
    assert what.selector == Frontier(4, Particles(weight, "multinomial"), opened=1)
    # The published numbers are those of logit weights: (r / (1 - r)) in proportion.
    default = recipe("particle-filter").selector
    assert isinstance(default, Frontier)
    assert isinstance(default.survive, Particles)
    shares = np.exp(default.survive.weight(np.array([0.95, 0.9, 0.5, 0.1])))
    assert shares / shares.sum() == pytest.approx([0.653, 0.309, 0.034, 0.004], abs=1e-3)


async def test_thoughts_are_valued_by_the_mean_of_their_votes() -> None:
    what = recipe("tot", breadth=2, children=2, votes=2)
    outcome, lm = await told(TOT, what)
    assert names(outcome.tree) == [
        *["", "add", "buy", "cut", "dig", "cut =3", "cut eat", "add =5", "add fry"],
    ]
    values = {name_of(outcome.tree, i): outcome.tree.value(i) for i in range(1, len(outcome.tree))}
    assert values == pytest.approx(
        {
            **{"add": 0.7, "buy": 0.2, "cut": 0.8, "dig": 0.5},
            **{"cut =3": 0.6, "cut eat": 0.4, "add =5": 0.9, "add fry": 0.1},
        }
    )
    assert what.answerer(outcome.tree).answer == "5"
    assert len(lm.calls) == 8 * (1 + 2)


async def test_a_solution_may_have_no_more_than_its_steps() -> None:
    endless = Story({"": ["add"], "add": ["add"], "add add": ["add"]}, {"add": 0.5, "add add": 0.5})
    what = recipe("beam", n=2, m=1, max_steps=2)
    outcome, lm = await told(endless, what)
    assert [state.ended for state in outcome.tree.states] == ["", "", "", "max steps", "max steps"]
    assert what.answerer(outcome.tree) == (None, None, "first (nothing scored)")
    assert len(lm.calls) == 2 * 4


async def test_self_certainty_needs_no_call_and_prefers_what_the_model_was_sure_of() -> None:
    sure = Story(BEAM.after, {}, {"buy": 0.1, "dig": 0.2, "add eat": 0.8, "cut fry": 0.7, "cut fry =5": 0.9})
    what = recipe("beam", n=4, m=2, judge="self-certainty", answer="best")
    lm = model(sure)
    outcome = await search(PROBLEM, what, lm)
    assert len(lm.calls) == 12
    assert outcome.tree.value(2) == pytest.approx(0.1)
    said = what.answerer(outcome.tree)
    assert (said.answer, name_of(outcome.tree, said.node or 0)) == ("5", "cut fry =5")
