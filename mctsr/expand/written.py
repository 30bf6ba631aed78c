"""What was written for one step so far, over one call or several.

Knows how replies add up, whether more is wanted, and what of them is the step. Asks for nothing itself.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from mctsr.lm.base import Completion, Token

from .blocks import find_opened
from .boundary import Boundary, step_end
from .thoughts import OPENING, Parted, part

T = TypeVar("T")
Thought = Literal["after", "inside"]

MOST_BLANK = 3
"""Replies of nothing but space after which a step is given up."""


class Step(NamedTuple):
    """A step as it was written.

    Attributes:
        text: The step, its separator at the end where the server gave it.
        thought: The thought before it, with its tags.
        ids: Its token ids and those of the thought; empty when they are not known to the last character.
        logprob: Sum of its tokens' log-probabilities in nats; None when unknown.
        tokens: How many tokens it and its thought took.
        ended: The model ended its turn.
        cut: The model was cut off.
        swallowed: It is whole, but the server may have kept its separator to itself.
    """

    text: str
    thought: str
    ids: tuple[int, ...]
    logprob: float | None
    tokens: int
    ended: bool
    cut: bool
    swallowed: bool


@dataclass(slots=True)
class Written:
    """The replies to the calls for one step.

    Attributes:
        boundary: Where it ends.
        before: The solution it continues.
        thought: Whether a thought is taken apart ("after") or is text ("inside").
        opened: Whether the reply begins inside a thought.
        raw: All that was written.
        ids: Its token ids; None when those of any reply are unknown.
        tokens: Its tokens with their log-probabilities; None when those of any reply are unknown.
        thought_tokens: How many tokens went into the thought.
        step_tokens: How many tokens went into the step.
        complete: Nothing more is wanted.
        replies: How many replies there were.
        ended: The model ended its turn.
        cut: The server broke off, for a reason other than length.
        swallowed: The last reply ended as it should, but without any of its stop strings.
    """

    boundary: Boundary
    before: str = ""
    thought: Thought = "after"
    opened: bool = False
    raw: str = ""
    ids: list[int] | None = field(default_factory=list)
    tokens: list[Token] | None = field(default_factory=list)
    thought_tokens: int = 0
    step_tokens: int = 0
    complete: bool = False
    replies: int = 0
    ended: bool = False
    cut: bool = False
    swallowed: bool = False

    @property
    def parted(self) -> Parted:
        """The thought and what follows it."""
        return part(self.raw, opened=self.opened) if self.thought == "after" else Parted("", self.raw, "")

    @property
    def closer(self) -> str:
        """What would end the thought or block that is open; "" when none is."""
        parted = self.parted
        if parted.closer:
            return parted.closer
        opened = find_opened(self._open_before() + parted.said)
        return opened.closer if opened else ""

    def add(self, reply: Completion, stop: Sequence[str], limit: int) -> None:
        """Take a reply to a call that was to end at one of `stop`, after `limit` tokens at the latest.

        One that was cut off earlier met a limit of the server or the user: the rest is asked for.
        """
        self._count(reply, limit)
        self._keep(reply)
        self.ended = reply.finish == "stop" and reply.stop == ""
        if self.ended or reply.finish == "other":
            self.complete, self.cut = True, not self.ended
        elif reply.finish == "stop" and reply.stop is None:
            self._untold(reply, stop)
        self.complete |= self._end() > 0
        self.replies += 1
        self.complete |= self.replies == MOST_BLANK and not self.raw.strip()

    def step(self) -> Step:
        """Return the step; what was written beyond its end is given up."""
        thought, said, _ = self.parted
        text = said[: self._end() or None]
        whole = len(text) == len(said)
        tokens = _up_to(self.tokens, len(thought) + len(text))
        ids = self.ids if whole else [token.id for token in tokens or () if token.id is not None]
        exact = whole or len(ids or ()) == len(tokens or ())
        return Step(
            text=text,
            thought=thought,
            ids=tuple(ids or ()) if exact else (),
            logprob=_sum(self.tokens if whole else tokens),
            tokens=self.thought_tokens + self.step_tokens if whole or tokens is None else len(tokens),
            ended=self.ended and whole,
            cut=(self.cut or not self.complete) and whole,
            swallowed=self.swallowed and whole,
        )

    def _end(self) -> int:
        """Return where the step ends in what was said; 0 when it does not, or a block is open there."""
        said, open_before = self.parted.said, self._open_before()
        end = step_end(said, self.boundary, self.before)
        opened = find_opened(open_before + said)
        return 0 if opened and opened.start < len(open_before) + end else end

    def _open_before(self) -> str:
        """Return the block in which what came before was cut off."""
        opened = find_opened(self.before)
        return self.before[opened.start :] if opened else ""

    def _count(self, reply: Completion, limit: int) -> None:
        # A server without usage must not write for ever.
        unknown = limit if reply.finish == "length" else 1
        tokens = reply.usage.completion_tokens or len(reply.ids) or len(reply.tokens) or unknown
        if self.parted.closer:
            self.thought_tokens += tokens
        else:
            self.step_tokens += tokens

    def _keep(self, reply: Completion) -> None:
        text = reply.text
        if not text.strip() and reply.thought:
            # The server took the thought out of the text, and was stopped before it was at its end.
            text = reply.thought if self.parted.closer else f"{OPENING}\n{reply.thought}"
        self.ids = _joined(self.ids, reply.ids, text == reply.text, text)
        self.tokens = _joined(self.tokens, reply.tokens, text == reply.text, text)
        self.raw += text

    def _untold(self, reply: Completion, stop: Sequence[str]) -> None:
        """Take the end of a reply that was either a stop string, swallowed, or the end of the turn.

        Where something was said or is open, more is asked for: a model at its end will say nothing.
        """
        if reply.text.endswith(tuple(stop)) or self._end():
            return
        if self.closer:
            self.raw += stop[0]
            self.ids = self.tokens = None  # the model's tokens no longer say all of it
        elif self.parted.said.strip():
            self.swallowed = self.complete = True
        elif not reply.text.strip() and not reply.thought:
            self.ended = self.complete = True


def _joined(so_far: list[T] | None, more: Sequence[T], exact: bool, text: str) -> list[T] | None:
    """Add what a reply's text is made of; None when that is unknown."""
    known = so_far is not None and exact and (more or not text)
    return [*(so_far or ()), *more] if known else None


def _up_to(tokens: Sequence[Token] | None, length: int) -> list[Token] | None:
    """Return the tokens that make up the first `length` characters; None when no token ends there."""
    kept, reached = list[Token](), 0
    for token in tokens or ():
        if reached >= length:
            break
        kept.append(token)
        reached += len(token.text)
    return kept if reached == length and kept else None


def _sum(tokens: Sequence[Token] | None) -> float | None:
    total = math.fsum(token.logprob for token in tokens) if tokens else math.nan
    return total if math.isfinite(total) else None
