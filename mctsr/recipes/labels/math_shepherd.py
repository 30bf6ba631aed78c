"""Math-Shepherd's labels: every step of every solution is completed, and counted by how that ends."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import cast

from numpy.random import Generator

from mctsr.answer import finalists, first, majority
from mctsr.backup import OwnValue
from mctsr.grading import normal_form
from mctsr.judge.mc_estimate import McEstimate
from mctsr.parts import Answerer, Selected
from mctsr.recipe import Recipe
from mctsr.recipes.judges import MC_ESTIMATE
from mctsr.recipes.stepping import Choice, check_counts, growth
from mctsr.select.frontier import Frontier
from mctsr.stop import all_finished
from mctsr.tree import Tree


def math_shepherd(
    *,
    n: int = 15,
    completions: int = 8,
    uses_gold: bool = False,
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = 0.8,
) -> Recipe:
    """Math-Shepherd: labels for steps, by completions of each. Wang et al. 2024, arXiv:2312.08935, section 3.

    Makes training data: `mctsr export` writes the labels. n solutions are written step by step, side by side, and
    none is given up; each step is completed to the end several times. Its soft label is the share of completions that
    are right, its hard label whether any is. A finished solution is compared, not completed. Calls: n a step, and n
    times completions for each step but the last; with solutions of six steps 15 * (6 + 5 * 8) = 690.

    With uses_gold right means equal to the known answer, and the answers of such a run are no test result. Without,
    right means what most solutions of the problem said that were completed from its beginning, one set for all, which
    takes `completions` calls more; where none of them came to an answer there are no labels. A completion without an
    answer, or cut off, counts as wrong. The answer follows the paper's verification with labels in the place of its
    reward model: a solution is worth its weakest step.

    8 completions and 15 solutions are the paper's as reported, not verified. Not kept: solutions of one model,
    completed by the same one; equal solutions are labelled like others, and the export writes one of them.

    Args:
        n: Solutions.
        completions: Completions of each step, N.
        uses_gold: Compare with the known answers; only to make labels.
        answer: Among finished solutions: the "best" by its weakest step, the vote "weighted" by it, or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of steps and completions; none leaves it to the settings, and the command line wins.
    """
    check_counts(n=n, completions=completions)
    expander, judge = growth(
        judge=MC_ESTIMATE,
        aggregate="last",
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    estimate = replace(cast(McEstimate, judge), completions=completions, uses_gold=uses_gold)
    everybody = Frontier(n, keep_all, opened=1)
    expander = replace(expander, judged_root=not uses_gold)
    return Recipe(expander, estimate, everybody, OwnValue(), all_finished(), by_weakest_step(answer))


def keep_all(tree: Tree, pool: Sequence[int], n: int, rng: Generator) -> Sequence[int]:
    """Let everybody go on: a population without selection."""
    return pool


def by_weakest_step(choice: Choice) -> Answerer:
    """Return the rule for the answer, a solution being worth the smallest value on its path.

    "best" takes the solution of the largest worth, "weighted" the answer with the largest sum of worths; the first
    one wins ties. "majority" leaves values out.
    """
    if choice == "majority":
        return majority

    def answer(tree: Tree) -> Selected:
        worth = {node: _weakest(tree, node) for node in finalists(tree) if tree.scored(node)}
        votes: dict[Hashable, float] = defaultdict(float)
        speaker: dict[Hashable, int] = {}
        for node, value in worth.items():
            if (said := tree.states[node].answer) is not None:
                form = normal_form(said)
                votes[form] = votes[form] + value if choice == "weighted" else max(votes[form], value)
                if form not in speaker or worth[speaker[form]] < value:
                    speaker[form] = node
        if not votes:
            return first(tree)._replace(by="first (nothing scored)")
        node = speaker[max(votes, key=lambda form: votes[form])]
        return Selected(tree.states[node].answer, node, f"{choice} by the weakest step")

    return answer


def _weakest(tree: Tree, node: int) -> float:
    return min(tree.value(step) for step in tree.line(node) if tree.scored(step))
