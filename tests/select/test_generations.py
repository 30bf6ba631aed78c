"""Generations: who is asked for how many drafts, when a generation is whole, who survives it; whole searches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.random import Generator

from mctsr.answer import best_value
from mctsr.backup import OwnValue
from mctsr.caller import Caller
from mctsr.engine import Outcome, search
from mctsr.errors import RecipeError, ServerError
from mctsr.expand.drafts import together
from mctsr.kernels.node import DONE, NONE
from mctsr.lm.base import Message, Place, Request
from mctsr.lm.scripted import Replies, Reply, Scripted
from mctsr.parts import Ask, Draft, Fault, Path, Problem, Unscored, Verdict
from mctsr.recipe import Recipe
from mctsr.select.frontier import Frontier
from mctsr.select.particles import Particles, Weight
from mctsr.select.population import Beams, Subtrees, Survivors
from mctsr.stop import max_depth, never
from mctsr.testing.laws import check_selector
from mctsr.tree import Sample, State, Tree

RNG = np.random.default_rng(0)
DROPPED, PLANTED = "dropped", "planted"
Kind = float | str


def bear(tree: Tree, parent: int, *kinds: Kind) -> list[int]:
    """Add children by their values; one in brackets, as "(0.5)", is finished."""
    born = []
    for kind in kinds:
        node = tree.add(parent, State(f"text {len(tree)}"), planted=kind == PLANTED)
        if kind == DROPPED:
            tree.unscored(node, "no score in the reply")
        else:
            value = 0.5 if kind == PLANTED else float(str(kind).strip("()"))
            tree.judged(node, (Sample(value, value),))
            tree.nodes["value"][node], tree.nodes["visits"][node] = value, 1
        if str(kind).startswith("("):
            tree.end(node, "finished")
        born.append(node)
    return born


def opened(selector: Frontier, *kinds: Kind) -> Tree:
    tree = Tree()
    selector.tell(tree, RNG, bear(tree, NONE, *kinds))
    return tree


def generation(tree: Tree, selector: Frontier, *drafts: Sequence[Kind]) -> list[tuple[int, int]]:
    """Ask a generation and fold it as the engine does; returns (node, n) of its asks."""
    asks = selector.ask(tree, RNG, 1)
    born = [bear(tree, ask.node, *kinds) for ask, kinds in zip(asks, drafts, strict=True)]
    selector.tell(tree, RNG, [node for family in born for node in family])
    return [(ask.node, ask.n) for ask in asks]


RULES: list[Survivors] = [
    Beams(2),
    Subtrees(2),
    Particles(Weight(low=-100, high=100)),
    Particles(ess_below=0.5),
]


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("survive", RULES, ids=["beams", "subtrees", "particles", "ess"])
@pytest.mark.parametrize("opening", [None, 1, 3])
def test_populations_keep_the_laws(survive: Survivors, opening: int | None, judged: bool, width: int) -> None:
    check_selector(Frontier(6, survive, opening), judged=judged, width=width)


def test_a_lone_root_stands_for_the_whole_population() -> None:
    selector = Frontier(4, Beams(2), opened=1)
    tree = opened(selector, 0.5)
    assert (selector.roots, tree.front) == (1, [0, 0, 0, 0])
    assert selector.ask(tree, RNG, 1) == [Ask(0, 4)]


def test_fewer_roots_than_members_share_the_places() -> None:
    tree = opened(Frontier(5, Beams(2), opened=3), 0.5, DROPPED, 0.7)
    assert sorted(tree.front) == [0, 0, 0, 2, 2]


def test_a_full_opening_is_a_generation_of_its_own() -> None:
    assert opened(Frontier(4, Beams(2)), 0.5, 0.9, 0.1, 0.7).front == [1, 1, 3, 3]


def test_a_generation_is_told_as_a_whole() -> None:
    selector = Frontier(4, Beams(2))
    tree = opened(selector, 0.5, 0.9, "(0.6)", 0.7)
    assert tree.front == [1, 1, 3, 3]
    selector.tell(tree, RNG, [*bear(tree, 1, 0.95, 0.2), *bear(tree, 3, "(0.97)", PLANTED)])
    assert tree.front == [6, 6, 4, 4]
    selector.tell(tree, RNG, bear(tree, 4, 0.98, 0.1))
    assert tree.front == [8, 8, 6, 6]


def test_a_member_whose_ask_brought_nothing_is_gone_and_an_empty_front_ends() -> None:
    selector = Frontier(2, Beams(1))
    tree = opened(selector, 0.5, 0.9)
    generation(tree, selector, [], [0.1])
    assert tree.front == [2, 2]
    generation(tree, selector, [DROPPED, PLANTED])
    assert tree.front == []
    assert list(selector.ask(tree, RNG, 1)) == []


def test_a_member_that_ended_while_it_was_asked_is_gone_with_its_drafts_kept() -> None:
    selector = Frontier(2, Beams(1))
    tree = opened(selector, 0.9, 0.8)
    born = [child for ask in selector.ask(tree, RNG, 1) for child in bear(tree, ask.node, 0.3)]
    tree.end(0, "context overflow: too long")
    selector.tell(tree, RNG, born)
    assert tree.front == [2, 3]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"n": 2, "survive": Beams(1), "opened": 3}, "opened is 3; it is the number of roots, 1 to n = 2"),
        ({"n": 2, "survive": Beams(1), "opened": 0}, "opened is 0"),
        ({"n": 2, "opened": 1}, "opened needs survive"),
    ],
)
def test_a_population_that_is_none_is_refused(how: dict[str, object], words: str) -> None:
    with pytest.raises(RecipeError, match=words):
        Frontier(**how)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [Beams, Subtrees])
def test_a_width_that_is_none_is_refused(rule: Callable[[int], Survivors]) -> None:
    with pytest.raises(RecipeError, match="m is 0; it is the number of drafts of each survivor"):
        rule(0)


# Survivors


def test_beams_keep_the_best_and_the_first_created_among_equals() -> None:
    selector = Frontier(6, Beams(3), opened=1)
    tree = opened(selector, 0.5)
    assert generation(tree, selector, [0.2, 0.7, DROPPED, 0.7, 0.9, 0.1]) == [(0, 6)]
    assert tree.front == [5, 5, 5, 2, 2, 2]
    assert generation(tree, selector, [0.1, 0.1, 0.1], [0.4, 0.3, 0.2]) == [(5, 3), (2, 3)]
    assert sorted(set(tree.front)) == [10, 11]


def test_too_few_beams_share_the_places() -> None:
    selector = Frontier(8, Beams(2), opened=1)
    tree = opened(selector, 0.5)
    generation(tree, selector, [0.2, *[DROPPED] * 5, 0.9, 0.1])
    assert tree.front == [7, 7, 7, 1, 1, 1, 8, 8]


def test_finished_beams_compete_and_take_no_more_drafts() -> None:
    selector = Frontier(4, Beams(2), opened=1)
    tree = opened(selector, 0.5)
    generation(tree, selector, ["(0.8)", 0.9, 0.1, 0.2])
    assert tree.front == [2, 2, 1, 1]
    assert generation(tree, selector, [0.3, 0.95]) == [(2, 2)]
    assert tree.front == [6, 6, 1, 1]
    generation(tree, selector, ["(0.85)", "(0.1)"])
    assert tree.front == [1, 7, 8], "when all are finished, nobody has to go"
    assert list(selector.ask(tree, RNG, 1)) == []


def test_subtrees_keep_their_own_best_whatever_the_others_have() -> None:
    selector = Frontier(6, Subtrees(2), opened=1)
    tree = opened(selector, 0.5)
    generation(tree, selector, [0.2, 0.1, 0.8, 0.9, 0.5, 0.5])
    assert tree.front == [1, 1, 4, 4, 5, 5]
    generation(tree, selector, [0.01, 0.02], [DROPPED, DROPPED], ["(0.3)", 0.2])
    assert tree.front == [8, 8, 11, 11], "a subtree without score is gone"
    assert generation(tree, selector, [0.6, 0.4]) == [(8, 2)]
    assert tree.front == [13, 13, 11, 11]
    generation(tree, selector, ["(0.1)", "(0.2)"])
    assert tree.front == [11, 15, 16], "the last siblings of each subtree"


def test_a_rule_of_ones_own_sees_the_pool_in_order_of_birth() -> None:
    seen: list[list[int]] = []

    def all_of_them(tree: Tree, pool: Sequence[int], n: int, rng: Generator) -> Sequence[int]:
        assert n == 3
        seen.append(list(pool))
        return pool

    selector = Frontier(3, all_of_them)
    tree = opened(selector, 0.1, "(0.2)", 0.3)
    generation(tree, selector, [0.4], [DROPPED])
    assert seen == [[0, 1, 2], [1, 3]]


# Whole searches, on a scripted model

PROBLEM = Problem("p", "How much is 6 times 7?", "number")


@dataclass(frozen=True)
class Steps:
    """Open one empty text; a step is what the model says, and END in it finishes."""

    needs: frozenset[str] = frozenset()

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        return [Draft("") for _ in range(n)]

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        async def step(draft: int) -> Draft:
            said = "".join(node.text for node in path.nodes)
            reply = await llm.complete(Request((Message("user", said),)), part="step", draft=draft)
            return Draft(reply.text, done="." in reply.text)

        return await together((lambda i=i: step(i)) for i in range(n))  # type: ignore[misc]


@dataclass(frozen=True)
class Table:
    """Score a path by its text; what is not in the table is unscored."""

    scores: dict[str, float]
    needs: frozenset[str] = frozenset()
    low: float = 0.0
    high: float = 1.0

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        found = self.scores.get("".join(node.text for node in path.nodes))
        return Unscored("no score in the reply") if found is None else Verdict((Sample(found, found),))


def alphabet(place: Place, request: Request) -> Reply:
    """Continue with a, b, c … by the draft's number; texts of three letters end."""
    letter = "abcdefgh"[place.draft]
    return letter + ("." if len(request.messages[-1].content) == 2 else "")


