"""What comes back from a model, and what it took.

This module knows nothing of HTTP, of files, or of what the text means.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Finish = Literal["stop", "length", "other"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them.

    Attributes:
        prompt_tokens: Read.
        completion_tokens: Written.
        cached_tokens: Those of `prompt_tokens` that its prefix cache held; None where it does not tell. A sum is
            over what was told: some servers are silent about the calls that found nothing (vLLM), so that silence
            beside a number means zero.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            _told(self.cached_tokens, other.cached_tokens),
        )

    @property
    def total_tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


def _told(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else first + second


class Token(NamedTuple):
    """One token of a reply.

    Attributes:
        text: Its characters.
        logprob: Natural logarithm of its probability, <= 0; servers say -9999 for "never".
        id: Its number in the model's vocabulary, where the server tells it.
        top: What could have stood there, as text and log-probability, best first; holds the token itself.
    """

    text: str
    logprob: float
    id: int | None = None
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """One finished sequence.

    Attributes:
        text: What the model said, without its thought.
        finish: "stop" when the model ended by itself, "length" when it was cut off.
        thought: The reasoning a server reports apart from the text; "" when there is none.
        usage: Tokens of this call.
        seconds: Wall time of the successful attempt.
        retries: Failed attempts before it.
        wire: What had to be changed for this server, e.g. "dropped response_format".
        stop: The stop string that was hit, "" for the model's own end; None when it was cut off, when the
            server does not tell, or when the request neither continued a turn nor had a stop string.
        ids: Token ids of the text, without that of an end of turn, where the server gives them.
        tokens: The tokens with their log-probabilities, when those were asked for and given.
    """

    text: str
    finish: Finish = "stop"
    thought: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    retries: int = 0
    wire: tuple[str, ...] = ()
    stop: str | None = None
    ids: tuple[int, ...] = ()
    tokens: tuple[Token, ...] = ()


class Pooled(NamedTuple):
    """What a reward model said of one chat or text.

    Attributes:
        rows: Finite numbers, one row for each scored token or step, or one for the whole.
        usage: Tokens of this call.
        seconds: Wall time of the successful attempt.
        retries: Failed attempts before it.
        wire: What had to be changed for this server.
    """

    rows: tuple[tuple[float, ...], ...]
    usage: Usage = Usage()
    seconds: float = 0.0
    retries: int = 0
    wire: tuple[str, ...] = ()
