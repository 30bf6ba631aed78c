"""Toy worlds: language models with a known best answer, small enough for a test.

A world is asked by the shipped prompts, like any model, and scores exactly; how far a recipe gets in it says what
its search is worth, with no noise of a judge in between.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.random import Generator

from mctsr.grading import extract_answer
from mctsr.lm.base import LM, Completion, Place, Pooled, Pooling, Request, Usage, no_scores
from mctsr.parts import Problem

from .hearing import Ear

_LETTERS = "abcdefgh"
_BEST = 90


class World(LM, Protocol):
    """A model that knows the best answer to its only problem."""

    @property
    def problem(self) -> Problem:
        """What it is asked."""
        ...

    @property
    def optimum(self) -> str:
        """The best answer."""
        ...


@dataclass(frozen=True, slots=True)
class HiddenWord:
    """A word of the letters a to h that is guessed and then refined, one letter a rewrite.

    A fresh guess is random. A rewrite changes one wrong letter: to the right one with probability `p_fix`, else to
    a random one; with probability `p_break` it spoils a letter instead. A score is the share of right letters,
    from -90 to 90.

    Attributes:
        word: What is hidden.
        p_fix: In [0, 1].
        p_break: In [0, 1].
        seed: Of all its draws.
    """

    word: str = "badge"
    p_fix: float = 0.5
    p_break: float = 0.2
    seed: int = 0
    ear: Ear = field(default_factory=Ear, compare=False)
    offers: frozenset[str] = frozenset()

    @property
    def problem(self) -> Problem:
        """The riddle."""
        return Problem("hidden-word", f"Which word of {len(self.word)} letters from a to h is meant?")

    @property
    def optimum(self) -> str:
        """The word."""
        return self.word

    async def complete(self, place: Place, request: Request) -> Completion:
        """Guess, criticise, refine or score."""
        return _answered(self, self.ear, place, request)

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        """Refuse: it scores nothing."""
        raise no_scores(pooling)

    def fresh(self, rng: Generator) -> str:
        """Guess."""
        return "".join(rng.choice(list(_LETTERS), len(self.word)))

    def refined(self, guess: str, rng: Generator) -> str:
        """Change one letter."""
        letters = list(guess)
        wrong = [i for i, letter in enumerate(letters) if letter != self.word[i]]
        if rng.random() < self.p_break:
            letters[int(rng.integers(len(letters)))] = str(rng.choice(list(_LETTERS)))
        elif wrong:
            at = int(rng.choice(wrong))
            letters[at] = self.word[at] if rng.random() < self.p_fix else str(rng.choice(list(_LETTERS)))
        return "".join(letters)

    def score(self, guess: str) -> int:
        """Count right letters, on a scale from -90 to 90."""
        right = sum(letter == meant for letter, meant in zip(guess, self.word, strict=False))
        return round(_BEST * (2 * right / len(self.word) - 1))


@dataclass(frozen=True, slots=True)
class Urn:
    """A few answers, each as likely as the next whatever was said before: searching is drawing.

    With k answers and m draws the best is found with probability 1 - (1 - 1/k)^m, which no recipe can beat.

    Attributes:
        values: Score of each answer, in [-95, 95].
        seed: Of all its draws.
    """

    values: Mapping[str, int] = field(
        default_factory=lambda: {"3": -60, "5": -20, "7": 20, "11": 60, "13": 90}
    )
    seed: int = 0
    ear: Ear = field(default_factory=Ear, compare=False)
    offers: frozenset[str] = frozenset()

    @property
    def problem(self) -> Problem:
        """The riddle."""
        return Problem("urn", "Which of the numbers in the urn is best?", "number")

    @property
    def optimum(self) -> str:
        """The answer that scores best."""
        return max(self.values, key=self.values.__getitem__)

    async def complete(self, place: Place, request: Request) -> Completion:
        """Draw, criticise, draw again or score."""
        return _answered(self, self.ear, place, request)

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        """Refuse: it scores nothing."""
        raise no_scores(pooling)

    def fresh(self, rng: Generator) -> str:
        """Draw."""
        return str(rng.choice(list(self.values)))

    def refined(self, guess: str, rng: Generator) -> str:
        """Draw again."""
        return self.fresh(rng)

    def score(self, guess: str) -> int:
        """Look the score up; what is not in the urn gets the lowest."""
        return self.values.get(guess, -95)


def _answered(world: HiddenWord | Urn, ear: Ear, place: Place, request: Request) -> Completion:
    """Reply as a model would; words count as tokens."""
    heard = ear.hear(request.messages)
    values = heard.values if heard else {}
    rng = np.random.default_rng(place.seed(world.seed))
    guess = extract_answer(values.get("answer") or values.get("critique") or "", world.problem.kind)
    if heard and heard.prompt.output == "score":
        text = f'{{"reason": "compared", "score": {world.score(guess or "")}}}'
    elif "answer" in values and "critique" not in values:
        text = f"The solution ends in \\boxed{{{guess}}}" if guess else "There is no answer yet."
    else:
        text = f"The final answer is \\boxed{{{world.refined(guess, rng) if guess else world.fresh(rng)}}}"
    words = sum(len(turn.content.split()) for turn in request.messages)
    return Completion(text, usage=Usage(words, len(text.split())))
