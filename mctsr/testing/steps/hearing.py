"""What a chat asks of the reasoner in steps: to go on with a solution, or to judge the last of its steps.

Knows the shipped prompts, the assistant's begun turn, the quotation of one in the user's turn, and the question about
one that stands behind it. Knows no protocol.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mctsr.expand.boundary import NUMBERED, PARAGRAPHS, split
from mctsr.lm.base import Message
from mctsr.testing.hearing import Ear
from mctsr.testing.puzzles import Puzzle, read_puzzle

MARK = "<extra_0>"
_QUOTED = re.compile(r"(?P<before>.*?)\n\n[^\n]*\n\n<begun>\n(?P<begun>.*)\n</begun>.*", re.DOTALL)


class Asked(NamedTuple):
    """One thing that is asked.

    Attributes:
        puzzle: The problem; None when there is none in it.
        begun: The solution so far.
        numbered: Whether steps are to be numbered.
        steps: The steps whose last one is to be judged; () when nothing is.
        scored: Whether the verdict is to be a number, not a word.
    """

    puzzle: Puzzle | None
    begun: str = ""
    numbered: bool = False
    steps: tuple[str, ...] = ()
    scored: bool = False


class StepEar:
    """Recognises what is asked."""

    def __init__(self, ear: Ear | None = None) -> None:
        """Listen with the shipped prompts unless others were learnt."""
        self._ear = ear or Ear()
        self._heard = lru_cache(maxsize=4096)(self._hear)

    def asked(self, messages: Sequence[Message]) -> Asked:
        """Read a chat; a last turn of the assistant is its begun solution."""
        begun, question = "", self._ear.question(messages)
        if question:
            *messages, (_, said), _ = messages
            heard = self._heard(tuple(messages))
            steps = tuple(split(said, NUMBERED if heard.numbered else PARAGRAPHS))
            return heard._replace(steps=steps, scored=question.output == "score")
        if messages and messages[-1].role == "assistant":
            *messages, (_, begun) = messages
        elif messages and (quoted := _QUOTED.fullmatch(messages[-1].content)):
            *before, last = messages
            messages, begun = [*before, last._replace(content=quoted["before"])], quoted["begun"]
        return self._heard(tuple(messages))._replace(begun=begun)

    def _hear(self, messages: tuple[Message, ...]) -> Asked:
        heard = self._ear.hear(messages)
        if heard is None:
            return Asked(read_puzzle(messages[-1].content if messages else ""))
        puzzle = read_puzzle(heard.values.get("problem", ""))
        return Asked(puzzle, numbered=heard.prompt.name == "step_numbered")


def marked_steps(text: str, mark: str = MARK) -> tuple[str, ...]:
    """Return the steps of a text in which one mark stands behind each."""
    return tuple(text.split(mark)[:-1])
