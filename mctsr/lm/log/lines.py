"""The lines of a call log: their shapes, and how replies, scores and costs are written and read back.

Knows: which fields are left out where they hold nothing, so that older logs stay readable.
Does not know: the file, or what the lines mean for a search.
"""

from typing import Literal, NotRequired, TypedDict

from mctsr.errors import ContextOverflow, ServerError
from mctsr.lm.base import Completion, Finish, Pooled, Role, Tally, Token, Usage


class UsageLine(TypedDict):
    """Tokens, as in `Usage`."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None


class SentLine(TypedDict):
    """A request is about to leave; `place` as in `Place`."""

    t: Literal["sent"]
    key: str
    place: tuple[str, int, str, int, int, int]
    hash: str


class ReplyLine(TypedDict):
    """A completion came; the fields of `Completion`, those beyond plain chat only where they hold something."""

    t: Literal["reply"]
    key: str
    text: str
    finish: Finish
    thought: str
    usage: UsageLine
    seconds: float
    retries: int
    wire: list[str]
    stop: NotRequired[str]
    ids: NotRequired[list[int]]
    tokens: NotRequired[list[tuple[str, float, int | None, list[tuple[str, float]]]]]


class PooledLine(TypedDict):
    """Scores came; the fields of `Pooled`."""

    t: Literal["pooled"]
    key: str
    rows: list[list[float]]
    usage: UsageLine
    seconds: float
    retries: int
    wire: list[str]


class FailedLine(TypedDict):
    """A call failed for good."""

    t: Literal["failed"]
    key: str
    kind: str
    status: int
    retries: int
    message: str


class ChargedLine(TypedDict):
    """What calls in flight had cost; the fields of `Tally`."""

    calls: int
    usage: UsageLine
    seconds: float
    retried: int
    failed: int
    truncated: int
    empty: int
    wire: list[str]
    reasked: int
    roles: NotRequired[dict[Role, UsageLine]]


class DecisionLine(TypedDict):
    """Something was decided after so many folds."""

    t: Literal["decision"]
    after: int
    what: str
    charged: ChargedLine


EndLine = ReplyLine | PooledLine | FailedLine
Line = SentLine | EndLine | DecisionLine


def charged_of(tally: Tally) -> ChargedLine:
    """Write down what calls had cost."""
    line: ChargedLine = {
        "calls": tally.calls,
        "usage": _usage_line(tally.usage),
        "seconds": tally.seconds,
        "retried": tally.retried,
        "failed": tally.failed,
        "truncated": tally.truncated,
        "empty": tally.empty,
        "wire": sorted(tally.wire),
        "reasked": tally.reasked,
    }
    if tally.roles:
        line["roles"] = {role: _usage_line(usage) for role, usage in tally.roles.items()}
    return line


def tally_of(line: ChargedLine) -> Tally:
    """Read what calls had cost."""
    return Tally(
        calls=line["calls"],
        usage=_usage(line["usage"]),
        seconds=line["seconds"],
        retried=line["retried"],
        failed=line["failed"],
        truncated=line["truncated"],
        empty=line["empty"],
        wire=frozenset(line["wire"]),
        reasked=line["reasked"],
        roles={role: _usage(usage) for role, usage in line.get("roles", {}).items()},
    )


def reply_of(key: str, reply: Completion | Pooled) -> ReplyLine | PooledLine:
    """Write down what came."""
    if isinstance(reply, Pooled):
        return {
            "t": "pooled",
            "key": key,
            "rows": [list(row) for row in reply.rows],
            "usage": _usage_line(reply.usage),
            "seconds": reply.seconds,
            "retries": reply.retries,
            "wire": list(reply.wire),
        }
    line: ReplyLine = {
        "t": "reply",
        "key": key,
        "text": reply.text,
        "finish": reply.finish,
        "thought": reply.thought,
        "usage": _usage_line(reply.usage),
        "seconds": reply.seconds,
        "retries": reply.retries,
        "wire": list(reply.wire),
    }
    if reply.stop is not None:
        line["stop"] = reply.stop
    if reply.ids:
        line["ids"] = list(reply.ids)
    if reply.tokens:
        line["tokens"] = [(t.text, t.logprob, t.id, list(t.top)) for t in reply.tokens]
    return line


def completion_of(line: EndLine) -> Completion:
    """Return the completion that a line holds, or fail as the call failed."""
    line = _ended(line)
    assert line["t"] == "reply"
    return Completion(
        text=line["text"],
        finish=line["finish"],
        thought=line["thought"],
        usage=_usage(line["usage"]),
        seconds=line["seconds"],
        retries=line["retries"],
        wire=tuple(line["wire"]),
        stop=line.get("stop"),
        ids=tuple(line.get("ids", ())),
        tokens=tuple(_token(*row) for row in line.get("tokens", ())),
    )


def pooled_of(line: EndLine) -> Pooled:
    """Return the scores that a line holds, or fail as the call failed."""
    line = _ended(line)
    assert line["t"] == "pooled"
    rows = tuple(tuple(map(float, row)) for row in line["rows"])
    return Pooled(rows, _usage(line["usage"]), line["seconds"], line["retries"], tuple(line["wire"]))


def _ended(line: EndLine) -> ReplyLine | PooledLine:
    if line["t"] == "failed":
        kind = ContextOverflow if line["kind"] == ContextOverflow.kind else ServerError
        raise kind(line["message"], status=line["status"], retries=line["retries"])
    return line


def _token(text: str, logprob: float, id: int | None, top: list[tuple[str, float]]) -> Token:
    return Token(text, logprob, id, tuple((other, value) for other, value in top))


def _usage(line: UsageLine) -> Usage:
    return Usage(line["prompt_tokens"], line["completion_tokens"], line["cached_tokens"])


def _usage_line(usage: Usage) -> UsageLine:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
    }
