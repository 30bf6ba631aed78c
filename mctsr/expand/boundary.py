r"""Where a step ends: cutting a solution into steps, and what to stop a model at.

Knows separators, numbered headings and the blocks inside which nothing is cut. No character is ever lost: a step keeps
its separator at its end, so the steps of a text, joined, are the text. Knows nothing of models or answers.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import pairwise

from mctsr.errors import RecipeError

from .blocks import Block, find_blocks, find_opened

BLANK_LINE = "\n\n"

_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?(?:\*\*|__)?"
    r"(?:step[ \t]+(?P<step>[0-9]{1,4})\b|(?P<item>[0-9]{1,4})[.)](?=[ \t*]|\Z))",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Boundary:
    """What separates steps.

    Attributes:
        strings: A step ends behind any of them, and behind the empty lines that follow; a blank line by default.
        numbered: A step begins at a heading such as "Step 3:", "**Step 3.**" or "3." instead. Numbers must go up by
            one, and the first heading decides which of the two forms counts, so that a list inside a step is no
            boundary. What stands before the first heading belongs to the first step.

    Raises:
        RecipeError: There is no string, or an empty one.
    """

    strings: tuple[str, ...] = (BLANK_LINE,)
    numbered: bool = False

    def __post_init__(self) -> None:
        if not self.strings or not all(self.strings):
            raise RecipeError(
                f"the step boundary has the strings {self.strings!r}; give at least one, none of them empty"
            )

    def stops(self, begun: str) -> tuple[str, ...]:
        """Return the strings at which a model that continues `begun` has ended its step; four at most if numbered."""
        if not self.numbered:
            return self.strings
        last = _last_heading(begun)
        if last is None:
            return ("\nStep 2", "\n**Step 2", "## Step 2", "\n2.")
        # Behind a whole line the model writes the next heading itself, and the one after it ends its step.
        following = last.number + (2 if begun.endswith("\n") else 1)
        if last.is_item:
            return (f"\n{following}.", f"\n**{following}.")
        return (f"\nStep {following}", f"\n**Step {following}", f"## Step {following}")

    @property
    def separator(self) -> str:
        """What a step ends with when a server has swallowed it."""
        return "\n" if self.numbered else self.strings[0]


PARAGRAPHS = Boundary()
LINES = Boundary(("\n",))
NUMBERED = Boundary(numbered=True)
_NAMED = {"paragraph": PARAGRAPHS, "line": LINES, "numbered": NUMBERED}


def read_boundary(words: str) -> Boundary:
    r"""Return the boundary that a setting names: "paragraph", "line", "numbered", or a separator of one's own.

    In a separator `\n` and `\t` stand for a new line and a tabulator.

    Raises:
        RecipeError: The setting is empty, or nearly one of the names.
    """
    if not words:
        names = ", ".join(_NAMED)
        raise RecipeError(
            rf"boundary is empty; give {names} or a separator, in which a new line is written \n"
        )
    near = get_close_matches(words.lower(), _NAMED, 1, 0.75)
    if words not in _NAMED and near:
        raise RecipeError(
            f"boundary is {words!r}; did you mean {near[0]!r}? A separator must differ more from the names"
        )
    return _NAMED.get(words) or Boundary((words.replace("\\n", "\n").replace("\\t", "\t"),))


def split(text: str, boundary: Boundary = PARAGRAPHS) -> list[str]:
    """Cut a text into its steps: joined, they are the text; none of them is blank, unless the whole text is."""
    cuts = [0, *_cuts(text, boundary), len(text)]
    return _without_blanks([text[a:b] for a, b in pairwise(cuts) if a < b])


def step_end(text: str, boundary: Boundary, begun: str = "") -> int:
    """Return where the first step of `text`, which continues `begun`, ends; 0 when it does not end there.

    A blank beginning is no step. When `begun` was cut off inside a block, that block must be closed first.
    """
    opened = find_opened(begun)
    open_part = begun[opened.start :] if opened else ""
    last = _last_heading(begun) if boundary.numbered else None
    for cut in _cuts(open_part + text, boundary, last):
        end = cut - len(open_part)
        if end > 0 and text[:end].strip():
            return end
    return 0


def _without_blanks(pieces: Sequence[str]) -> list[str]:
    """Join a blank piece to the one behind it, the last one to the one before."""
    steps, blank = list[str](), ""
    for piece in pieces:
        if piece.strip():
            steps.append(blank + piece)
            blank = ""
        else:
            blank += piece
    if blank and steps:
        steps[-1] += blank
    elif blank:
        steps.append(blank)
    return steps


@dataclass(frozen=True, slots=True)
class _Heading:
    start: int
    number: int
    is_item: bool


def _cuts(text: str, boundary: Boundary, last: _Heading | None = None) -> Iterator[int]:
    """Yield the indices at which steps end, in order; `last` is the heading of what came before `text`."""
    if not boundary.numbered:
        ends = (match.end() for match in _separators(boundary.strings).finditer(text))
        yield from _outside(ends, find_blocks(text))
        return
    for heading in _headings(text, last):
        if last is not None and heading.start:
            yield heading.start
        last = heading


@cache
def _separators(strings: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(strings, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?:[ \t]*\n)*")


def _outside(cuts: Iterator[int], blocks: Sequence[Block]) -> Iterator[int]:
    """Leave out what lies inside a block."""
    number = 0
    for cut in cuts:
        while number < len(blocks) and blocks[number].end <= cut:
            number += 1
        if number == len(blocks) or cut <= blocks[number].start:
            yield cut


def _headings(text: str, last: _Heading | None = None) -> Iterator[_Heading]:
    """Yield the headings that count: outside of blocks, of one form, each number one above that before."""
    found = {match.start(): match for match in _HEADING.finditer(text)}
    for start in _outside(iter(found), find_blocks(text)):
        match = found[start]
        heading = _Heading(start, int(match["step"] or match["item"]), match["item"] is not None)
        if _follows(heading, last):
            yield heading
            last = heading


def _follows(heading: _Heading, last: _Heading | None) -> bool:
    """Say whether a heading counts; a list of items begins with the first one."""
    if last is None:
        return heading.number <= 1 or not heading.is_item
    return heading.is_item == last.is_item and heading.number == last.number + 1


@lru_cache(maxsize=64)  # siblings continue the same text
def _last_heading(text: str) -> _Heading | None:
    return next(iter(deque(_headings(text), maxlen=1)), None)
