"""DeepSearch's search as its released code has it."""

from dataclasses import replace

from mctsr.backup import DeepSearchCode, OneEnd
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice

from .deepsearch import Wrong, deepsearch


def deepsearch_code(
    *,
    trajectories: int = 8,
    rollouts: int = 256,
    children: int = 8,
    lam: float = 2.0,
    parent_weight: float = 0.4,
    entropy_weight: float = 0.0,
    depth_weight: float = 0.01,
    wrong: Wrong = "confident",
    uses_gold: bool = False,
    judge: str = "llm-judge",
    answer: Choice = "best",
    boundary: str = "paragraph",
    max_steps: int = 64,
    max_step_tokens: int = 256,
    temperature: float | None = None,
) -> Recipe:
    """DeepSearch as in its released code (smiles724/DeepSearch). Wu et al. 2025, arXiv:2509.25454.

    As `deepsearch`, but for two things: a step at depth i of l gets max((i + 1) / (l + 1), 0.1) times the value of the
    end, so that the root gets 1 / (l + 1) and an early step more than in the paper; and without a right end in the
    family, a wrong one that came to an answer is backed up before one that did not, certainty deciding among each
    kind. Calls: children a rollout, and one for each end where the judge makes calls; equal steps are dropped first.

    Not kept, as there: siblings of the end that was backed up are not considered again on a later visit, since no node
    is grown twice; nor the code's options for a fourth weight and a shrinking width.

    Args:
        trajectories: Stop when so many ends were backed up; 0 is off.
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        children: Next steps written for a node.
        lam: Exploration constant among the newborn.
        parent_weight: Weight of the parent's value in the choice of a leaf.
        entropy_weight: Weight of the entropy of the step that led there; the code's 0.4 is switched off there, too.
            Above 0 it needs log-probabilities.
        depth_weight: Weight of the depth.
        wrong: Which wrong end of a family is backed up: the most "confident" or the "first".
        uses_gold: Judge ends by the known answers, to make labels.
        judge: Who judges ends otherwise: "llm-judge", which needs no further model, "self-certainty", which makes no
            call, "qwen-prm" and others of a reward model; a wrong name lists all.
        answer: Among finished solutions: "best" value, "weighted" vote or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution; one that is not finished then is wrong.
        max_step_tokens: Longest step.
        temperature: Of the steps; none leaves it to the settings, and the command line wins.
    """
    published = deepsearch(
        trajectories=trajectories,
        rollouts=rollouts,
        children=children,
        lam=lam,
        parent_weight=parent_weight,
        entropy_weight=entropy_weight,
        depth_weight=depth_weight,
        wrong=wrong,
        uses_gold=uses_gold,
        judge=judge,
        answer=answer,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    return replace(
        published,
        backup=OneEnd(DeepSearchCode(), complete_first=True, by_certainty=wrong == "confident"),
    )