async def found(
    survive: Survivors, n: int, scores: dict[str, float], replies: Replies = alphabet
) -> tuple[Outcome, Scripted]:
    lm = Scripted(replies)
    recipe = Recipe(
        Steps(), Table({"": 0.5, **scores}), Frontier(n, survive, 1), OwnValue(), never(), best_value
    )
    return await search(PROBLEM, recipe, lm), lm


def texts(tree: Tree) -> list[str]:
    return ["".join(tree.states[i].text for i in tree.line(node)) for node in range(len(tree))]


LEVELS = {
    "a": 0.3, "b": 0.6, "c": 0.9, "d": 0.1,
    "ba": 0.7, "bb": 0.2, "ca": 0.5, "cb": 0.4,
    "baa.": 0.8, "bab.": 0.1, "caa.": 0.2, "cab.": 0.3,
}  # fmt: skip


async def test_a_beam_search_by_hand() -> None:
    outcome, lm = await found(Beams(2), 4, LEVELS)
    tree = outcome.tree
    assert texts(tree) == ["", "a", "b", "c", "d", "ca", "cb", "ba", "bb", "baa.", "bab.", "caa.", "cab."]
    assert [tree.states[node].ask for node in range(len(tree))] == [0, *[1] * 4, 2, 2, 3, 3, 4, 4, 5, 5]
    assert sorted(tree.front) == [9, 10, 11, 12]
    assert (outcome.reason, outcome.failed, len(lm.calls)) == ("exhausted", False, 12)
    assert best_value(tree).node == 3  # by value alone a step can win
    assert not tree.nodes["in_flight"].any()


