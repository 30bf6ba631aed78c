"""Laws of the parts that see the tree: selectors and backups.

Random trees from fixed seeds, so that a law which holds once holds always.
"""

from collections.abc import Callable, Sequence

import numpy as np

from mctsr.backup import HalfOwnHalfBestChild
from mctsr.kernels.descent import closed
from mctsr.kernels.node import DONE, NONE, PLANTED, SPENT, UNSCORED
from mctsr.parts import Ask, Backup, Selector
from mctsr.tree import Sample, State, Tree


class LawBroken(AssertionError):
    """A part does what no part may do."""


def law(holds: bool, words: str) -> None:
    """Raise LawBroken with `words` unless it holds."""
    if not holds:
        raise LawBroken(words)


def check_selector(
    selector: Selector, *, backup: Backup | None = None, judged: bool = True, width: int = 3, rounds: int = 60
) -> None:
    """A selector changes nothing, repeats itself, keeps to its room, and asks only nodes that can grow.

    A population holds only what the model wrote and what has a score where there are scores. To see it, a
    planted node stands behind the roots, and of the first two asks one brings an unscored child, one a planted one.

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
    roots = [grower.add(NONE, unscored=i == 1) for i in range(selector.roots)]
    _told(selector, tree, rng, [*roots, grower.add(NONE, planted=True)])
    in_flight, born = list[Ask](), list[int]()
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
        born += [grower.add(ask.node, unscored=number == 0, planted=number == 1) for _ in range(ask.n)]
        if not (selector.barrier and in_flight):  # behind a barrier it learns of a whole generation at once
            _told(selector, tree, rng, born)
            born = []
        check_shape(tree)
    for ask in in_flight:
        tree.mark(ask.node, -1)
    law(not tree.nodes["in_flight"].any(), "work in flight does not return to zero: the selector marked some")


def _asked(selector: Selector, tree: Tree, number: int, room: int) -> list[Ask]:
    before = (tree.nodes.tobytes(), list(tree.front))
    asks, again = (list(selector.ask(tree, np.random.default_rng(number), room)) for _ in range(2))
    law(asks == again, f"asked twice about the same tree with the same seed it says {asks}, then {again}")
    law((tree.nodes.tobytes(), list(tree.front)) == before, "asking changed the tree; only tell may")
    law(selector.barrier or len(asks) <= room, f"{len(asks)} asks for a room of {room}")
    for ask in asks:
        law(0 <= ask.node < len(tree), f"{ask} names no node; there are {len(tree)}")
        law(ask.n == 0 or not tree.has(ask.node, DONE), f"{ask} would grow a finished node")
        law(not tree.has(ask.node, UNSCORED), f"{ask} names an unscored node")
        law(ask.n >= (not ask.again), f"{ask} asks for nothing")
    return asks


def _told(selector: Selector, tree: Tree, rng: np.random.Generator, born: list[int]) -> None:
    visits, values = tree.nodes["visits"].copy(), tree.nodes["value"].copy()
    selector.tell(tree, rng, born)
    visits[born], values[born] = tree.nodes["visits"][born], tree.nodes["value"][born]
    same = (visits == tree.nodes["visits"]).all() and np.array_equal(
        values, tree.nodes["value"], equal_nan=True
    )
    law(bool(same), "telling changed visits or a value of an older node; only a backup may")
    for node in tree.front:
        law(0 <= node < len(tree), f"the front holds {node}, which names no node; there are {len(tree)}")
        law(not tree.has(node, UNSCORED), f"the front holds the unscored node {node}")
        law(not tree.has(node, PLANTED), f"the front holds the planted node {node}")


class _Grower:
    """Adds nodes with random scores: small integers, so that ties are common."""

    def __init__(self, tree: Tree, rng: np.random.Generator, backup: Backup, judged: bool = True) -> None:
        self.tree, self.rng, self.backup, self.judged = tree, rng, backup, judged

    def add(self, parent: int, *, unscored: bool = False, planted: bool = False) -> int:
        """Add a node; what is demanded of it comes true wherever there are scores, and leaves it unfinished."""
        node = self.tree.add(parent, State(f"text {self.rng.integers(50)}"), planted=planted)
        demanded = unscored or planted
        if self.judged and (unscored or (not planted and node and self.rng.random() < 0.1)):
            self.tree.unscored(node, "no score in the reply")
        elif self.judged:
            self.score(node)
        if node and not demanded and self.rng.random() < 0.1:
            self.tree.end(node, "finished")
        return node

    def score(self, node: int) -> None:
        value = float(self.rng.integers(-9, 10)) * 10
        self.tree.judged(node, (Sample(value, value),))
        self.backup(self.tree, node)


def check_backup(
    backup: Backup,
    reference: Callable[[Tree], Sequence[float]],
    *,
    visits_are_rewards: bool = True,
    visits: Callable[[Tree], Sequence[int]] | None = None,
) -> None:
    """After every score of a random tree, all values equal the reference's.

    One that declares `wide = False` writes nothing off the path of the judged node, and none writes anything but
    `value`, `visits` and `value_sum`.

    Args:
        backup: The part.
        reference: Computes each node's value from parents and samples alone; NaN where there is none.
        visits_are_rewards: Whether a node's visits are the number of its samples.
        visits: Computes each node's visits in place of that, e.g. `samples_below`.

    Raises:
        LawBroken: A value or a count differs, or a row or column changed that may not.
    """
    for seed in range(20):
        rng, tree = np.random.default_rng(seed), Tree(low=-100.0)
        grower = _Grower(tree, rng, _watched(backup))
        for _ in range(30):
            scored = [node for node in range(len(tree)) if tree.scored(node)]
            if scored and rng.random() < 0.4:
                grower.score(int(rng.choice(scored)))
            else:
                grower.add(int(rng.choice([NONE, *scored])))
            used = tree.nodes[: len(tree)]
            expected = np.asarray(reference(tree), dtype=np.float64)
            same = np.allclose(used["value"], expected, rtol=1e-12, atol=1e-12, equal_nan=True)
            law(same, f"values are {used['value'].tolist()}, the reference says {expected.tolist()}")
            _count(tree, visits or (_rewards if visits_are_rewards else None))


def samples_below(tree: Tree) -> list[int]:
    """Count the samples of each node and of all below it: the visits of backups that count every one on its path."""
    counts = _rewards(tree)
    for node in range(len(tree) - 1, -1, -1):
        above = tree.parent(node)
        if above is not None:
            counts[above] += counts[node]
    return counts


def _rewards(tree: Tree) -> list[int]:
    return [int(n) for n in tree.nodes["n_rewards"][: len(tree)]]


def _count(tree: Tree, expected: Callable[[Tree], Sequence[int]] | None) -> None:
    found = tree.nodes["visits"][: len(tree)].tolist()
    law(expected is None or found == list(expected(tree)), f"visits are {found}, rewards {_rewards(tree)}")


def _watched(backup: Backup) -> Backup:
    """Wrap `backup` so that each call is held against what it may write."""

    def watched(tree: Tree, node: int) -> None:
        before = tree.nodes.copy()
        backup(tree, node)
        for name in set(before.dtype.names or ()) - {"value", "visits", "value_sum"}:
            same = tree.nodes[name].tobytes() == before[name].tobytes()
            law(
                same,
                f"judging node {node} changed `{name}`; a backup writes value, visits and value_sum alone",
            )
        path = tree.line(node)
        off = [
            i for i in range(len(before)) if before[i].tobytes() != tree.nodes[i].tobytes() and i not in path
        ]
        narrow = not getattr(backup, "wide", True)
        law(
            not (narrow and off),
            f"judging node {node} changed rows {off} off its path; declare `wide = True`",
        )

    return watched


def check_shape(tree: Tree) -> None:
    """Every node hangs on an older one, is linked exactly once, and work in flight below is in flight above.

    So a tree has no cycle and no orphan, whatever was done to it.

    Raises:
        LawBroken: A link, a depth, a count or a flag contradicts another.
    """
    used = tree.nodes[: len(tree)]
    held: dict[int, list[int]] = {}
    for node, parent in enumerate(used["parent"].tolist()):
        law(-1 <= parent < node, f"node {node} hangs on {parent}, which is no older node")
        held.setdefault(parent, []).append(node)
        depth = 0 if parent == NONE else int(used["depth"][parent]) + 1
        law(used["depth"][node] == depth, f"node {node} has depth {used['depth'][node]}, not {depth}")
    for node in range(len(tree)):
        linked, child = list[int](), int(used["first"][node])
        while child != NONE and len(linked) <= len(tree):
            linked.append(child)
            child = int(used["next"][child])
        children = held.get(node, [])
        law(linked == children, f"node {node} links {linked}; {children} name it as their parent")
        law(
            used["n_children"][node] == len(children),
            f"node {node} counts {used['n_children'][node]} children",
        )
        law(used["last"][node] == (children[-1] if children else NONE), f"node {node} has another last child")
        below = int(used["in_flight"][children].sum())
        law(
            used["in_flight"][node] >= below >= 0,
            f"{below} asks are in flight below node {node}, fewer at it",
        )
        shut = bool(children) and all(closed(tree.nodes, child) for child in children)
        spent = bool(used["flags"][node] & SPENT)
        law(spent == shut, f"node {node} is spent: {spent}, its children are closed: {shut}")
