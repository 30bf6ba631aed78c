"""Values, labels and advantages for training: the published vectors, laws, and slow references."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mctsr.errors import UsageError
from mctsr.export import targets
from mctsr.export.targets import Floats, Ids


def ids(*numbers: int) -> Ids:
    return np.array(numbers, dtype=np.int64)


# ReST-MCTS*


def rest(parents: list[int], right: list[bool]) -> list[float]:
    return list(targets.rest_mcts_values(ids(*parents), np.array(right, dtype=bool)))


def test_a17_rest_values() -> None:
    assert rest([-1, 0, 1, 2], [False, False, False, True]) == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_a_wrong_branch_loses_what_the_way_it_left_had_gained() -> None:
    # Off the node with V = 1/3 and m = 3: 1/3 - (2/3) / 3 = 1/9, then 1/9 - (8/9) / 3 < 0.
    found = rest([-1, 0, 1, 2, 1, 4], [False, False, False, True, False, False])
    assert found[4:] == pytest.approx([1 / 9, 0])


def test_the_nearest_right_leaf_counts() -> None:
    found = rest([-1, 0, 1, 2, 1], [False, False, False, True, True])
    assert found == pytest.approx([0, 1 / 2, 3 / 4, 1, 1])


def test_a_tree_without_a_right_leaf_has_no_value_at_all() -> None:
    assert rest([-1, 0, 1, -1], [False] * 4) == [0, 0, 0, 0]


def slow_rest(parents: list[int], right: list[bool], node: int) -> float:
    def steps(at: int) -> float:
        below = [steps(c) + 1 for c, p in enumerate(parents) if p == at]
        return min([1.0 if right[at] else math.inf, *below])

    above = parents[node]
    if above < 0:
        return 0
    at, r = node, 1
    while steps(at) == math.inf and parents[at] >= 0:
        at, r = parents[at], -1
    v = slow_rest(parents, right, above)
    return max(0, v + (1 - v) * r / steps(at))


@settings(max_examples=50)
@given(
    st.integers(1, 9).flatmap(
        lambda n: st.tuples(*[st.tuples(st.integers(-1, i - 1), st.booleans()) for i in range(n)])
    )
)
def test_rest_values_equal_the_recursion(drawn: tuple[tuple[int, bool], ...]) -> None:
    parents, right = [p for p, _ in drawn], [r for _, r in drawn]
    found = rest(parents, right)
    assert found == pytest.approx([slow_rest(parents, right, node) for node in range(len(parents))])
    assert all(0 <= value <= 1 for value in found)


# AgentPRM


def test_a23_agent_prm_labels() -> None:
    keys, lengths, scores = ids(0, 1, 2, 3), ids(4), np.array([1.0])
    code = targets.agent_prm_code_labels(keys, lengths, scores)
    assert code == pytest.approx([1, 0.975, 0.95125, 0.928687], abs=5e-7)
    assert targets.agent_prm_labels(keys, lengths, scores) == pytest.approx(code[::-1])


def test_equal_actions_share_the_mean_of_their_targets() -> None:
    # Action 7 opens a success (target 1) and comes second in a failure (target -0.95).
    found = targets.agent_prm_code_labels(ids(7, 8, 9, 7), ids(2, 2), np.array([1.0, 0.0]))
    shared = 0.5 * (1 + (1 - 0.95) / 2)
    assert found == pytest.approx([shared, 0.975, 0, shared])


def test_a_failure_looks_better_the_later_it_is_in_the_code_and_worse_by_return_to_go() -> None:
    keys, lengths, scores = ids(0, 1, 2), ids(3), np.array([0.0])
    assert np.diff(targets.agent_prm_code_labels(keys, lengths, scores)).min() > 0
    assert np.diff(targets.agent_prm_labels(keys, lengths, scores)).max() < 0


def test_no_episodes_have_no_labels() -> None:
    assert not len(targets.agent_prm_labels(ids(), ids(), np.zeros(0)))


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError, match="3 keys, 1 episodes of 2 actions and 1 scores"):
        targets.agent_prm_labels(ids(0, 1, 2), ids(2), np.array([1.0]))


# Tree-OPO


def test_a25_tree_opo_heuristic() -> None:
    found = targets.tree_opo(np.array([0.0, 1, 0, 1]), np.array([0.25, 0.75, 0.5, 1]))
    assert found == pytest.approx([-0.3125, 0.4375, -0.4375, 0.3125])


def test_prefixes_are_valued_by_what_was_completed_below_them() -> None:
    successes, completions = ids(0, 1, 4, 0), ids(4, 4, 4, 0)
    assert targets.expectation(successes, completions).tolist() == [0, 0.25, 1, 0]
    assert targets.optimistic(successes, completions).tolist() == [0, 1, 1, 0]
    assert targets.pessimistic(successes, completions).tolist() == [0, 0, 1, 0]


def test_a26_tree_opo_soft_qp() -> None:
    found = targets.tree_opo_soft(np.array([0.0, 1, 1, 0]), np.array([[0, 1], [3, 0]]), delta=0.1)
    assert found == pytest.approx([-0.45, 0.5, 0.5, -0.55], abs=1e-8)


def test_without_pairs_rewards_are_centred() -> None:
    none = np.zeros((0, 2), dtype=np.int64)
    assert targets.tree_opo_soft(np.array([0.0, 1, 1, 0]), none).tolist() == [-0.5, 0.5, 0.5, -0.5]


def isotonic(wanted: list[float]) -> list[float]:
    """Pool adjacent violators: the closest sequence that never falls."""
    blocks: list[list[float]] = []
    for number in wanted:
        blocks.append([number])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return [float(np.mean(block)) for block in blocks for _ in block]


REWARDS = st.lists(st.integers(-4, 4).map(lambda n: n / 4), min_size=2, max_size=8)


@settings(max_examples=50)
@given(REWARDS, st.sampled_from([0.0, 0.05]))
def test_a_chain_of_pairs_is_isotonic_regression(rewards: list[float], delta: float) -> None:
    r, n = np.array(rewards), len(rewards)
    pairs = np.array([[i, i + 1] for i in range(n - 1)])
    ramp = delta * np.arange(n)
    expected = np.array(isotonic((r - r.mean() - ramp).tolist())) + ramp
    assert targets.tree_opo_soft(r, pairs, delta=delta) == pytest.approx(expected - expected.mean(), abs=1e-7)


def fits(a: Floats, pairs: list[tuple[int, int]], delta: float) -> bool:
    below = all(a[i] + delta <= a[j] + 1e-7 for i, j in pairs)
    return below and abs(a.sum()) < 1e-7 and float(a @ a) <= len(a) + 1e-6


@settings(max_examples=50)
@given(
    st.lists(st.integers(-30, 30).map(lambda n: n / 4), min_size=2, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6),
    st.sampled_from([0.0, 0.1]),
    st.integers(0, 1000),
)
def test_the_answer_fits_and_no_point_that_fits_is_closer(
    rewards: list[float], drawn: list[tuple[int, int]], delta: float, seed: int
) -> None:
    r, n = np.array(rewards), len(rewards)
    # Lower numbers below higher ones: never a contradiction.
    pairs = sorted({(min(p), max(p)) for p in drawn if max(p) < n and p[0] != p[1]})
    a = targets.tree_opo_soft(r, np.array(pairs, dtype=np.int64).reshape(-1, 2), delta=delta)
    assert fits(a, pairs, delta)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        ramp = 0.1 * np.arange(n)
        inner = ramp - ramp.mean()
        z = a + rng.normal(size=n) * 0.1
        z = z - z.mean()
        z = inner + rng.random() * (z - inner)
        if fits(z, pairs, delta):
            # A point is the projection of r when everything that fits lies behind it, seen from r.
            assert (r - a) @ (z - a) <= 1e-5


def test_an_active_ball_shrinks_to_its_surface() -> None:
    found = targets.tree_opo_soft(np.array([-10.0, 10.0]), np.array([[0, 1]]))
    assert found == pytest.approx([-1, 1])


@pytest.mark.parametrize(("pairs", "delta"), [([[0, 1], [1, 0]], 0.1), ([[0, 1]], 9.0)])
def test_pairs_that_cannot_all_hold_are_an_error(pairs: list[list[int]], delta: float) -> None:
    with pytest.raises(UsageError, match="did not settle in 300 rounds"):
        targets.tree_opo_soft(np.array([0.0, 1.0]), np.array(pairs), delta=delta, rounds=300)
