"""Posteriors of AB-MCTS-A, against the closed form and against lists of scores kept the slow way."""

import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.kernels import posterior as kernels
from mctsr.kernels import walk
from mctsr.kernels.node import DONE, NONE, SPENT, UNSCORED, Floats, Nodes, fresh

score = st.floats(0, 1)


class Tree:
    """A random tree: parents, scores (None: unscored), asks in flight and flags; and the same as an array."""

    def __init__(
        self, parents: list[int], scores: list[float | None], asks: list[int], flags: list[int]
    ) -> None:
        self.parents, self.scores, self.asks, self.flags = parents, scores, asks, flags

    def array(self) -> tuple[Nodes, Floats, kernels.Totals, kernels.Totals]:
        size = len(self.parents) + 2
        nodes, own = fresh(size), np.full(size, np.nan)
        subtree = (np.full(size, np.nan), np.full(size, np.nan), np.full(size, np.nan))
        children = (np.full(size, np.nan), np.full(size, np.nan), np.full(size, np.nan))
        for i, parent in enumerate(self.parents):
            walk.link(nodes, i, parent)
            nodes["flags"][i] = self.flags[i]
            if self.spent(i):
                nodes["flags"][i] |= SPENT
            found = self.scores[i]
            if found is not None:
                own[i] = found
                kernels.observe(nodes, i, found, subtree, children)
        for i, asks in enumerate(self.asks):
            walk.mark(nodes, i, asks)
        return nodes, own, subtree, children

    def children(self, node: int) -> list[int]:
        return [i for i, parent in enumerate(self.parents) if parent == node]

    def subtree(self, node: int) -> list[int]:
        return [node, *(i for child in self.children(node) for i in self.subtree(child))]

    def spent(self, node: int) -> bool:
        below = self.children(node)
        return bool(below) and all(self.closed(child) for child in below)

    def closed(self, node: int) -> bool:
        finished = bool(self.flags[node] & DONE) and not self.children(node)
        return finished or bool(self.flags[node] & UNSCORED) or self.spent(node)

    def opens(self, node: int) -> bool:
        """A node may widen unless finished or unscored; a finished one is passed through to an open child."""
        if self.flags[node] & UNSCORED:
            return False
        return not self.flags[node] & DONE or any(not self.closed(child) for child in self.children(node))


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    size = draw(st.integers(1, 14))
    parents = [NONE, *(draw(st.integers(0, i - 1)) for i in range(1, size))]
    scores = [draw(st.one_of(st.none(), score)) for _ in range(size)]
    asks = [draw(st.sampled_from([0, 0, 1, 2])) for _ in range(size)]
    flags = [draw(st.sampled_from([0, DONE, DONE, UNSCORED])) for _ in range(size)]
    return Tree(parents, scores, asks, flags)


@given(trees())
def test_the_arms_have_seen_what_the_source_says(tree: Tree) -> None:
    nodes, own, subtree, children = tree.array()
    for node in range(len(tree.parents)):
        below = tree.children(node)
        expected: list[tuple[int, list[float]]] = [(tree.asks[node], []), (0, [])]
        for child in below:
            everything = tree.subtree(child)
            waiting = sum(tree.asks[i] for i in everything)
            seen = [s for i in everything if (s := tree.scores[i]) is not None]
            expected.append((waiting, seen))
            first = tree.scores[child]
            expected[0] = (expected[0][0], expected[0][1] + ([first] if first is not None else []))
            further = [s for i in everything[1:] if (s := tree.scores[i]) is not None]
            expected[1] = (expected[1][0] + waiting, expected[1][1] + further)
        rows = [[n + len(ys), sum(ys), sum(y * y for y in ys)] for n, ys in expected]
        out = np.empty((2, 3))
        kernels.wider_or_deeper(nodes, node, own[node], subtree, children, out)
        np.testing.assert_allclose(out, rows[:2], atol=1e-12)
        ids, out = np.full(len(below), -1, dtype=np.int64), np.empty((len(below), 3))
        fit = [i for i, child in enumerate(below) if tree.opens(child)]
        assert kernels.arms(nodes, int(nodes["first"][node]), subtree, ids, out) == len(fit)
        assert ids[: len(fit)].tolist() == [below[i] for i in fit]
        np.testing.assert_allclose(
            out[: len(fit)], np.reshape([rows[2 + i] for i in fit], (-1, 3)), atol=1e-12
        )


