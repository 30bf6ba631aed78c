"""What is asked of a model, and where in a search the asking stands.

This module knows nothing of HTTP, of files, or of what the text means.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, NamedTuple

Role = Literal["policy", "judge", "prm"]
Task = Literal["pooling", "classify"]


class Place(NamedTuple):
    """Where in a search a call belongs; its name for ever, whatever the load.

    Attributes:
        problem: Id of the problem.
        ask: Number of the ask, 0 for the opening.
        part: What the call is for: "answer", "critique", "rewrite", "score" ….
        draft: Which of the ask's drafts, from 0; -1 for the asked node itself.
        sample: Which of several samples of the same thing, from 0.
        attempt: Which try at a reply that can be parsed, from 0.
    """

    problem: str
    ask: int
    part: str
    draft: int = 0
    sample: int = 0
    attempt: int = 0

    def seed(self, run_seed: int) -> int:
        """Derive the call's seed, in [0, 2**31)."""
        name = "\x1f".join(map(str, (run_seed, *self))).encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(name, digest_size=4).digest(), "big") >> 1


class Message(NamedTuple):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a part wants said: a chat, and what it must know about the reply.

    Attributes:
        messages: The turns, the last one from the user.
        role: Which model answers; its settings supply everything not given here.
        temperature: Overrides the role's default, but not what the user asked for; None keeps the default.
        schema: JSON Schema that the reply must satisfy where the server can enforce one.
        begun: The assistant's turn so far; the reply continues it and holds the continuation only. Without messages it
            is all that the model reads: plain text, with no template around it.
        begun_ids: The same as token ids, when those of all its steps are known; else empty.
        stop: Strings that end the reply; the one that was hit stays at the end of its text.
        max_tokens: Longest reply in tokens, > 0, where that is less than the role's limit.
        logprobs: How many alternatives to report a token, >= 0; None reports no log-probabilities.
        labels: Words to report instead, however unlikely, where the server can and each is one token.
    """

    messages: tuple[Message, ...]
    role: Role = "policy"
    temperature: float | None = None
    schema: Mapping[str, object] | None = None
    begun: str = ""
    begun_ids: tuple[int, ...] = ()
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    logprobs: int | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pooling:
    """What a reward model is to score: a chat or one text.

    Attributes:
        messages: The turns, rendered by the model's own template without a further turn opened; or empty.
        text: The text as the model reads it, when there are no messages.
        task: "pooling" for scores of tokens or steps, "classify" for one row for the whole.
        role: Which model scores.
        raw: Whether logits are wanted instead of what the model's activation makes of them.
    """

    messages: tuple[Message, ...] = ()
    text: str = ""
    task: Task = "pooling"
    role: Role = "prm"
    raw: bool = False
