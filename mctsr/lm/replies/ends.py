"""How a reply ended: a stop string, the model's own end, or neither that is known.

Knows: what servers do with a stop string that was hit: some keep it, most cut it off, a few do not obey.
Does not know: in which layout a server tells of it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mctsr.lm.base import Completion, Token

CUT = "cut at the stop string"
"""What is noted when a text went on behind a stop string."""


class _Hit(NamedTuple):
    """A stop string in a text, and where it ends."""

    stop: str
    end: int


def settle(reply: Completion, stops: Sequence[str]) -> Completion:
    """Bring the end of a reply into one form: its stop string once at the end of the text, and named.

    A text that goes on behind a stop string is cut there; its ids then go, since a token may lie across the cut.

    Args:
        reply: As it was read, `stop` being what the server said.
        stops: The strings that were to end it.
    """
    hit = _first(reply.text, stops)
    if hit is not None:
        return _at(reply, hit)
    if reply.finish != "stop":
        return replace(reply, stop=None)
    told = reply.stop
    if told:
        return reply if reply.text.endswith(told) else replace(reply, text=reply.text + told)
    if told is None and stops:
        return reply
    # Without stop strings nothing but the model itself can have ended it.
    return replace(reply, stop="")


def _first(text: str, stops: Sequence[str]) -> _Hit | None:
    """Find the stop string that a growing text completes first; of several the longest."""
    hits = [_Hit(stop, at + len(stop)) for stop in stops if stop and (at := text.find(stop)) >= 0]
    return min(hits, key=lambda hit: (hit.end, -len(hit.stop)), default=None)


def _at(reply: Completion, hit: _Hit) -> Completion:
    if hit.end == len(reply.text):
        named = reply.stop if reply.stop and reply.text.endswith(reply.stop) else hit.stop
        return replace(reply, finish="stop", stop=named)
    return replace(
        reply,
        text=reply.text[: hit.end],
        finish="stop",
        stop=hit.stop,
        ids=(),
        tokens=_until(reply.tokens, hit.end),
        wire=(*reply.wire, CUT),
    )


def _until(tokens: Sequence[Token], end: int) -> tuple[Token, ...]:
    """Keep the tokens that begin before `end` characters."""
    kept, length = [], 0
    for token in tokens:
        if length >= end:
            break
        kept.append(token)
        length += len(token.text)
    return tuple(kept)
