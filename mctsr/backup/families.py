"""One end of a family: of the solutions that ended together, which one the steps above them hear of.

Knows the choice, and how sure the model was of a step. What an end does to its path, the backup inside `OneEnd` says.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mctsr.errors import RecipeError
from mctsr.kernels import credit_climbs
from mctsr.kernels.node import DONE, Ids
from mctsr.parts import Backup, Ledger, Stopper
from mctsr.tree import Tree

from .own import evaluated, mean

_CLIMBED = ["visits", "value_sum", "value"]


class _Rank(NamedTuple):
    """How an end stands among those born with it; the largest is backed up."""

    right: bool
    value: float
    complete: bool
    certainty: float


_LOWEST = _Rank(right=False, value=0.0, complete=False, certainty=-math.inf)


@dataclass(slots=True)
class _Backed:
    """The end that was backed up last.

    Attributes:
        families: How many families have had an end backed up.
        last: The node that was compared last; `size` of the tree at that time.
        rank: Of the end that was backed up.
        line: Ids from the root to it, and what their rows held before, by `_CLIMBED`.
    """

    families: int = 0
    last: int = -1
    size: int = -1
    rank: _Rank = _LOWEST
    line: Ids = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rows: NDArray[np.void] = field(default_factory=lambda: np.empty(0, dtype=np.void))

    def family_of(self, tree: Tree, node: int) -> bool:
        """Say whether `node` belongs to the same family, and nothing was backed up in between but members of it."""
        same = self.last >= 0 and tree.states[self.last].ask == tree.states[node].ask
        # A family is folded in one go, in order of birth.
        return same and self.size == len(tree) and self.last < node


@dataclass(frozen=True, slots=True)
class OneEnd:
    """Let `inner` spread one of the ends that an ask bore over its path; the others have a value, but no visit.

    It is the right end (value above 0) with the largest value. Without a right one it is the wrong one of which the
    model was most certain: the mean entropy of its steps, estimated by -mean log p of each, is the least. Certainty
    also settles equal values; then the first created wins, as it does where log-probabilities are unknown. The
    entropies go to the side array "entropy", which `select.pools.FrontierDeepSearch` reads.
    Source: DeepSearch, arXiv:2509.25454: one trajectory an expansion, and which of the wrong ones; the estimate of
    the entropy is that of its released code (smiles724/DeepSearch).

    Attributes:
        inner: Spreads the value of an end, and keeps the 0 of an unfinished step at the step.
        complete_first: Of wrong ends, take one with an answer before one without.
        by_certainty: Whether certainty counts; without it the first created wins.
    """

    wide: ClassVar[bool] = True

    inner: Backup
    complete_first: bool = False
    by_certainty: bool = True

    def __call__(self, tree: Tree, node: int) -> None:
        """Back `node` up in place of the end of its family that was, if it ranks higher."""
        _note_entropy(tree, node)
        if not tree.has(node, DONE):
            self.inner(tree, node)
            return
        backed, rank = tree.keep("backed_end", _Backed), self._rank(tree, node)
        known = backed.family_of(tree, node)
        backed.last, backed.size = node, len(tree)
        if known and rank <= backed.rank:
            _value_alone(tree, node)
            return
        if known:
            tree.nodes[_CLIMBED][backed.line] = backed.rows
            _value_alone(tree, int(backed.line[-1]))
        backed.families += not known
        backed.rank, backed.line = rank, np.array(tree.line(node), dtype=np.int64)
        backed.rows = tree.nodes[_CLIMBED][backed.line]
        self.inner(tree, node)

    def _rank(self, tree: Tree, node: int) -> _Rank:
        state, value = tree.states[node], mean(tree.states[node].samples)
        complete = state.answer is not None or not self.complete_first
        certainty = _certainty(tree, node) if self.by_certainty else 0.0
        return _Rank(value > 0.0, max(value, 0.0), complete, certainty)


@dataclass(frozen=True, slots=True)
class MaxOfWalks:
    """V = best child's value, own for a leaf; a walk that came to its end is one visit of its path.

    A walk goes on at the best of the newborn of an ask, the first on ties (`select.sweeps.walk.Walk`), and is over
    where that one is finished. The others that were born on the way have a value, but no visit.
    Source: RAP, arXiv:2305.14992, algorithm 1: the highest future reward, and N(s, a) += 1 once an iteration.
    """

    wide: ClassVar[bool] = True

    def __call__(self, tree: Tree, node: int) -> None:
        """Update the values of the path of `node`, and move the visit to the best of its family."""
        above = tree.parent(node)
        first = evaluated(tree, node, mean).first
        credit_climbs.highest(tree.nodes, tree.own_array("own"), node, 0)
        if above is None or not first:
            return
        ask, siblings = tree.states[node].ask, (child for child in tree.children(above) if child != node)
        # A family is folded in one go, in order of birth: who has a score now was compared before.
        known = [child for child in siblings if tree.states[child].ask == ask and tree.scored(child)]
        rival = max(known, key=tree.value, default=None)
        if rival is None or tree.value(node) > tree.value(rival):
            if rival is not None:
                _visit(tree, rival, -1)
            _visit(tree, node, +1)


def _visit(tree: Tree, node: int, count: int) -> None:
    """Count a visit of the path of `node` if it is finished."""
    if tree.has(node, DONE):
        tree.nodes["visits"][tree.line(node)] += count


def trajectories_done(n: int) -> Stopper:
    """Stop when `OneEnd` has backed up `n` ends, one a family; 0 switches it off.

    Raises:
        RecipeError: `n` is negative.
    """
    if n < 0:
        raise RecipeError(f"trajectories is {n}; it is a number of ends backed up, 0 for off")

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        return "trajectories" if n and tree.keep("backed_end", _Backed).families >= n else None

    return stop


def walks_done(n: int) -> Stopper:
    """Stop when `MaxOfWalks` has counted `n` walks below the first root; 0 switches it off.

    Raises:
        RecipeError: `n` is negative.
    """
    if n < 0:
        raise RecipeError(f"paths is {n}; it is a number of walks that came to an end, 0 for off")
    return lambda tree, ledger: "paths" if n and len(tree) and tree.nodes["visits"][0] >= n else None


def _note_entropy(tree: Tree, node: int) -> None:
    state = tree.states[node]
    if state.logprob is not None and state.tokens > 0:
        tree.own_array("entropy")[node] = -state.logprob / state.tokens


def _certainty(tree: Tree, node: int) -> float:
    """Return minus the mean entropy of the steps down to `node`; -inf where none is known."""
    found = tree.own_array("entropy")[tree.line(node)]
    known = found[~np.isnan(found)]
    return -float(known.mean()) if len(known) else -math.inf


def _value_alone(tree: Tree, node: int) -> None:
    tree.nodes["value"][node] = mean(tree.states[node].samples)
