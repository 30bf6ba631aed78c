"""AgentPRM's rollouts: whole solutions side by side, and what each step of them has brought."""

from dataclasses import replace

from mctsr.backup import MeanReturn
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts, growth, judge_of_ends
from mctsr.select.frontier import Frontier
from mctsr.stop import all_finished

from .math_shepherd import keep_all


def agentprm(
    *,
    n: int = 16,
    gamma: float = 0.95,
    uses_gold: bool = False,
    judge: str = "llm-judge",
    answer: Choice = "majority",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = 0.3,
) -> Recipe:
    """AgentPRM: Q targets of steps from whole rollouts. Choudhury 2025, arXiv:2502.10325.

    Makes training data: `mctsr export --format stepwise --labels soft` writes the targets. n solutions are written step
    by step, side by side; none is given up, and nothing is scored on the way. A solution is worth R = 1 if right, -1 if
    not or without an answer; a step is worth the mean of gamma^k R over the solutions that took it after the same
    steps, k being the steps from there to the end. Its label is (1 + value) / 2, its visits the number of these
    solutions. Calls: n a step, and n for the ends where the judge makes calls; with solutions of six steps 16 * 6 + 16.

    With uses_gold right means equal to the known answer, and the answers of such a run are no test result. Without it
    the judge says how right an end is, R from -1 to 1. The released code discounts from the start of a solution: see
    `agentprm-code`. n, gamma and the temperature are its figures for a household game (sanjibanc/agent_prm). A state
    is the text so far, where the code's is an observation and the history. Not kept: the rounds of training the
    policy against the model of the targets, its preference pairs and shaped targets. Another AgentPRM,
    arXiv:2511.08325, has other targets.

    Args:
        n: Solutions.
        gamma: Discount a step, above 0, at most 1.
        uses_gold: Judge ends by the known answers; only to make labels.
        judge: Who judges ends otherwise: "llm-judge", which needs no further model, "self-certainty", which makes no
            call, "qwen-prm" and others of a reward model; a wrong name lists all.
        answer: Among finished solutions: "majority", "best" value or "weighted" vote.
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution; one that is not finished then is wrong.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    check_counts(n=n)
    expander, scorer = growth(
        judge=judge,
        aggregate="last",
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    ends = judge_of_ends(judge, scorer, uses_gold=uses_gold)
    everybody = Frontier(n, keep_all, opened=1)
    return Recipe(expander, ends, everybody, MeanReturn(gamma), all_finished(), answerer(answer, ends))


def agentprm_code(
    *,
    n: int = 16,
    gamma: float = 0.95,
    uses_gold: bool = False,
    judge: str = "llm-judge",
    answer: Choice = "majority",
    boundary: str = "paragraph",
    max_steps: int = 40,
    max_step_tokens: int = 1024,
    temperature: float | None = 0.3,
) -> Recipe:
    """AgentPRM's targets as in its released code (sanjibanc/agent_prm). Choudhury 2025, arXiv:2502.10325.

    As `agentprm`, but discounted from the start: the first step of a solution is worth R, the one at place t from 0
    gamma^t R. So a step says less the later it stands, and a failure looks better the later it comes. Calls: n a
    step, and n for the ends where the judge makes calls; with solutions of six steps 16 * 6 + 16.

    Args:
        n: Solutions.
        gamma: Discount a step, above 0, at most 1.
        uses_gold: Judge ends by the known answers; only to make labels.
        judge: Who judges ends otherwise: "llm-judge", which needs no further model, "self-certainty", which makes no
            call, "qwen-prm" and others of a reward model; a wrong name lists all.
        answer: Among finished solutions: "majority", "best" value or "weighted" vote.
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution; one that is not finished then is wrong.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    published = agentprm(
        n=n,
        gamma=gamma,
        uses_gold=uses_gold,
        judge=judge,
        answer=answer,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    return replace(published, backup=MeanReturn(gamma, from_start=True))
