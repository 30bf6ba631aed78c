r"""Boxes: where `\boxed{...}` and `\fbox{...}` stand in a text, and what they hold.

Knows TeX braces and nothing about answers. One pass over the text, whatever it holds: unclosed braces
cost nothing, a box that is never closed is no box, and of nested boxes only the innermost counts.
"""

import re
from typing import NamedTuple

_TOKEN = re.compile(r"\\(?:boxed|fbox)\s*(?:(?P<open>\{)|(?P<digits>[0-9]+))|\\.|[{}]", re.DOTALL)
_GAP_FILLER = re.compile(r"[\s$}]|\\[()\[\],;:! ]|\\q?quad|\\text\{")
_JOINER = re.compile(r"(?:,|,?(?:and|or))(?:([A-Za-z])=)?")
_NAME_BEFORE = re.compile(r"([A-Za-z])\s*=[\s$]*$")
_LONGEST_GAP = 40


class Box(NamedTuple):
    """One box.

    Attributes:
        start: index of the backslash.
        end: index behind the closing brace.
        content: the text between the braces.
    """

    start: int
    end: int
    content: str


def find_boxes(text: str) -> list[Box]:
    """List the closed innermost boxes of a text, in reading order. Linear time."""
    boxes: list[Box] = []
    opened: list[tuple[int, int]] = []  # (start of a box or -1, index behind the brace)
    for token in _TOKEN.finditer(text):
        brace = token.group()
        if token["digits"]:
            boxes.append(Box(token.start(), token.end(), token["digits"]))
        elif token["open"]:
            opened.append((token.start(), token.end()))
        elif brace == "{":
            opened.append((-1, token.end()))
        elif brace == "}" and opened:
            start, inside = opened.pop()
            holds_a_box = boxes and boxes[-1].start > start
            if start >= 0 and not holds_a_box:
                boxes.append(Box(start, token.end(), text[inside : token.start()]))
    return boxes


def are_neighbours(text: str, left: Box, right: Box) -> bool:
    """Tell whether only a comma, "and" or "or" stands between two boxes of `text` (and one name before both)."""
    if not 0 <= right.start - left.end <= _LONGEST_GAP:
        return False
    joiner = _JOINER.fullmatch(_GAP_FILLER.sub("", text[left.end : right.start]))
    if joiner is None or not joiner[1]:
        return joiner is not None
    name = _NAME_BEFORE.search(text, max(left.start - _LONGEST_GAP, 0), left.start)
    return name is not None and name[1] == joiner[1]


def last_group(text: str, boxes: list[Box]) -> list[Box]:
    """Return the last box together with the neighbours before it that a comma, "and" or "or" ties to it."""
    first = len(boxes) - 1
    while first > 0 and are_neighbours(text, boxes[first - 1], boxes[first]):
        first -= 1
    return boxes[max(first, 0) :]


def last_boxed(text: str) -> str | None:
    """Return the content of the last box, or of the last group with commas, or None without boxes."""
    group = last_group(text, find_boxes(text))
    return ", ".join(dict.fromkeys(box.content for box in group)) if group else None
