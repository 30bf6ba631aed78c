"""A language model that says what it is told to: for tests, dry runs and examples.

Knows: replies by place. Counts tokens as words, so that accounting can be checked by hand.
Uses no network and no clock other than the delays it is given.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from .base import Completion, Place, Pooled, Pooling, Request, Usage, no_scores
from .replies.ends import settle

Reply = str | Completion | Exception
Replies = Callable[[Place, Request], Reply] | Sequence[Reply] | Mapping[Place | str, Reply]
Score = Pooled | Sequence[Sequence[float]] | Exception
Scores = Callable[[Place, Pooling], Score] | Sequence[Score] | Mapping[Place | str, Score]

Asked = TypeVar("Asked", Request, Pooling)
Said = TypeVar("Said")


class Scripted:
    """A language model with known replies.

    Attributes:
        calls: Every call in the order in which it was made, also those that failed or were cancelled.
        pools: Every call for scores, in the same way.
    """

    def __init__(
        self,
        replies: Replies,
        *,
        scores: Scores | None = None,
        delay: Callable[[Place], float] | None = None,
        offers: frozenset[str] = frozenset(),
    ) -> None:
        """Say what is replied.

        Args:
            replies: A function of place and request; or a mapping from a place, or from a place's part, to
                the reply; or a sequence that is used up in the order of the calls. A text is a whole reply,
                cut at a stop string where the request has one; an exception is raised.
            scores: What a reward model says, in the same three forms: rows, or an exception.
            delay: Seconds that the call at a place takes; none without it.
            offers: What it claims to offer beyond plain chat.
        """
        self._replies = replies
        self._scores = scores
        self._delay = delay
        self._offers = offers
        self.calls: list[tuple[Place, Request]] = []
        self.pools: list[tuple[Place, Pooling]] = []

    @property
    def offers(self) -> frozenset[str]:
        """What it claims to offer beyond plain chat."""
        return self._offers

    def logical(self, place: Place, request: Request | Pooling) -> Mapping[str, object]:
        """Resolve a request as a server's client would."""
        plain: dict[str, object] = {
            "role": request.role,
            "model": "scripted",
            "messages": [list(turn) for turn in request.messages],
        }
        if isinstance(request, Pooling):
            return plain | {"text": request.text, "task": request.task, "raw": request.raw}
        more = {
            "begun": request.begun,
            "begun_ids": request.begun_ids,
            "stop": request.stop,
            "max_tokens": request.max_tokens,
            "labels": request.labels,
        }
        plain |= {"temperature": request.temperature, "schema": request.schema, "seed": place.seed(0)}
        plain |= {} if request.logprobs is None else {"logprobs": request.logprobs}
        return plain | {name: value for name, value in more.items() if value}

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
        reply = _found(self._replies, place, request, number)
        await self._wait(place)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        said = Completion(reply)
        if request.begun or request.stop:
            cut = settle(said, request.stop)
            # A script that holds no stop string says all there is to say.
            said = Completion(cut.text, stop=cut.stop or "")
        prompt = _words([*(turn.content for turn in request.messages), request.begun])
        return replace(said, usage=Usage(prompt, _words([said.text])))

    async def pool(
        self, place: Place, pooling: Pooling, *, sent: Callable[[], None] = lambda: None
    ) -> Pooled:
        """Return the scores for `place`; the request leaves at once.

        Raises:
            UsageError: it was made without scores.
            LookupError: there are none for it.
            Exception: the scores are an exception.
        """
        if self._scores is None:
            raise no_scores(pooling)
        sent()
        number = len(self.pools)
        self.pools.append((place, pooling))
        score = _found(self._scores, place, pooling, number)
        await self._wait(place)
        if isinstance(score, Exception):
            raise score
        if isinstance(score, Pooled):
            return score
        words = _words([*(turn.content for turn in pooling.messages), pooling.text])
        return Pooled(tuple(tuple(map(float, row)) for row in score), Usage(words))

    async def _wait(self, place: Place) -> None:
        if self._delay is not None:
            await asyncio.sleep(self._delay(place))


def _found(
    script: Callable[[Place, Asked], Said] | Sequence[Said] | Mapping[Place | str, Said],
    place: Place,
    asked: Asked,
    number: int,
) -> Said:
    if callable(script):
        return script(place, asked)
    if isinstance(script, Mapping):
        key = place if place in script else place.part
        if key in script:
            return script[key]
    elif number < len(script):
        return script[number]
    raise LookupError(f"no reply is scripted for call {number}, {place}")


def _words(texts: Sequence[str]) -> int:
    return sum(len(text.split()) for text in texts)
