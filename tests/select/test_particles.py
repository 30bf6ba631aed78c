"""Particles: weights of scores, log weights that are carried on, resampling by effective size, temperatures."""

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE
from mctsr.select.frontier import Frontier
from mctsr.select.particles import Particles, Weight
from mctsr.tree import Sample, State, Tree

Gain = Literal["current", "product", "ratio"]


def bear(tree: Tree, parent: int, *values: float) -> list[int]:
    born = []
    for value in values:
        node = tree.add(parent, State(f"text {len(tree)}"))
        if not math.isnan(value):
            tree.judged(node, (Sample(value, value),))
        tree.nodes["value"][node] = value
        born.append(node)
    return born


def plain(r: float, kind: str) -> float:
    if kind == "softmax":
        return r
    return math.log(r) if kind == "bernoulli" else math.log(r / (1 - r))


@pytest.mark.parametrize("kind", ["bernoulli", "softmax", "logit"])
@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6), st.floats(0.1, 5))
def test_log_weights_are_those_of_the_source_on_any_scale(
    kind: Literal["bernoulli", "softmax", "logit"], rs: list[float], temperature: float
) -> None:
    weight = Weight(kind, temperature, low=-100.0, high=100.0)
    expected = [plain(r, kind) / temperature for r in rs]
    np.testing.assert_allclose(weight(np.array([200 * r - 100 for r in rs])), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["bernoulli", "softmax", "logit"])
def test_a_member_without_value_has_no_weight_and_is_never_chosen(
    kind: Literal["bernoulli", "softmax", "logit"],
) -> None:
    assert Weight(kind)(np.array([math.nan, 0.5]))[0] == -math.inf
    for seed in range(20):
        tree, rule = Tree(), Particles(Weight(kind))
        bear(tree, NONE, 0.5)
        pool = bear(tree, 0, math.nan, 0.1, math.nan)
        assert list(rule(tree, pool, 3, np.random.default_rng(seed))) == [2, 2, 2]


@pytest.mark.parametrize("gain", ["current", "product", "ratio"])
def test_where_nobody_has_a_value_all_count_alike(gain: Gain) -> None:
    tree, rule = Tree(), Particles(gain=gain)
    bear(tree, NONE, math.nan)
    pool = bear(tree, 0, math.nan, math.nan, math.nan)
    assert list(rule(tree, pool, 3, np.random.default_rng(0))) == pool
    hot = Particles(Weight(hottest=3.0), gain=gain)
    pool = bear(tree, 0, math.nan, math.nan)
    assert list(hot(tree, pool, 2, np.random.default_rng(0))) == pool


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ("current", [math.log(0.9), math.log(0.2), math.log(0.5)]),
        ("product", [math.log(0.4 * 0.9), math.log(0.6 * 0.2), math.log(0.8)]),
        ("ratio", [math.log(0.9), math.log(0.2), math.log(0.8)]),
    ],
)
def test_log_weights_are_carried_on_as_the_gain_says(gain: Gain, expected: list[float]) -> None:
    tree, rule = Tree(), Particles(Weight("bernoulli"), ess_below=0.0, gain=gain)
    rng = np.random.default_rng(0)
    bear(tree, NONE, 1.0)
    first = bear(tree, 0, 0.4, 0.6, 0.8)
    assert list(rule(tree, first, 3, rng)) == first
    np.testing.assert_allclose(tree.own_array("log_weight")[first], np.log([0.4, 0.6, 0.8]))
    tree.end(3, "finished")
    tree.nodes["value"][3] = 0.5  # whatever happens to a finished particle, only "current" looks again
    second = [3, *bear(tree, 1, 0.9), *bear(tree, 2, 0.2)]
    assert list(rule(tree, second, 3, rng)) == second
    found = tree.own_array("log_weight")[[4, 5, 3]]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_resampling_waits_until_the_effective_size_falls_and_then_forgets_weights() -> None:
    tree, rule = Tree(), Particles(Weight("bernoulli"), ess_below=0.6, gain="product")
    rng = np.random.default_rng(0)
    bear(tree, NONE, 1.0)
    even = bear(tree, 0, 0.5, 0.4, 0.5, 0.4)
    assert list(rule(tree, even, 4, rng)) == even
    uneven = [
        i
        for parent, value in zip(even, [1.0, 0.01, 0.01, 0.01], strict=True)
        for i in bear(tree, parent, value)
    ]
    chosen = list(rule(tree, uneven, 4, rng))
    assert chosen.count(uneven[0]) >= 3
    assert tree.own_array("log_weight")[chosen].tolist() == [0.0] * 4


def test_a_ratio_above_which_nothing_was_possible_stays_impossible() -> None:
    tree, rule = Tree(), Particles(Weight("bernoulli"), ess_below=0.0, gain="ratio")
    bear(tree, NONE, 1.0)
    first = bear(tree, 0, 0.0, 0.5)
    rule(tree, first, 2, np.random.default_rng(0))
    second = [*bear(tree, 1, 0.9), *bear(tree, 2, 0.25)]
    rule(tree, second, 2, np.random.default_rng(0))
    assert tree.own_array("log_weight")[second].tolist() == [-math.inf, pytest.approx(math.log(0.25))]


