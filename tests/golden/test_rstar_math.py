"""rStar-Math guided by ends, worked out by hand: 5 is the known answer, two children, c = 2.

A step has no score of its own: Q = 0 and no bonus while N = 0.
  ask 1  root: add, buy; both 0, so on to add
  ask 2  add: cut, =3, which is wrong: add -1 (1), root -1 (1)
  ask 3  ln 1 = 0, and buy's 0 is above add's -1. =7 is wrong, =5 is right: buy 0 (2), root -1/3 (3)
  ask 4  nothing is left below buy. =9 and =7 are wrong: cut -1 (2), add -1 (3), root -3/5 (5)
"""

from tests.golden.test_deepsearch import grown, same
from tests.support.step_story import names, recipe


async def test_guided_by_ends_it_learns_from_right_and_wrong_alone() -> None:
    outcome, lm = await grown(recipe("rstar-math", children=2, uses_gold=True, paths=0))
    assert names(outcome.tree) == [
        "",
        "add",
        "buy",
        "add cut",
        "add =3",
        "buy =7",
        "buy =5",
        "add cut =9",
        "add cut =7",
    ]
    same(
        outcome.tree,
        {
            "": (-0.6, 5),
            "add": (-1, 3),
            "buy": (0, 2),
            "add cut": (-1, 2),
            "buy =5": (1, 1),
            "buy =7": (-1, 1),
        },
    )
    assert outcome.reason == "exhausted"
    assert {place.part for place, _ in lm.calls} == {"step"}, "no judge is asked"


async def test_its_answer_is_then_the_known_one() -> None:
    what = recipe("rstar-math", children=2, uses_gold=True, paths=0)
    outcome, _ = await grown(what)
    said = what.answerer(outcome.tree)
    assert said.answer == "5"
    assert what.judge is not None
    assert (what.uses_gold, what.judge.low) == (True, -1.0)
