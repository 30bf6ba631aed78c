"""What is done with a field that a server was found not to take: another name, a smaller number, or none.

Knows: how a body is changed, and which numbers may be lowered. Does not know: how a server said so (`faults`), or
for how long it is remembered.
"""

from collections.abc import Mapping
from typing import NamedTuple

from mctsr.lm import faults

COUNTED = ("top_logprobs", "logprobs", "n_probs")
"""Fields that some servers take up to a number only; a smaller one is better than none."""

Change = str | int | None
"""What is done with a field that a server does not take: another name, the most that it takes, or left out."""


class Adapted(NamedTuple):
    """A body as a server takes it, and what had to be changed for that."""

    body: dict[str, object]
    notes: tuple[str, ...]


def adapt(body: Mapping[str, object], changes: Mapping[str, Change]) -> Adapted:
    """Drop (None), rename (a name) or lower (a number) the fields in `changes`; notes name those that were changed."""
    kept, notes = dict[str, object](), list[str]()
    for name, value in body.items():
        change = changes.get(name, name)
        if isinstance(change, int):
            lower = isinstance(value, int) and value > change
            kept[name] = change if lower else value
            notes += [f"lowered {name} to {change}"] if lower else []
        elif change != name:
            kept |= {change: value} if change else {}
            notes.append(f"renamed {name} to {change}" if change else f"dropped {name}")
        else:
            kept[name] = value
    return Adapted(kept, tuple(notes))


def lowered(fault: faults.Fault, blamed: str, body: Mapping[str, object]) -> tuple[str, int] | None:
    """Return the field of `body` that holds a larger number than the server takes, and what it takes.

    Args:
        fault: What the server said.
        blamed: The field that it is about; a server may name the switch and mean the number beside it.
        body: The request.
    """
    most = faults.most_allowed(fault)
    if blamed not in COUNTED or most is None:
        return None
    fields = dict.fromkeys((blamed, *COUNTED))
    too_large = (name for name in fields if type(value := body.get(name)) is int and value > most)
    return next(((name, most) for name in too_large), None)
