"""Continuing by prefill: the begun turn is the chat's last message, and the server leaves it open.

Knows: how servers are told to, and that templates may trim the message's ends. Does not know: which server
believes it: some answer anew, some read the message as the user's; a trial shows that.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from mctsr.lm.asking.asked import Asked, Door
from mctsr.lm.base import Completion
from mctsr.lm.dialects import Logical, chat_body
from mctsr.lm.replies.chat import read_reply

from .trial import BEGUN, goes_on
from .way import continued

_NO_FLAGS: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Prefill:
    """A last message from the assistant.

    Attributes:
        flags: Fields of the body that leave it open.
        marks: Fields of the message that do.
        echoes: Whether the reply repeats the begun text first.
    """

    flags: tuple[tuple[str, object], ...] = _NO_FLAGS
    marks: tuple[tuple[str, object], ...] = _NO_FLAGS
    echoes: bool = False
    name: str = field(default="prefill", init=False)
    exact: bool = field(default=True, init=False)

    async def ask(self, logical: Logical, door: Door) -> Asked[Completion]:
        """Add the begun turn as the last message; with nothing begun the chat is an ordinary one."""
        begun, body = logical.get("begun", ""), chat_body(logical, door.kind)
        if begun:
            turn = {"role": "assistant", "content": begun, **dict(self.marks)}
            body = {**body, "messages": [*logical["messages"], turn], **dict(self.flags)}
        mend = (lambda text: text.removeprefix(begun)) if self.echoes else str
        parse, notes = continued(logical, self.name, partial(read_reply, whole=True), mend)
        kept = frozenset({*dict(self.flags), *logical["extra_body"]})
        return Asked(f"{door.base}/chat/completions", body, parse, kept, notes)

    def proven(self, asked: Asked[Completion], reply: Completion) -> Self | None:
        """The text goes on, with or without the begun text before it."""
        if goes_on(reply.text):
            return self
        if reply.text.startswith(BEGUN) and goes_on(reply.text.removeprefix(BEGUN)):
            return replace(self, echoes=True)
        return None