async def test_diverse_subtrees_by_hand() -> None:
    # Subtrees {a, b} and {c, d}: b and c live on; with beams, c and d would.
    scores = {"a": 0.3, "b": 0.4, "c": 0.9, "d": 0.8, "ba": 0.2, "bb": 0.3, "ca": 0.1, "cb": 0.05}
    scores |= {"bba.": 0.9, "bbb.": 0.1, "caa.": 0.2, "cab.": 0.3}
    outcome, _ = await found(Subtrees(2), 4, scores)
    assert texts(outcome.tree)[5:] == ["ba", "bb", "ca", "cb", "bba.", "bbb.", "caa.", "cab."]
    assert outcome.tree.front == [9, 10, 11, 12]
    assert outcome.reason == "exhausted"


async def test_a_particle_filter_by_hand() -> None:
    # Proportional weights of .5, 0, .25, .25 and four particles: systematic resampling has no choice.
    scores = {"a": 0.5, "b": 0.0, "c": 0.25, "d": 0.25}
    scores |= {"aa": 0.4, "ab": 0.4, "ca": 0.0, "da": 0.8}
    scores |= {"aaa.": 0.1, "aba.": 0.2, "daa.": 0.3, "dab.": 0.4}
    outcome, lm = await found(Particles(Weight("bernoulli")), 4, scores)
    tree = outcome.tree
    assert texts(tree) == ["", "a", "b", "c", "d", "aa", "ab", "ca", "da", "aaa.", "aba.", "daa.", "dab."]
    places = sorted((place.ask, place.draft) for place, _ in lm.calls)
    assert places == [
        (1, 0),
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 0),
        (2, 1),
        (3, 0),
        (4, 0),
        (5, 0),
        (6, 0),
        (7, 0),
        (7, 1),
    ]
    assert tree.front == [9, 10, 11, 12]
    assert outcome.reason == "exhausted"


