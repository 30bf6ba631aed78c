"""GRAVE over steps: what a step was worth wherever it was taken."""

from mctsr.backup.amaf import AmafMean
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts, growth
from mctsr.select.grave import Grave
from mctsr.select.step_code import step_code
from mctsr.stop import first_of, paths_done, rollouts_done


def grave_steps(
    *,
    rollouts: int = 32,
    paths: int = 0,
    children: int = 3,
    ref: int = 8,
    bias: float = 1e-5,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = None,
) -> Recipe:
    """GRAVE over steps. After Cazenave 2015, "Generalized Rapid Action Value Estimation", IJCAI.

    At each level the best child by its own mean and by what steps of the same code were worth anywhere below the
    reference node; the code of a step is what it works out, not how it says so. Every new step is a playout: its score
    counts for all steps above it. No exploration term: statistics shared between branches take its place. Calls:
    children a rollout, and as many for scores where the judge makes calls; equal steps are dropped first.

    The method is one of games; what is ours: step codes, scores of unfinished solutions in place of played-out games,
    and ref 8 for the paper's 50, since a search that asks a model has tens of playouts.

    Args:
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        paths: Stop when so many paths came to an end, siblings counted once; 0 is off.
        children: Next steps written for a node.
        ref: Visits of a reference node; 0 is RAVE.
        bias: How fast the shared statistics give way to a step's own mean.
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
        Grave(step_code, ref, bias, children),
        AmafMean(step_code),
        first_of(paths_done(paths), rollouts_done(rollouts)),
        answerer(answer, scorer),
    )
