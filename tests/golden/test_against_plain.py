"""Whole searches against the same loops in plain Python, on many random score tables with many ties."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from mctsr.lm.base import Place
from mctsr.rollout import Asked
from tests.golden import plain
from tests.testing.replies import Score, graded, grow, recipe

Loop = Callable[[plain.Scores, int, int, float], plain.Grown]


@pytest.mark.parametrize(
    ("name", "loop", "max_children"), [("mctsr", plain.paper, 2), ("mctsr-code", plain.code, 3)]
)
@pytest.mark.parametrize("step", [1, 10, 50])
async def test_a_search_is_its_plain_loop(name: str, loop: Loop, max_children: int, step: int) -> None:
    rng = np.random.default_rng(20240611)
    for _ in range(15):
        table = rng.integers(-100 // step, 100 // step, (31, 3), endpoint=True) * step

        def score(ask: int, draft: int, table: NDArray[np.int64] = table) -> float:
            return int(table[ask, draft])

        def reply(place: Place, score: plain.Scores = score) -> Score:
            return score(place.ask, place.draft)

        what = recipe(name, rollouts=30, max_children=max_children, c=30.0 if step == 10 else 1.4)
        outcome, _, events = await grow(what, graded(reply))
        expected = loop(score, 30, max_children, 30.0 if step == 10 else 1.4)
        tree = outcome.tree
        assert [e.node for e in events if isinstance(e, Asked)][1:] == expected.asked
        assert [tree.parent(node) for node in range(len(tree))] == expected.parents
        assert tree.nodes["value"][: len(tree)] == pytest.approx(expected.values, rel=1e-12)
        assert what.answerer(tree).node == expected.best