def test_when_nobody_has_any_weight_all_count_alike() -> None:
    tree, rule = Tree(), Particles(Weight("bernoulli"))
    bear(tree, NONE, 1.0)
    pool = bear(tree, 0, 0.0, 0.0, 0.0)
    assert list(rule(tree, pool, 3, np.random.default_rng(0))) == pool
    lazy = Particles(Weight("bernoulli"), ess_below=0.5, gain="product")
    pool = bear(tree, 0, 0.0, 0.0, 0.0)
    assert list(lazy(tree, pool, 3, np.random.default_rng(0))) == pool
    assert tree.own_array("log_weight")[pool].tolist() == [0, 0, 0], "and go on with equal weights"


def test_a_smaller_pool_is_copied_to_the_whole_population() -> None:
    tree, rule = Tree(), Particles(Weight("softmax"))
    bear(tree, NONE, 1.0)
    pool = bear(tree, 0, 0.5, 0.5)
    assert list(rule(tree, pool, 6, np.random.default_rng(0))) == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("method", ["multinomial", "systematic", "stratified", "residual"])
def test_copies_follow_the_weights_whatever_the_method(
    method: Literal["multinomial", "systematic", "stratified", "residual"],
) -> None:
    counts = np.zeros(5)
    for seed in range(400):
        tree = Tree()
        bear(tree, NONE, 1.0)
        pool = bear(tree, 0, 0.1, 0.2, 0.3, 0.4)
        rng = np.random.default_rng(seed)
        np.add.at(counts, Particles(Weight("bernoulli"), method)(tree, pool, 5, rng), 1)
    expected = [2000 * share for share in (0.1, 0.2, 0.3, 0.4)]
    assert counts[1:] == pytest.approx(expected, abs=5 * math.sqrt(2000 * 0.25))


def test_the_extra_temperature_acts_where_one_particle_has_almost_all_and_fades() -> None:
    weight = Weight("logit", hottest=3.0, floor=0.5, until=4)
    peaked, even = np.array([6.0, -3.0, -3.0]), np.array([1.0, 1.1, 0.9])
    assert [weight.heat(peaked, depth) for depth in (1, 2, 3, 5, 9)] == [3.0, 2.5, 2.0, 1.0, 1.0]
    assert weight.heat(even, 1) == 1.0
    assert Weight("logit").heat(peaked, 1) == 1.0
    tree, rule = Tree(), Particles(weight, ess_below=0.0)
    bear(tree, NONE, 0.5)
    pool = bear(tree, 0, 0.99, 0.05, 0.05)
    rule(tree, pool, 3, np.random.default_rng(0))
    expected = [math.log(r / (1 - r)) / 3 for r in (0.99, 0.05, 0.05)]
    np.testing.assert_allclose(tree.own_array("log_weight")[pool], expected)


@pytest.mark.parametrize("how", [{"temperature": 0.0}, {"hottest": 0.5}, {"low": 1.0}, {"eps": 0.5}])
def test_a_weight_that_is_none_is_refused(how: dict[str, float]) -> None:
    with pytest.raises(RecipeError, match="temperature must be above 0"):
        Weight(**how)  # type: ignore[arg-type]


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"ess_below is 1.5; it is a share of the population"):
        Particles(ess_below=1.5)


@pytest.mark.parametrize(
    ("rule", "target"),
    [
        (Particles(Weight("bernoulli")), [0.63, 0.09, 0.06, 0.18]),
        (Particles(Weight("bernoulli"), "residual", 0.7, "product"), [0.63, 0.09, 0.06, 0.18]),
        (Particles(Weight("bernoulli"), "multinomial", None, "product"), [0.63, 0.09, 0.06, 0.18]),
        (Particles(Weight("bernoulli"), "stratified", 0.7, "ratio"), [0.7, 0.1, 0.2, 0.6]),
        (Particles(Weight("bernoulli"), ess_below=0.0, gain="product"), [0.63, 0.09, 0.06, 0.18]),
    ],
)
def test_the_population_has_the_law_that_the_gain_aims_at(rule: Particles, target: list[float]) -> None:
    """Two steps of 0 or 1, even chances; the scores of the first are .9 and .3. The law is r1 r2, or r2 alone."""
    mass = np.zeros(4)
    for seed in range(80):
        tree, rng, selector = Tree(), np.random.default_rng(seed), Frontier(60, rule, 1)
        selector.tell(tree, rng, bear(tree, NONE, math.nan))
        for scores in ((0.9, 0.3), (0.7, 0.1, 0.2, 0.6)):
            step(tree, selector, rng, scores)
        weights = np.exp(tree.own_array("log_weight")[tree.front])
        paths = [int(tree.states[node].text) for node in tree.front]
        np.add.at(mass, paths, weights / weights.sum() / 80)
    assert mass == pytest.approx(np.array(target) / sum(target), abs=0.03)


def step(tree: Tree, selector: Frontier, rng: np.random.Generator, scores: tuple[float, ...]) -> None:
    """Ask one generation: each draft appends a random bit to its parent's; four scores are of the last step."""
    asks = selector.ask(tree, rng, 1)
    born = list[int]()
    for ask in asks:
        before = 2 * int(tree.states[ask.node].text) if ask.node else 0
        for bits in before + rng.integers(2, size=ask.n):
            born.append(tree.add(ask.node, State(str(bits))))
            tree.judged(born[-1], (Sample(scores[bits], scores[bits]),))
            tree.nodes["value"][born[-1]] = scores[bits]
            if len(scores) == 4:
                tree.end(born[-1], "finished")
    selector.tell(tree, rng, born)
