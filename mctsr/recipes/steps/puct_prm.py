"""Tree search over steps by PUCT, guided by a process reward model."""

from mctsr.backup import MeanOfEnds
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts, growth
from mctsr.select.descent import Descent
from mctsr.select.scores import puct
from mctsr.stop import first_of, paths_done, rollouts_done


def puct_prm(
    *,
    paths: int = 8,
    rollouts: int = 64,
    children: int = 4,
    c: float = 1.25,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = None,
) -> Recipe:
    """PUCT over steps with a process reward model. After OpenR, Wang et al. 2024, arXiv:2410.09671.

    A rollout follows the best child by Q + c p sqrt(N) / (1 + n) from the root to a leaf, writes its next steps and
    scores each. A step is worth its score until a solution below it is finished; from then on it is worth the mean
    score of the finished solutions below it. So the search first goes straight to a solution, then branches where
    PUCT finds it worth while. Calls: children a rollout, and as many for scores where the judge makes calls.

    The prior p of a step is the share of the drafts that said it: equal drafts are one node. The released code
    (openreasoner/openr) takes it from log-probabilities, for that see `ts-llm`, and walks on to an end before it
    backs anything up; here each finished solution is backed up when it is born, and the next rollout begins at
    the root.

    Args:
        paths: Stop when so many paths came to an end, siblings counted once; 0 is off.
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        children: Next steps written for a node.
        c: Exploration constant on the scale [0, 1].
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
        Descent(puct(c), children),
        MeanOfEnds(steps_count=False),
        first_of(paths_done(paths), rollouts_done(rollouts)),
        answerer(answer, scorer),
    )
