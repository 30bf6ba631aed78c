"""Where a whole solution is cut: the beginnings of it that end with a step.

Knows texts and steps. Which of the beginnings are gone on from is for a selector.
"""

from itertools import accumulate

from .boundary import Boundary, split


def cut_ends(text: str, boundary: Boundary, begun: int = 0, most: int = 0) -> list[int]:
    """Return the indices behind which `text` goes on with another step, ascending; its own end is none of them.

    Args:
        text: A whole solution.
        boundary: What ends a step.
        begun: Characters that were there before; only cuts with a step behind these are wanted.
        most: Steps that what follows `begun` may have: of more, neighbours are taken together, as evenly as can be;
            0 for any number.
    """
    ends = [
        end
        for end in accumulate(map(len, split(text, boundary)))
        if end < len(text) and text[begun:end].strip() and text[end:].strip()
    ]
    if not most or len(ends) < most:
        return ends
    steps = len(ends) + 1
    return [ends[i * steps // most - 1] for i in range(1, most)]
