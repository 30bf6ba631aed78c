"""The small parts that all replies share: finish reasons, usage, token ids.

Knows: how each is spelt. Does not know: in which layout of reply it stands.
"""

from collections.abc import Mapping

from mctsr.lm.base import Finish, Usage

_STOP = {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "completed"}
_LENGTH = {"length", "max_tokens", "max_output_tokens", "model_length"}
_BROKEN = {"abort", "error", "insufficient_system_resource"}


class Malformed(Exception):
    """A reply with HTTP 200 that does not hold what was asked for.

    Attributes:
        final: Another try would bring the same.
    """

    def __init__(self, words: str, *, final: bool = False) -> None:
        super().__init__(words)
        self.final = final


def finish_of(reason: object) -> Finish:
    """Read a finish reason; what no server is known to say is "other".

    Raises:
        Malformed: the server gave up in the middle.
    """
    if isinstance(reason, Mapping):
        reason = reason.get("type")
    word = str(reason).lower()
    if word in _BROKEN:
        raise Malformed(f"the server gave up in the middle (finish_reason {word!r})")
    return "stop" if word in _STOP else "length" if word in _LENGTH else "other"


def usage_of(usage: object, timings: object = None) -> Usage:
    """Read the counts of tokens: zero where there is none, but for cached ones, of which silence says nothing.

    Args:
        usage: As servers of the OpenAI kind count; cached tokens have one of three names.
        timings: llama.cpp's own, which older builds alone count them in.
    """
    counts = usage if isinstance(usage, Mapping) else {}
    details = counts.get("prompt_tokens_details")
    places = (
        (details, "cached_tokens"),
        (counts, "prompt_cache_hit_tokens"),
        (counts, "cached_tokens"),
        (timings, "cache_n"),
    )
    told = (_count(place.get(name)) for place, name in places if isinstance(place, Mapping))
    cached = next((count for count in told if count is not None), None)
    return Usage(
        _count(counts.get("prompt_tokens")) or 0, _count(counts.get("completion_tokens")) or 0, cached
    )


def _count(value: object) -> int | None:
    """Read a count; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 1e15 else None


def ids_of(value: object) -> tuple[int, ...]:
    """Read token ids; empty when there are none, or when one of them is no id."""
    if not isinstance(value, list) or not all(type(id) is int and id >= 0 for id in value):
        return ()
    return tuple(value)


def kind_of(value: object) -> str:
    """Say in words what kind of JSON a value is."""
    return {str: "a text", list: "a list", dict: "an object", type(None): "null"}.get(type(value), "a number")


def surrogates(replaced: int, where: str) -> str:
    """Note that lone surrogates were replaced."""
    return f"replaced {replaced} lone surrogates in the {where}"
