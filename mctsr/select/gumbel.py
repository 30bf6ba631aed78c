"""Down from the root by sequential halving with Gumbel noise: for a few simulations over known steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from mctsr.errors import RecipeError
from mctsr.kernels import gumbel as kernels
from mctsr.kernels.descent import CLOSED
from mctsr.kernels.node import DONE, NONE, UNSCORED, Floats, Ids
from mctsr.parts import Ask
from mctsr.tree import Tree

ROOT = 0


class _Arms(NamedTuple):
    """Some children of the root."""

    ids: Ids
    counts: Ids
    logits: Floats
    bonus: Floats


@dataclass(frozen=True, slots=True)
class Gumbel:
    """Grow the leaf below argmax g + logit + sigma(q) of sequential halving, and p' - N / (1 + sum N) further down.

    The first ask makes `first` children of the root. Then `considered` of them, the best by g + logit, share
    `simulations` by sequential halving; a simulation is one ask and grows one leaf by `branch` children. N counts
    simulations, so that children judged at birth begin at 0 with a known q. Logits are ln prior: where the children
    are themselves draws from the model, leave their priors at 1, or the policy counts twice.
    A search over steps finishes a solution only when so many simulations follow each other down one path; `simulations`
    below about `considered` times the steps of a solution may finish none, and then there is no answer to select.
    Source: Danihelka et al., ICLR 2022, "Policy improvement by planning with Gumbel". c_scale is 0.1 in the released
    code's defaults (google-deepmind/mctx), 1 in the paper.

    Attributes:
        simulations: Budget; the search is exhausted afterwards.
        considered: Children of the root among which it is shared.
        first: Drafts asked at the root.
        branch: Drafts asked at every other leaf.
        c_visit: Added to the largest N in sigma.
        c_scale: Factor of sigma.
    """

    simulations: int
    considered: int = 16
    first: int = 16
    branch: int = 4
    c_visit: float = 50.0
    c_scale: float = 1.0
    roots: int = 1
    barrier: bool = False

    def __post_init__(self) -> None:
        if min(self.simulations, self.considered, self.first, self.branch) < 1:
            raise RecipeError(f"{self}: simulations, considered, first and branch must be at least 1")

    def ask(self, tree: Tree, rng: Generator, room: int) -> Sequence[Ask]:
        """Hand out one leaf, or none: the budget is spent, nothing can grow, or the leaf is already in flight."""
        if not len(tree) or tree.has(ROOT, CLOSED):
            return ()
        if tree.has(ROOT, DONE) and tree.nodes["first"][ROOT] == NONE:
            return ()
        blocked: list[int] = []
        while ROOT not in blocked:
            leaf = self._leaf(tree, blocked)
            if leaf >= 0:
                n = self.first if leaf == ROOT else self.branch
                return () if tree.nodes["in_flight"][leaf] else (Ask(leaf, n),)
            blocked.append(-2 - leaf)
        return ()

    def tell(self, tree: Tree, rng: Generator, born: Sequence[int]) -> None:
        """Count the simulation, and draw the noise of the root's children."""
        parent = int(tree.nodes["parent"][born[0]]) if born else NONE
        if parent == NONE:
            return
        widest = tree.keep("gumbel_widest", lambda: [1])
        widest[0] = max(widest[0], int(tree.nodes["n_children"][parent]))
        kernels.passed(tree.nodes, parent, tree.own_array("gumbel_simulations"))
        if parent == ROOT:
            known = [node for node in born if not tree.has(node, UNSCORED)]
            tree.own_array("gumbel")[known] = rng.gumbel(size=len(known))

    def committed(self, tree: Tree) -> int | None:
        """Return the child of the root that the search recommends: best g + logit + sigma(q) of the most visited.

        A child that was born finished took no simulation, and is not recommended while another did.
        """
        arms = self._arms(tree, False, []) if len(tree) else None
        if arms is None or not len(arms.ids):
            return None
        return int(
            arms.ids[kernels.next_at_root(arms.counts, self._noisy(tree, arms), int(arms.counts.max()))]
        )

    def _leaf(self, tree: Tree, blocked: list[int]) -> int:
        """Go down to a leaf; -2 - i when i is a dead end, as the root is once the budget is spent."""
        if tree.nodes["first"][ROOT] == NONE:
            return ROOT
        arms = self._arms(tree, True, blocked)
        index = self._at_root(tree, arms) if len(arms.ids) else NONE
        if index == NONE:
            return -2 - ROOT
        sims, shut = tree.own_array("gumbel_simulations"), (True, np.array(blocked, dtype=np.int64))
        return kernels.descend(tree.nodes, int(arms.ids[index]), shut, tree.low, sims, self._work(tree))

    def _work(self, tree: Tree) -> kernels.Work:
        n = tree.keep("gumbel_widest", lambda: [1])[0]
        rows = (np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n))
        return ((self.c_visit, self.c_scale), rows, np.empty(n), np.empty(n))

    def _at_root(self, tree: Tree, arms: _Arms) -> int:
        """Return the arm that sequential halving visits next, NONE when the budget is spent."""
        first, last = (int(tree.nodes[name][ROOT]) for name in ("first", "last"))
        sims = tree.own_array("gumbel_simulations")
        # The root's own ask was none of the simulations.
        done = int(sims[ROOT]) - 1 + int(tree.nodes["in_flight"][ROOT])
        if done >= self.simulations:
            return NONE
        children = slice(first, last + 1)
        entered = (tree.nodes["flags"][children] & DONE == 0) | (sims[children] > 0)
        m = int(np.count_nonzero(entered & ~np.isnan(tree.own_array("gumbel")[children])))
        table = self._table(tree, min(self.considered, m))
        # The first round takes the best by g + logit, a sample without replacement; what is known of q comes after.
        scores = self._noisy(tree, arms) if table[done] else tree.own_array("gumbel")[arms.ids] + arms.logits
        return kernels.next_at_root(arms.counts, scores, int(table[done]))

    def _table(self, tree: Tree, m: int) -> Ids:
        """Return the considered visits of `m` children, made once a tree unless their number changes."""
        tables = tree.keep("gumbel_tables", dict[tuple[int, int], Ids])
        if (m, self.simulations) not in tables:
            table = tables[m, self.simulations] = np.empty(self.simulations, dtype=np.int64)
            kernels.considered_visits(m, self.simulations, table)
        return tables[m, self.simulations]

    def _noisy(self, tree: Tree, arms: _Arms) -> Floats:
        noisy: Floats = tree.own_array("gumbel")[arms.ids] + arms.logits + arms.bonus
        return noisy

    def _arms(self, tree: Tree, open_only: bool, blocked: list[int]) -> _Arms:
        """Collect the scored children of the root, all or the open ones, with sigma of their completed q."""
        c, rows, bonus, _ = self._work(tree)
        sims, shut = tree.own_array("gumbel_simulations"), (open_only, np.array(blocked, dtype=np.int64))
        k = kernels.gather(tree.nodes, ROOT, shut, tree.low, sims, rows)
        kernels.weigh(tree.nodes, ROOT, k, c, rows, bonus)
        return _Arms(rows[0][:k], rows[1][:k], rows[3][:k], bonus[:k])
