"""How a request looks on the wire of the servers that call themselves OpenAI-like, and whether one was answered.

Knows: names of fields per kind of server, and how a body is written.
Does not know: connections, retries, the layouts of replies, or what the text is for.
"""

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Literal, NotRequired, TypedDict, TypeVar

from . import faults, wire
from .base import Completion, Pooled, Role, Task
from .replies.fields import Malformed, surrogates

Kind = Literal["vllm", "llama.cpp", "sglang", "ollama", "openai", "other"]
R = TypeVar("R", bound=Completion | Pooled)

RENAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Fields that some servers know only by another name; without a limit a reply could run for ever."""

TEMPLATE = ("chat_template_kwargs", "chat_template", "tools")
"""Fields that change how a chat is rendered; who renders it apart must be told, too."""

_SPARE_BYTES, _TOKEN_BYTES, _MOST_BYTES = 2 << 20, 256, 64 << 20
_PENALTY = {"llama.cpp": "repeat_penalty"}
_MOST_STOPS = {"vllm": 4, "openai": 4}
_KEEP = {"vllm": "include_stop_str_in_output", "sglang": "no_stop_trim"}


class Logical(TypedDict):
    """A request with every setting resolved, before any server's dialect.

    What a plain chat has not is absent unless it is set, so that the hash of a plain chat stays what it was.
    """

    role: Role
    model: str
    messages: list[dict[str, str]]
    max_tokens: int
    temperature: float
    top_p: float
    seed: int
    schema: Mapping[str, object] | None
    extra_body: Mapping[str, object]
    begun: NotRequired[str]
    begun_ids: NotRequired[tuple[int, ...]]
    stop: NotRequired[tuple[str, ...]]
    logprobs: NotRequired[int]
    labels: NotRequired[tuple[str, ...]]


class LogicalPooling(TypedDict):
    """What a reward model is to score, with every setting resolved."""

    task: Task
    role: Role
    model: str
    messages: list[dict[str, str]]
    text: str
    raw: bool
    extra_body: Mapping[str, object]


def chat_body(logical: Logical, kind: Kind) -> dict[str, object]:
    """Build the body of a chat request.

    Every sampling field is sent, since servers take missing ones from the model's own files: those that nobody
    set say "off". What OpenAI's server refuses outright is left out there. `extra_body` comes last, as it is.
    """
    limit = "max_completion_tokens" if kind == "openai" else "max_tokens"
    body = {"model": logical["model"], "messages": logical["messages"], limit: logical["max_tokens"]}
    body |= _sampling(logical, kind) | _ending(logical, kind)
    logprobs = logical.get("logprobs")
    if logprobs is not None:
        body["logprobs"] = True
        most = max(logprobs, 1) if kind == "llama.cpp" else logprobs  # there, 0 means none at all
        body |= {"top_logprobs": most} if most else {}
    body.update(logical["extra_body"])
    return body


def completion_body(
    logical: Logical, kind: Kind, prompt: str | list[int], *, opened: bool = False
) -> dict[str, object]:
    """Build the body of a request to continue `prompt` at /completions.

    Args:
        logical: The request.
        kind: The server's dialect.
        prompt: A rendered chat, or text as it is.
        opened: Whether the server is to put the opening token before a text; a rendered chat holds it already.
    """
    body: dict[str, object] = {
        "model": logical["model"],
        "prompt": prompt,
        "max_tokens": logical["max_tokens"],
    }
    body |= _sampling(logical, kind) | _ending(logical, kind)
    if isinstance(prompt, str) and kind != "openai":
        body["add_special_tokens"] = opened
    if kind == "vllm":
        body["return_token_ids"] = True
    if "logprobs" in logical:
        body["logprobs"] = logical["logprobs"]
    return body | _extra(logical)


def native_body(logical: Logical, prompt: str) -> dict[str, object]:
    """Build the body of a request to continue `prompt` at llama.cpp's own /completion."""
    body: dict[str, object] = {
        "model": logical["model"],
        "prompt": prompt,
        "n_predict": logical["max_tokens"],
    }
    body |= _sampling(logical, "llama.cpp") | _ending(logical, "llama.cpp")
    body |= {"return_tokens": True, "cache_prompt": True}
    if body.pop("response_format", None) is not None:
        body["json_schema"] = logical["schema"]
    if "logprobs" in logical:
        body["n_probs"] = max(logical["logprobs"], 1)
    return body | _extra(logical)


