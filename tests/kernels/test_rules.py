"""Selection scores, against plain Python and against numbers worked out on paper."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels import rules
from mctsr.kernels.node import Constants
from tests.kernels import reference
from tests.kernels.reference import Forest, Plain, forests

LN, SQRT = math.log, math.sqrt
K = (1.4, 0.3, 2.0, 0.0)

#: Each rule once more: (q, n, N, p, v, c, second constant, third constant) → score, as the papers print it.
Formula = Callable[[float, float, float, float, float, float, float, float], float]
VISITED: dict[int, Formula] = {
    rules.VALUE: lambda q, n, N, p, v, c, d, e: q,
    rules.UCB1: lambda q, n, N, p, v, c, d, e: q + c * SQRT(LN(N) / n),
    rules.UCT_MCTSR: lambda q, n, N, p, v, c, d, e: q + c * SQRT((LN(N) + 1) / (n + d)),
    rules.UCT_MCTSR_CODE: lambda q, n, N, p, v, c, d, e: q + c * SQRT(LN(N + 1) / (n + d)),
    rules.UCT_ZERO: lambda q, n, N, p, v, c, d, e: q + c * SQRT(LN(N) / n),
    rules.UCT_REST: lambda q, n, N, p, v, c, d, e: q + c * SQRT(2 * LN(N) / n),
    rules.UCT_MEDS3: lambda q, n, N, p, v, c, d, e: q + c * SQRT(LN(N) / n),
    rules.UCT_ONE: lambda q, n, N, p, v, c, d, e: q + c * SQRT(LN(max(N, 1)) / max(n, 1)),
    rules.UCT_PSEUDO: lambda q, n, N, p, v, c, d, e: (q * n + v) / (n + 1) + c * SQRT(LN(N + 1) / (n + 1)),
    rules.UCT_PRIOR: lambda q, n, N, p, v, c, d, e: q + c * p * SQRT(LN(N) / n),
    rules.PUCT: lambda q, n, N, p, v, c, d, e: q + c * p * SQRT(N) / (1 + n),
    rules.PUCT_PSEUDO: lambda q, n, N, p, v, c, d, e: (q * n + v) / (n + 1) + c * p * SQRT(N) / (1 + n),
    rules.PUCT_ALPHAZERO: lambda q, n, N, p, v, c, d, e: (
        q + p * SQRT(N) / (1 + n) * (LN((N + d + 1) / d) + c)
    ),
    rules.I_MCTS: lambda q, n, N, p, v, c, d, e: (
        d / (n + d) * v + n / (n + d) * q + c * SQRT(LN(N + 1e-6) / n)
    ),
}
#: What a node without a visit scores; q is NaN where nobody has written a value.
UNVISITED: dict[int, Formula] = {
    rules.VALUE: lambda q, n, N, p, v, c, d, e: known(q, 0),
    rules.UCB1: lambda q, n, N, p, v, c, d, e: math.inf,
    rules.UCT_MCTSR: lambda q, n, N, p, v, c, d, e: known(q, 0) + c * SQRT((LN(N) + 1) / d),
    rules.UCT_MCTSR_CODE: lambda q, n, N, p, v, c, d, e: known(q, 0) + c * SQRT(LN(N + 1) / d),
    rules.UCT_ZERO: lambda q, n, N, p, v, c, d, e: 0,
    rules.UCT_REST: lambda q, n, N, p, v, c, d, e: known(q, 0) + d,
    rules.UCT_MEDS3: lambda q, n, N, p, v, c, d, e: d,
    rules.UCT_ONE: lambda q, n, N, p, v, c, d, e: d * known(q, 0) + c * SQRT(LN(N)),
    rules.UCT_PSEUDO: lambda q, n, N, p, v, c, d, e: v + c * SQRT(LN(N + 1)),
    rules.UCT_PRIOR: lambda q, n, N, p, v, c, d, e: math.inf,
    rules.PUCT: lambda q, n, N, p, v, c, d, e: known(q, d) + c * p * SQRT(N),
    rules.PUCT_PSEUDO: lambda q, n, N, p, v, c, d, e: v + c * p * SQRT(N),
    rules.PUCT_ALPHAZERO: lambda q, n, N, p, v, c, d, e: (
        known(q, e) + p * SQRT(N) * (LN((N + d + 1) / d) + c)
    ),
    rules.I_MCTS: lambda q, n, N, p, v, c, d, e: v + c * SQRT(LN(N + 1e-6) / d),
}


def known(q: float, otherwise: float) -> float:
    return otherwise if math.isnan(q) else q


def scored(
    rule: int, k: Constants, q: float, n: float, above: float, p: float = 1.0, v: float = 0.0
) -> float:
    return float(rules.score(rule, k, rules.above(rule, k, float(above)), float(q), float(n), p, v))


def test_every_rule_is_compared() -> None:
    assert set(VISITED) == set(UNVISITED) == set(rules.CODES)


@given(
    st.sampled_from(list(rules.CODES)), st.floats(-100, 100), st.integers(1, 50), st.integers(1, 500),
    st.floats(0, 1), st.floats(-1, 1),
)  # fmt: skip
def test_a_visited_node_scores_by_its_formula(
    rule: int, q: float, n: int, above: int, p: float, v: float
) -> None:
    expected = VISITED[rule](q, n, above, p, v, *K[:3])
    assert scored(rule, K, q, n, above, p, v) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(
    st.sampled_from(list(rules.CODES)), st.one_of(st.just(math.nan), st.floats(-100, 100)),
    st.integers(1, 500), st.floats(0, 1), st.floats(-1, 1),
)  # fmt: skip
def test_an_unvisited_node_scores_by_its_convention(
    rule: int, q: float, above: int, p: float, v: float
) -> None:
    expected = UNVISITED[rule](q, 0, above, p, v, *K[:3])
    assert scored(rule, K, q, 0, above, p, v) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.sampled_from(list(rules.CODES)), st.integers(0, 3), st.integers(0, 2))
def test_no_score_is_nan_however_young_the_parent(rule: int, n: int, above: int) -> None:
    assert not math.isnan(scored(rule, K, 0.5 if n else math.nan, n, above))


@given(st.sampled_from(list(rules.CODES)), st.floats(-1, 1), st.integers(1, 100))
def test_more_visits_of_the_same_worth_never_raise_a_score(rule: int, q: float, above: int) -> None:
    found = [scored(rule, K, q, n, above, 0.5, q) for n in (1, 2, 5, 30)]
    assert all(b <= a + 1e-12 for a, b in pairwise(found))


def scores(forest: Forest, rule: int, c: float = 1.4, eps: float = 1e-5, low: float = -100.0) -> list[float]:
    nodes, _ = reference.as_array(forest)
    out = np.empty(len(forest))
    rules.scores(nodes, np.arange(len(forest)), rule, (c, eps, 0.0, 0.0), low, out)
    return out.tolist()


@given(
    forests(),
    st.sampled_from([rules.UCT_MCTSR, rules.UCT_MCTSR_CODE, rules.VALUE, rules.UCB1]),
    st.floats(0, 3),
)
def test_work_in_flight_counts_in_every_place(forest: Forest, rule: int, c: float) -> None:
    for i, (plain, score) in enumerate(zip(forest, scores(forest, rule, c), strict=True)):
        waiting = reference.in_flight(forest, i)
        n = plain.visits + waiting
        q = (plain.value * plain.visits + -100.0 * waiting) / n
        if plain.parent is not None:
            above = forest[plain.parent].visits + reference.in_flight(forest, plain.parent)
            q = VISITED[rule](q, n, above, 1, 0, c, 1e-5, 0)
        assert score == pytest.approx(q, rel=1e-12, abs=1e-12)


def pair(value: float, above: int, visits: int) -> Forest:
    return [Plain(None, 0, 0, above, 0, 0, [1]), Plain(0, value, value, visits, 0, 0)]


def test_the_two_forms_of_mctsr_differ_most_below_a_parent_seen_once() -> None:
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


def test_a_first_visit_in_flight_counts_as_the_lowest_reward_alone() -> None:
    forest = [Plain(None, 0, 0, 4, 0, 0, [1]), Plain(0, math.nan, math.nan, 0, 1, 0)]
    assert scores(forest, rules.VALUE)[1] == -100.0
