"""Laws that every part keeps, as functions for tests of parts of one's own.

Each raises `LawBroken` with what was done and what came of it, and returns None otherwise. They use random trees
and models from fixed seeds, so a law that holds once holds always. Expanders, judges and recipes are asynchronous:
await their laws in an async test. None of them has a gold answer to give, so no part can need one.
"""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from mctsr.backup import HalfOwnHalfBestChild
from mctsr.caller import Caller
from mctsr.engine import search
from mctsr.errors import Refused, ServerError
from mctsr.kernels.node import DONE, NONE, UNSCORED
from mctsr.lm.base import LM, Completion, Place, Request
from mctsr.parts import Ask, Backup, Draft, Expander, Fault, Judge, Path, PathNode, Problem, Selector, Unscored
from mctsr.prompting import Prompts
from mctsr.recipe import Recipe
from mctsr.rollout import Event
from mctsr.tree import Sample, State, Tree

from .puzzles import make_problems
from .reasoner import Simulated

PROBLEM = make_problems(1, 0)[0][0]


class LawBroken(AssertionError):
    """A part does what no part may do."""


def _law(holds: bool, words: str) -> None:
    if not holds:
        raise LawBroken(words)


def check_selector(
    selector: Selector, *, backup: Backup | None = None, judged: bool = True, width: int = 3, rounds: int = 60
) -> None:
    """A selector changes nothing, repeats itself, keeps to its room, and asks only nodes that can grow.

    Args:
        selector: The part.
        backup: Spreads the random scores; MCTSr's when None.
        judged: Whether nodes get scores, as under a recipe with a judge; a tenth then stay unscored.
        width: Asks in flight.
        rounds: Asks to be folded.

    Raises:
        LawBroken: It does otherwise.
    """
    rng, tree = np.random.default_rng(1), Tree(low=-100.0)
    grower = _Grower(tree, rng, backup or HalfOwnHalfBestChild(), judged)
    selector.tell(tree, rng, [grower.add(NONE) for _ in range(selector.roots)])
    in_flight: list[Ask] = []
    for number in range(rounds):
        room = width - len(in_flight)
        if room and not (selector.barrier and in_flight):
            in_flight += _asked(selector, tree, number, room)
            for ask in in_flight[width - room :]:
                tree.mark(ask.node, +1)
        if not in_flight:
            break
        ask = in_flight.pop(0)
        tree.mark(ask.node, -1)
        selector.tell(tree, rng, [grower.add(ask.node) for _ in range(ask.n)])
    for ask in in_flight:
        tree.mark(ask.node, -1)
    _law(not tree.nodes["in_flight"].any(), "work in flight does not return to zero: the selector marked some")


def _asked(selector: Selector, tree: Tree, number: int, room: int) -> list[Ask]:
    before = (tree.nodes.tobytes(), list(tree.front))
    asks, again = (list(selector.ask(tree, np.random.default_rng(number), room)) for _ in range(2))
    _law(asks == again, f"asked twice about the same tree with the same seed it says {asks}, then {again}")
    _law((tree.nodes.tobytes(), list(tree.front)) == before, "asking changed the tree; only tell may")
    _law(selector.barrier or len(asks) <= room, f"{len(asks)} asks for a room of {room}")
    for ask in asks:
        _law(0 <= ask.node < len(tree), f"{ask} names no node; there are {len(tree)}")
        _law(not tree.has(ask.node, DONE), f"{ask} names a finished node")
        _law(not tree.has(ask.node, UNSCORED), f"{ask} names an unscored node")
        _law(ask.n >= 1, f"{ask} asks for nothing")
    return asks


class _Grower:
    """Adds nodes with random scores: small integers, so that ties are common."""

    def __init__(self, tree: Tree, rng: np.random.Generator, backup: Backup, judged: bool = True) -> None:
        self.tree, self.rng, self.backup, self.judged = tree, rng, backup, judged

    def add(self, parent: int) -> int:
        node = self.tree.add(parent, State(f"text {self.rng.integers(50)}"))
        if self.judged and node and self.rng.random() < 0.1:
            self.tree.unscored(node, "no score in the reply")
        elif self.judged:
            self.score(node)
        if node and self.rng.random() < 0.1:
            self.tree.end(node, "finished")
        return node

    def score(self, node: int) -> None:
        value = float(self.rng.integers(-9, 10)) * 10
        self.tree.judged(node, (Sample(value, value),))
        self.backup(self.tree, node)


