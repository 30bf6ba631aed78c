"""Monte Carlo Permutation Search over steps: the same steps in any order."""

from mctsr.backup.amaf import AmafMean
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts, growth
from mctsr.select.grave import Mcps
from mctsr.select.step_code import step_code
from mctsr.stop import first_of, paths_done, rollouts_done


def mcps_steps(
    *,
    rollouts: int = 32,
    paths: int = 0,
    children: int = 3,
    ref: int = 8,
    window: int = 10_000,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = None,
) -> Recipe:
    """Monte Carlo Permutation Search over steps. After Cazenave 2025, arXiv:2510.06381.

    As `grave-steps`, with a third statistic: playouts that hold a step and all steps above it, in any order. The three
    means count by their numbers of playouts; there is no constant but ref. Made for problems whose steps may come in
    many orders. Calls: children a rollout, and as many for scores where the judge makes calls; equal steps are
    dropped first.

    No code of the method is public; formulas follow descriptions that agree. What is ours: step codes, scores of
    unfinished solutions in place of played-out games, and ref 8 for tens of playouts.

    Args:
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        paths: Stop when so many paths came to an end, siblings counted once; 0 is off.
        children: Next steps written for a node.
        ref: Visits of a reference node.
        window: Playouts that permutation statistics look back on.
        judge: Who scores a partial solution: "llm-judge", which needs no further model, "self-certainty", which makes
            no call, "qwen-prm" and others of a reward model; a wrong name lists all.
        aggregate: How the steps' scores become one: "last", "min", "product" or "mean".
        answer: Among finished solutions: "best" score, "weighted" vote or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    check_counts(children=children)
    expander, scorer = growth(
        judge=judge,
        aggregate=aggregate,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
        distinct=True,
    )
    return Recipe(
        expander,
        scorer,
        Mcps(step_code, ref, window, children),
        AmafMean(step_code, ref, window),
        first_of(paths_done(paths), rollouts_done(rollouts)),
        answerer(answer, scorer),
    )
