"""How a request and a reply look on the wire of the servers that call themselves OpenAI-like.

Knows: names of fields per kind of server, the shapes of replies, thoughts between tags, finish reasons.
Does not know: connections, retries, or what the text is for.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Literal, NamedTuple, TypedDict

from . import faults, wire
from .base import Completion, Finish, Role, Usage

Kind = Literal["vllm", "llama.cpp", "sglang", "ollama", "openai", "other"]

RENAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Fields that some servers know only by another name; without a limit a reply could run for ever."""

_SPARE_BYTES, _TOKEN_BYTES, _MOST_BYTES = 2 << 20, 256, 64 << 20
_PARTS = {"text", "output_text", "thinking", "reasoning", "refusal"}
_STOP = {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "completed"}
_LENGTH = {"length", "max_tokens", "max_output_tokens", "model_length"}
_BROKEN = {"abort", "error", "insufficient_system_resource"}
_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>", "[THINK]": "[/THINK]"}


class Logical(TypedDict):
    """A request with every setting resolved, before any server's dialect."""

    role: Role
    model: str
    messages: list[dict[str, str]]
    max_tokens: int
    temperature: float
    top_p: float
    seed: int
    schema: Mapping[str, object] | None
    extra_body: Mapping[str, object]


class Adapted(NamedTuple):
    """A body as a server takes it, and what had to be changed for that."""

    body: dict[str, object]
    notes: tuple[str, ...]


class Malformed(Exception):
    """A reply with HTTP 200 that holds no completion; worth another try."""


def chat_body(logical: Logical, kind: Kind) -> dict[str, object]:
    """Build the body of a chat request.

    Every sampling field is sent, since servers take missing ones from the model's own files: those that nobody
    set say "off". What OpenAI's server refuses outright is left out there. `extra_body` comes last, as it is.
    """
    limit = "max_completion_tokens" if kind == "openai" else "max_tokens"
    body: dict[str, object] = {
        "model": logical["model"],
        "messages": logical["messages"],
        limit: logical["max_tokens"],
        "temperature": logical["temperature"],
        "top_p": logical["top_p"],
        "seed": logical["seed"],
    }
    if kind != "openai":
        penalty = "repeat_penalty" if kind == "llama.cpp" else "repetition_penalty"
        body |= {"top_k": -1 if kind == "sglang" else 0, "min_p": 0.0, penalty: 1.0}
    if logical["schema"] is not None:
        schema = {"name": "reply", "strict": True, "schema": logical["schema"]}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    body.update(logical["extra_body"])
    return body


def adapt(body: Mapping[str, object], changes: Mapping[str, str | None]) -> Adapted:
    """Drop (None) or rename the fields in `changes`; notes name those that were in the body."""
    hit = {name: new for name, new in changes.items() if name in body}
    kept = {hit.get(name) or name: value for name, value in body.items() if hit.get(name, name) is not None}
    notes = tuple(f"renamed {name} to {new}" if new else f"dropped {name}" for name, new in hit.items())
    return Adapted(kept, notes)


def encode(body: Mapping[str, object]) -> tuple[bytes, tuple[str, ...]]:
    """Write a body as JSON that strict servers take; lone surrogates are replaced and noted."""
    text = wire.dumps(body)
    replaced = 0
    if b"\\ud" in text:
        cleaned, replaced = _clean_within(body)
        text = wire.dumps(cleaned)
    return text, (_surrogates(replaced, "request"),) if replaced else ()


def longest_reply(body: Mapping[str, object]) -> int:
    """Return how many bytes the reply to `body` may have: 2 MiB, 256 bytes a token, and never above 64 MiB.

    A token has about four characters; log-probabilities and thoughts beside the text fit in, too.
    """
    limits = [body.get(name) for name in RENAMES]
    tokens = max((limit for limit in limits if isinstance(limit, int)), default=0)
    return min(_SPARE_BYTES + _TOKEN_BYTES * max(tokens, 0), _MOST_BYTES)


def read(status: int, body: bytes, hide: Callable[[str], str] = str) -> Completion | faults.Fault:
    """Read what came back, whatever it is; a reply that holds no completion is a fault like a bad gateway's.

    `hide` covers secrets in a fault's words, which may be shown.
    """
    found = _read(status, body)
    if isinstance(found, Completion):
        return found
    return found._replace(message=hide(found.message))


