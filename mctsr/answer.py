"""From a tree to one answer, without gold. Nothing planted is ever selected."""

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


def first(tree: Tree) -> Selected:
    """Return the first answer the model gave: zero-shot."""
    ids = tree.answers()
    return Selected(tree.states[ids[0]].answer, ids[0], "first") if ids else Selected(None, None, "none")


def last(tree: Tree) -> Selected:
    """Return the answer of the last state of the front."""
    ids = [node for node in tree.front if not tree.planted(node)]
    return Selected(tree.states[ids[-1]].answer, ids[-1], "last") if ids else first(tree)


def best_value(tree: Tree) -> Selected:
    """Return the answer with the largest value, the first created on ties; the first answer when none is scored.

    A text without a final answer is passed over while any scored one has it: it cannot be right.
    """
    scored = [node for node in tree.answers() if tree.scored(node)]
    if not scored:
        return first(tree)._replace(by="first (nothing scored)")
    answered = [node for node in scored if tree.states[node].answer is not None]
    best = max(answered or scored, key=tree.value)
    return Selected(tree.states[best].answer, best, "best value")


def finalists(tree: Tree) -> list[int]:
    """Return who votes: the front, or without one every scored node that was not planted.

    A recipe that keeps neither a front nor scores lets every answer vote.
    """
    ids = tree.front or [node for node in tree.answers() if tree.scored(node)]
    return [node for node in ids or tree.answers() if not tree.planted(node)]


def majority(tree: Tree) -> Selected:
    """Return the most frequent answer of the finalists; the one seen first wins ties. No answer has no vote."""
    return _vote(tree, finalists(tree), lambda node: 1.0, "majority")


def weighted_vote(low: float, high: float) -> Answerer:
    """Vote with weight (value - low) / (high - low); without a score there is no vote.

    Weighted best-of-n: Li et al. 2023, arXiv:2206.02336, "voting verifier".
    """

    def answer(tree: Tree) -> Selected:
        ids = [node for node in finalists(tree) if tree.scored(node)]
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
