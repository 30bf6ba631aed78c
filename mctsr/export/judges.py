"""What a judge's number says of a step, in words for the card.

Knows run.json, and of the shipped recipes which judge and backup they take; reads no tree.
"""

from typing import TYPE_CHECKING

from mctsr.backup.own import OwnValue
from mctsr.errors import RecipeError, short
from mctsr.recipes import RECIPES
from mctsr.recipes.judges import OF_PREFIXES

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

_OWN = (
    "value: what the judge said of the solution up to and with this step; the search backs nothing up, so what came "
    "after the step is not in it. It is not a human verdict on the step"
)
_BACKED = (
    "value: the node's value at the end of the search, after all backups: what the judge said here, mixed with what it "
    "said of steps below, as the recipe does it; not a human verdict on the step"
)
_UNKNOWN = (
    "value: the node's value at the end of the search, as the recipe's judge and backup made it; not a human verdict "
    "on the step"
)

SAYS = {
    "llm-judge": "a chat model's opinion whether the last step is right: its share of Yes, or a tenth of a score to 10",
    "qwen-prm": "a reward model's probability that the last step is good",
    "token-prm": "a reward model's probability of the good label behind the last step",
    "chat-token-prm": "a reward model's probability of the good label as its answer to the last step",
    "gen-prm": "a reward model's probability of Yes after it has reviewed the last step",
    "think-prm": "a reward model's probability of yes after it has verified the solution so far",
    "seq-rm": "a reward model's score of the solution so far, squashed into 0 to 1",
    "self-certainty": "how sure the policy was of the words of the last step, not how right they are",
    "mc-estimate": "the share of the solutions completed from behind this step that are right",
    "tool-verify": "1 where the arithmetic that the last step states is confirmed, 0 where it is wrong",
}
"""What the number of each judge is."""

MADE = {
    "last": "the last step's score counts",
    "min": "the worst score of the steps so far counts",
    "product": "the product of the scores of the steps so far counts",
    "mean": "the mean of the scores of the steps so far counts",
}
"""Which number each aggregation makes of the scores of steps."""


def judge_lines(run: "Run") -> tuple[str, ...]:
    """Say which judge the values are from, and how scores of steps become one number; nothing where no name tells."""
    given = run.record["recipe_arguments"]
    name = given.get("judge")
    if not isinstance(name, str):
        return ()
    words = f"judge: {short(name, 60)}, {SAYS.get(name, 'as its documentation says')}"
    made = MADE.get(str(given.get("aggregate"))) if name not in OF_PREFIXES else None
    return (f"{words}; {made}" if made else words,)


def judged(run: "Run") -> str:
    """Say what a value is in a run whose labels are a judge's values."""
    record = run.record
    name = str(record["settings"].get("recipe") or record["recipe"])
    if name not in RECIPES:
        return _UNKNOWN
    from mctsr.recipes.registry import choose

    try:
        recipe = choose(name, record["recipe_arguments"]).build()
    except RecipeError:
        return _UNKNOWN
    return _OWN if isinstance(recipe.backup, OwnValue) else _BACKED
