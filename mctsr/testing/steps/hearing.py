"""What a chat asks of the reasoner in steps: to go on with a solution, or to judge the last of its steps.

Knows the shipped prompts, the assistant's begun turn, and the quotation of one in the user's turn. Knows no protocol.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mctsr.lm.base import Message
from mctsr.testing.hearing import Ear, Heard
from mctsr.testing.puzzles import Puzzle, read_puzzle

MARK = "<extra_0>"
_QUOTED = re.compile(r"(?P<before>.*?)\n\n[^\n]*\n\n<begun>\n(?P<begun>.*)\n</begun>.*", re.DOTALL)
_STEPS = re.compile(r"<step_\d+>\n(.*?)\n</step_\d+>", re.DOTALL)


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
        begun = ""
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
        return _of(heard, read_puzzle(heard.values.get("problem", "")))


def _of(heard: Heard, puzzle: Puzzle | None) -> Asked:
    name = heard.prompt.name
    if name in {"judge_label", "judge_score"}:
        steps = tuple(_STEPS.findall(heard.values["answer"]))
        return Asked(puzzle, steps=steps, scored=name == "judge_score")
    return Asked(puzzle, numbered=name == "step_numbered")


def marked_steps(text: str, mark: str = MARK) -> tuple[str, ...]:
    """Return the steps of a text in which one mark stands behind each."""
    return tuple(text.split(mark)[:-1])
