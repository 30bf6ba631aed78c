"""Particle Gibbs: resampling around one that stays, the law that sweeps keep, and what a sweep writes."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import RecipeError
from mctsr.kernels.node import NONE
from mctsr.select.particles import Weight, resample, resample_around
from mctsr.select.sweeps.gibbs import Gibbs
from mctsr.testing.laws import check_selector
from mctsr.tree import Sample, State, Tree

METHODS = ("multinomial", "systematic")
SHARES = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=5)

# Resampling around one that keeps its place


@pytest.mark.parametrize("method", METHODS)
@given(SHARES, st.integers(1, 6), st.integers(0, 99))
def test_the_one_that_is_fixed_always_has_a_place(
    method: str, shares: list[float], n: int, seed: int
) -> None:
    drawn = resample_around(method, np.log(shares), n, np.random.default_rng(seed))  # type: ignore[arg-type]
    assert drawn.shape == (n,)
    assert drawn[0] == 0
    assert (np.diff(drawn) >= 0).all()
    assert drawn[-1] < len(shares)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shares", [(0.1, 0.2, 0.3, 0.4), (0.55, 0.05, 0.4), (0.4, 0.6)])
def test_a_draw_is_as_much_likelier_as_the_fixed_one_comes_in_it(
    method: str, shares: tuple[float, ...]
) -> None:
    n, rounds = 4, 20_000
    rng = np.random.default_rng(0)
    plain = Counter(tuple(resample(method, np.log(shares), n, rng)) for _ in range(rounds))  # type: ignore[arg-type]
    fixed = Counter(tuple(resample_around(method, np.log(shares), n, rng)) for _ in range(rounds))  # type: ignore[arg-type]
    for drawn in plain | fixed:
        expected = plain[drawn] / rounds * drawn.count(0) / (n * shares[0])
        assert fixed[drawn] / rounds == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_one_without_any_weight_keeps_its_place_and_has_no_copies(method: str) -> None:
    for seed in range(20):
        drawn = resample_around(method, np.array([-np.inf, 0.0, 0.0]), 4, np.random.default_rng(seed))  # type: ignore[arg-type]
        assert list(drawn).count(0) == 1


# A world of texts: what is written below each, by even chances, and the score of each

World = Mapping[str, float]
EVEN: World = {"0": 0.9, "1": 0.3, "00": 0.7, "01": 0.1, "10": 0.2, "11": 0.6}


def run(selector: Gibbs, world: World, seed: int, *, asks: list[tuple[str, int]] | None = None) -> Tree:
    """Grow a tree to its end; a text without longer ones in the world is finished."""
    tree, rng = Tree(), np.random.default_rng(seed)
    selector.tell(tree, rng, [tree.add(NONE, State("", step=True))])
    while found := selector.ask(tree, rng, 1):
        born = []
        for ask in found:
            above = tree.states[ask.node].text
            if asks is not None:
                asks.append((above, ask.n))
            longer = [text for text in world if text[:-1] == above]
            for pick in rng.integers(len(longer), size=ask.n):
                born.append(write(tree, ask.node, longer[pick], world))
        selector.tell(tree, rng, born)
    return tree


def write(tree: Tree, parent: int, text: str, world: World) -> int:
    node = tree.add(parent, State(text, step=True))
    tree.judged(node, (Sample(world[text], world[text]),))
    tree.nodes["value"][node] = world[text]
    if not any(other[:-1] == text for other in world):
        tree.end(node, "finished")
    return node


def target(world: World) -> dict[str, float]:
    """The product of a finished text's scores, normalised."""
    ends = [text for text in world if not any(other[:-1] == text for other in world)]
    mass = {text: math.prod(world[text[: i + 1]] for i in range(len(text))) for text in ends}
    return {text: each / sum(mass.values()) for text, each in mass.items()}


def shares_of(tree: Tree, mass: dict[str, float], weight: Weight) -> None:
    """Add the weights of a sweep's last particles to `mass`."""
    weights = np.exp(weight(tree.nodes["value"][tree.front]))
    for node, each in zip(tree.front, weights / weights.sum(), strict=True):
        mass[tree.states[node].text] += float(each)


@pytest.mark.parametrize("method", METHODS)
def test_many_sweeps_of_two_particles_have_the_law_that_one_sweep_has_not(method: str) -> None:
    wanted, distance = target(EVEN), {}
    for sweeps in (1, 12):
        mass = defaultdict[str, float](float)
        for seed in range(2000):
            rule = Gibbs(2, sweeps, Weight("bernoulli"), method)  # type: ignore[arg-type]
            shares_of(run(rule, EVEN, seed), mass, rule.weight)
        distance[sweeps] = sum(abs(mass[text] / 2000 - share) for text, share in wanted.items()) / 2
    assert distance[12] < 0.03
    assert distance[1] > 2 * distance[12], "so few particles are biased, and sweeps take the bias away"


THREE: World = {
    text: (0.9, 0.1, 0.2, 0.8, 0.05)[(3 * int(text, 2) + len(text)) % 5]
    for length in (1, 2, 3)
    for text in map("".join, itertools.product("01", repeat=length))
}