async def test_finished_particles_are_resampled_with_the_others() -> None:
    def replies(place: Place, request: Request) -> Reply:
        said = request.messages[-1].content
        return ("x." if place.draft == 0 else "y") if not said else "z."

    scores = {"x.": 0.75, "y": 0.25, "yz.": 0.5}
    outcome, _ = await found(Particles(Weight("bernoulli")), 4, scores, replies)
    tree = outcome.tree
    # One x. of .75 and three y of .25: two and two; then the two z. are the end.
    assert texts(tree) == ["", "x.", "y", "y", "y", "yz.", "yz."]
    assert [tree.has(node, DONE) for node in tree.front] == [True] * 4
    assert tree.front.count(1) == 2


async def test_a_draft_that_failed_is_replaced_by_a_copy_of_another() -> None:
    def replies(place: Place, request: Request) -> Reply:
        return ServerError("down") if place.ask == 1 and place.draft < 2 else alphabet(place, request)

    scores = dict.fromkeys(("c", "d", "ca", "cb", "da", "db"), 0.5)
    outcome, _ = await found(Particles(Weight("bernoulli")), 4, scores, replies)
    tree = outcome.tree
    assert texts(tree)[:7] == ["", "c", "d", "ca", "cb", "da", "db"]
    assert outcome.reason == "exhausted"  # nothing of the last generation had a score
    assert tree.front == []


async def test_the_limit_of_steps_ends_a_population() -> None:
    lm = Scripted(alphabet)
    recipe = Recipe(
        Steps(), Table({"": 0.5, **LEVELS}), Frontier(4, Beams(2), 1), OwnValue(), max_depth(2), best_value
    )
    outcome = await search(PROBLEM, recipe, lm)
    assert outcome.reason == "max depth"
    assert sorted(set(outcome.tree.front)) == [5, 7]
