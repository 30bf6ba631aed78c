r"""Blocks: the parts of a text inside which no step ends.

Knows code fences, `$$ … $$`, `\[ … \]` and `\begin{…} … \end{…}`. Knows nothing of steps or models. What opens and is
never closed is no block: a stray `$$` must not swallow the rest of a solution. Every search takes linear time.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

LONGEST_FORMULA = 4000
"""Characters after which a formula that was opened counts as text; code may be longer."""

_TOKEN = re.compile(
    r"""
      (?:^[ \t]*|(?<=[ \t:])(?=```\w))(?P<fence>```+|~~~+)(?P<info>[^`\n]*)$
    | \\begin\{(?P<begin>[^{}\n]{1,40})\}
    | \\end\{(?P<end>[^{}\n]{1,40})\}
    | (?P<square>\\[\[\]])
    | (?P<dollars>\$\$)
    | \\.
    """,
    re.MULTILINE | re.VERBOSE | re.DOTALL,
)


class Block(NamedTuple):
    """One outermost block.

    Attributes:
        start: Index of its first character.
        end: Index behind its last one.
    """

    start: int
    end: int


class Opened(NamedTuple):
    """A block that a text ends in.

    Attributes:
        start: Index of its first character.
        closer: The string that would close it.
    """

    start: int
    closer: str


def find_blocks(text: str) -> list[Block]:
    """List the outermost closed blocks of a text, in order; they do not overlap."""
    tokens = list(_TOKEN.finditer(text))
    return [Block(tokens[i].start(), tokens[j].end()) for i, j in _pairs(tokens) if j is not None]


@lru_cache(maxsize=64)  # siblings continue the same text
def find_opened(text: str) -> Opened | None:
    """Return the block in which a text ends, None when it ends outside."""
    tokens = list(_TOKEN.finditer(text))
    for i, j in _pairs(tokens):
        token = tokens[i]
        if j is None and (token["fence"] or len(text) - token.start() <= LONGEST_FORMULA):
            return Opened(token.start(), _closer(token))
    return None


def _closer(token: re.Match[str]) -> str:
    if token["fence"]:
        return str(token["fence"])
    if token["begin"]:
        return f"\\end{{{token['begin']}}}"
    return "$$" if token["dollars"] else "\\]"


def _pairs(tokens: Sequence[re.Match[str]]) -> Iterator[tuple[int, int | None]]:
    """Yield each outermost opening with its closing; what follows an unclosed one is looked at by itself."""
    closings, i = _closings(tokens), 0
    while i < len(tokens):
        token, closing = tokens[i], closings[i]
        opens = token["fence"] or token["begin"] or token["dollars"] or token["square"] == "\\["
        if opens:
            far = closing is not None and tokens[closing].end() - token.start() > LONGEST_FORMULA
            closing = None if far and not token["fence"] else closing
            if closing is not None or not far:
                yield i, closing
        i = i + 1 if closing is None or not opens else closing + 1


def _closings(tokens: Sequence[re.Match[str]]) -> list[int | None]:
    """Return for each token the one that would close what it opens."""
    found: list[int | None] = [None] * len(tokens)
    after: dict[str, int] = {}  # the next closing of each kind, seen from behind
    for i in reversed(range(len(tokens))):
        token = tokens[i]
        if token["fence"]:
            mark = token["fence"][0]
            found[i] = after.get(mark)
            if not token["info"].strip():
                after[mark] = i
        elif token["dollars"]:
            found[i] = after.get("$")
            after["$"] = i
        elif token["square"] == "\\[":
            found[i] = after.get("]")
        elif token["square"]:
            after["]"] = i
    _match_environments(tokens, found)
    return found


def _match_environments(tokens: Sequence[re.Match[str]], found: list[int | None]) -> None:
    """Match ends with beginnings of the same name; what was begun between and not ended is passed over."""
    stack: list[int] = []
    waiting: Counter[str] = Counter()
    for i, token in enumerate(tokens):
        if token["begin"]:
            stack.append(i)
            waiting[token["begin"]] += 1
        elif token["end"] and waiting[token["end"]]:
            found[_unwound(tokens, stack, waiting, token["end"])] = i


def _unwound(tokens: Sequence[re.Match[str]], stack: list[int], waiting: Counter[str], name: str) -> int:
    """Take beginnings off the stack until one has the name, and return it."""
    while True:
        top = stack.pop()
        waiting[tokens[top]["begin"]] -= 1
        if tokens[top]["begin"] == name:
            return top
