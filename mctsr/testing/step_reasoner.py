"""A language model and a reward model made of known probabilities: one works in steps, the other judges steps.

Solutions of arithmetic puzzles are continued from whatever has been begun, right or wrong; a wrong result is carried
on, so that only going on from before the mistake can still be right. The same request gets the same reply.
`python -m mctsr.testing.step_reasoner --port 8000` serves both at one address: chat for the policy and for a judge
that is asked in words, `/pooling` for a process reward model in the form of Qwen's.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mctsr.lm.base import Completion, Message, Place, Pooled, Pooling, Request, Token, Usage, no_scores

from .puzzles import read_puzzle
from .steps.hearing import Asked, StepEar, marked_steps
from .steps.judge import StepJudge
from .steps.policy import StepWriter

_NOT_UNDERSTOOD = "I see no puzzle that I could solve."
_LETTERS = re.compile(r"\b([a-y]),\s*\Z")


class Said(NamedTuple):
    """A reply.

    Attributes:
        text: Up to where it ended, a stop string that was hit left out.
        stop: That stop string; "" for the model's own end.
        p_yes: The probability of Yes as its first word, when that was the question.
    """

    text: str
    stop: str = ""
    p_yes: float | None = None


@dataclass(frozen=True, slots=True)
class StepReasoner:
    """Who writes and who judges.

    Attributes:
        writer: Continues solutions; temperatures are not heard.
        judge: Scores their steps.
    """

    writer: StepWriter = field(default_factory=StepWriter)
    judge: StepJudge = field(default_factory=StepJudge)
    ear: StepEar = field(default_factory=StepEar, compare=False)

    def reply(self, messages: Sequence[Message], seed: int, stop: Sequence[str] = ()) -> Said:
        """Say what these messages get under `seed`; a last turn of the assistant is continued."""
        asked = self.ear.asked(messages)
        if asked.puzzle is None:
            return _ended(_letters(asked.begun) or _NOT_UNDERSTOOD, stop)
        if asked.steps:
            return self._judged(asked)
        text = self.writer.go_on(asked.puzzle, asked.begun, seed, numbered=asked.numbered)
        return _ended(text, stop)

    def scores(self, messages: Sequence[Message]) -> list[list[float]]:
        """Return one row [P(wrong), P(right)] for each step of the assistant's turn.

        Raises:
            ValueError: There is no puzzle, or no mark behind a step.
        """
        said = {turn.role: turn.content for turn in messages}
        puzzle, steps = read_puzzle(said.get("user", "")), marked_steps(said.get("assistant", ""))
        if puzzle is None or not steps:
            raise ValueError("a puzzle from the user and marked steps from the assistant are needed")
        return [[1.0 - right, right] for right in self.judge.verdicts(puzzle, steps)]

    def _judged(self, asked: Asked) -> Said:
        assert asked.puzzle is not None
        right = self.judge.verdicts(asked.puzzle, asked.steps)[-1]
        if asked.scored:
            return Said(json.dumps({"reason": "The step was worked out again.", "score": round(10 * right)}))
        return Said("Yes" if right >= 0.5 else "No", p_yes=right)


class SimulatedSteps:
    """The reasoner as policy, judge and reward model in this process, without a server between."""

    def __init__(self, reasoner: StepReasoner | None = None, *, seed: int = 0, scores: bool = True) -> None:
        """Wrap a reasoner; calls get the seeds that a run with `seed` would give them.

        Without `scores` there is no reward model.
        """
        self._reasoner = reasoner or StepReasoner()
        self._seed = seed
        self._scores = scores

    @property
    def offers(self) -> frozenset[str]:
        """Begun turns are continued, labels have their probability, and a reward model may be there."""
        return frozenset({"steps", "prefill", "logprobs"} | ({"prm", "pooling"} if self._scores else set()))

    async def complete(self, place: Place, request: Request) -> Completion:
        """Return the reasoner's reply."""
        return self.reply(place, request)

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        """Return a row for each step; raises what `score` does."""
        return self.score(place, pooling)

    def reply(self, place: Place, request: Request) -> Completion:
        """Return the reasoner's reply at once; words count as tokens."""
        messages = [*request.messages]
        if request.begun:
            messages.append(Message("assistant", request.begun))
        said = self._reasoner.reply(messages, place.seed(self._seed), request.stop)
        usage = Usage(count_words(messages), len(said.text.split()))
        top = () if request.logprobs is None or said.p_yes is None else (label(said.p_yes),)
        return Completion(said.text + said.stop, usage=usage, stop=said.stop, tokens=top)

    def score(self, place: Place, pooling: Pooling) -> Pooled:
        """Return a row for each step at once.

        Raises:
            UsageError: There is no reward model.
        """
        if not self._scores:
            raise no_scores(pooling)
        rows = self._reasoner.scores(pooling.messages)
        return Pooled(tuple(map(tuple, rows)), Usage(count_words(pooling.messages)))


def label(p_yes: float) -> Token:
    """Return the first word of a verdict with the log-probabilities of both."""
    top = sorted((("Yes", math.log(p_yes)), ("No", math.log1p(-p_yes))), key=lambda pair: -pair[1])
    return Token(*top[0], None, tuple(top))


def count_words(messages: Sequence[Message]) -> int:
    """Count the words of all turns: the reasoner's tokens."""
    return sum(len(turn.content.split()) for turn in messages)


def _ended(text: str, stop: Sequence[str]) -> Said:
    """Cut a text at the stop string that a growing text completes first."""
    hits = [(at + len(word), -len(word), word) for word in stop if (at := text.find(word)) >= 0]
    if not hits:
        return Said(text)
    end, _, word = min(hits)
    return Said(text[: end - len(word)], word)


def _letters(begun: str) -> str:
    """Continue the letters of the alphabet, which clients ask for to see whether begun turns are continued."""
    last = _LETTERS.search(begun)
    return ", ".join(chr(code) for code in range(ord(last[1]) + 1, ord("z") + 1)) if last else ""


if __name__ == "__main__":
    from .steps.serving import main

    main()
