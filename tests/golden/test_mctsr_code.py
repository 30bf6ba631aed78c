"""The tree of `mctsr-code` after 4 rollouts, worked out by hand from the released code's rules.

val = ½ (min R + mean R). Once a rollout, after the node's new reward and the child are both there, leaves get
ucb = val + b and parents of leaves ucb = ½ (val + best child's val) + b, with
b = 1.4 * sqrt(ln(N(parent) + 1) / (N + 0.00001)) and N(no parent) = 0. All others keep what they had.
Below, V is ucb without b; every node has fewer than three children and stays a candidate.

opening   0: R = {20}, V = 20;  1 (refusal): R = {-60}, V = -60

ask 1     node 0 (20 > -60):  R = {20, 40}, val = ½ (20 + 30) = 25;  2 below 0: R = {30}
          leaves 1 and 2: V(2) = 30, b = 1.4 * sqrt(ln 3 / 1.00001) = 1.467;  0 is above 2: V(0) = ½ (25 + 30) = 27.5

ask 2     node 2 (31.467 > 27.5):  R = {30, 50}, val = ½ (30 + 40) = 35;  3 below 2: the score 96 becomes 50
          V(3) = 50, b = 1.467;  V(2) = ½ (35 + 50) = 42.5, b = 1.4 * sqrt(ln 3 / 2.00001) = 1.038
          0 has only the inner node 2 below it: V(0) stays 27.5

ask 3     node 3 (51.467):  R = {50, 0}, val = ½ (0 + 25) = 12.5;  4 below 3: R = {10}
          V(4) = 10, b = 1.4 * sqrt(ln 3 / 1.00001) = 1.467;  V(3) = ½ (12.5 + 10) = 11.25, b = 1.038
          2 has only the inner node 3 below it: V(2) stays 42.5;  V(0) stays 27.5

ask 4     node 2 (43.538, stale):  R = {30, 50, -100}, mean -20/3, val = ½ (-100 - 20/3) = -160/3;  5 below 2: R = {0}
          V(5) = 0, b = 1.4 * sqrt(ln 4 / 1.00001) = 1.648
          V(2) = ½ (-160/3 + max(12.5, 0)) = -245/12, b = 1.4 * sqrt(ln 3 / 3.00001) = 0.847
          V(3) = 11.25 again, but N(2) = 3 now: b = 1.4 * sqrt(ln 4 / 2.00001) = 1.166;  V(0) stays 27.5

end       best value: node 0, 27.5. Calls: 3 + 4 * 4 = 19.
"""

import pytest

from mctsr.rollout import Asked
from tests.testing.replies import graded, grow, recipe, table

SCORES = {
    **{(0, 0): 20, (0, 1): -60},
    **{(1, -1): 40, (1, 0): 30},
    **{(2, -1): 50, (2, 0): 96},
    **{(3, -1): 0, (3, 0): 10},
    **{(4, -1): -100, (4, 0): 0},
}


async def test_four_rollouts_grow_the_tree_worked_out_by_hand() -> None:
    what = recipe("mctsr-code", rollouts=4)
    outcome, lm, events = await grow(what, graded(table(SCORES)))
    tree = outcome.tree
    used = tree.nodes[: len(tree)]
    assert [e.node for e in events if isinstance(e, Asked)] == [-1, 0, 2, 3, 2]
    assert used["parent"].tolist() == [-1, -1, 0, 2, 3, 2]
    assert used["visits"].tolist() == [2, 1, 3, 2, 1, 1]
    assert used["value"] == pytest.approx([27.5, -60, -245 / 12, 11.25, 10, 0])
    bonus = [0, 0, 0.847206, 1.165574, 1.467399, 1.648366]
    assert tree.own_array("ucb")[:6] - used["value"] == pytest.approx(bonus, abs=2e-6)
    assert what.answerer(tree) == ("0", 0, "best value")
    assert len(lm.calls) == 3 + 4 * 4


async def test_the_rewrite_sees_the_critique_and_not_the_answer() -> None:
    _, lm, _ = await grow(recipe("mctsr-code", rollouts=1), graded(table(SCORES)))
    rewrite = next(request for place, request in lm.calls if place.part == "rewrite_unseen")
    said = rewrite.messages[-1].content
    assert "Critique in ask 1" in said
    assert "answer 0.0" not in said
