"""What every known recipe needs from the models, as its own parts say.

Knows: that a recipe with required arguments, or one that does not import, cannot tell. Imports every recipe.
"""

from typing import NamedTuple

from mctsr.errors import UsageError

from .registry import choose, names


class Needs(NamedTuple):
    """What one recipe needs.

    Attributes:
        name: Its name.
        words: Words of `LM.offers`.
        unknown: Why they cannot be told; "" when they are.
    """

    name: str
    words: frozenset[str]
    unknown: str = ""


def needs_of_all() -> list[Needs]:
    """Return the needs of every known recipe with its default arguments, in order of their names."""
    return [_needs(name) for name in names()]


def _needs(name: str) -> Needs:
    try:
        return Needs(name, choose(name).build().needs)
    except UsageError as error:
        return Needs(name, frozenset(), str(error))