def _read(status: int, body: bytes) -> Completion | faults.Fault:
    if status >= 300:
        return faults.read_fault(status, body)
    try:
        data = wire.loads(body)
        return faults.fault_within(data) or read_reply(data)
    except Malformed as error:
        return faults.Fault(HTTPStatus.BAD_GATEWAY, str(error))
    except ValueError:
        return faults.Fault(HTTPStatus.BAD_GATEWAY, "the reply is no JSON, perhaps cut off")


def read_reply(data: object) -> Completion:
    """Read the completion out of a reply; its seconds and retries are left for the caller.

    Null content, thoughts in a field of their own or between tags, missing usage and unknown finish reasons
    are all ordinary.

    Raises:
        Malformed: there is no choice or no text in it, or the server gave up in the middle.
    """
    choices = data.get("choices") if isinstance(data, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise Malformed("the reply holds no choices")
    assert isinstance(data, Mapping)
    choice = choices[0]
    message = choice.get("message")
    message = {"content": choice.get("text")} if message is None else message
    if not isinstance(message, Mapping):
        raise Malformed(f"the reply's message is {_kind(message)}, no object")
    said, inner = _content(message)
    text, thought = split_thought(said)
    cleaned, replaced = wire.clean(text)
    thoughts = [_reasoning(message), inner, thought]
    return Completion(
        text=cleaned,
        finish=_finish(choice.get("finish_reason")),
        thought=wire.clean("\n".join(t for t in thoughts if t)).text,
        usage=_usage(data.get("usage")),
        wire=(_surrogates(replaced, "reply"),) if replaced else (),
    )


def split_thought(text: str) -> tuple[str, str]:
    """Split a text into what is said and what is thought.

    The thought stands between tags at the start. A template may have written the opening tag into the
    prompt, then only the closing one is there; a thought that was cut off has only the opening one.
    """
    start = text.lstrip()
    for opening, closing in _TAGS.items():
        if start.startswith(opening):
            inside, _, after = start.removeprefix(opening).partition(closing)
            return after.lstrip(), inside.strip()
    for closing in _TAGS.values():
        before, found, after = text.partition(closing)
        if found:
            return after.lstrip(), before.strip()
    return text, ""


def _content(fields: Mapping[str, object]) -> tuple[str, str]:
    content = fields.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping) and part.get("type", "text") in _PARTS]
        if len(parts) < len(content):
            raise Malformed("the reply's content holds parts that are no text")
        return _joined(parts, "text"), _joined(parts, "thinking") or _joined(parts, "reasoning")
    said = fields.get("refusal") if content is None else content
    if said is not None and not isinstance(said, str):
        raise Malformed(f"the reply's content is {_kind(said)}, no text")
    return said or "", ""


def _kind(value: object) -> str:
    return {str: "a text", list: "a list", dict: "an object", type(None): "null"}.get(type(value), "a number")


def _joined(parts: list[Mapping[str, object]], key: str) -> str:
    texts = [part.get(key) for part in parts if _type(part) == key]
    flat = [
        _joined([p for p in t if isinstance(p, Mapping)], "text") if isinstance(t, list) else t for t in texts
    ]
    if not all(isinstance(t, str) for t in flat):
        raise Malformed("the reply's content holds a part without its text")
    return "".join(map(str, flat))


def _type(part: Mapping[str, object]) -> object:
    named = part.get("type", "text")
    return "text" if named == "output_text" else named


def _reasoning(fields: Mapping[str, object]) -> str:
    found = (fields.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in found if isinstance(text, str) and text), "")


def _finish(reason: object) -> Finish:
    if isinstance(reason, Mapping):
        reason = reason.get("type")
    word = str(reason).lower()
    if word in _BROKEN:
        raise Malformed(f"the server gave up in the middle (finish_reason {word!r})")
    return "stop" if word in _STOP else "length" if word in _LENGTH else "other"


def _usage(usage: object) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    found = (
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        usage.get("prompt_cache_hit_tokens") if cached is None else cached,
    )
    return Usage(*(int(n) if isinstance(n, int | float) and 0 < n < 1e15 else 0 for n in found))


def _surrogates(replaced: int, where: str) -> str:
    return f"replaced {replaced} lone surrogates in the {where}"


def _clean_within(value: object) -> tuple[object, int]:
    if isinstance(value, str):
        return wire.clean(value)
    if isinstance(value, Mapping):
        pairs = {key: _clean_within(inner) for key, inner in value.items()}
        return {key: done for key, (done, _) in pairs.items()}, sum(n for _, n in pairs.values())
    if isinstance(value, list | tuple):
        items = [_clean_within(inner) for inner in value]
        return [done for done, _ in items], sum(n for _, n in items)
    return value, 0
