"""Sequential halving with Gumbel noise: the published table, completion, who is next; against plain Python."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels import gumbel as kernels
from mctsr.kernels import walk
from mctsr.kernels.node import DONE, NONE, SPENT, UNSCORED, Ids, fresh

counts = st.lists(st.integers(0, 6), min_size=1, max_size=8)
logit = st.floats(-20, 5)


def table(m: int, n: int) -> list[int]:
    out: Ids = np.full(n, -1, dtype=np.int64)
    kernels.considered_visits(m, n, out)
    return [int(n) for n in out]


@pytest.mark.parametrize(
    ("m", "n", "expected"),
    [
        (8, 24, [0] * 8 + [1] * 4 + [2] * 4 + [3, 3, 4, 4, 5, 5, 6, 6]),
        (8, 2, [0, 0]),
        (8, 13, [0] * 8 + [1] * 4 + [2]),
        (7, 24, [0] * 7 + [1] * 3 + [2] * 3 + [3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8]),
        (8, 47, [0] * 8 + [1] * 4 + [2] * 4 + [3] * 4 + [i // 2 for i in range(8, 35)]),
        (1, 16, list(range(16))),
        (0, 16, list(range(16))),
        (2, 5, [0, 0, 1, 1, 2]),
    ],
)
def test_the_table_is_the_published_one(m: int, n: int, expected: list[int]) -> None:
    assert table(m, n) == expected


@given(st.integers(2, 40), st.integers(1, 200))
def test_the_table_halves_and_never_passes_the_budget(m: int, n: int) -> None:
    visits: dict[int, int] = {}
    found = table(m, n)
    for considered in found:  # a child with `considered` visits must exist
        holders = visits.get(considered - 1, 0) if considered else m
        visits[considered] = visits.get(considered, 0) + 1
        assert visits[considered] <= holders
    assert found == sorted(found)
    rounds = [found.count(k) for k in range(max(found))]
    assert all(later <= earlier for earlier, later in pairwise(rounds))
    assert min(rounds, default=2) >= 2


@given(
    st.lists(
        st.tuples(st.integers(0, 9), logit, st.one_of(st.just(math.nan), st.floats(-50, 50))), min_size=1
    )
)
def test_unknown_values_are_completed_by_the_mixed_value(rows: list[tuple[int, float, float]]) -> None:
    n, logits, values = (np.array(column) for column in zip(*rows, strict=True))
    p = np.exp(logits - logits.max())
    known = ~np.isnan(values)
    for raw in (0.5, math.nan):
        q = values.copy()
        kernels.complete(n, logits, raw, q)
        prior_mean = float((p[known] * values[known]).sum() / p[known].sum()) if known.any() else math.nan
        if not known.any():
            mixed = 0.0 if math.isnan(raw) else raw
        elif math.isnan(raw):
            mixed = prior_mean
        else:
            mixed = (raw + n.sum() * prior_mean) / (1 + n.sum())
        np.testing.assert_allclose(q, np.where(known, values, mixed), rtol=1e-6, atol=1e-9)


def test_the_mixed_value_of_the_authors_own_example() -> None:
    q = np.array([math.nan, 30.0, -10.0, math.nan]) / 54
    logits = np.array([kernels.LOWEST, -1.0, 2.0, kernels.LOWEST])
    kernels.complete(np.array([0, 4, 4, 0]), logits, -0.8, q)
    p = 1 / (1 + math.exp(3))
    assert q[0] == q[3] == pytest.approx((-0.8 + 8 * (p * 30 - (1 - p) * 10) / 54) / 9)


@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-100, 100)), min_size=1, max_size=9))
def test_sigma_stretches_values_to_the_scale_of_the_visits(rows: list[tuple[int, float]]) -> None:
    n, q = (np.array(column) for column in zip(*rows, strict=True))
    out = np.empty(len(n))
    kernels.sigma(n, q.astype(float), 50.0, 0.1, out)
    span = max(max(q) - min(q), 1e-8)
    np.testing.assert_allclose(out, (50 + max(n)) * 0.1 * (q - min(q)) / span, rtol=1e-9, atol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 5), logit), min_size=1, max_size=9))
def test_below_the_root_visits_follow_the_policy(rows: list[tuple[int, float]]) -> None:
    n, logits = (np.array(column) for column in zip(*rows, strict=True))
    policy = np.exp(logits) / np.exp(logits).sum()
    lag = [p - k / (1 + sum(n)) for p, k in zip(policy, n, strict=True)]
    assert kernels.next_below(n, policy) == lag.index(max(lag))


def test_below_the_root_many_visits_have_the_shares_of_the_policy() -> None:
    policy, n = np.array([0.5, 0.3, 0.2]), np.zeros(3, dtype=np.int64)
    for _ in range(100):
        n[kernels.next_below(n, policy)] += 1
    assert n.tolist() == [50, 30, 20]


@given(counts, st.integers(0, 6), st.data())
def test_at_the_root_the_best_of_the_considered_is_next(
    given_counts: list[int], considered: int, data: st.DataObject
) -> None:
    ties = st.integers(-3, 3).map(float)
    scores = [data.draw(ties) for _ in given_counts]
    level = max((n for n in given_counts if n <= considered), default=min(given_counts))
    fit = [i for i, n in enumerate(given_counts) if n == level]
    expected = max(fit, key=lambda i: (scores[i], -i))
    assert kernels.next_at_root(np.array(given_counts), np.array(scores), considered) == expected


def test_a_whole_sequential_halving_by_hand() -> None:
    scores, n = np.array([3.0, 1.0, 4.0, 2.0, 0.0]), np.zeros(5, dtype=np.int64)
    order = []
    for considered in table(4, 8):
        chosen = kernels.next_at_root(n, scores, considered)
        n[chosen] += 1
        order.append(chosen)
    # The four best once, then the two best twice.
    assert order == [2, 0, 3, 1, 2, 0, 2, 0]


def test_children_are_gathered_with_work_in_flight_and_without_the_closed() -> None:
    nodes, sims = fresh(8), np.full(8, math.nan)
    walk.link(nodes, 0, NONE)
    for child in range(1, 5):
        walk.link(nodes, child, 0)
        nodes["prior"][child], nodes["visits"][child], nodes["value"][child] = 0.25 * child, 2, 10.0 * child
    nodes["flags"][2] = UNSCORED
    nodes["prior"][3] = 0.0
    walk.link(nodes, 5, 4)
    kernels.passed(nodes, 0, sims)
    for _ in range(2):
        kernels.passed(nodes, 4, sims)
    walk.mark(nodes, 4, 2)
    rows = (np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4), np.empty(4))
    assert kernels.gather(nodes, 0, (True, np.array([], dtype=np.int64)), -100.0, sims, rows) == 3
    ids, found, q, logits = (row[:3].tolist() for row in rows)
    assert (ids, found, q) == ([1, 3, 4], [0, 0, 4], [10, 30, (2 * 40 - 2 * 100) / 4])
    assert logits == [math.log(0.25), kernels.LOWEST, 0.0]
    assert kernels.gather(nodes, 0, (True, np.array([3, 7])), -100.0, sims, rows) == 2
    assert rows[0][:2].tolist() == [1, 4]
    assert sims[[0, 4]].tolist() == [3, 2]
    assert np.isnan(sims[[1, 2, 3, 5]]).all()


def test_a_child_in_flight_whose_value_nobody_knows_counts_as_the_lowest() -> None:
    nodes, sims = fresh(4), np.full(4, math.nan)
    for node, parent in enumerate((NONE, 0, 0, 0)):
        walk.link(nodes, node, parent)
    nodes["value"][1:4], nodes["visits"][1:4] = [math.nan, math.nan, 0.7], [0, 2, 0]
    for child in (1, 2, 3):
        walk.mark(nodes, child, 2)
    rows = (np.empty(3, np.int64), np.empty(3, np.int64), np.empty(3), np.empty(3))
    assert kernels.gather(nodes, 0, (True, np.array([], dtype=np.int64)), -100.0, sims, rows) == 3
    assert rows[2].tolist() == [-100.0, -100.0, -100.0]
    walk.mark(nodes, 1, -2)
    kernels.gather(nodes, 0, (True, np.array([], dtype=np.int64)), -100.0, sims, rows)
    assert math.isnan(rows[2][0]), "without work in flight it is unknown, and completed later"


def test_a_finished_child_is_gathered_while_it_has_children_and_only_the_unscored_never() -> None:
    nodes, sims = fresh(8), np.full(8, math.nan)
    for node, parent in enumerate((NONE, 0, 0, 0, 0, 1)):
        walk.link(nodes, node, parent)
    nodes["flags"][1:5] = [DONE, DONE, SPENT, UNSCORED]
    nodes["prior"][1:5] = 1.0
    rows = (np.empty(4, np.int64), np.empty(4, np.int64), np.empty(4), np.empty(4))
    nobody = np.array([], dtype=np.int64)
    assert kernels.gather(nodes, 0, (True, nobody), 0.0, sims, rows) == 1
    assert rows[0][:1].tolist() == [1]
    assert kernels.gather(nodes, 0, (False, nobody), 0.0, sims, rows) == 3
    assert rows[0][:3].tolist() == [1, 2, 3]


class World:
    """A random tree: parents, values (NaN: unknown), priors, simulations and flags; and the same as an array."""

    def __init__(self, rows: list[tuple[int, float, float, int, int]]) -> None:
        self.rows = rows
        self.nodes, self.sims = fresh(len(rows) + 1), np.full(len(rows) + 1, math.nan)
        for i, (parent, value, prior, n, flags) in enumerate(rows):
            walk.link(self.nodes, i, parent)
            self.nodes["value"][i], self.nodes["initial"][i], self.nodes["prior"][i] = value, value, prior
            self.nodes["flags"][i] = flags
            self.sims[i] = n if n else math.nan

    def leaf(self, node: int) -> int:
        """Descend as the paper says, slowly."""
        below = [i for i, row in enumerate(self.rows) if row[0] == node]
        if not below:
            return node
        above = {row[0] for row in self.rows}
        fit = [i for i in below if self.rows[i][4] == 0 or (self.rows[i][4] == DONE and i in above)]
        if not fit:
            return -2 - node
        p = np.array([self.rows[i][2] for i in fit], dtype=np.float32).astype(float)
        q, n = (np.array([self.rows[i][column] for i in fit], dtype=float) for column in (1, 3))
        known, v = ~np.isnan(q), np.float64(np.float32(self.rows[node][1]))
        mixed = 0.0 if np.isnan(v) else v
        if known.any():
            mean = (p * q)[known].sum() / p[known].sum()
            mixed = mean if np.isnan(v) else (v + n.sum() * mean) / (1 + n.sum())
        q[~known] = mixed
        score = np.log(p) + (50 + n.max()) * 0.1 * (q - q.min()) / max(np.ptp(q), 1e-8)
        policy = np.exp(score - score.max())
        lag = policy / policy.sum() - n / (1 + n.sum())
        self.near_tie |= len(lag) > 1 and bool(np.diff(np.sort(lag))[-1] < 1e-9)
        return self.leaf(fit[int(np.argmax(lag))])

    near_tie = False


@st.composite
def worlds(draw: st.DrawFn) -> World:
    rows = []
    value = st.one_of(st.just(math.nan), st.integers(-4, 4).map(lambda k: k / 4))
    for i in range(draw(st.integers(1, 16))):
        parent = draw(st.integers(max(i - 4, 0), i - 1)) if i else NONE
        n = draw(st.integers(0, 4))
        rows.append(
            (
                parent,
                draw(value),
                draw(st.sampled_from([0.1, 0.5, 1.0])),
                n,
                draw(st.sampled_from([0, 0, 0, DONE, DONE, SPENT, UNSCORED])),
            )
        )
    return World(rows)


@given(worlds())
def test_a_descent_is_what_plain_python_says(world: World) -> None:
    n = len(world.rows)
    rows = (np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n))
    work = ((50.0, 0.1), rows, np.empty(n), np.empty(n))
    found = kernels.descend(world.nodes, 0, (True, np.array([], dtype=np.int64)), 0.0, world.sims, work)
    expected = world.leaf(0)
    assert world.near_tie or found == expected
