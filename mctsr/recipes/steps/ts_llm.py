"""Tree search over steps as in AlphaZero, with the policy's likelihoods as priors."""

from dataclasses import replace

from mctsr.backup import MeanOfEnds
from mctsr.expand.priors import LikelihoodPriors
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts, growth
from mctsr.select.descent import Descent
from mctsr.select.scores import puct_alphazero
from mctsr.stop import first_of, paths_done, rollouts_done


def ts_llm(
    *,
    paths: int = 10,
    rollouts: int = 80,
    children: int = 6,
    init: float = 10.0,
    base: float = 19652.0,
    judge: str = "llm-judge",
    aggregate: str = "last",
    answer: Choice = "weighted",
    boundary: str = "paragraph",
    max_steps: int = 8,
    max_step_tokens: int = 1024,
    temperature: float | None = None,
) -> Recipe:
    """TS-LLM, its MCTS over whole trees with a critic. Feng et al. 2023, arXiv:2309.17179.

    PUCT with AlphaZero's growing constant; the prior of a step is its geometric-mean token probability, normalised
    among siblings. A step is worth what the critic (the judge) says until a solution below it is finished, then the
    mean of those solutions' critic values: no outcome is known. Needs log-probabilities. Calls: children a rollout,
    and as many for scores where the judge makes calls; equal steps are dropped first.

    This is the code's "rap" variant (waterhorse1/LLM_Tree_Search); MCTS-alpha, which commits step by step, and
    MCTS-Rollout are not shipped. Its command line's init 10 is the default; the class has 1.25. Differences: finished
    solutions are backed up when they are born, not when they are chosen, and each rollout begins at the root; no
    noise on the root's priors, which the code adds when it makes training data.

    Args:
        paths: Stop when so many paths came to an end, siblings counted once; 0 is off.
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        children: Next steps written for a node.
        init: Exploration constant on the scale [0, 1].
        base: How slowly it grows with visits.
        judge: Who scores a partial solution: "llm-judge", which needs no further model, "self-certainty", which makes
            no call, "qwen-prm" and others of a reward model; a wrong name lists all.
        aggregate: How the steps' scores become one: "last", "min", "product" or "mean".
        answer: Among finished solutions: "weighted" vote, "best" score or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    check_counts(children=children)
    expander, critic = growth(
        judge=judge,
        aggregate=aggregate,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
        distinct=True,
    )
    return Recipe(
        LikelihoodPriors(replace(expander, logprobs=0)),
        critic,
        Descent(puct_alphazero(init, base), children),
        MeanOfEnds(steps_count=False),
        first_of(paths_done(paths), rollouts_done(rollouts)),
        answerer(answer, critic),
    )
