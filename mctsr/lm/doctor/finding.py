"""What a probe found, and the model that it asks.

Knows: how a probe fails without taking the others along. Does not know: what any probe asks, or how it is shown.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from mctsr.errors import MctsrError, UsageError
from mctsr.lm.base import LM, Completion, Message, Place, Request, Role

State = Literal["good", "weak", "bad", "unknown"]

PROBLEM = "doctor"
"""Stands in the places of the calls, where a search has a problem's id."""

NOTHING = "nothing was said"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one probe found.

    Attributes:
        probe: Its name.
        found: What was seen, in a few words.
        state: "good" as it should be, "weak" usable with a loss, "bad" nothing can be run, "unknown" not seen.
        means: What follows from it for whoever runs a search; "" for nothing.
        gives: Words of `LM.offers` that were seen to hold.
        lacks: Words of `LM.offers` that were seen not to hold.
    """

    probe: str
    found: str
    state: State = "good"
    means: str = ""
    gives: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()


class Bench(NamedTuple):
    """The model under examination.

    Attributes:
        lm: Asks it as a search would.
        role: The role that is examined.
        heard: Takes every reply, for who wants to look at all of them; None keeps none.
    """

    lm: LM
    role: Role = "policy"
    heard: list[Completion] | None = None

    async def ask(self, part: str, question: str, *, sample: int = 0, **fields: object) -> Completion:
        """Return one completion; `fields` are those of `Request`, temperature 0 unless it is given.

        Raises:
            UsageError, ServerError: as `LM.complete` does.
        """
        turns = (Message("user", question),)
        request = Request(turns, self.role, **{"temperature": 0.0, **fields})  # type: ignore[arg-type]
        reply = await self.lm.complete(Place(PROBLEM, 0, part, sample=sample), request)
        if self.heard is not None:
            self.heard.append(reply)
        return reply


def is_empty(reply: Completion) -> bool:
    """Say whether a reply holds nothing, and no hidden thought can be why."""
    hidden = reply.finish == "length" and reply.usage.completion_tokens > 0
    return not hidden and not reply.text.strip() and not reply.thought.strip()


def silent(probe: str) -> Finding:
    """Return what is found when the reply that a probe looks at is empty."""
    return Finding(probe, NOTHING, "unknown")


Probe = Callable[[Bench], Awaitable[Sequence[Finding]]]


async def tried(name: str, probe: Probe, bench: Bench) -> Sequence[Finding]:
    """Run a probe; one that cannot be carried out says so under its name."""
    try:
        return await probe(bench)
    except MctsrError as error:
        return [untried(name, error)]


def untried(name: str, error: MctsrError) -> Finding:
    """Return what is found when a probe could not be carried out."""
    return Finding(name, f"not tried: {error}", "unknown")


def unreached(error: MctsrError) -> Finding:
    """Return what is found when the server or the model behind a role cannot be had at all."""
    # What is wrong with a name is told of a server that has answered.
    return Finding("model" if isinstance(error, UsageError) else "reachable", str(error), "bad")
