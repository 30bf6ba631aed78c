"""Salvaging failed solutions from their first wrong step, after any search for steps or independent answers."""

from dataclasses import replace

from mctsr.errors import RecipeError, shown
from mctsr.expand.answer import Answer
from mctsr.expand.rectify import Rectify
from mctsr.expand.refine import SelfRefine
from mctsr.judge.outcome import Ends
from mctsr.judge.seq_rm import SeqRm
from mctsr.parts import Judge
from mctsr.recipe import Recipe
from mctsr.recipes.judges import MC_ESTIMATE, SELF_CERTAINTY, named_judge
from mctsr.recipes.registry import choose
from mctsr.recipes.stepping import check_counts
from mctsr.select.sweeps.salvage import Salvage, salvaged_after


def scope(
    *,
    base: str = "best-of-n-prm",
    judge: str = "llm-judge",
    threshold: float = 0.5,
    least: int = 1,
    most: int = 4,
    tries: int = 1,
) -> Recipe:
    """Rectify from the first wrong step, after another recipe. After SCOPE, arXiv:2602.24110.

    The base recipe runs to its end. Then the finished solutions that failed are gone back upon: the steps before the
    first one whose score lies below the threshold are kept, the rest is written anew to the end, and judged as all
    others were; the base recipe's rule for the answer then chooses among old and new. Solutions of steps have their
    scores already; a whole answer whose value lies below the threshold is cut into steps, and those are scored until
    one is wrong. Calls: the base's, and for each salvaged solution what its rest costs there; of a whole answer one
    for each step up to the wrong one, and `tries` for the rest, each with its verdict.

    The paper makes training data with it: a failed rollout is one with the wrong answer, and another, stronger policy
    writes the rest. Here nobody knows the answer, so failed is what the judge says, and the same model writes. Its
    threshold, and how long a beginning must be, we could not confirm: 0.5 and one step are ours.

    Args:
        base: The recipe before, with its arguments behind it: "best-of-n-prm", or "beam n=8 m=2". Of steps that are
            judged each, or of independent answers that are judged.
        judge: Who scores the steps of whole answers: "llm-judge", which needs no further model, "qwen-prm" and others
            of a reward model; a wrong name lists all. Steps that were grown keep the scores of the base's judge.
        threshold: A score below it is wrong, as a share of the judge's scale, in [0, 1].
        least: Good steps that must stand before the wrong one.
        most: Solutions that are salvaged: those with the longest good beginning, whole answers with the best value.
        tries: Times that each is rewritten.
    """
    name, *given = base.split() or [""]
    pairs = [argument.partition("=") for argument in given]
    if odd := [key for key, equals, _ in pairs if not equals]:
        raise RecipeError(
            f"base is {shown(base)}; behind the recipe's name {shown(odd[0])} must be name=value, as in 'beam n=8 m=2'"
        )
    recipe = choose(name, {key: value for key, _, value in pairs}).build()
    if judge in (SELF_CERTAINTY, MC_ESTIMATE):
        raise RecipeError(
            f"judge {judge!r} scores steps as they are written, not those of a whole answer; choose another"
        )
    check_counts(tries=tries)
    return rectified(
        recipe,
        judge=named_judge(judge, prompt="answer"),
        threshold=threshold,
        least=least,
        most=most,
        tries=tries,
    )


def rectified(
    recipe: Recipe, *, judge: Judge, threshold: float = 0.5, least: int = 1, most: int = 4, tries: int = 1
) -> Recipe:
    """Return a recipe that does what `recipe` does, and then salvages the solutions that failed.

    Args:
        recipe: One that grows steps or writes independent answers, and judges them.
        judge: Scores the steps of whole answers; not used for trees of steps.
        threshold: Share of the judges' scales below which a step, or a whole answer, is wrong, in [0, 1].
        least: Good steps that must stand before the wrong one.
        most: Solutions that are salvaged.
        tries: Times that each is rewritten.

    Raises:
        RecipeError: The recipe has no judge of steps, or rewrites whole answers itself, or a number is out of range.
    """
    for count_name, count in (("least", least), ("most", most)):
        if count < 0:
            raise RecipeError(f"{count_name} is {count}; it must be at least 0")
    if not 0 <= threshold <= 1:
        raise RecipeError(f"threshold is {threshold}; it is a share of the judge's scale, 0 to 1")
    if recipe.judge is None:
        raise RecipeError(
            "the base has no judge, so nobody can tell which of its solutions failed; choose another"
        )
    if isinstance(recipe.expander, SelfRefine) or isinstance(recipe.selector, Salvage):
        raise RecipeError(
            "the base rewrites its solutions itself; choose one that grows steps or writes independent answers"
        )
    if isinstance(recipe.judge, Ends):
        raise RecipeError(
            "the base judges finished solutions alone, so nobody can tell where one went wrong; choose another"
        )
    expander = recipe.expander
    if isinstance(expander, Answer):
        expander = Rectify(expander, judge, _on(judge, threshold), least)
    # It keeps a reward without bounds as what it said; the value is that reward on the scale.
    by_value = isinstance(getattr(recipe.judge, "inner", recipe.judge), SeqRm)
    selector = Salvage(recipe.selector, _on(recipe.judge, threshold), least, most, tries, by_value)
    return replace(recipe, expander=expander, selector=selector, stopper=salvaged_after(recipe.stopper))


def _on(judge: Judge, share: float) -> float:
    """Return a share of a judge's scale as a value on it."""
    return judge.low + share * (judge.high - judge.low)
