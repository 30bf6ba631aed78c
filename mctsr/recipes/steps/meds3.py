"""MedS3's search: values by completions, answers that are reflected on."""

from mctsr.backup import MedS3Comp
from mctsr.errors import RecipeError
from mctsr.expand.moves.reflect import ReasonFinishReflect
from mctsr.judge.fading import FadingEstimate
from mctsr.judge.mc_estimate import McEstimate
from mctsr.parts import Ledger, Stopper
from mctsr.recipe import Recipe
from mctsr.recipes.judges import MC_ESTIMATE
from mctsr.recipes.stepping import Choice, answerer, check_counts, check_limits, check_shares, growth
from mctsr.select.descent import Descent
from mctsr.select.labels.reflecting import EndRight, uct_trajectory
from mctsr.select.scores import uct_meds3
from mctsr.stop import first_of
from mctsr.tree import Tree


def meds3(
    *,
    nodes: int = 60,
    right: int = 4,
    children: int = 3,
    c: float = 2.0,
    completions: int = 20,
    fewest: int = 5,
    finish_at: float = 0.9,
    low_gate: float = 0.5,
    reflections: int = 1,
    judge: str = "mc-estimate",
    uses_gold: bool = False,
    aggregate: str = "last",
    answer: Choice = "weighted",
    boundary: str = "paragraph",
    max_steps: int = 16,
    max_step_tokens: int = 1024,
    temperature: float | None = 1.0,
) -> Recipe:
    """MedS3: reason, finish, reflect; values by completions, or by a reward model. Jiang et al. 2025, arXiv:2501.12051.

    V + c sqrt(ln N / n) leads to a leaf, which gets three next steps; one child that finishes the solution where its
    completions are nearly all right; or, where it is an answer that seems wrong, one that reflects on it and goes on.
    A step is worth the share of right ones among max(completions // (depth + 1), fewest) completions, an answer 1 or
    0; every value moves each V above it half-way to the mean of its children, weighted by visits. The answer is a vote
    weighted by values. Calls: a step costs itself and its completions, 33 for the root's children and some 6 a node
    below, 300 to 400 for 60 nodes.

    With `uses_gold` right means equal to the known answer. Without it nobody knows that an answer is wrong: it is what
    the completions along its path do not agree with. With another judge, as the paper has at inference, its scores
    are the values, the product of the scores along the path takes the place of V, no node is finished in one go, and
    an answer below `low_gate` seems wrong.
    Defaults are the released code's (pixas/MedSSS, trial5). Not kept: an end of several steps is one node, not a chain
    that raises the limit of nodes of all later problems; the node limit counts for inference as well; completions
    go on from the steps from the first round on; medical prompts, retrieval, and penalties on labels.

    Args:
        nodes: Stop when the tree has so many nodes.
        right: Stop when so many answers are worth `finish_at`; 0 is off, and it is off with a judge of steps.
        children: Next steps written for a node.
        c: Exploration constant on the scale [0, 1].
        completions: Completions of the problem itself; steps get fewer, the deeper they lie.
        fewest: Completions of a step at least.
        finish_at: Share of right completions from which on the solution is finished in one go, in [0, 1].
        low_gate: Value below which an answer seems wrong, in [0, 1].
        reflections: Reflections on one path; 0 is off.
        judge: "mc-estimate" for completions; others are judges of steps: "llm-judge", which needs no further model,
            "qwen-prm" and others of a reward model; a wrong name lists all.
        uses_gold: Compare answers with the known ones: such a run makes labels, and tests nothing.
        aggregate: How a judge's scores become one: "last", "min", "product" or "mean".
        answer: Among answers: "best" value, "weighted" vote or "majority".
        boundary: What ends a step: "paragraph", "line", "numbered", or a separator of one's own.
        max_steps: Steps in a solution.
        max_step_tokens: Longest step.
        temperature: Of steps and completions; none leaves it to the settings, and the command line wins.
    """
    check_counts(nodes=nodes, children=children, completions=completions, fewest=fewest)
    check_limits(right=right, reflections=reflections)
    check_shares(finish_at=finish_at, low_gate=low_gate)
    estimated = judge == MC_ESTIMATE
    if uses_gold and not estimated:
        raise RecipeError(
            f"uses_gold compares completions; it goes with judge={MC_ESTIMATE!r}, not {judge!r}"
        )
    steps, scorer = growth(
        judge=judge,
        aggregate=aggregate,
        boundary=boundary,
        max_steps=max_steps,
        max_step_tokens=max_step_tokens,
        temperature=temperature,
    )
    if estimated:
        estimate = McEstimate(prompt=steps.prompt_name, temperature=temperature, uses_gold=uses_gold)
        scorer = FadingEstimate(estimate, completions, fewest)
    return Recipe(
        ReasonFinishReflect(steps, finish_at if estimated else None, reflections),
        scorer,
        EndRight(Descent(uct_meds3(c) if estimated else uct_trajectory(c), children), low_gate),
        MedS3Comp(),
        first_of(_right(right if estimated else 0, finish_at), _grown(nodes)),
        answerer(answer, scorer),
    )


def _right(n: int, least: float) -> Stopper:
    def stop(tree: Tree, ledger: Ledger) -> str | None:
        if not n:
            return None
        own = tree.own_array("own")
        found = sum(state.answer is not None and own[node] >= least for node, state in enumerate(tree.states))
        return "right answers" if found >= n else None

    return stop


def _grown(n: int) -> Stopper:
    return lambda tree, ledger: "nodes" if len(tree) >= n else None
