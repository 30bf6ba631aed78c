"""DeepSearch's search: straight to an end, one trajectory backed up, then on from the best leaf anywhere."""

from dataclasses import replace
from typing import Literal

from mctsr.backup import DeepSearch, OneEnd, trajectories_done
from mctsr.errors import RecipeError, shown
from mctsr.recipe import Recipe
from mctsr.recipes.stepping import Choice, answerer, check_counts, growth, judge_of_ends
from mctsr.select.deepsearch import DeepSearchJump
from mctsr.select.pools import FrontierDeepSearch
from mctsr.select.scores import uct_deepsearch
from mctsr.stop import first_of, rollouts_done

Wrong = Literal["confident", "first"]


def deepsearch(
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
    """DeepSearch, the search inside its training. Wu et al. 2025, arXiv:2509.25454.

    Grow a node; go on at the best newborn by Q + lam sqrt(ln N / n) until one of them ends; back up one end of the
    family, and jump to the best leaf of the tree by parent_weight tanh(Q of the parent) + entropy_weight H +
    depth_weight sqrt(depth / max_steps). An end is worth 1 if right, -1 if wrong or without an answer; a right one of
    the family is backed up, else the wrong one of which the model was most certain. A step at depth i of l gets
    max(i / l, 0.1) times that, and a step on a right path never goes below 0 again. Calls: children a rollout, and
    one for each end where the judge makes calls; equal steps are dropped first.

    With uses_gold the known answer says what is right, as in the paper: such a run makes labels, and its answers test
    nothing. Without it the judge does, with values from -1 to 1 and right above 0. Certainty is the mean over the steps
    of -mean log p, as in the released code (smiles724/DeepSearch), for no server tells an entropy; it needs
    log-probabilities, and wrong="first" does without. Eight trajectories and the widths are the code's, 64 steps of 256
    tokens its script's. Not kept: an empty reply is no end that could be backed up; a node with fewer children than it
    was to have, because some were equal, is not grown again. Training, its filter of problems and its buffer are not
    part of a search; its samples are the trajectories that were backed up, which are those whose end has a visit, and
    the sums q that it trains on are value times visits. `deepsearch-code` is as released.

    Args:
        trajectories: Stop when so many ends were backed up; 0 is off.
        rollouts: Stop after so many rollouts, each the growth of one node by its children.
        children: Next steps written for a node.
        lam: Exploration constant among the newborn.
        parent_weight: Weight of the parent's value in the choice of a leaf.
        entropy_weight: Weight of the entropy of the step that led there; 0.4 in the ablation. Above 0 it needs
            log-probabilities.
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
    check_counts(children=children, max_steps=max_steps)
    if wrong not in ("confident", "first"):
        raise RecipeError(f'wrong is {shown(wrong)}; it is "confident" or "first"')
    expander, scorer = growth(
        judge=judge,
        aggregate="last",
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
        distinct=True,
    )
    if wrong == "confident" or entropy_weight > 0:
        expander = replace(expander, logprobs=0)
    ends = judge_of_ends(judge, scorer, uses_gold=uses_gold)
    leaves = FrontierDeepSearch(parent_weight, entropy_weight, depth_weight, max_steps)
    return Recipe(
        expander,
        ends,
        DeepSearchJump(uct_deepsearch(lam), leaves, children, max_steps),
        OneEnd(DeepSearch(), by_certainty=wrong == "confident"),
        first_of(trajectories_done(trajectories), rollouts_done(rollouts)),
        answerer(answer, ends),
    )
