"""What the labels of a run say: which recipes make labels of their own kind, and which threshold is usual for them.

Knows run.json and the names of recipes; reads no tree.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .judges import judge_lines, judged
from .labels import MIDDLE, Labels

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

_FEW = "a step with fewer visits than {} has no label and ends its path"


class _Kind(NamedTuple):
    """What a recipe's labels say: who is right without known answers, line by line, and the usual threshold.

    `few` is what becomes of steps with few visits; `judge` is the one with which they say it, "" for any; `completed`
    whether visits are the completions behind a step.
    """

    otherwise: str
    says: tuple[str, ...]
    threshold: float
    few: str = _FEW
    judge: str = ""
    completed: bool = False


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


def _grounded(value: str, visits: str) -> _Kind:
    """Return what GroundedPRM's labels say."""
    return _Kind(
        "as far as the judge said of the last step",
        (
            f"value: {value}",
            "verdict: on the equations that a step states, by a computer algebra system: 1 right, -1 wrong, 0 nothing "
            "to check; outcome: of the end of a simulation, 1 right to -1 wrong",
            f"visits: {visits}",
        ),
        MIDDLE,
    )


_KINDS = {
    "agentprm": _returns("before the end"),
    "agentprm-code": _returns("behind the beginning"),
    "grounded-prm": _grounded(
        "the mean over the simulations from here and from steps below, each level up counting decay times as much; one "
        "is worth the mean verdict on its steps plus its outcome, from -2 to 2",
        "these simulations; of a finished step its ends",
    ),
    "grounded-prm-code": _grounded(
        "the sum, not the mean, over the simulations from here and from steps below, each level up counting decay "
        "times as much; one is worth its verdicts, early ones most, plus its outcome divided by its length",
        "the simulations from steps below",
    ),
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
        "what most of the completions of the problem itself say",
        (
            "value: a Monte Carlo estimate: the share of the solutions completed from behind this step that are right; "
            "of a last step, 1 or 0: whether its answer is right",
            "visits: the completions that the estimate is made of; 1 for the end of a solution",
        ),
        0.0,
        "a step with fewer visits than {} has no label and ends its path; ends of solutions are kept",
        completed=True,
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
        return (_judge_of(run), judged(run), *judge_lines(run), _few(_FEW, labels))
    right = (
        "right: equal to the known answer, which the recipe was told to use (uses_gold)"
        if run.uses_gold
        else f"right: {kind.otherwise}; no known answer was used"
    )
    asked = () if run.uses_gold else judge_lines(run)
    return (_judge_of(run), right, *kind.says, *asked, _few(kind.few, labels))


def makes_labels(run: "Run") -> bool:
    """Say whether the recipe is one that labels steps, rather than one whose judge's values can serve as labels."""
    return _kind_of(run) is not None


def counts_completions(run: "Run") -> bool:
    """Say whether the visits of a step's label are the completions behind it, not the node's own count."""
    kind = _kind_of(run)
    return kind is not None and kind.completed


def _few(words: str, labels: Labels) -> str:
    if labels.min_visits == 0:
        return "steps with a value that were never visited are labelled, too"
    return words.format(labels.min_visits)


def _judge_of(run: "Run") -> str:
    gold = "labels: judge values of a recipe that used gold answers"
    return gold if run.uses_gold else "labels: judge values, no gold"


def _kind_of(run: "Run") -> _Kind | None:
    kind = _KINDS.get(str(run.record["settings"].get("recipe") or run.record["recipe"]))
    fits = kind is not None and kind.judge in ("", run.record["recipe_arguments"].get("judge"))
    return kind if fits else None
