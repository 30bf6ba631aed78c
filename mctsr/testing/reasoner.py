"""A language model made of known probabilities: it solves, criticises, rewrites and judges arithmetic puzzles.

What it says is text like any model's; what it was asked and whether an answer is right it works out from the text
alone. The same request with the same seed gets the same reply. `python -m mctsr.testing.reasoner --port 8000`
serves it like any other chat endpoint.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from statistics import NormalDist

import numpy as np
from numpy.random import Generator

from mctsr.errors import UsageError
from mctsr.grading import extract_answer
from mctsr.lm.base import Completion, Message, Place, Pooled, Pooling, Request, Usage, no_scores

from .hearing import Ear
from .puzzles import Puzzle, Working, read_puzzle, wrong_workings

_SPREAD = 30.0
_HIGHEST = 95
_OPENINGS = ("Step by step.", "Let us work through it.", "One thing after the other.", "In order.")
_NOT_UNDERSTOOD = "I see no puzzle that I could solve."


@dataclass(frozen=True, slots=True)
class Reasoner:
    """The probabilities, and what is said by them.

    A score is an integer: 30 times a normal deviate around a mean that lies above 0 for right answers and as far
    below it for all others, apart by sqrt(2) times the normal quantile of `auc`, cut at ±95. Scores of equal
    answers are independent as long as their requests differ in seed.

    Attributes:
        p_solve: That a fresh answer is right. In [0, 1], like the next two.
        p_fix: That rewriting a wrong answer makes it right; else it stays. Rewriting no answer is a fresh one.
        p_break: That rewriting a right answer makes it wrong.
        auc: Chance that a right answer scores above a wrong one, in (0, 1); 0.5 knows nothing.

    Raises:
        UsageError: A probability is out of range.
    """

    p_solve: float = 0.5
    p_fix: float = 0.2
    p_break: float = 0.2
    auc: float = 0.75
    ear: Ear = field(default_factory=Ear, compare=False)

    def __post_init__(self) -> None:
        for name in ("p_solve", "p_fix", "p_break"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise UsageError(f"{name} is {getattr(self, name)}; allowed is 0 to 1")
        if not 0.0 < self.auc < 1.0:
            raise UsageError(f"auc is {self.auc}; allowed is between 0 and 1, both excluded")

    def reply(self, messages: Sequence[Message], seed: int, *, structured: bool = False) -> str:
        """Say what these messages get under `seed`; a score is JSON when `structured`."""
        heard = self.ear.hear(messages)
        values = heard.values if heard else {"problem": messages[-1].content if messages else ""}
        puzzle = read_puzzle(values.get("problem", ""))
        if puzzle is None:
            return _NOT_UNDERSTOOD
        rng = _generator(messages, seed)
        if heard and heard.prompt.output == "score":
            return self._score(puzzle, values["answer"], rng, structured)
        if "critique" in values:
            return self._rewrite(puzzle, values.get("answer") or values["critique"], rng)
        return _critique(puzzle, values["answer"]) if "answer" in values else self._solve(puzzle, rng)

    def _solve(self, puzzle: Puzzle, rng: Generator) -> str:
        right = rng.random() < self.p_solve
        return _written(puzzle.work() if right else _wrong(puzzle, rng), rng)

    def _rewrite(self, puzzle: Puzzle, previous: str, rng: Generator) -> str:
        result = _result(previous)
        if result is None:
            return self._solve(puzzle, rng)
        if result == puzzle.answer:
            broken = rng.random() < self.p_break
            return _written(_wrong(puzzle, rng) if broken else puzzle.work(), rng)
        if rng.random() < self.p_fix:
            return _written(puzzle.work(), rng)
        same = [working for working in wrong_workings(puzzle) if working.result == result]
        return _written(same[0] if same else _wrong(puzzle, rng), rng)

    def _score(self, puzzle: Puzzle, answer: str, rng: Generator, structured: bool) -> str:
        half = math.sqrt(0.5) * NormalDist().inv_cdf(self.auc)
        mean = half if _result(answer) == puzzle.answer else -half
        score = max(-_HIGHEST, min(_HIGHEST, round(_SPREAD * (mean + rng.standard_normal()))))
        reason = "Each step was checked against the text."
        if structured:
            return json.dumps({"reason": reason, "score": score})
        return f"{reason}\nScore: {score}"


def _generator(messages: Sequence[Message], seed: int) -> Generator:
    said = "\x1f".join([str(seed), *(turn.content for turn in messages)])
    digest = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def _result(text: str) -> int | None:
    answer = extract_answer(text, "number")
    try:
        return None if answer is None else int(answer)
    except ValueError:
        return None


def _wrong(puzzle: Puzzle, rng: Generator) -> Working:
    """Draw a wrong solution; each is half as likely as the one before it, so that errors repeat."""
    workings = wrong_workings(puzzle)
    weights = 0.5 ** np.arange(len(workings))
    return workings[int(rng.choice(len(workings), p=weights / weights.sum()))]


def _written(working: Working, rng: Generator) -> str:
    opening = _OPENINGS[int(rng.integers(len(_OPENINGS)))]
    return "\n".join([opening, *working.lines, f"The final answer is \\boxed{{{working.result}}}"])


def _critique(puzzle: Puzzle, answer: str) -> str:
    result = _result(answer)
    if result is None:
        return "The solution gives no final answer. Work through the text step by step."
    return (
        f"Recompute each of the {_spelled(len(puzzle.steps))} steps. The solution ends in \\boxed{{{result}}}"
    )


def _spelled(count: int) -> str:
    return {2: "two", 3: "three", 4: "four"}.get(count, "many")


class Simulated:
    """The reasoner as a language model in this process, without a server between."""

    def __init__(self, reasoner: Reasoner | None = None, *, seed: int = 0) -> None:
        """Wrap a reasoner; calls get the seeds that a run with `seed` would give them."""
        self._reasoner = reasoner or Reasoner()
        self._seed = seed

    @property
    def offers(self) -> frozenset[str]:
        """Nothing beyond plain chat."""
        return frozenset()

    async def complete(self, place: Place, request: Request) -> Completion:
        """Return the reasoner's reply; words count as tokens."""
        seed = place.seed(self._seed)
        text = self._reasoner.reply(request.messages, seed, structured=request.schema is not None)
        return Completion(text, usage=Usage(count_words(request.messages), len(text.split())))

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        """Refuse: it scores nothing."""
        raise no_scores(pooling)


def count_words(messages: Sequence[Message]) -> int:
    """Count the words of all turns: the reasoner's tokens."""
    return sum(len(turn.content.split()) for turn in messages)


if __name__ == "__main__":
    from .serving import main

    main()
