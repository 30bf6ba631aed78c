"""What a step of the tree costs from Python, and what the engine adds to a call of the model."""

import asyncio
import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np

from mctsr.backup import Mean
from mctsr.engine import search
from mctsr.kernels import credit, descent, walk
from mctsr.kernels.node import NONE, Nodes
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.parts import Problem
from mctsr.recipes.registry import choose
from mctsr.select.descent import Descent, Widening
from mctsr.select.scores import uct
from mctsr.tree import Sample, State, Tree

from .table import Sheet
from .world import SMALL_UCT, room, run_ours, start

ASKS, TREES = 1_000, 16
SUM = "select + add + back up"
PARTS = ("select", "mark, twice", "add", "record the sample, back up", "tell")


def python(sheet: Sheet) -> None:
    """Print both."""
    sheet.title("python: one step of the tree from Python, and the engine's share of a call")
    print(f"Trees of {ASKS} asks; medians of CPU time; what an ask of a recipe's selector leads to.\n")
    one, four, raw = leaf_seconds(1), leaf_seconds(4), raw_seconds()
    rows = [(name, f"{one[name] * 1e6:.2f}", f"{four[name] * 1e6:.2f}") for name in one]
    sheet.rows(("us an ask", "1 child", "4 children"), rows)
    print(
        f"\nkernels alone, called one by one (descend, mark, expand by 8, mean, mark; 9 620 nodes): {raw * 1e6:.2f} us"
    )
    print(f"with 4 children, a child: {four[SUM] / 4 * 1e6:.2f} us\n")
    sheet.at_most("select + add a child + back up, public classes", one[SUM] * 1e6, 8.0, " us")
    share = engine_seconds()
    for name, seconds in share.items():
        print(f"engine: {name}: {seconds * 1e6:.0f} us of CPU a call, with a model that answers at once")
    print()
    sheet.at_most(
        "engine's share of a call, mctsr", share["mctsr, 16 problems, 64 rollouts"] * 1e6, 80.0, " us"
    )


def leaf_seconds(children: int, times: int = 9) -> dict[str, float]:
    """CPU seconds an ask of each part; of the three that the target names; and of all. Measured on whole trees."""
    seen: dict[str, list[float]] = {}
    for _ in range(times):
        parts = dict.fromkeys(PARTS, 0.0)
        _asks(children, parts, time.thread_time)
        for name, whole in ((SUM, False), ("an ask, whole", True)):
            began = time.thread_time()
            _asks(children, dict.fromkeys(PARTS, 0.0), lambda: 0.0, whole=whole)
            parts[name] = time.thread_time() - began
        for name, seconds in parts.items():
            seen.setdefault(name, []).append(seconds / ASKS)
    return {name: statistics.median(seconds) for name, seconds in seen.items()}


def _asks(children: int, parts: dict[str, float], clock: Callable[[], float], *, whole: bool = True) -> None:
    """Grow a tree; add to `parts` what `clock` says of each. Without `whole`, no marks and no tell."""
    tree, rng = Tree(), np.random.default_rng(7)
    selector, backup = Descent(uct(1.4), n=children, widening=Widening() if children == 1 else None), Mean()
    rewards = rng.random(ASKS * children + 1).tolist()
    _scored(tree, backup, [tree.add(NONE, State("root"))], rewards)
    for _ in range(ASKS):
        t0 = clock()
        (ask,) = selector.ask(tree, rng, 1)
        t1 = clock()
        if whole:
            tree.mark(ask.node, 1)
            tree.mark(ask.node, -1)
        t2 = clock()
        born = [tree.add(ask.node, State(f"{len(tree)}")) for _ in range(ask.n)]
        t3 = clock()
        _scored(tree, backup, born, rewards)
        t4 = clock()
        if whole:
            selector.tell(tree, rng, born)
        t5 = clock()
        for name, spent in zip(PARTS, (t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4), strict=True):
            parts[name] += spent


def _scored(tree: Tree, backup: Mean, born: list[int], rewards: list[float]) -> None:
    for node in born:
        tree.judged(node, (Sample(rewards[node], rewards[node]),))
        backup(tree, node)


def raw_seconds(times: int = 7, steps: int = 1_000) -> float:
    """CPU seconds of a step whose kernels are called from Python one by one, on the small tree when it is full."""
    world, nodes = SMALL_UCT, room(SMALL_UCT)
    spent = []
    for _ in range(times):
        start(nodes)
        size = run_ours(world, nodes, 1, steps // 2)
        began = time.thread_time()
        for _ in range(steps // 2):
            size = _step(nodes, size)
        spent.append((time.thread_time() - began) / (steps // 2))
    return statistics.median(spent)


def _step(nodes: Nodes, size: int) -> int:
    leaf = descent.descend(nodes, 0, SMALL_UCT.rule, SMALL_UCT.k, 0.0)
    walk.mark(nodes, leaf, 1)
    descent.expand(nodes, size, leaf, 8)
    credit.mean(nodes, leaf, 0.5, 1.0)
    walk.mark(nodes, leaf, -1)
    return size + 8


class Instant:
    """A model that answers at once, with what every part of a refining recipe can read."""

    offers: frozenset[str] = frozenset()
    reply = Completion("The answer is 7.\nScore: 60", usage=Usage(100, 10))

    def logical(self, place: Place, request: Request) -> Mapping[str, object]:
        """Name the model."""
        return {"model": "instant"}

    async def complete(
        self, place: Place, request: Request, *, sent: Callable[[], None] = lambda: None
    ) -> Completion:
        """Answer."""
        sent()
        return self.reply


def engine_seconds() -> dict[str, float]:
    """CPU seconds a call of whole searches, everything but the client, by what is searched."""
    wanted = {
        "mctsr, 16 problems, 64 rollouts": ("mctsr", {"rollouts": 64}),
        "mctsr, 16 problems, 8 rollouts": ("mctsr", {"rollouts": 8}),
        "best-of-n, 16 problems, n = 64": ("best-of-n", {"n": 64}),
        "self-consistency, 16 problems, n = 64": ("self-consistency", {"n": 64}),
    }
    return {name: _searches(*what) for name, what in wanted.items()}


def _searches(recipe: str, arguments: dict[str, int]) -> float:
    made = choose(recipe, arguments).build()
    problems = [Problem(f"p{i}", "What is 3 + 4?", "number") for i in range(TREES)]

    async def run() -> int:
        found = await asyncio.gather(*(search(problem, made, Instant()) for problem in problems))
        assert not any(one.failed for one in found), found[0].reason
        return sum(one.ledger.tally.calls for one in found)

    asyncio.run(run())
    spent = []
    for _ in range(5):
        began = time.process_time()
        calls = asyncio.run(run())
        spent.append((time.process_time() - began) / calls)
    return statistics.median(spent)
