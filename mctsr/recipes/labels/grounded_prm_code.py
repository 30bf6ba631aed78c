"""GroundedPRM's search for labels of steps, as released."""

from mctsr.backup import AfterBirth, DecayedSum
from mctsr.backup import grounded_prm_code as fused
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import check_counts, check_shares
from mctsr.select.labels.chance import AnyChildOfRoot
from mctsr.select.rounds.look import GrowThenLook, first_open

from .grounded import collected, grounded, majority_of_ends


def grounded_prm_code(
    *,
    rounds: int = 8,
    children: int = 3,
    depth: int = 5,
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
    """GroundedPRM as released: no tree policy, but chance. JerryPlain/GroundedPRMCode; paper: arXiv:2510.14942.

    A round takes a child of the root by chance, writes its next steps and simulates from the first that is not
    finished. Early verdicts weigh most, and the outcome F the less the longer the simulation: the sum over i < n of v_i
    (n - i) / n^2, plus F / n. The start of the simulation adds that to its value, its ancestors `decay` times as much
    with each level up: values are sums, not means, so that an export needs --scale, and visits count for ancestors
    alone, so that only these get labels. UCT stands in the code and is never called, so the published numbers are those
    of chance. Calls: a round takes children + up to depth, a call for F where a model says it.

    With `uses_gold` F is whether the answer is right, else what a judge thinks of the last step, stretched to [-1, 1].
    Rounds and depth are those for levels up to 3 of MATH; harder problems take 12 and 9. Not kept: a child that has
    grown is sampled from again and the samples thrown away; rounds that fall on a finished child; a step that ends
    because it repeats the answer before it; verdicts of a model on what Wolfram Alpha says, in place of which a
    computer algebra system checks the equations of a step. All finished newborn count, where the code has the first.

    Args:
        rounds: Stop after so many rounds.
        children: Next steps written for a node.
        depth: Most steps of a simulation.
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
        fused,
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
        GrowThenLook(AnyChildOfRoot(children), first_open),
        AfterBirth(DecayedSum(decay)),
        collected(positive, negative, rounds),
        majority_of_ends,
    )
