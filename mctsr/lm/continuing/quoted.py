"""Continuing by quotation: the begun turn is shown to the model in the user's turn, which asks for the rest.

The last resort, and works with every chat server; the model does not see the text as its own, and may say part of
it again. Knows: the words around the quotation, and how a repetition is found.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from mctsr.lm.asking.asked import Asked, Door
from mctsr.lm.base import Completion
from mctsr.lm.dialects import Logical, chat_body
from mctsr.lm.replies.chat import read_reply

from .way import continued

_BEFORE = "\n\nThis is what has been written of the answer so far:\n\n<begun>\n"
_AFTER = "\n</begun>\n\nGo on from exactly there. Write only what comes next, and repeat nothing of it."
_SHORT = 8


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quotation in the last turn of the user."""

    name: str = field(default="quoted", init=False)
    exact: bool = field(default=False, init=False)

    async def ask(self, logical: Logical, door: Door) -> Asked[Completion]:
        """Quote the begun turn.

        The stop strings are then looked for here and not by the server, which would stop within a repetition.
        """
        begun = logical.get("begun", "")
        if begun:
            logical = {**logical, "messages": _quoting(logical["messages"], begun)}
        body = chat_body(logical, door.kind)
        if begun:
            body = {name: value for name, value in body.items() if name not in _stop_fields(logical)}
        mend = partial(unrepeated, begun) if begun else str
        read = _unstopped if begun else partial(read_reply, whole=True)
        parse, notes = continued(logical, self.name, read, mend)
        return Asked(f"{door.base}/chat/completions", body, parse, frozenset(logical["extra_body"]), notes)

    def proven(self, asked: Asked[Completion], reply: Completion) -> Self | None:
        """Nothing to show: whatever is said is taken as the continuation."""
        return self


def unrepeated(begun: str, text: str) -> str:
    """Take from the start of a text what repeats the end of the begun one: all of it, or whole lines.

    The white space behind a repetition goes as far as the begun text ends in the same.
    """
    said = text.lstrip()
    for tail in _tails(begun):
        rest = said.removeprefix(tail)
        # A short one may well be the beginning of another word.
        if rest != said and (len(tail) > _SHORT or not rest[:1].isalnum()):
            end = begun[len(begun.rstrip()) :]
            shared = next(n for n in range(len(end), -1, -1) if rest.startswith(end[len(end) - n :]))
            return rest[shared:]
    return text


def _unstopped(data: object) -> Completion:
    """Read a reply that no stop string was asked for: what was not cut off, the model ended itself."""
    return replace(read_reply(data, whole=True), stop="")


def _tails(begun: str) -> list[str]:
    """List the ends of a text that begin with a line, longest first, the white space around them left out."""
    lines = begun.strip().splitlines(keepends=True)
    tails = ["".join(lines[at:]) for at in range(len(lines))]
    # One short line may well be said twice.
    return [tail for tail in tails if tail.strip() and (len(tail) > _SHORT or tail is tails[0])]


def _quoting(messages: list[dict[str, str]], begun: str) -> list[dict[str, str]]:
    *before, last = messages
    return [*before, {**last, "content": f"{last['content']}{_BEFORE}{begun}{_AFTER}"}]


def _stop_fields(logical: Logical) -> set[str]:
    return {"stop", "include_stop_str_in_output", "no_stop_trim"} - logical["extra_body"].keys()
