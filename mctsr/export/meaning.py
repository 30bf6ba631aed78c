"""What the labels of a run say: which recipes make labels of their own kind, and which threshold is usual for them.

Knows run.json and the names of recipes; reads no tree.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .labels import MIDDLE, Labels

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

JUDGED = (
    "value: the node's value at the end of the search, after all backups: an estimate of how well the solution goes on "
    "from this step, not a human verdict on the step"
)


_FEW = "a step with fewer visits than {} has no label and ends its path"


class _Kind(NamedTuple):
    """What a recipe's labels say: who is right without known answers, line by line, and the usual threshold.

    `judge` is the one with which they say it, "" for any.
    """

    otherwise: str
    says: tuple[str, ...]
    threshold: float
    few: str = _FEW
    judge: str = ""


def _returns(where: str) -> _Kind:
    """Return what AgentPRM's labels say; `where` its discount counts from."""
    return _Kind(
        "as far as the judge said of its end",
        (
            f"value: the mean of gamma^k R over the solutions that took this step, k the steps that it stands {where}; "
            "R is 1 for a right solution, -1 for another",
            "visits: the solutions that took this step behind the same steps",
        ),
        MIDDLE,
    )


_KINDS = {
    "agentprm": _returns("before the end"),
    "agentprm-code": _returns("behind the beginning"),
    "masprm-labels": _Kind(
        "as far as the judge said of its end",
        (
            "value: the mean outcome of the finished transcripts that go on from this message, 1 for a right one, "
            "-1 for another; a step is a message",
            "visits: these transcripts",
        ),
        MIDDLE,
    ),
    "math-shepherd": _Kind(
        "what most of the completions of the solution's first step say, or of the first whose completions came to an "
        "answer",
        (
            "value: a Monte Carlo estimate: the share of the solutions completed from behind this step that are right; "
            "of a last step, 1 or 0: whether its answer is right",
            "visits: 1 for each estimate; how many completions it is made of is the recipe's argument completions",
        ),
        0.0,
    ),
    "meds3": _Kind(
        "what most of the completions of the path's first step say, or of the first whose completions came to an "
        "answer",
        (
            "value: the share of the solutions completed from behind this step that are right, mixed with those of the "
            "steps below it by the search; of an answer, 1 or 0: whether it is right",
            "visits: the nodes at and below this step",
        ),
        0.0,
        judge="mc-estimate",
    ),
    "omega-prm": _Kind(
        "what most of the completions of the problem itself say",
        (
            "value: a Monte Carlo estimate: the share of the solutions completed from behind this step that are right; "
            "of a last step that ends its solution, 1 or 0: whether the solution is right",
            "visits: the completions that an estimate is made of; 1 for the end of a solution",
            "step: what lies between two places that the binary search for the first error asked about: one or several "
            "steps of the model",
            "rows: the wrong solutions that were searched, and of each state the first right one",
        ),
        0.0,
        "a place with fewer visits than {} has no label, and its step goes on to the next place; ends are kept",
    ),
}


def settled(labels: Labels, run: "Run") -> Labels:
    """Return labels with a threshold: as given, or as is usual for the run.

    Recipes that estimate by completions say that a step is good when any completion is right: above 0. Others, whose
    values are a judge's, above the middle of its scale.
    """
    if labels.threshold is not None:
        return labels
    kind = _kind_of(run)
    return replace(labels, threshold=kind.threshold if kind else MIDDLE)


def meaning(run: "Run", labels: Labels) -> tuple[str, ...]:
    """Return what the run's labels say, as lines of a card: who was right, and what values and visits are."""
    kind = _kind_of(run)
    if kind is None:
        return (_judge_of(run), JUDGED, _FEW.format(labels.min_visits))
    right = (
        "right: equal to the known answer, which the recipe was told to use (uses_gold)"
        if uses_gold(run)
        else f"right: {kind.otherwise}; no known answer was used"
    )
    return (_judge_of(run), right, *kind.says, kind.few.format(labels.min_visits))


def uses_gold(run: "Run") -> bool:
    """Say whether the recipe was told to consult gold answers; run.json keeps its arguments."""
    return run.record["recipe_arguments"].get("uses_gold") is True


def _judge_of(run: "Run") -> str:
    gold = "labels: judge values of a recipe that used gold answers"
    return gold if uses_gold(run) else "labels: judge values, no gold"


def _kind_of(run: "Run") -> _Kind | None:
    kind = _KINDS.get(str(run.record["settings"].get("recipe") or run.record["recipe"]))
    fits = kind is not None and kind.judge in ("", run.record["recipe_arguments"].get("judge"))
    return kind if fits else None
