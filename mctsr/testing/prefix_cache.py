"""A server's prefix cache without the server: which prompt tokens it would find, and how few there could be.

As in vLLM, whole blocks of tokens are kept, each under all that stands before it; a prompt's last token is always
computed; replies are kept, too; who was used longest ago goes first, the end of a sequence before its beginning, and
nobody while he is in flight. A prompt sees the blocks of all that were begun before it, finished or not.
Does not know: texts, time, or who sends.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mctsr.errors import UsageError

BLOCK = 16
"""Tokens of a block, where servers have no other."""

_ROOT = -1


class Call(NamedTuple):
    """One sequence, as tokens."""

    prompt: Sequence[int]
    reply: Sequence[int]


@dataclass(slots=True)
class Held:
    """A sequence in flight.

    Attributes:
        cached: Tokens of its prompt that were found.
    """

    cached: int
    blocks: list[int] = field(repr=False)
    tail: list[int] = field(repr=False)


class PrefixCache:
    """The cache.

    Attributes:
        evicted: Blocks that were given up so far.
        most: Blocks held at once, at most; above the capacity where sequences in flight alone need more.
    """

    def __init__(self, capacity: int | None = None, block: int = BLOCK) -> None:
        """Make an empty cache.

        Args:
            capacity: Tokens that it holds, at least a block; None for no limit.
            block: Tokens of a block, >= 1; 1 is a radix cache.

        Raises:
            UsageError: A number is out of range.
        """
        if block < 1 or (capacity is not None and capacity < block):
            raise UsageError(f"capacity {capacity} and block {block}; a block is >= 1, and one must fit")
        self.evicted = self.most = 0
        self._size = block
        self._limit = None if capacity is None else capacity // block
        self._ids: dict[tuple[int, tuple[int, ...]], int] = {}
        self._keys: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._used: dict[int, int] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()
        self._next = 0

    def __len__(self) -> int:
        """Return the blocks held."""
        return len(self._keys)

    def begin(self, prompt: Sequence[int]) -> Held:
        """Look a prompt up and keep its blocks; `end` must follow."""
        whole, size = len(prompt) // self._size, self._size
        held, found, hit = Held(0, [], []), 0, True
        for start in range(0, whole * size, size):
            key = (held.blocks[-1] if held.blocks else _ROOT, tuple(prompt[start : start + size]))
            hit = hit and key in self._ids
            found += hit
            held.blocks.append(self._hold(key))
        held.cached = min(found * size, max((len(prompt) - 1) // size, 0) * size)
        held.tail = list(prompt[whole * size :])
        return held

    def end(self, held: Held, reply: Sequence[int]) -> None:
        """Keep what was written, too, and let the sequence go."""
        rest, size = [*held.tail, *reply], self._size
        for start in range(0, len(rest) - size + 1, size):
            key = (held.blocks[-1] if held.blocks else _ROOT, tuple(rest[start : start + size]))
            held.blocks.append(self._hold(key))
        for block in reversed(held.blocks):
            self._used[block] -= 1
            if not self._used[block]:
                self._idle[block] = None
        self._shrink(0)

    def _hold(self, key: tuple[int, tuple[int, ...]]) -> int:
        block = self._ids.get(key)
        if block is None:
            self._shrink(1)
            block, self._next = self._next, self._next + 1
            self._ids[key], self._keys[block], self._used[block] = block, key, 0
            self.most = max(self.most, len(self._keys))
        self._idle.pop(block, None)
        self._used[block] += 1
        return block

    def _shrink(self, room: int) -> None:
        """Give up idle blocks until `room` more fit, or none is idle."""
        while self._limit is not None and self._idle and len(self._keys) + room > self._limit:
            block, _ = self._idle.popitem(last=False)
            del self._ids[self._keys.pop(block)], self._used[block]
            self.evicted += 1


def computed(calls: Iterable[Call], cache: PrefixCache, flying: int = 1) -> int:
    """Send calls in their order, and return how many prompt tokens had to be computed.

    Args:
        calls: In the order in which they are sent.
        cache: What the server has; it is changed.
        flying: Calls in flight, >= 1: the oldest one ends when another one is to be sent.
    """
    total, begun = 0, list[tuple[Held, Call]]()
    for call in calls:
        if len(begun) >= flying:
            held, done = begun.pop(0)
            cache.end(held, done.reply)
        held = cache.begin(call.prompt)
        total += len(call.prompt) - held.cached
        begun.append((held, call))
    for held, done in begun:
        cache.end(held, done.reply)
    return total


def distinct(calls: Iterable[Call]) -> int:
    """Count the prompt tokens that no cache could save: each once after what stands before it, unless it was written.

    A token that one call wrote and another one reads after the same tokens is not counted, whoever came first.
    """
    nodes: dict[tuple[int, int], int] = {}
    read, written = set[int](), set[int]()
    for prompt, reply in calls:
        at = _ROOT
        for tokens, seen in ((prompt, read), (reply, written)):
            for token in tokens:
                at = nodes.setdefault((at, token), len(nodes))
                seen.add(at)
    return len(read - written)
