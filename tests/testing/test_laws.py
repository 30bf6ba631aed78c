"""The shipped parts keep the laws, and a part that breaks one is told so."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from numpy.random import Generator

from mctsr.answer import best_value
from mctsr.backup import HalfOwnHalfBestChild, MctsrCode, OwnValue, half_min_mean, mean
from mctsr.caller import Caller
from mctsr.expand.answer import Answer
from mctsr.expand.drafts import whole_answer
from mctsr.expand.refine import REFUSAL, SelfRefine
from mctsr.judge.self_reward import SelfReward
from mctsr.kernels.node import DONE, PLANTED, UNSCORED
from mctsr.parts import Ask, Backup, Draft, Fault, Path, Problem, Selected, Selector, Unscored, Verdict
from mctsr.select.anywhere import Anywhere
from mctsr.select.chain import Chain
from mctsr.select.frontier import Frontier
from mctsr.select.pools import Stored
from mctsr.select.scores import by_value, uct_mctsr, uct_mctsr_code
from mctsr.stop import never
from mctsr.testing.laws import (
    LawBroken,
    check_backup,
    check_expander,
    check_judge,
    check_recipe,
    check_selector,
)
from mctsr.testing.reasoner import Simulated
from mctsr.tree import Sample, Tree
from tests.testing.replies import recipe

# Selectors


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize(
    "selector",
    [
        Anywhere(uct_mctsr(), open_below=2),
        Anywhere(uct_mctsr(c=40.0), open_below=None, again=False, roots=3),
        Anywhere(uct_mctsr_code(), open_below=3, closed_by="as good"),
        Anywhere(by_value(), open_below=1),
        Frontier(4),
    ],
    ids=["paper", "explore", "code", "greedy", "frontier"],
)
def test_shipped_selectors_keep_the_laws(selector: Selector, width: int) -> None:
    check_selector(selector, width=width)


def test_the_selector_of_stored_scores_keeps_the_laws() -> None:
    check_selector(Anywhere(Stored("ucb"), open_below=3, closed_by="as good"), backup=MctsrCode())


@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("selector", [Chain(), Chain(again=True, roots=2)])
def test_the_chain_keeps_the_laws_whether_or_not_somebody_judges(selector: Chain, judged: bool) -> None:
    check_selector(selector, judged=judged)


@dataclass(frozen=True)
class Rogue:
    """A selector made of one function."""

    pick: Callable[[Tree, Generator, int], Sequence[Ask]]
    roots: int = 2
    barrier: bool = False

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        return self.pick(tree, rng, room)

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Keep no front."""


def fickle(tree: Tree, rng: Generator, room: int, calls: list[int] = []) -> Sequence[Ask]:  # noqa: B006
    calls.append(0)
    return (Ask(len(calls) % 2),)


