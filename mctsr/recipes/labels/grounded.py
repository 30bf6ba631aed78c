"""What the two recipes of GroundedPRM have in common: their steps and checks, when it is enough, who has a say."""

from collections import Counter
from collections.abc import Hashable

from mctsr.grading import normal_form
from mctsr.judge.grounded.rollout import Fuse, GroundedRollout, Rollout, rollouts_of
from mctsr.parts import Ledger, Selected, Stopper
from mctsr.recipes.stepping import Growth, check_counts, check_limits, growth, judge_of_ends
from mctsr.select.rounds.look import rounds_done
from mctsr.stop import first_of
from mctsr.tree import Tree


def grounded(
    fuse: Fuse,
    *,
    depth: int,
    judge: str,
    uses_gold: bool,
    boundary: str,
    max_steps: int,
    max_step_tokens: int,
    temperature: float | None,
) -> Growth:
    """Return the expander of steps and the judge that checks and simulates.

    Raises:
        RecipeError: A name is unknown or a number out of range; says what is allowed.
    """
    check_counts(depth=depth)
    expander, said = growth(
        judge=judge,
        aggregate="last",
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    outcome = judge_of_ends(judge, said, uses_gold=uses_gold, unfinished=-1.0)
    return Growth(expander, GroundedRollout(expander, outcome, fuse, depth))


def collected(positive: int, negative: int, rounds: int) -> Stopper:
    """Stop when so many complete solutions were right and so many wrong, or after so many rounds.

    Solutions count whether they are in the tree or were simulated.

    Raises:
        RecipeError: A number is negative.
    """
    check_limits(positive=positive, negative=negative, rounds=rounds)

    def stop(tree: Tree, ledger: Ledger) -> str | None:
        signs = Counter(end.outcome > 0.0 for end in ends(tree) if end.complete and end.outcome)
        enough = signs[True] >= positive and signs[False] >= negative
        return "paths" if positive and negative and enough else None

    return first_of(stop, rounds_done(rounds))


def ends(tree: Tree) -> list[Rollout]:
    """Return the simulations of a tree, and its finished nodes as simulations without steps."""
    return [rollout for state in tree.states for rollout in rollouts_of(state.samples)]


def majority_of_ends(tree: Tree) -> Selected:
    """Return the answer that most ends came to, simulated ones too; the first on ties.

    Its node is the first one that is finished with it; a simulated answer has none.
    """
    votes, spoken = Counter[Hashable](), dict[Hashable, str]()
    for end in ends(tree):
        if end.answer is not None:
            form = normal_form(end.answer)
            votes[form] += 1
            spoken.setdefault(form, end.answer)
    if not votes:
        return Selected(None, None, "none")
    best = max(votes, key=lambda form: votes[form])
    said = (node for node, state in enumerate(tree.states) if state.answer is not None)
    node = next((i for i in said if normal_form(tree.states[i].answer) == best), None)
    answer = spoken[best] if node is None else tree.states[node].answer
    return Selected(answer, node, "majority of the simulations")