@given(trees())
def test_what_may_be_entered_is_what_holds_something_that_can_be_asked(tree: Tree) -> None:
    nodes, *_ = tree.array()
    for node in range(len(tree.parents)):
        assert kernels.may_grow(nodes, node) == tree.opens(node)
        if tree.flags[node] & DONE and tree.opens(node):
            assert any(tree.opens(child) for child in tree.children(node)), "there is somewhere to go on"


def seen(ys: list[float]) -> Floats:
    return np.array([[len(ys), sum(ys), sum(y * y for y in ys)]])


@given(
    st.lists(score, max_size=12), st.floats(0, 1), st.floats(0.1, 5), st.floats(0.1, 5), st.floats(0.01, 2)
)
def test_sampling_10_4_gaussian_posterior(
    ys: list[float], m: float, kappa: float, nu: float, tau2: float
) -> None:
    out = np.empty((1, 4))
    kernels.gaussian(seen(ys), (m, kappa, nu, tau2), out)
    n, mean = len(ys), fmean(ys) if ys else 0.0
    scatter = sum((y - mean) ** 2 for y in ys) + n * kappa * (m - mean) ** 2 / (kappa + n)
    expected = [(kappa * m + n * mean) / (kappa + n), kappa + n, nu + n, (nu * tau2 + scatter) / (nu + n)]
    np.testing.assert_allclose(out[0], expected, rtol=1e-9, atol=1e-12)


@given(st.lists(score, min_size=1, max_size=8))
def test_sampling_11_7_the_closed_form_is_the_update_repeated(ys: list[float]) -> None:
    m, kappa, nu, tau2 = 0.0, 1.0, 1.0, 0.1
    for y in ys:  # one score at a time: the posterior is the next prior
        tau2 = (nu * tau2 + kappa * (m - y) ** 2 / (kappa + 1)) / (nu + 1)
        m, kappa, nu = (kappa * m + y) / (kappa + 1), kappa + 1, nu + 1
    out = np.empty((1, 4))
    kernels.gaussian(seen(ys), (0.0, 1.0, 1.0, 0.1), out)
    np.testing.assert_allclose(out[0], [m, kappa, nu, tau2], rtol=1e-9, atol=1e-12)


def test_sampling_11_7_numbers_worked_out_by_hand() -> None:
    out = np.empty((1, 4))
    kernels.gaussian(seen([0.8, 0.4]), (0.0, 1.0, 1.0, 0.1), out)
    # kappa 3, m 1.2 / 3, nu 3; mean .6, SS .08, 2 * .36 / 3 = .24: (.1 + .08 + .24) / 3
    np.testing.assert_allclose(out[0], [0.4, 3, 3, 0.14], rtol=1e-12)


@given(st.lists(score, max_size=12))
def test_sampling_10_4_beta_posterior(ys: list[float]) -> None:
    out = np.empty((1, 2))
    kernels.beta(seen(ys), (0.5, 0.5), out)
    np.testing.assert_allclose(out[0], [0.5 + sum(ys), 0.5 + sum(1 - y for y in ys)], rtol=1e-9)
    assert out[0, 1] >= 0.5


@pytest.mark.parametrize("value", [0.1, 0.7, 1.0])
def test_equal_scores_scatter_by_nothing(value: float) -> None:
    ys, out = [value] * 1000, np.empty((1, 4))
    kernels.gaussian(seen(ys), (value, 1.0, 1.0, 0.1), out)
    assert out[0, 3] == pytest.approx(0.1 / 1001, rel=1e-6)
    assert math.isfinite(out[0, 0])
