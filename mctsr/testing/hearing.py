"""Which prompt file a request was made from, and the values that were put into it.

Knows how prompts are filled, and undoes it. Does not know what any of them is for.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mctsr.lm.base import Message
from mctsr.prompting import Prompt, Prompts


class Heard(NamedTuple):
    """A prompt file and the text given for each of its inputs."""

    prompt: Prompt
    values: Mapping[str, str]


class Ear:
    """Recognises requests by their system line, and questions about the turn before them by their words."""

    def __init__(self, prompts: Prompts | None = None) -> None:
        """Learn the prompts, the shipped ones unless others are given."""
        self._known: dict[str, list[tuple[Prompt, re.Pattern[str]]]] = {}
        self._questions: dict[str, Prompt] = {}
        for prompt in (prompts or Prompts()).values():
            if not prompt.inputs:
                self._questions[prompt.sections[-1][1]] = prompt
                continue
            system = "\n".join(text for role, text in prompt.sections if role == "system")
            template = "\n".join(text for role, text in prompt.sections if role == "user")
            self._known.setdefault(system, []).append((prompt, _inverse(template)))

    def question(self, messages: Sequence[Message]) -> Prompt | None:
        """Return the prompt that asks about the assistant's turn before it; None when that is not what is asked."""
        if len(messages) < 2 or messages[-2].role != "assistant":
            return None
        return self._questions.get(messages[-1].content)

    def hear(self, messages: Sequence[Message]) -> Heard | None:
        """Return the prompt and its values, None when no known prompt was filled like this."""
        system = "\n".join(turn.content for turn in messages if turn.role == "system")
        user = "\n".join(turn.content for turn in messages if turn.role == "user")
        for prompt, inverse in self._known.get(system, ()):
            if found := inverse.fullmatch(user):
                return Heard(prompt, found.groupdict())
        return None


def _inverse(template: str) -> re.Pattern[str]:
    """Turn a template into a pattern whose groups are its placeholders; the last occurrence of one counts."""
    pieces = re.split(r"\{\{([a-z_]+)\}\}", template)
    pattern = [re.escape(pieces[0])]
    for name, literal in zip(pieces[1::2], pieces[2::2], strict=True):
        again = f"(?P<{name}>" in "".join(pattern)
        pattern.append(f"(?P={name})" if again else f"(?P<{name}>.*?)")
        pattern.append(re.escape(literal))
    return re.compile("".join(pattern), re.DOTALL)
