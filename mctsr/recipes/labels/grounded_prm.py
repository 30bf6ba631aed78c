"""GroundedPRM's search for labels of steps, as published."""

from collections.abc import Sequence

from mctsr.backup import AfterBirth, Mean
from mctsr.backup import grounded_prm as fused
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import check_counts, check_shares
from mctsr.select.descent import Descent
from mctsr.select.rounds.look import GrowThenLook, first_open
from mctsr.select.scores import uct_grounded_prm

from .grounded import collected, grounded, majority_of_ends


def grounded_prm(
    *,
    rounds: int = 8,
    children: int = 3,
    depth: int = 5,
    c: float = 1.8,
    decay: float = 0.9,
    positive: int = 3,
    negative: int = 3,
    judge: str = "llm-judge",
    uses_gold: bool = False,
    boundary: str = "paragraph",
    max_steps: int = 16,
    max_step_tokens: int = 1024,
    temperature: float | None = 1.0,
) -> Recipe:
    """GroundedPRM as published: simulations whose steps a tool checks. Zhang et al. 2025, arXiv:2510.14942, section 3.

    A round follows UCT, Q + c sqrt(ln N / n), from the root to a leaf, writes its next steps and simulates from the
    first of them that is not finished. Each step is checked by computation: 1, -1, or 0 where nothing can be checked.
    A simulation is worth the mean verdict on its steps plus the outcome F of its end, 1 or -1. The start of the
    simulation gets that, its ancestors `decay` times as much with each level up; Q is the mean. Calls: a round takes
    children + up to depth, a call for F where a model says it.

    With `uses_gold` F is whether the answer is right. Without it a judge says what it thinks of the last step,
    stretched to [-1, 1]. The answer is the majority of all ends, simulated ones too; those are in no node of the tree.
    The paper's weights of verdicts and of F are not known to us: all are 1 here. Its tool is Wolfram Alpha, and a
    model compares; here a computer algebra system checks the equations that a step states, and asks no model. Rounds
    and depth are the released code's for easy problems (12 and 9 for harder ones). `grounded-prm-code` is what was
    released.

    Args:
        rounds: Stop after so many rounds.
        children: Next steps written for a node.
        depth: Most steps of a simulation.
        c: Exploration constant.
        decay: What each level up keeps of a reward.
        positive: Stop when so many complete solutions were right, and so many as the next argument says wrong; 0 is
            off.
        negative: Complete solutions that were wrong, likewise.
        judge: Who says what an end is worth without known answers: "llm-judge", which needs no further model,
            "qwen-prm" and others of a reward model; a wrong name lists all.
        uses_gold: Compare answers with the known ones: such a run makes labels, and tests nothing.
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    check_counts(children=children)
    check_shares(decay=decay)
    expander, judged = grounded(
        _fused,
        depth=depth,
        judge=judge,
        uses_gold=uses_gold,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    return Recipe(
        expander,
        judged,
        GrowThenLook(Descent(uct_grounded_prm(c), children), first_open),
        AfterBirth(Mean(flip=decay)),
        collected(positive, negative, rounds),
        majority_of_ends,
    )


def _fused(verdicts: Sequence[float], outcome: float) -> float:
    return fused(verdicts, outcome, weights=[1.0] * len(verdicts), beta=1.0)
