"""Asking for the log-probabilities of chosen words, where a server reports those of ids that it is given.

Alternatives beyond a server's limit are not told, and some limits are low; ids that are asked for always are. Knows:
vLLM's field for them (from 0.25; older ones pass it over) and its /tokenize. Does not know: what the words mean.
"""

from dataclasses import replace

from mctsr.errors import ServerError
from mctsr.lm.base import Completion
from mctsr.lm.dialects import Logical
from mctsr.lm.replies.fields import ids_of

from .asked import Asked, Door

_FIELD = "logprob_token_ids"


async def with_labels(asked: Asked[Completion], logical: Logical, door: Door) -> Asked[Completion]:
    """Add the ids of the request's labels, of those that are one token each; as it was where there are none."""
    words = logical.get("labels", ())
    if door.kind != "vllm" or not words or "logprobs" not in logical:
        return asked
    try:
        found = [await _ids(word, logical["model"], door) for word in words]
    except ServerError:
        return asked  # the alternatives that come anyway must do
    ids = sorted({ids[0] for ids in found if len(ids) == 1})
    return replace(asked, body={_FIELD: ids, **asked.body}) if ids else asked


async def _ids(word: str, model: str, door: Door) -> tuple[int, ...]:
    body = {"model": model, "prompt": word, "add_special_tokens": False}
    return ids_of((await door.fetch(f"{door.root}/tokenize", body)).get("tokens"))