def check_backup(
    backup: Backup, reference: Callable[[Tree], Sequence[float]], *, visits_are_rewards: bool = True
) -> None:
    """After every score of a random tree, all values equal the reference's.

    Args:
        backup: The part.
        reference: Computes each node's value from parents and samples alone; NaN where there is none.
        visits_are_rewards: Whether a node's visits are the number of its samples.

    Raises:
        LawBroken: A value or a count differs.
    """
    for seed in range(20):
        rng, tree = np.random.default_rng(seed), Tree(low=-100.0)
        grower = _Grower(tree, rng, backup)
        for _ in range(30):
            scored = [node for node in range(len(tree)) if tree.scored(node)]
            if scored and rng.random() < 0.4:
                grower.score(int(rng.choice(scored)))
            else:
                grower.add(int(rng.choice([NONE, *scored])))
            used = tree.nodes[: len(tree)]
            expected = np.asarray(reference(tree), dtype=np.float64)
            same = np.allclose(used["value"], expected, rtol=1e-12, atol=1e-12, equal_nan=True)
            _law(same, f"values are {used['value'].tolist()}, the reference says {expected.tolist()}")
            counted = not visits_are_rewards or (used["visits"] == used["n_rewards"]).all()
            _law(bool(counted), f"visits are {used['visits'].tolist()}, rewards {used['n_rewards'].tolist()}")


class _Spy:
    """A language model that keeps its calls, and fails some of them."""

    def __init__(self, inner: LM, fail: Callable[[Place], Exception | None] = lambda place: None) -> None:
        self.inner, self.fail = inner, fail
        self.calls: list[tuple[Place, Request]] = []

    @property
    def offers(self) -> frozenset[str]:
        return self.inner.offers

    async def complete(self, place: Place, request: Request) -> Completion:
        self.calls.append((place, request))
        if error := self.fail(place):
            raise error
        return await self.inner.complete(place, request)

    def caller(self, problem: Problem, ask: int) -> Caller:
        return Caller(self, Prompts(), problem.id, ask)

    def places(self) -> list[Place]:
        return [place for place, _ in self.calls]


async def check_expander(
    expander: Expander, *, problem: Problem = PROBLEM, lm: Callable[[], LM] = Simulated, n: int = 3
) -> None:
    """An expander repeats itself, names its calls apart, and turns a failed call into a fault of one draft.

    Args:
        expander: The part.
        problem: What is to be solved.
        lm: Makes the model: the same replies for the same places each time.
        n: Drafts asked for.

    Raises:
        LawBroken: It does otherwise.
    """
    opened: list[Draft] = []
    for path in (None, "grow"):

        async def drafts(spy: _Spy, path: str | None = path) -> list[Draft | Fault]:
            if path is None:
                return list(await expander.open(problem, n, spy.caller(problem, 0)))
            first = PathNode(0, opened[0].text, opened[0].answer, {}, (Sample(1.0, 1.0),), False)
            return list(await expander.grow(Path(problem, (first,)), n, spy.caller(problem, 1)))

        spy, twin = _Spy(lm()), _Spy(lm())
        found = await drafts(spy)
        _law(found == await drafts(twin), "the same replies gave other drafts")
        _law(spy.calls == twin.calls, "the same replies led to other calls")
        _law(len(set(spy.places())) == len(spy.calls), "two calls share a place; number them by draft")
        made = [draft for draft in found if isinstance(draft, Draft) and not draft.planted]
        _law(len(made) == n, f"{n} drafts were asked for, {len(made)} came")
        opened = opened or made
        await _check_faults(drafts, lm, found, spy.places()[0])


async def _check_faults(
    drafts: Callable[[_Spy], "asyncio.Future[list[Draft | Fault]]"] | Callable[..., object],
    lm: Callable[[], LM],
    found: list[Draft | Fault],
    lost: Place,
) -> None:
    raise NotImplementedError
