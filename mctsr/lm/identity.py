"""Who answers at an address: which kind of server, which models, how long a context.

Knows: the endpoints by which servers give themselves away, and how a server behaves that is coming up.
Does not know: what is asked of it later.
"""

import asyncio
import time
from collections.abc import Mapping
from difflib import get_close_matches
from typing import NamedTuple

from mctsr.errors import Refused, ServerError, ServerGone, UsageError, named, shown

from . import faults, wire
from .address import Address
from .connection import Connection, Lost, Raw
from .dialects import Kind

_OWNERS: dict[str, Kind] = {
    "vllm": "vllm",
    "llamacpp": "llama.cpp",
    "sglang": "sglang",
    "library": "ollama",
    "openai": "openai",
    "system": "openai",
    "openai-internal": "openai",
}
_VERSIONS: dict[Kind, str] = {"vllm": "/version", "sglang": "/server_info", "ollama": "/api/version"}
_CONTEXT = ("max_model_len", "context_length", "context_window", "max_context_length")
_SHOWN = 8
_PROBE_SECONDS = 5.0
_POLL_SECONDS = 0.25
_LOADING = {502, 503, 504}

Model = Mapping[str, object]


class ServerInfo(NamedTuple):
    """What a server told about itself.

    Attributes:
        kind: Its dialect; "other" when it is none of the known ones.
        version: As it words it, "" when it does not say.
        model: The model that is going to be used.
        context: Length of the model's context in tokens, None when unknown.
        way: How begun turns are continued there, "" as long as nobody needed it.
    """

    kind: Kind
    version: str
    model: str
    context: int | None
    way: str = ""


async def identify(connection: Connection, where: Address, name: str | None, wait: float) -> ServerInfo:
    """Find out who answers and which model is meant; waits up to `wait` seconds for a server to come up.

    Raises:
        UsageError: the model `name` is not served, or none was named and none is obvious.
        Refused: the key is not accepted.
        ServerGone: nothing answers.
        ServerError: it is still loading.
    """
    raw = await _models(connection, where, time.monotonic() + wait)
    if raw.status in {401, 403}:
        raise Refused(f"{where.base} does not accept the key; set OPENAI_API_KEY", status=raw.status)
    return await _describe(connection, where, choose(name, listed(raw), where))


def listed(raw: Raw) -> list[Model] | None:
    """Read the models out of a list of models; None when the server keeps no such list."""
    data = _json(raw)
    models = data.get("data") if isinstance(data, Mapping) else data
    if raw.status >= 300 or not isinstance(models, list):
        return None
    return [entry for entry in models if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)]


def choose(name: str | None, models: list[Model] | None, where: Address) -> Model:
    """Find the model that was named, or the one to use when none was.

    Raises:
        UsageError: the name is unknown here, or none was given and there is no obvious one.
    """
    if models is None or (name and not models):
        if name:
            return {"id": name}
        raise UsageError(f"the server at {where.base} does not list its models; name one with --model")
    if name is None:
        if models and (where.local or len(models) == 1):
            return models[0]
        raise UsageError(f"no model was named; {where.base} serves {_names(models, '')}; give --model")
    found = next((model for model in models if _is_named(name, model)), None)
    if found is None:
        raise UsageError(
            f"model {shown(name)} is not served at {where.base}; it serves {_names(models, name)}"
        )
    return {**found, "id": name}


async def _models(connection: Connection, where: Address, deadline: float) -> Raw:
    """Ask for the list of models until the server is up or the time is."""
    hint = "wait for it with --wait-for-server SECONDS"
    while True:
        late = time.monotonic() >= deadline
        try:
            raw = await connection.get(f"{where.base}/models", _PROBE_SECONDS)
        except Lost as error:
            if late:
                words = f"no server answers at {where.base}: {error}; start it, correct --base-url, or {hint}"
                raise ServerGone(words) from error
        else:
            if raw.status not in _LOADING:
                return raw
            if late:
                words = connection.hide(faults.read_fault(raw.status, raw.body).message)
                raise ServerError(f"{where.base} is not ready: {words}; {hint}", status=raw.status)
        await asyncio.sleep(_POLL_SECONDS)


async def _describe(connection: Connection, where: Address, model: Model) -> ServerInfo:
    """Ask who it is, by at most two cheap requests to its side doors."""
    kind = _OWNERS.get(str(model.get("owned_by")), "other")
    props: Mapping[str, object] = {}
    if kind in {"openai", "other"}:
        # Many servers say that everything is owned by OpenAI.
        kind = "openai" if where.host == "api.openai.com" else "other"
    if kind == "llama.cpp" or (kind == "other" and where.local):
        props = await _fetch(connection, f"{where.root}/props")
        kind = "llama.cpp" if "default_generation_settings" in props else kind
    if kind == "other" and where.local:
        version = _text(await _fetch(connection, f"{where.root}/version"), "version")
        kind = "vllm" if version else kind
    elif kind in _VERSIONS:
        version = _text(await _fetch(connection, where.root + _VERSIONS[kind]), "version")
    else:
        version = _text(props, "build_info")
    return ServerInfo(kind, connection.hide(version), str(model["id"]), _context(model, props))


async def _fetch(connection: Connection, url: str) -> Mapping[str, object]:
    try:
        raw = await connection.get(url, _PROBE_SECONDS)
    except (Lost, ServerError):
        return {}
    data = _json(raw)
    return data if raw.status < 300 and isinstance(data, Mapping) else {}


def _json(raw: Raw) -> object:
    try:
        return wire.loads(raw.body)
    except ValueError:
        return None


def _text(data: Mapping[str, object], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _context(model: Model, props: Mapping[str, object]) -> int | None:
    settings, meta = props.get("default_generation_settings"), model.get("meta")
    found = [model.get(key) for key in _CONTEXT]
    found += [inner.get("n_ctx") for inner in (settings, meta) if isinstance(inner, Mapping)]
    return next((n for n in found if isinstance(n, int) and n > 0), None)


def _is_named(name: str, model: Model) -> bool:
    # Ollama adds ":latest" to bare names; routers serve variants such as "model:free" without listing them.
    own = str(model["id"])
    aliases = model.get("aliases")
    others = aliases if isinstance(aliases, list) else []
    return (
        name in {own, own.removesuffix(":latest"), *map(str, others)} or name.split(":", maxsplit=1)[0] == own
    )


def _names(models: list[Model], wanted: str) -> str:
    names = [str(model["id"]) for model in models]
    near = get_close_matches(wanted, names, _SHOWN, 0.3)
    ordered = [*near, *(name for name in names if name not in near)]
    return named(ordered, _SHOWN) or "nothing"
