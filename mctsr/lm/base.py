"""What a language model is to us: one request in, one completion out, usage counted.

A call is one sequence. Several drafts are several calls, so that every sequence has its own place, seed,
log line and retry, and one failure never takes its siblings along.
This module knows nothing of HTTP, of files, or of what the text means.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, NamedTuple, Protocol

from mctsr.errors import ServerError

Role = Literal["policy", "judge"]
Finish = Literal["stop", "length", "other"]


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
    """

    messages: tuple[Message, ...]
    role: Role = "policy"
    temperature: float | None = None
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    @property
    def total_tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


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
    """

    text: str
    finish: Finish = "stop"
    thought: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    retries: int = 0
    wire: tuple[str, ...] = ()


class LM(Protocol):
    """A language model, or several behind one door (policy and judge)."""

    @property
    def offers(self) -> frozenset[str]:
        """What the server can do beyond plain chat: "logprobs", "prefill", "token_ids" …."""
        ...

    async def complete(self, place: Place, request: Request) -> Completion:
        """Return one completion.

        Raises:
            ServerError: The call failed for good.
            ContextOverflow: The prompt does not fit.
        """
        ...


class LogicalLM(LM, Protocol):
    """A language model that can say what it is going to ask, with all its settings."""

    def logical(self, place: Place, request: Request) -> Mapping[str, object]:
        """Resolve every setting of a request; its hash is part of the call's name."""
        ...

    async def complete(self, place: Place, request: Request, *, sent: Callable[[], None] = ...) -> Completion:
        """Return one completion, as `LM.complete` does.

        Args:
            place: The call's name.
            request: What is asked.
            sent: Called once, when the request is about to leave; what it raises ends the call.
        """
        ...


@dataclass(slots=True)
class Tally:
    """What calls have cost and how they went; one per ask, added up per problem when the ask is folded.

    Attributes:
        calls: Calls that the model replied to or failed, its retries not counted.
        usage: Tokens of the replies.
        seconds: Wall time of the successful attempts.
        retried: Attempts that failed before a reply or before the call was given up.
        failed: Calls without a reply, also those that never left.
        truncated: Replies that were cut off.
        empty: Replies without text.
        wire: What had to be changed for the servers.
        reasked: Those of `calls` that asked again because nothing could be read in the reply before.
    """

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    retried: int = 0
    failed: int = 0
    truncated: int = 0
    empty: int = 0
    wire: frozenset[str] = frozenset()
    reasked: int = 0

    def count(self, completion: Completion, *, attempt: int = 0) -> None:
        """Add one completion; `attempt` is that of its place."""
        self.calls += 1
        self.reasked += attempt > 0
        self.usage += completion.usage
        self.seconds += completion.seconds
        self.retried += completion.retries
        self.truncated += completion.finish == "length"
        self.empty += not completion.text.strip()
        if completion.wire:
            self.wire = self.wire.union(completion.wire)

    def fail(self, error: BaseException, *, attempt: int = 0) -> None:
        """Add a call that raised; one that was cancelled has not failed."""
        if not isinstance(error, Exception):
            return
        self.failed += 1
        if isinstance(error, ServerError):
            self.calls += 1
            self.reasked += attempt > 0
            self.retried += error.retries

    def add(self, other: "Tally") -> None:
        """Add another tally."""
        self.calls += other.calls
        self.usage += other.usage
        self.seconds += other.seconds
        self.retried += other.retried
        self.failed += other.failed
        self.truncated += other.truncated
        self.empty += other.empty
        self.wire |= other.wire
        self.reasked += other.reasked
