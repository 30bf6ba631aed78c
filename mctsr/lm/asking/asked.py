"""One request as it is to be sent, and what whoever prepares it may ask the server before.

Knows: addresses, bodies and how their replies are read. Does not know: when something is sent, or again.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol

from mctsr.lm.dialects import Kind, R

ADVICE = "check key, model and --base-url"


@dataclass(frozen=True, slots=True)
class Asked(Generic[R]):
    """A request ready to be sent.

    Attributes:
        url: Where to.
        body: Its fields.
        parse: Reads the reply's JSON; raises `Malformed` when it does not hold what was asked for.
        kept: Fields without which it would be another request, and what the user added; never left out, so when
            one is refused, the call fails.
        notes: What is to be noted of the reply, beside what the server changes.
        advice: What to do when every such request is refused.
        unfit: Finds the words of a refusal that concerns every such request, not this one alone.
    """

    url: str
    body: Mapping[str, object]
    parse: Callable[[object], R]
    kept: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    advice: str = ADVICE
    unfit: re.Pattern[str] | None = None


class Door(Protocol):
    """The server, as seen by whoever prepares a request."""

    @property
    def kind(self) -> Kind:
        """Its dialect."""
        ...

    @property
    def base(self) -> str:
        """Address that endpoints of the OpenAI kind are added to."""
        ...

    @property
    def root(self) -> str:
        """Address that the server's own endpoints are added to."""
        ...

    async def fetch(self, url: str, body: Mapping[str, object]) -> Mapping[str, object]:
        """Return the reply to what always has the same reply, from memory when it was asked lately.

        Raises:
            ServerError: It failed for good, or is no object.
        """
        ...


Prepare = Callable[[Door], Awaitable[Asked[R]]]
"""Makes the request; may ask the server something before, such as to render a chat."""
