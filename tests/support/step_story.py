"""Solutions written as a table, and scores to go with them: for trees of steps that are worked out by hand.

A solution is named by its words: "add buy" is the step "add" and below it "buy"; "=5" ends one with that answer.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mctsr.engine import Outcome, search
from mctsr.lm.base import Completion, Place, Request, Token, Usage
from mctsr.lm.scripted import Scripted
from mctsr.parts import Problem
from mctsr.recipe import Recipe
from mctsr.recipes.registry import choose
from mctsr.tree import Tree
from tests.support.judging import label

PROBLEM = Problem("p", "How much is it?", "number")
OFFERS = frozenset({"steps", "logprobs"})

_ANSWER = re.compile(r"The answer is \\boxed\{(\d+)\}")


@dataclass(frozen=True, slots=True)
class Story:
    """What a model writes below each solution, one word a draft, and what a judge says of the whole.

    Attributes:
        after: Next words by the solution so far, "" at the beginning; drafts beyond the last begin again.
        score: Share of Yes by solution; a tuple is one score of ten a sample instead.
        chance: Probability of the one token of a step, by solution; a half where nothing is said.
    """

    after: Mapping[str, Sequence[str]]
    score: Mapping[str, float | tuple[float, ...]]
    chance: Mapping[str, float] = field(default_factory=dict)

    def __call__(self, place: Place, request: Request) -> Completion:
        if place.part.startswith("judge_"):
            return self._judged(place, _words(request.messages[-2].content))
        above = _words(request.begun)
        words = self.after[" ".join(above)]
        word = words[place.draft % len(words)]
        ends = word.startswith("=")
        text = f"The answer is \\boxed{{{word[1:]}}}" if ends else f"{word}\n\n"
        chance = self.chance.get(" ".join([*above, word]), 0.5)
        tokens = (Token(text, math.log(chance)),)
        return Completion(text, usage=Usage(1, 1), stop="" if ends else "\n\n", tokens=tokens)

    def _judged(self, place: Place, words: list[str]) -> Completion:
        score = self.score[" ".join(words)]
        if isinstance(score, tuple):
            return Completion(f'{{"score": {score[place.sample]}}}')
        return label(yes=score, no=1.0 - score)


def _word(text: str) -> str:
    """Return the word of a step."""
    answer = _ANSWER.search(text)
    return f"={answer[1]}" if answer else text.strip()


def _words(text: str) -> list[str]:
    """Return the words of a solution."""
    return [_word(step) for step in text.split("\n\n") if step]


def name_of(tree: Tree, node: int) -> str:
    """Return the words from the root to a node."""
    return " ".join(_word(tree.states[i].text) for i in tree.line(node) if tree.states[i].text)


def names(tree: Tree) -> list[str]:
    """Return the solutions of a tree in order of birth, the root's is ""."""
    return [name_of(tree, node) for node in range(len(tree))]


def recipe(name: str, **arguments: object) -> Recipe:
    """Build a shipped recipe."""
    return choose(name, arguments).build()


def model(story: Story, **more: object) -> Scripted:
    """Return a model that tells a story."""
    return Scripted(story, offers=OFFERS, **more)  # type: ignore[arg-type]


async def told(story: Story, what: Recipe, *, width: int = 1, seed: int = 0) -> tuple[Outcome, Scripted]:
    """Search, and return what was left behind and the model."""
    lm = model(story)
    return await search(PROBLEM, replace(what, width=width), lm, seed=seed), lm
