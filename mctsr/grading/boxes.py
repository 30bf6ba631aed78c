r"""Boxes: where `\boxed{...}` and `\fbox{...}` stand in a text, and what they hold.

Knows TeX braces and nothing about answers. One pass over the text, whatever it holds: unclosed braces
cost nothing, a box that is never closed is no box, and of nested boxes only the innermost counts.
"""

import re
from typing import NamedTuple

_TOKEN = re.compile(r"\\(?:boxed|fbox)\s*(?:(?P<open>\{)|(?P<digits>[0-9]+))|\\.|[{}]", re.DOTALL)
_GAP_FILLER = re.compile(r"[\s$}]|\\[()\[\],;:! ]|\\q?quad|\\text\{")
_JOINERS = {",", "and", ",and"}
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
    """Tell whether only a comma or "and" stands between two boxes of `text`."""
    if not 0 <= right.start - left.end <= _LONGEST_GAP:
        return False
    return _GAP_FILLER.sub("", text[left.end : right.start]) in _JOINERS


def last_boxed(text: str) -> str | None:
    """Return the content of the last box, or None when the text has none."""
    boxes = find_boxes(text)
    return boxes[-1].content if boxes else None
