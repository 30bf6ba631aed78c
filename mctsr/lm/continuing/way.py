"""What a way of continuing a begun turn is.

Knows: that a way makes one request, and what a first try must show. Does not know: which ways there are.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, Self

from mctsr.lm.asking.asked import Asked, Door
from mctsr.lm.base import Completion
from mctsr.lm.dialects import Logical
from mctsr.lm.replies.ends import settle


class Way(Protocol):
    """One way of continuing a begun turn; with nothing begun it opens the turn."""

    @property
    def name(self) -> str:
        """What the run records: "token ids", "text", "prefill" or "quoted"."""
        ...

    @property
    def exact(self) -> bool:
        """Whether the model sees just the begun text where its own turn stands, character for character."""
        ...

    async def ask(self, logical: Logical, door: Door) -> Asked[Completion]:
        """Make the request; raises ServerError when the server does not give what it takes."""
        ...

    def proven(self, asked: Asked[Completion], reply: Completion) -> Self | None:
        """Return the way as it works here when the reply to `TRIAL` shows that it does, else None."""
        ...


Read = Callable[[object], Completion]


def continued(
    logical: Logical, name: str, read: Read, mend: Callable[[str], str] = str
) -> tuple[Read, tuple[str, ...]]:
    """Make what reads the continuation, and what is noted of it.

    Args:
        logical: The request.
        name: The way's.
        read: Reads the reply as the server wrote it.
        mend: Takes from its text what is no continuation.
    """

    def parse(data: object) -> Completion:
        reply = read(data)
        text = mend(reply.text)
        if text != reply.text:
            reply = _without(reply, text)
        return settle(reply, logical.get("stop", ()))

    return parse, (f"continued by {name}",) if logical.get("begun") else ()


def _without(reply: Completion, text: str) -> Completion:
    """Take a new text; ids and tokens told of another one."""
    return replace(reply, text=text, ids=(), tokens=())
