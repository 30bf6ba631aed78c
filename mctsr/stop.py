"""When is it enough: small functions that return a reason, or None to go on.

None of them sees a gold answer.
"""

from dataclasses import dataclass
from typing import Protocol

from mctsr.errors import RecipeError
from mctsr.kernels.node import DONE
from mctsr.lm.base import Tally
from mctsr.parts import Ledger, Stopper
from mctsr.tree import Tree


@dataclass(frozen=True, slots=True)
class Limits:
    """What one problem may cost; None is no limit. Calls and tokens may overshoot by the asks in flight.

    Attributes:
        calls: Calls to any model.
        tokens: Prompt and completion tokens together.
        seconds: Wall time since the search began in this process.
    """

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None

    def met(self, ledger: Ledger) -> str | None:
        """Say which limit on folded work is met; the clock is the engine's."""
        if self.calls is not None and ledger.tally.calls >= self.calls:
            return "call limit"
        if self.tokens is not None and ledger.tally.usage.total_tokens >= self.tokens:
            return "token limit"
        return None

    def overshoot(self, ledger: Ledger) -> dict[str, int]:
        """Return by how much each limit was passed, by name."""
        spent = {
            "calls": (ledger.tally.calls, self.calls),
            "tokens": (ledger.tally.usage.total_tokens, self.tokens),
        }
        return {
            name: used - limit for name, (used, limit) in spent.items() if limit is not None and used > limit
        }


class Decisions(Protocol):
    """Where choices that depend on the clock are written before they are acted on, and read on replay."""

    def decided(self, fold: int) -> tuple[str, Tally] | None:
        """Return what was decided after `fold` folds, with what the work in flight had cost by then."""

    def decide(self, fold: int, what: str, charged: Tally) -> None:
        """Write a decision down."""


def never() -> Stopper:
    """Go on until the selector has nothing left, or a limit is met."""
    return lambda tree, ledger: None


def all_drawn() -> Stopper:
    """Stop after the opening, of which something can be used: all answers that were asked for are drawn.

    While server faults are running, and where nothing could be scored, what to say is for the engine.
    """
    return lambda tree, ledger: "all drawn" if tree.front and not ledger.server_faults else None


def rollouts_done(n: int) -> Stopper:
    """Stop when `n` asks were made; the opening is none.

    Raises:
        RecipeError: `n` is negative.
    """
    if n < 0:
        raise RecipeError(f"rollouts is {n}; it is the number of asks after the opening, at least 0")
    return lambda tree, ledger: "rollouts" if ledger.asks >= n else None


def paths_done(n: int) -> Stopper:
    """Stop when `n` paths of a tree have come to their ends; 0 switches it off.

    A path ends in a node that can never grow: a finished solution, the last step allowed, a reply that led nowhere.
    Ends that were born of one ask count once: they are one path with the alternatives for its last step.

    Raises:
        RecipeError: `n` is negative.
    """
    if n < 0:
        raise RecipeError(f"paths is {n}; it is a number of paths that came to an end, 0 for off")

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        if not n or len(tree.ended) < n:
            return None
        return "paths" if len({tree.states[node].ask for node in tree.ended}) >= n else None

    return stop


def all_finished() -> Stopper:
    """Stop when no member of the population can grow; without this rule the search ends there as exhausted.

    While server faults are running this is for the engine to judge: a population that they have emptied has failed.
    """

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        if ledger.server_faults or not tree.front:
            return None
        return "all finished" if all(tree.has(node, DONE) for node in tree.front) else None

    return stop


def solution_found(gate: float) -> Stopper:
    """Stop when a finished solution has a value of at least `gate`.

    Source: ReST-MCTS*, arXiv:2406.03816, as released (THUDM/ReST-MCTS, `end_gate`); there a step that is no solution
    yet ends the search, too.
    """

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        found = (node for node in tree.ended if tree.states[node].answer is not None and tree.scored(node))
        return "solution found" if any(tree.value(node) >= gate for node in found) else None

    return stop


def no_gain(patience: int) -> Stopper:
    """Stop when the best value has not risen over the last `patience` folds; 0 switches it off.

    MCTSr, arXiv:2406.07394, section 3.5: "early stop" without gold. A value can fall when a node is judged again.

    Raises:
        RecipeError: `patience` is negative.
    """
    if patience < 0:
        raise RecipeError(f"patience is {patience}; it is a number of rollouts, 0 for off")

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        best = ledger.best
        if not patience or len(best) <= patience:
            return None
        return None if max(best[-patience:]) > max(best[:-patience]) else "no gain"

    return stop


def max_depth(depth: int) -> Stopper:
    """Stop when a node lies `depth` refinements below its root; 0 switches it off. MCTSr, section 3.5.

    Raises:
        RecipeError: `depth` is negative.
    """
    if depth < 0:
        raise RecipeError(f"max_depth is {depth}; it is a number of refinements, 0 for off")

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        if not depth:
            return None
        return "max depth" if tree.nodes["depth"][: len(tree)].max(initial=0) >= depth else None

    return stop


def first_of(*stoppers: Stopper) -> Stopper:
    """Ask each in order and return the first reason."""
    return lambda tree, ledger: next((r for s in stoppers if (r := s(tree, ledger))), None)
