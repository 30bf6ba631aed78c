"""rStar-Math's search at inference, guided by a preference model of steps."""

from mctsr.backup import MeanOfEnds
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts, growth, judge_of_ends
from mctsr.select.descent import Descent
from mctsr.select.scores import uct_rstar_math
from mctsr.stop import first_of, paths_done, rollouts_done


def rstar_math(
    *,
    paths: int = 16,
    rollouts: int = 256,
    children: int = 8,
    c: float = 2.0,
    uses_gold: bool = False,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 16,
    max_step_tokens: int = 1024,
    temperature: float | None = 1.0,
) -> Recipe:
    """rStar-Math at inference, value mode: UCT with scored steps. Guan et al. 2025, arXiv:2501.04519, section 3.

    UCT from the root, Q + c sqrt(ln N / n). A new step's score is its first visit and stays with it; the score of a
    finished solution is added to all steps above it. The answer is the solution with the best score. Calls:
    children a rollout, and as many for scores where the judge makes calls; equal steps are dropped first.

    Depth 16, 8 candidates and c are the paper's, its 16 rollouts are 16 paths here; the released code
    (microsoft/rStar) evaluates with 32 candidates, 12 rollouts and temperature 1. Not kept: steps are text
    without programs, so none is discarded for code that fails; scores lie in [0, 1] instead of [-1, 1]; all finished
    candidates of an expansion count, where the code keeps the first, and so does one that ran out of steps, which there
    counts for itself alone; the code goes on below the node in hand after a solution, here the next rollout begins at
    the root.

    With uses_gold the search is terminal-guided, as in the paper's first two rounds, whose trees are training data: a
    step has no score of its own, a finished solution is worth 1 if its answer is the known one, else -1, and no judge
    is called. What such a run selects is no test result.

    Args:
        paths: Stop when so many paths came to an end, siblings counted once; 0 is off.
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        children: Candidates, next steps written for a node.
        c: Exploration constant.
        uses_gold: Judge ends by the known answers instead, to make labels.
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
    said = judge_of_ends(judge, scorer, uses_gold=True) if uses_gold else scorer
    return Recipe(
        expander,
        said,
        Descent(uct_rstar_math(c), children),
        MeanOfEnds(steps_count=not uses_gold),
        first_of(paths_done(paths), rollouts_done(rollouts)),
        answerer(answer, said),
    )
