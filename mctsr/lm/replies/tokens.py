"""Tokens and their log-probabilities, in every layout in which servers write them.

Knows: chat's list of objects, the parallel lists of the older completions endpoint, llama.cpp's own.
Does not know: what the tokens mean. What is no number is left out; minus infinity is -9999, as vLLM writes it.
"""

import math
from collections.abc import Mapping, Sequence

from mctsr.lm import wire
from mctsr.lm.base import Token

NEVER = -9999.0
"""Stands for the logarithm of 0."""

Pair = tuple[str, float]


def tokens_of(logprobs: object, ids: Sequence[int] = ()) -> tuple[Token, ...]:
    """Read the tokens of a choice; `ids` number them where there are as many.

    Args:
        logprobs: The choice's `logprobs`, or llama.cpp's list of tokens; anything else holds none.
        ids: Token ids of the choice.
    """
    if isinstance(logprobs, Mapping):
        content = logprobs.get("content")
        found = _parallel(logprobs) if content is None else _listed(content)
    else:
        found = _listed(logprobs)
    if len(found) != len(ids):
        return found
    return tuple(token._replace(id=id) for token, id in zip(found, ids, strict=True))


def _listed(entries: object) -> tuple[Token, ...]:
    if not isinstance(entries, list):
        return ()
    return tuple(_token(entry) for entry in entries if isinstance(entry, Mapping))


def _token(entry: Mapping[str, object]) -> Token:
    others = entry.get("top_logprobs")
    pairs = (
        [_pair(other) for other in others if isinstance(other, Mapping)] if isinstance(others, list) else []
    )
    text, logprob = _pair(entry)
    id = entry.get("id")
    return Token(text, logprob, id if type(id) is int else None, _ranked((text, logprob), pairs))


def _parallel(lists: Mapping[str, object]) -> tuple[Token, ...]:
    texts, values, tops = (lists.get(name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    if not isinstance(texts, list) or not isinstance(values, list) or len(texts) != len(values):
        return ()
    if not isinstance(tops, list) or len(tops) != len(texts):
        tops = [None] * len(texts)
    return tuple(_row(_text(t), _number(v), top) for t, v, top in zip(texts, values, tops, strict=True))


def _row(text: str, logprob: float, top: object) -> Token:
    pairs = [(_text(t), _number(v)) for t, v in top.items()] if isinstance(top, Mapping) else []
    return Token(text, logprob, None, _ranked((text, logprob), pairs))


def _ranked(own: Pair, others: list[Pair]) -> tuple[Pair, ...]:
    """Order the alternatives, the token itself among them; alone it is none."""
    if not others:
        return ()
    pairs = others if any(text == own[0] for text, _ in others) else [own, *others]
    # Stable, so that equals keep the server's order.
    return tuple(sorted(pairs, key=lambda pair: -pair[1]))


def _pair(entry: Mapping[str, object]) -> Pair:
    return _text(entry.get("token")), _number(entry.get("logprob"))


def _text(value: object) -> str:
    return wire.clean(value).text if isinstance(value, str) else ""


def _number(value: object) -> float:
    number = finite(value)
    return NEVER if number is None else number


def finite(value: object) -> float | None:
    """Read a JSON value as a finite number; None for all else, such as true or an integer beyond any float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
