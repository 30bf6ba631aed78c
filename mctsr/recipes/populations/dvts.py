"""Diverse verifier tree search: beam search in independent subtrees."""

from mctsr.answer import finalists, weighted_vote, whole
from mctsr.backup import OwnValue
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import check_groups, growth
from mctsr.select.frontier import Frontier
from mctsr.select.population import Subtrees
from mctsr.stop import all_finished
from mctsr.tree import Tree


def dvts(
    *,
    n: int = 16,
    m: int = 4,
    judge: str = "llm-judge",
    aggregate: str = "last",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = 0.8,
) -> Recipe:
    """Diverse verifier tree search. Beeching et al. 2024, "Scaling test-time compute with open models".

    n / m subtrees that never mix: each round writes m next steps below each subtree's survivor, and the one with the
    best score survives. A subtree ends once its survivor is finished. The last steps of every subtree vote,
    weighted by their scores, those that did not survive included. Calls: n a round, and as many for scores where the
    judge makes calls; with solutions of six steps and the default judge 12 n at most.

    Defaults are those of the released code (huggingface/search-and-learn). Differences: the vote counts each finished
    solution once, where the code repeats results of its last round; no lookahead, which the code has.

    Args:
        n: Solutions, the budget.
        m: Steps that each subtree chooses from. n is a multiple of it.
        judge: Who scores a partial solution: "llm-judge", which needs no further model, "self-certainty", which makes
            no call, "qwen-prm" and others of a reward model; a wrong name lists all.
        aggregate: How the steps' scores become one: "last", "min", "product" or "mean".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    check_groups(n, m)
    expander, scorer = growth(
        judge=judge,
        aggregate=aggregate,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    vote = weighted_vote(scorer.low, scorer.high, last_siblings)
    return Recipe(expander, scorer, Frontier(n, Subtrees(m), opened=1), OwnValue(), all_finished(), vote)


def last_siblings(tree: Tree) -> list[int]:
    """Return the finished solutions that were born beside a finalist, itself included, in order of birth."""
    beside = {tree.parent(node) for node in finalists(tree)}
    return [node for node in tree.answers() if whole(tree, node) and tree.parent(node) in beside]
