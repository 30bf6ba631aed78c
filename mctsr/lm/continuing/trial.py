"""The trial that shows whether a way works: a tiny begun text must be gone on with, not answered anew.

Knows: what is asked and what shows. Does not know: which ways there are.
"""

from collections.abc import Mapping

from mctsr.errors import ContextOverflow, ServerError, ServerGone
from mctsr.lm.asking.asked import Asked, Door
from mctsr.lm.asking.call import Call, Slots
from mctsr.lm.asking.sender import Sender
from mctsr.lm.base import Completion
from mctsr.lm.dialects import Logical

from .way import Way

BEGUN = "a, b, c, d, e, f, g, h, i, j,"
_QUESTION = "Write the letters of the English alphabet in order, in lower case, separated by commas."
_NEXT = "k"
_SEEDS = (1, 2)
_BUSY = {0, 401, 408, 429, 502, 503, 504}


def goes_on(text: str) -> bool:
    """Say whether a text goes on where the begun one ends."""
    return text.lstrip(" ,\n").startswith(_NEXT)


async def proven(
    way: Way, sender: Sender, model: str, extra: Mapping[str, object], slots: Slots
) -> Way | None:
    """Try a way out, twice at temperature 0, and return it as it works here; None when it does not.

    Raises:
        ServerError: the server is busy, gone or wants another key, which says nothing of the way.
    """
    found: Way | None = way
    for seed in _SEEDS:
        if found is None:
            return None
        found = await _tried(found, sender, _trial(model, seed, extra), slots)
    return found


async def _tried(way: Way, sender: Sender, logical: Logical, slots: Slots) -> Way | None:
    seen: list[Asked[Completion]] = []

    async def prepare(door: Door) -> Asked[Completion]:
        seen[:] = [await way.ask(logical, door)]
        return seen[0]

    try:
        reply = await sender.send(Call(prepare, slots, logical["seed"], most=2))
    except (ContextOverflow, ServerGone):
        raise
    except ServerError as error:
        if error.status in _BUSY:
            raise
        return None
    return way.proven(seen[0], reply)


def _trial(model: str, seed: int, extra: Mapping[str, object]) -> Logical:
    return {
        "role": "policy",
        "model": model,
        "messages": [{"role": "user", "content": _QUESTION}],
        "max_tokens": 6,
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": seed,
        "schema": None,
        "extra_body": extra,
        "begun": BEGUN,
    }
