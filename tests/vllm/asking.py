"""The product's own models, as connected to real servers, with every call kept for looking at."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from mctsr.caller import Caller
from mctsr.lm.base import LM, Completion, Place, Pooled, Pooling, Request
from mctsr.lm.connect import Keys, connect
from mctsr.lm.options import RoleOptions, Settings
from mctsr.prompting import Prompts

from .serving import Served


class Call(NamedTuple):
    """One call that was answered."""

    place: Place
    request: Request
    reply: Completion

    @property
    def cached(self) -> int:
        """Tokens of its prompt that the server had in its cache."""
        return self.reply.usage.cached_tokens or 0

    @property
    def prompt(self) -> int:
        """Tokens of its prompt."""
        return self.reply.usage.prompt_tokens


class Kept:
    """A model in front of which everything is kept.

    Attributes:
        calls: Completions.
        pools: Scores.
    """

    def __init__(self, lm: LM) -> None:
        self._lm = lm
        self.calls: list[Call] = []
        self.pools: list[Pooled] = []

    @property
    def offers(self) -> frozenset[str]:
        """What the model offers."""
        return self._lm.offers

    async def complete(self, place: Place, request: Request) -> Completion:
        """Ask the model."""
        reply = await self._lm.complete(place, request)
        self.calls.append(Call(place, request, reply))
        return reply

    async def pool(self, place: Place, pooling: Pooling) -> Pooled:
        """Ask the model for scores."""
        pooled = await self._lm.pool(place, pooling)
        self.pools.append(pooled)
        return pooled

    def caller(self, ask: int = 1) -> Caller:
        """Return what a judge talks to."""
        return Caller(self, Prompts(), "p", ask)

    def hit_rate(self) -> float:
        """Return the share of prompt tokens that were cached."""
        return sum(call.cached for call in self.calls) / sum(call.prompt for call in self.calls)


@asynccontextmanager
async def connected(
    policy: Served, prm: Served | None = None, *, needs: frozenset[str] = frozenset(), max_tokens: int = 64
) -> AsyncIterator[Kept]:
    """Connect as `mctsr solve` does."""
    settings = Settings(
        policy=RoleOptions(policy.model, policy.url, max_tokens=max_tokens),
        prm=RoleOptions(prm.model, prm.url, max_tokens=max_tokens) if prm else None,
        timeout=240.0,
        max_retries=1,
    )
    async with connect(settings, Keys(), needs=needs) as found:
        yield Kept(found.models)