def pooling_body(logical: LogicalPooling) -> dict[str, object]:
    """Build the body of a request for scores; `task` is left out, since a server has one and refuses all others."""
    body: dict[str, object] = {"model": logical["model"]}
    if logical["messages"]:
        body |= {"messages": logical["messages"], "add_generation_prompt": False}
    else:
        body["input"] = [logical["text"]]
    if logical["raw"]:
        body["use_activation"] = False
    return {**body, **logical["extra_body"]}


def template_fields(logical: Logical) -> dict[str, object]:
    """Return the fields of `extra_body` that whoever renders the chat must be told."""
    return {name: logical["extra_body"][name] for name in TEMPLATE if name in logical["extra_body"]}


def _extra(logical: Logical) -> dict[str, object]:
    return {name: value for name, value in logical["extra_body"].items() if name not in TEMPLATE}


def _sampling(logical: Logical, kind: Kind) -> dict[str, object]:
    body: dict[str, object] = {name: logical[name] for name in ("temperature", "top_p", "seed")}
    if kind != "openai":
        penalty = _PENALTY.get(kind, "repetition_penalty")
        body |= {"top_k": -1 if kind == "sglang" else 0, "min_p": 0.0, penalty: 1.0}
    if logical["schema"] is not None:
        schema = {"name": "reply", "strict": True, "schema": logical["schema"]}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _ending(logical: Logical, kind: Kind) -> dict[str, object]:
    """Ask for an end at the stop strings, and to keep the one that was hit where a server can.

    Where a server refuses more than so many, the rest are looked for in what comes back.
    """
    stops = logical.get("stop", ())[: _MOST_STOPS.get(kind)]
    if not stops:
        return {}
    keep = _KEEP.get(kind)
    return {"stop": list(stops), keep: True} if keep else {"stop": list(stops)}


def encode(body: Mapping[str, object]) -> tuple[bytes, tuple[str, ...]]:
    """Write a body as JSON that strict servers take; lone surrogates are replaced and noted."""
    text = wire.dumps(body)
    replaced = 0
    if b"\\ud" in text:
        cleaned, replaced = _clean_within(body)
        text = wire.dumps(cleaned)
    return text, (surrogates(replaced, "request"),) if replaced else ()


def longest_reply(body: Mapping[str, object]) -> int:
    """Return how many bytes the reply to `body` may have: 2 MiB, 256 bytes a token, and never above 64 MiB.

    A token has about four characters; log-probabilities and thoughts beside the text fit in, too.
    """
    limits = [body.get(name) for name in RENAMES]
    tokens = max((limit for limit in limits if isinstance(limit, int)), default=0)
    return min(_SPARE_BYTES + _TOKEN_BYTES * max(tokens, 0), _MOST_BYTES)


def read(
    status: int, body: bytes, parse: Callable[[object], R], hide: Callable[[str], str] = str
) -> R | faults.Fault:
    """Read what came back, whatever it is; a reply that does not hold what it should is a fault like a gateway's.

    `hide` covers secrets in a fault's words, which may be shown.
    """
    found = _read(status, body, parse)
    if isinstance(found, faults.Fault):
        return found._replace(message=hide(found.message))
    return found


def _read(status: int, body: bytes, parse: Callable[[object], R]) -> R | faults.Fault:
    if status >= 300:
        return faults.read_fault(status, body)
    try:
        data = wire.loads(body)
        return faults.fault_within(data) or parse(data)
    except Malformed as error:
        return faults.Fault(HTTPStatus.OK if error.final else HTTPStatus.BAD_GATEWAY, str(error))
    except ValueError:
        return faults.Fault(HTTPStatus.BAD_GATEWAY, "the reply is no JSON, perhaps cut off")


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
