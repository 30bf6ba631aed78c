"""The tree of `mctsr` after 4 rollouts, worked out by hand from the paper's formulas.

R: rewards, own = ½ (min R + mean R), Q = ½ (own + best child's Q) or own alone for a leaf,
U = Q + 1.4 * sqrt((ln N(parent) + 1) / (N + 0.00001)) below a root, U = Q for a root.

opening   0: first answer  R = {20}       own = 20    Q = 20
          1: refusal       R = {-60}      own = -60   Q = -60

ask 1     candidates 0 (U = 20), 1 (U = -60): node 0
          0: R = {20, 40}  own = ½ (20 + 30) = 25
          2 below 0: R = {-10}, Q = -10;  Q(0) = ½ (25 - 10) = 7.5

ask 2     node 0 has one child, so it is open: U(0) = 7.5, U(1) = -60,
          U(2) = -10 + 1.4 * sqrt((ln 2 + 1) / 1.00001) = -10 + 1.4 * 1.3012 = -8.178: node 0
          0: the score 98 is above 95 and loses 50: R = {20, 40, 48}, own = ½ (20 + 36) = 28
          3 below 0: R = {60}, Q = 60;  Q(0) = ½ (28 + max(-10, 60)) = 44

ask 3     node 0 has two children and 60 > 44: closed.
          U(3) = 60 + 1.4 * sqrt((ln 3 + 1) / 1.00001) = 62.028 beats U(2) and U(1): node 3
          3: R = {60, 50}, own = ½ (50 + 55) = 52.5
          4 below 3: R = {70}, Q = 70;  Q(3) = ½ (52.5 + 70) = 61.25;  Q(0) = ½ (28 + 61.25) = 44.625

ask 4     U(3) = 61.25 + 1.4 * sqrt((ln 3 + 1) / 2.00001) = 62.684 (one child: open)
          U(4) = 70 + 1.4 * sqrt((ln 2 + 1) / 1.00001) = 71.822: node 4
          4: R = {70, 10}, own = ½ (10 + 40) = 25
          5 below 4: R = {90}, Q = 90;  Q(4) = ½ (25 + 90) = 57.5
          Q(3) = ½ (52.5 + 57.5) = 55;  Q(0) = ½ (28 + 55) = 41.5

end       best value: node 5, 90. Calls: 3 + 4 * 4 = 19.
"""

import pytest

from mctsr.kernels.node import PLANTED
from mctsr.rollout import Asked, Folded, Stopped
from tests.testing.replies import graded, grow, recipe, table

SCORES = {
    **{(0, 0): 20, (0, 1): -60},
    **{(1, -1): 40, (1, 0): -10},
    **{(2, -1): 98, (2, 0): 60},
    **{(3, -1): 50, (3, 0): 70},
    **{(4, -1): 10, (4, 0): 90},
}


async def test_four_rollouts_grow_the_tree_worked_out_by_hand() -> None:
    what = recipe("mctsr", rollouts=4)
    outcome, lm, events = await grow(what, graded(table(SCORES)))
    tree = outcome.tree
    used = tree.nodes[: len(tree)]
    assert used["parent"].tolist() == [-1, -1, 0, 0, 3, 4]
    assert used["depth"].tolist() == [0, 0, 1, 1, 2, 3]
    assert [[s.value for s in state.samples] for state in tree.states] == [
        [20, 40, 48],
        [-60],
        [-10],
        [60, 50],
        [70, 10],
        [90],
    ]
    assert tree.states[0].samples[2].raw == 98
    assert tree.own_array("own")[:6] == pytest.approx([28, -60, -10, 52.5, 25, 90])
    assert used["value"] == pytest.approx([41.5, -60, -10, 55, 57.5, 90])
    assert used["visits"].tolist() == [3, 1, 1, 2, 2, 1]
    assert [tree.has(node, PLANTED) for node in range(6)] == [False, True, False, False, False, False]
    assert not used["in_flight"].any()
    assert [e.node for e in events if isinstance(e, Asked)] == [-1, 0, 0, 3, 4]
    assert what.answerer(tree) == ("400", 5, "best value")
    assert (outcome.reason, outcome.failed) == ("rollouts", False)
    assert len(lm.calls) == outcome.ledger.tally.calls == 3 + 4 * 4


async def test_every_intermediate_state_is_in_the_events() -> None:
    _, _, events = await grow(recipe("mctsr", rollouts=4), graded(table(SCORES)))
    rows = [[tuple(row) for row in e.changed] for e in events if isinstance(e, Folded)]
    assert rows == [
        [(0, 1, 20), (1, 1, -60)],
        [(0, 2, 7.5), (2, 1, -10)],
        [(0, 3, 44), (3, 1, 60)],
        [(0, 3, 44.625), (3, 2, 61.25), (4, 1, 70)],
        [(0, 3, 41.5), (3, 2, 55), (4, 2, 57.5), (5, 1, 90)],
    ]
    assert [type(e) for e in events] == [Asked, Folded] * 5 + [Stopped]
    assert [e.born for e in events if isinstance(e, Folded)] == [(0, 1), (2,), (3,), (4,), (5,)]
