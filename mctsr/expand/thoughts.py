"""Thoughts: what a model writes for itself between tags.

Knows the tags, and that a chat template may write the opening one. Knows nothing of steps or answers.
"""

from typing import NamedTuple

TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<reasoning>": "</reasoning>",
    "[THINK]": "[/THINK]",
}
OPENING, CLOSING = "<think>", "</think>"


class Parted(NamedTuple):
    """A text, parted behind its thought.

    Attributes:
        thought: The thought with its tags and the space around it; "" when there is none.
        said: What follows.
        closer: The tag that would end a thought that is still going on; "" when none is.
    """

    thought: str
    said: str
    closer: str


def part(text: str, *, opened: bool = False) -> Parted:
    """Take the thought off the beginning of a text; thought and rest, joined, are the text.

    Args:
        text: What the model wrote.
        opened: Whether the opening tag stood before it.
    """
    start = text.lstrip()
    closer = next((TAGS[tag] for tag in TAGS if start.startswith(tag)), CLOSING if opened else "")
    if not closer:
        return Parted("", text, "")
    end = text.find(closer)
    if end < 0:
        return Parted(text, "", closer)
    said = text[end + len(closer) :].lstrip()
    return Parted(text[: len(text) - len(said)], said, "")


def is_open(text: str) -> bool:
    """Say whether a text ends inside a thought."""
    return any(text.rfind(opening) > text.rfind(closing) for opening, closing in TAGS.items())


def behind(text: str) -> str:
    """Return what follows the last thought in a text; the whole text when none ends there."""
    ends = [text.rfind(closing) + len(closing) for closing in TAGS.values() if closing in text]
    return text[max(ends, default=0) :]