def test_a_reference_that_has_the_law_hands_it_on() -> None:
    """One sweep around an exact draw: what is chosen at its end is an exact draw again, whatever the scores."""
    wanted, rng, rule = target(THREE), np.random.default_rng(0), Gibbs(2, 2, Weight("bernoulli"))
    texts, mass, rounds = list(wanted), defaultdict[str, float](float), 3000
    for seed in range(rounds):
        tree = Tree()
        rule.tell(tree, rng, [tree.add(NONE, State("", step=True))])
        # The first sweep is over at once: all its particles are the exact draw.
        text = str(rng.choice(texts, p=list(wanted.values())))
        born = [0]
        for i in range(3):
            born.append(write(tree, born[-1], text[: i + 1], THREE))
        rule.tell(tree, rng, born[-1:] * rule.n)
        rest = np.random.default_rng(seed)
        while found := rule.ask(tree, rest, 1):
            newborn = []
            for ask in found:
                above = tree.states[ask.node].text
                for bit in rest.integers(2, size=ask.n):
                    newborn.append(write(tree, ask.node, f"{above}{bit}", THREE))
            rule.tell(tree, rest, newborn)
        shares_of(tree, mass, rule.weight)
    for text, share in wanted.items():
        assert mass[text] / rounds == pytest.approx(share, abs=0.025)


# What a sweep writes


def test_the_reference_is_not_written_again_and_is_left_where_it_was_finished() -> None:
    asks: list[tuple[str, int]] = []
    tree = run(Gibbs(4, 3), EVEN, 0, asks=asks)
    rounds = [[n for _, n in asks[i:j]] for i, j in itertools.pairwise(starts(asks))]
    assert [ns[0] for ns in rounds] == [4, 3, 3]
    assert sum(n for _, n in asks) == 4 + 4 + 2 * (3 + 3)
    assert len(tree.front) == 4
    assert all(len(tree.states[node].text) == 2 for node in tree.front)


def starts(asks: Sequence[tuple[str, int]]) -> list[int]:
    return [*(i for i, (above, _) in enumerate(asks) if not above), len(asks)]


def test_others_go_on_from_the_reference_as_far_as_it_has_come() -> None:
    """The first sweep finds a solution of three steps; in the second all others are worthless at first."""
    tree, rng, rule = Tree(), np.random.default_rng(0), Gibbs(3, 2, Weight("bernoulli"))
    rule.tell(tree, rng, [tree.add(NONE, State("", step=True))])
    scores = {"a": 0.5, "b": 0.0, "ab": 0.5, "aa": 0.5, "aba": 0.5, "abb": 0.5}
    line = [0]
    for text in ("a", "ab", "aba"):
        assert [(ask.node, ask.n) for ask in rule.ask(tree, rng, 1)] == [(line[-1], 3)]
        line.append(write(tree, line[-1], text, scores))
        rule.tell(tree, rng, line[-1:])
    assert tree.front == [line[3], 0, 0]
    for generation in (1, 2):
        assert [(ask.node, ask.n) for ask in rule.ask(tree, rng, 1)] == [(line[generation - 1], 2)]
        rule.tell(tree, rng, [])
        assert tree.front == [line[3], line[generation], line[generation]]
    assert [(ask.node, ask.n) for ask in rule.ask(tree, rng, 1)] == [(line[2], 2)]
    rule.tell(tree, rng, [write(tree, line[2], "abb", scores)])
    assert sorted(tree.states[node].text for node in tree.front) == ["aba", "abb"]
    assert not rule.ask(tree, rng, 1)


def test_while_the_reference_is_on_its_way_finished_particles_wait_for_it() -> None:
    tree, rng, rule = Tree(), np.random.default_rng(3), Gibbs(2, 2, Weight("bernoulli"))
    scores = {"a": 1.0, "ab": 1.0, "b": 1.0}
    rule.tell(tree, rng, [tree.add(NONE, State("", step=True))])
    a = write(tree, 0, "a", scores)
    rule.tell(tree, rng, [a])
    ab = write(tree, a, "ab", scores)
    rule.tell(tree, rng, [ab])
    assert [ask.node for ask in rule.ask(tree, rng, 1)] == [0]
    b = write(tree, 0, "b", scores)
    rule.tell(tree, rng, [b])
    # Nobody had anything to write until the reference had arrived, unless the other became its copy on the way.
    assert tree.front in ([ab, a], [ab, b], [ab, ab])
    assert tree.front[1] == a or not rule.ask(tree, rng, 1)


@pytest.mark.parametrize("seed", range(8))
def test_a_sweep_that_is_broken_off_still_has_the_solution_of_the_one_before(seed: int) -> None:
    tree, rng, rule = Tree(), np.random.default_rng(seed), Gibbs(4, 2, Weight("softmax"))
    scores = {"a": 0.9, "ab": 0.9, "b": 0.2, "c": 0.3}
    rule.tell(tree, rng, [tree.add(NONE, State("", step=True))])
    a = write(tree, 0, "a", scores)
    rule.tell(tree, rng, [a])
    ab = write(tree, a, "ab", scores)
    rule.tell(tree, rng, [ab])
    b, c = write(tree, 0, "b", scores), write(tree, 0, "c", scores)
    tree.end(b, "finished")
    rule.tell(tree, rng, [b, c])
    assert tree.front[0] == ab
    assert set(tree.front[1:]) <= {a, ab, b, c}


@pytest.mark.parametrize(("n", "sweeps"), [(2, 1), (3, 2), (5, 4)])
def test_the_laws_of_selectors_hold(n: int, sweeps: int) -> None:
    check_selector(Gibbs(n, sweeps, Weight(low=-100.0, high=100.0)))
    check_selector(Gibbs(n, sweeps, Weight(low=-100.0, high=100.0), "multinomial"), judged=False)


@pytest.mark.parametrize(
    ("n", "sweeps", "message"), [(1, 4, "n is 1; it is the number of particles, 2 to"), (4, 0, "sweeps is 0")]
)
def test_a_size_that_is_none_is_refused(n: int, sweeps: int, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        Gibbs(n, sweeps)