def meddling(tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
    tree.mark(0, +1)
    return (Ask(0),)


@pytest.mark.parametrize(
    ("pick", "words"),
    [
        (fickle, "same seed"),
        (meddling, "changed the tree"),
        (lambda tree, rng, room: [Ask(0)] * (room + 1), "asks for a room of"),
        (lambda tree, rng, room: [Ask(len(tree))], "names no node"),
        (lambda tree, rng, room: [Ask(len(tree) - 1)], "finished node|unscored node"),
        (lambda tree, rng, room: [Ask(0, n=0)], "asks for nothing"),
    ],
)
def test_a_selector_that_breaks_a_law_is_told_which(
    pick: Callable[[Tree, Generator, int], Sequence[Ask]], words: str
) -> None:
    with pytest.raises(LawBroken, match=words):
        check_selector(Rogue(pick))


@pytest.mark.parametrize("column", ["visits", "value"])
def test_a_selector_that_writes_numbers_when_it_is_told_breaks_a_law(column: str) -> None:
    class Credulous(Rogue):
        def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
            tree.nodes[column][0] += 1

    with pytest.raises(LawBroken, match="only a backup may"):
        check_selector(Credulous(lambda tree, rng, room: [Ask(0)]))


def test_the_law_tells_a_barrier_selector_of_a_whole_generation_at_once() -> None:
    told: list[list[int]] = []

    class Listening(Rogue):
        def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
            told.append(list(born))

    check_selector(Listening(lambda tree, rng, room: [Ask(0, n=2), Ask(0)], barrier=True), rounds=4)
    assert told == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


@dataclass(frozen=True)
class Walker:
    """A chain that moves to every newborn but those with one of some flags."""

    shunned: int
    roots: int = 1
    barrier: bool = True

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        return [Ask(node) for node in tree.front if not tree.has(node, DONE)]

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        tree.front = [node for node in born if not tree.has(node, self.shunned)][-1:] or tree.front


@pytest.mark.parametrize(
    ("shunned", "judged", "words"),
    [
        (PLANTED, True, "front holds the unscored node"),
        (UNSCORED, True, "front holds the planted node"),
        (UNSCORED, False, "front holds the planted node"),
        (0, False, "front holds the planted node"),
    ],
)
def test_a_chain_that_moves_to_what_is_no_answer_is_told_so(shunned: int, judged: bool, words: str) -> None:
    with pytest.raises(LawBroken, match=words):
        check_selector(Walker(shunned), judged=judged)


@pytest.mark.parametrize("roots", [1, 2, 4])
def test_the_law_meets_the_selector_with_unscored_and_planted_newborn(roots: int) -> None:
    met: list[tuple[int, bool, bool]] = []

    @dataclass(frozen=True)
    class Watchful(Walker):
        def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
            met.extend((len(tree), tree.has(node, UNSCORED), tree.planted(node)) for node in born)
            Walker.tell(self, tree, rng, born)

    check_selector(Watchful(UNSCORED | PLANTED, roots=roots))
    opening = [(unscored, planted) for size, unscored, planted in met if size == roots + 1]
    assert opening[0] == (False, False)
    assert opening[-1] == (False, True)
    assert [planted for _, planted in opening].count(True) == 1
    assert (True, False) in opening or roots == 1
    assert [(unscored, planted) for size, unscored, planted in met if size in (roots + 2, roots + 3)] == [
        (True, False),
        (False, True),
    ]


# Backups


def own(tree: Tree, node: int, statistic: Callable[[Sequence[Sample]], float]) -> float:
    samples = tree.states[node].samples
    return statistic(samples) if samples else math.nan


def halves(tree: Tree) -> list[float]:
    """½ (own + best child), recomputed from samples and parents alone."""

    def value(node: int) -> float:
        mine = own(tree, node, half_min_mean)
        children = [child for child in range(len(tree)) if tree.parent(child) == node and tree.scored(child)]
        return 0.5 * (mine + max(map(value, children))) if children and tree.scored(node) else mine

    return [value(node) for node in range(len(tree))]


@pytest.mark.parametrize(
    ("backup", "reference"),
    [
        (OwnValue(), lambda tree: [own(tree, node, mean) for node in range(len(tree))]),
        (OwnValue(half_min_mean), lambda tree: [own(tree, node, half_min_mean) for node in range(len(tree))]),
        (HalfOwnHalfBestChild(), halves),
    ],
)
def test_shipped_backups_equal_their_reference(
    backup: Backup, reference: Callable[[Tree], Sequence[float]]
) -> None:
    check_backup(backup, reference)


def test_a_backup_that_compounds_or_miscounts_is_told_so() -> None:
    def compounding(tree: Tree, node: int) -> None:
        HalfOwnHalfBestChild()(tree, node)
        tree.nodes["value"][node] *= 1.5

    def forgetful(tree: Tree, node: int) -> None:
        HalfOwnHalfBestChild()(tree, node)
        tree.nodes["visits"][node] = 1

    with pytest.raises(LawBroken, match="the reference says"):
        check_backup(compounding, halves)
    with pytest.raises(LawBroken, match="visits are"):
        check_backup(forgetful, halves)
    check_backup(forgetful, halves, visits_are_rewards=False)


# Expanders and judges


@pytest.mark.parametrize(
    "expander", [Answer(), SelfRefine(), SelfRefine(planted=REFUSAL), SelfRefine(show_answer=False)]
)
async def test_shipped_expanders_keep_the_laws(expander: Answer | SelfRefine) -> None:
    await check_expander(expander)


async def one(problem: Problem, llm: Caller, draft: int = 0) -> Draft:
    return whole_answer(await llm.say("answer", {"problem": problem.text}, draft=draft), problem)


@dataclass(frozen=True)
class Careless:
    """Lets a failed call take its siblings along, and can do worse."""

    same_place: bool = False
    short: bool = False
    swallow: bool = False
    needs: frozenset[str] = frozenset()

    async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        number = n - self.short
        try:
            calls = [one(problem, llm, 0 if self.same_place else i) for i in range(number)]
            return await asyncio.gather(*calls)
        except Exception:
            if not self.swallow:
                raise
            return [Fault("lost")] * n

    async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
        return await self.open(path.problem, n, llm)


@pytest.mark.parametrize(
    ("expander", "words"),
    [
        (Careless(same_place=True), "share a place"),
        (Careless(short=True), "3 drafts were asked for, 2 came"),
        (Careless(swallow=True), "the others did not stay"),
    ],
)
async def test_an_expander_that_breaks_a_law_is_told_which(expander: Careless, words: str) -> None:
    with pytest.raises(LawBroken, match=words):
        await check_expander(expander)


@pytest.mark.parametrize("judge", [SelfReward(), SelfReward(samples=3), SelfReward(attempts=1)])
async def test_the_shipped_judge_keeps_the_laws(judge: SelfReward) -> None:
    await check_judge(judge)


@dataclass(frozen=True)
class Guesser:
    """Takes what it cannot read for a number."""

    otherwise: float = 0.0
    needs: frozenset[str] = frozenset()
    low: float = -100.0
    high: float = 100.0

    async def judge(self, path: Path, draft: int, llm: Caller) -> Verdict | Unscored:
        values = {"problem": path.problem.text, "answer": path.last.text}
        reply = await llm.say("self_reward", values, role="judge", draft=draft)
        return Verdict((Sample(self.otherwise, self.otherwise, reply.text),))


async def test_a_judge_that_breaks_a_law_is_told_which() -> None:
    with pytest.raises(LawBroken, match="holds no score became"):
        await check_judge(Guesser())
    with pytest.raises(LawBroken, match="off the scale"):
        await check_judge(Guesser(otherwise=500.0))


# Recipes


@pytest.mark.parametrize(
    ("name", "arguments", "calls"),
    [
        ("zero-shot", {}, 1),
        ("best-of-n", {"n": 4}, 8),
        ("weighted-best-of-n", {"n": 4}, 8),
        ("self-consistency", {"n": 4}, 4),
        ("self-refine", {"rollouts": 3}, 7),
        ("mctsr", {"rollouts": 8}, 35),
        ("mctsr", {"rollouts": 8, "width": 4}, 35),
        ("mctsr-code", {"rollouts": 8}, 35),
    ],
)
async def test_shipped_recipes_keep_the_laws(name: str, arguments: dict[str, int], calls: int) -> None:
    await check_recipe(recipe(name, **arguments), calls=calls)
    with pytest.raises(LawBroken, match=f"{calls} calls were made, at most {calls - 1}"):
        await check_recipe(recipe(name, **arguments), calls=calls - 1)


async def test_an_endless_recipe_and_one_that_returns_what_it_planted_are_told_so() -> None:
    good = recipe("mctsr", rollouts=2)
    with pytest.raises(LawBroken, match="did not end"):
        await check_recipe(replace(good, stopper=never()), calls=10**9, seconds=0.3)

    def planted(tree: Tree) -> Selected:
        return best_value(tree)._replace(node=1)

    with pytest.raises(LawBroken, match="planted by the recipe itself"):
        await check_recipe(replace(good, answerer=planted), calls=11)


async def test_a_recipe_that_looks_at_the_clock_of_its_replies_is_told_so() -> None:
    arrivals: list[int] = []

    @dataclass(frozen=True)
    class Hasty:
        needs: frozenset[str] = frozenset()

        async def open(self, problem: Problem, n: int, llm: Caller) -> Sequence[Draft | Fault]:
            arrivals.clear()

            async def arrive(i: int) -> Draft:
                draft = await one(problem, llm, i)
                arrivals.append(i)
                return replace(draft, work={"arrived": str(arrivals)})

            return await asyncio.gather(*map(arrive, range(n)))

        async def grow(self, path: Path, n: int, llm: Caller) -> Sequence[Draft | Fault]:
            return []

    with pytest.raises(LawBroken, match="order in which replies arrive"):
        await check_recipe(replace(recipe("self-consistency", n=6), expander=Hasty()), calls=6, lm=Simulated)
