"""From a tree to one answer, without gold. Nothing planted is ever selected.

In a tree of steps only those who finished a solution have a say: the steps on the way hold no answer, and a solution
that was cut off or came to no answer is passed over by every rule.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from mctsr.grading import normal_form
from mctsr.parts import Answerer, Selected
from mctsr.tree import Tree


def answer_of(answerer: Answerer, tree: Tree) -> Selected:
    """Ask an answerer, and make sure that what it says can be kept.

    Raises:
        TypeError: It returned no `Selected`, or one whose node is not in the tree or whose answer is no text.
    """
    said = answerer(tree)
    if (
        not isinstance(said, Selected)
        or not isinstance(said.answer, str | None)
        or not isinstance(said.by, str)
    ):
        raise TypeError(f"the answerer returned {said!r}; it must return Selected(answer, node, by)")
    if said.node is not None and not 0 <= said.node < len(tree):
        raise TypeError(f"the answerer returned node {said.node} of a tree of {len(tree)} nodes")
    return said


def whole(tree: Tree, node: int) -> bool:
    """Say whether `node` is a whole answer, or a step that finished its solution with an answer."""
    state = tree.states[node]
    return not state.step or state.answer is not None


def first(tree: Tree) -> Selected:
    """Return the first answer the model gave: zero-shot; of steps, the first solution to be finished, if any was."""
    ids = [node for node in tree.answers() if whole(tree, node)]
    return Selected(tree.states[ids[0]].answer, ids[0], "first") if ids else Selected(None, None, "none")


def last(tree: Tree) -> Selected:
    """Return the answer of the last state of the front."""
    ids = [node for node in tree.front if not tree.planted(node) and whole(tree, node)]
    return Selected(tree.states[ids[-1]].answer, ids[-1], "last") if ids else first(tree)


def best_value(tree: Tree) -> Selected:
    """Return the answer with the largest value, the first created on ties; the first answer when none is scored.

    A text without a final answer is passed over while any scored one has it: it cannot be right.
    """
    return _best(tree, tree.answers(), "best value")


def best_finalist(tree: Tree) -> Selected:
    """Do what `best_value` does, among the finalists: a population answers with the best of those who are left."""
    return _best(tree, finalists(tree), "best of the front" if tree.front else "best value")


def _best(tree: Tree, ids: Sequence[int], by: str) -> Selected:
    scored = [node for node in ids if tree.scored(node) and whole(tree, node)]
    if not scored:
        return first(tree)._replace(by="first (nothing scored)")
    answered = [node for node in scored if tree.states[node].answer is not None]
    best = max(answered or scored, key=tree.value)
    return Selected(tree.states[best].answer, best, by)


def finalists(tree: Tree) -> list[int]:
    """Return who votes: the front, or without one every scored node that was not planted.

    A recipe that keeps neither a front nor scores lets every answer vote. A front that was stopped before any of its
    solutions was finished gives its votes to those that were finished earlier.
    """
    front = [node for node in tree.front if whole(tree, node)]
    ids = front or [node for node in tree.answers() if tree.scored(node) and whole(tree, node)]
    ids = ids or [node for node in tree.answers() if whole(tree, node)]
    return [node for node in ids if not tree.planted(node)]


def majority(tree: Tree) -> Selected:
    """Return the most frequent answer of the finalists; the one seen first wins ties. No answer has no vote."""
    return _vote(tree, finalists(tree), lambda node: 1.0, "majority")


def weighted_vote(low: float, high: float, voters: Callable[[Tree], Sequence[int]] = finalists) -> Answerer:
    """Vote with weight (value - low) / (high - low); without a score there is no vote.

    Weighted best-of-n: Li et al. 2023, arXiv:2206.02336, "voting verifier".

    Args:
        low: Lower bound of the values.
        high: Upper bound of the values.
        voters: Who votes, ids of the tree.
    """

    def answer(tree: Tree) -> Selected:
        ids = [node for node in voters(tree) if tree.scored(node)]
        if not ids:
            return first(tree)._replace(by="first (nothing scored)")
        return _vote(tree, ids, lambda node: (tree.value(node) - low) / (high - low), "weighted vote")

    return answer


def _vote(tree: Tree, ids: Sequence[int], weight: Callable[[int], float], by: str) -> Selected:
    votes: dict[Hashable, float] = defaultdict(float)
    speaker: dict[Hashable, int] = {}
    for node in ids:
        answer = tree.states[node].answer
        if answer is not None:
            form = normal_form(answer)
            votes[form] += weight(node)
            speaker.setdefault(form, node)
    if not votes:
        return Selected(None, None, by)
    node = speaker[max(votes, key=lambda form: votes[form])]
    return Selected(tree.states[node].answer, node, by)
