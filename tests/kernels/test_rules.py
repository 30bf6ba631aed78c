"""Selection scores, against plain Python and against numbers worked out on paper."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels import rules
from tests.kernels import reference
from tests.kernels.reference import Forest, Plain, forests


def scores(forest: Forest, rule: int, c: float = 1.4, eps: float = 1e-5, low: float = -100.0) -> list[float]:
    nodes, _ = reference.as_array(forest)
    out = np.empty(len(forest))
    rules.scores(nodes, np.arange(len(forest)), rule, (c, eps, low), out)
    return out.tolist()


@given(forests(), st.sampled_from([rules.UCT_MCTSR, rules.UCT_MCTSR_CODE, rules.VALUE]), st.floats(0, 3))
def test_scores_equal_the_plain_formulas(forest: Forest, rule: int, c: float) -> None:
    for i, (plain, score) in enumerate(zip(forest, scores(forest, rule, c), strict=True)):
        waiting = reference.in_flight(forest, i)
        n = plain.visits + waiting
        q = (plain.value * plain.visits + -100.0 * waiting) / n
        if plain.parent is not None and rule != rules.VALUE:
            above = forest[plain.parent].visits + reference.in_flight(forest, plain.parent)
            q = reference.uct(q, above, n, c, 1e-5, paper=rule == rules.UCT_MCTSR)
        assert score == pytest.approx(q, rel=1e-12, abs=1e-12)


def pair(value: float, above: int, visits: int) -> Forest:
    return [Plain(None, 0, 0, above, 0, 0, [1]), Plain(0, value, value, visits, 0, 0)]


def test_a2_released_code_has_the_one_inside_the_logarithm() -> None:
    assert scores(pair(-70 / 3, 3, 3), rules.UCT_MCTSR_CODE)[1] == pytest.approx(-22.381646, abs=5e-7)


def test_a3_paper_has_the_one_outside_the_logarithm() -> None:
    assert scores(pair(-70 / 3, 3, 3), rules.UCT_MCTSR)[1] == pytest.approx(-22.162398, abs=5e-7)


def test_the_two_forms_differ_most_below_a_parent_seen_once() -> None:
    paper, code = (
        scores(pair(0, 1, 1), rule, c=1, eps=0)[1] for rule in (rules.UCT_MCTSR, rules.UCT_MCTSR_CODE)
    )
    assert (paper, code) == pytest.approx((1, math.sqrt(math.log(2))))


@pytest.mark.parametrize("rule", [rules.UCT_MCTSR, rules.UCT_MCTSR_CODE])
def test_a_root_gets_no_exploration_bonus(rule: int) -> None:
    assert scores(pair(0, 9, 1), rule)[0] == 0


def test_work_in_flight_counts_as_the_lowest_reward_all_along_its_path() -> None:
    forest = [Plain(None, 60, 60, 2, 0, 0, [1]), Plain(0, 80, 80, 1, 1, 0)]
    # root: (2 * 60 + 1 * -100) / 3; child: (1 * 80 + 1 * -100) / 2
    assert scores(forest, rules.VALUE) == pytest.approx([20 / 3, -10])
