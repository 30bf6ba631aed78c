"""A language model that says what it is told to: for tests, dry runs and examples.

Knows: replies by place. Counts tokens as words, so that accounting can be checked by hand.
Uses no network and no clock other than the delays it is given.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from .base import Completion, Place, Request, Usage

Reply = str | Completion | Exception
Replies = Callable[[Place, Request], Reply] | Sequence[Reply] | Mapping[Place | str, Reply]


class Scripted:
    """A language model with known replies.

    Attributes:
        calls: Every call in the order in which it was made, also those that failed or were cancelled.
    """

    def __init__(
        self,
        replies: Replies,
        *,
        delay: Callable[[Place], float] | None = None,
        offers: frozenset[str] = frozenset(),
    ) -> None:
        """Say what is replied.

        Args:
            replies: A function of place and request; or a mapping from a place, or from a place's part, to
                the reply; or a sequence that is used up in the order of the calls. A text is a whole reply,
                an exception is raised.
            delay: Seconds that the call at a place takes; none without it.
            offers: What it claims to offer beyond plain chat.
        """
        self._replies = replies
        self._delay = delay
        self._offers = offers
        self.calls: list[tuple[Place, Request]] = []

    @property
    def offers(self) -> frozenset[str]:
        """What it claims to offer beyond plain chat."""
        return self._offers

    def logical(self, place: Place, request: Request) -> Mapping[str, object]:
        """Resolve a request as a server's client would."""
        return {
            "role": request.role,
            "model": "scripted",
            "messages": [[turn.role, turn.content] for turn in request.messages],
            "temperature": request.temperature,
            "schema": request.schema,
            "seed": place.seed(0),
        }

    async def complete(
        self, place: Place, request: Request, *, sent: Callable[[], None] = lambda: None
    ) -> Completion:
        """Return the reply for `place`; the request leaves at once.

        Raises:
            LookupError: there is no reply for it.
            Exception: the reply is an exception.
        """
        sent()
        number = len(self.calls)
        self.calls.append((place, request))
        reply = self._reply(place, request, number)
        if self._delay is not None:
            await asyncio.sleep(self._delay(place))
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        prompt = sum(len(turn.content.split()) for turn in request.messages)
        return Completion(reply, usage=Usage(prompt, len(reply.split())))

    def _reply(self, place: Place, request: Request, number: int) -> Reply:
        replies = self._replies
        if callable(replies):
            return replies(place, request)
        if isinstance(replies, Mapping):
            key = place if place in replies else place.part
            if key in replies:
                return replies[key]
        elif number < len(replies):
            return replies[number]
        raise LookupError(f"no reply is scripted for call {number}, {place}")
