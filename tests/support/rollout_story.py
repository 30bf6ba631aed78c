"""Whole solutions written as a table: for trees of rollouts that are worked out by hand.

A solution is named by its words, each a step: "add dig =7" ends with the answer 7.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mctsr.engine import Outcome, search
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.scripted import Scripted
from mctsr.recipe import Recipe
from mctsr.tree import Tree
from tests.support.step_story import OFFERS, PROBLEM


@dataclass(frozen=True, slots=True)
class Rollouts:
    """What a model writes below each beginning, one text a draft.

    Attributes:
        after: The rest of a solution by what it began with, "" at the beginning; drafts beyond the last begin again.
        tokens: Tokens of a whole solution, 1 where nothing is said.
    """

    after: Mapping[str, Sequence[str]]
    tokens: Mapping[str, int] = field(default_factory=dict)

    def __call__(self, place: Place, request: Request) -> Completion:
        begun = words(request.begun)
        rests = self.after[begun]
        rest = rests[place.draft % len(rests)]
        count = self.tokens.get(f"{begun} {rest}".strip(), 1)
        return Completion(text_of(rest), usage=Usage(1, count), stop="")


def text_of(solution: str) -> str:
    """Return the text of a solution given by its words."""
    said = (f"The answer is \\boxed{{{word[1:]}}}" if word[0] == "=" else word for word in solution.split())
    return "\n\n".join(said)


def words(text: str) -> str:
    """Return the words of a solution."""
    steps = (step for step in text.split("\n\n") if step)
    return " ".join(f"={step[step.index('{') + 1 : -1]}" if "boxed" in step else step for step in steps)


def names(tree: Tree) -> list[str]:
    """Return all texts of a tree in words, in order of birth; the root's is ""."""
    return [words(state.text) for state in tree.states]


def numbers(tree: Tree) -> dict[str, tuple[float, int]]:
    """Return value and visits of the states that have an estimate, by their words."""
    found = {}
    for node, state in enumerate(tree.states):
        if state.step and tree.nodes["visits"][node]:
            found[words(state.text)] = (round(tree.value(node), 3), int(tree.nodes["visits"][node]))
    return found


async def searched(
    story: Rollouts, what: Recipe, *, known: str | None = None, width: int = 1
) -> tuple[Outcome, Scripted]:
    """Search, and return what was left behind and the model; `known` is the right answer."""

    async def referee(answer: str) -> bool | None:
        return answer == known

    lm = Scripted(story, offers=OFFERS)
    found = await search(PROBLEM, replace(what, width=width), lm, referee=None if known is None else referee)
    return found, lm
