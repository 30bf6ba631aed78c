"""What a user says of the models: every setting in one record, and addresses in any shape.

Knows: names, files, hosts, ports, paths and what people paste. Does not know: flags and variables, secrets, or
what answers at an address.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from mctsr.errors import UsageError, named, short, shown
from mctsr.lm.local.gguf import EMBEDDED

_ENDPOINTS = re.compile(r"/(chat/completions|completions|models|embeddings|responses)/*$")
_VERSION = re.compile(r"v\d\w*|beta")
_NAME = re.compile(r"[^\W_]([\w.-]*\w)?\.?")
_SECRETS = re.compile(
    r"(api|secret|access|private)key|secret|passw(or)?d|credentials?|authorization|bearer|(access|auth|bearer|hf|api)token"
)
_OURS = ("model", "messages", "n", "stream", "stream_options")
_ALLOWED = "allowed is http(s)://HOST[:PORT][/PATH], for example http://localhost:8000/v1"

DEEPEST = 64
"""Levels of lists and objects in what is sent along, or stands in a configuration file."""


@dataclass(frozen=True, slots=True)
class RoleOptions:
    """How one role's model is reached and sampled.

    Attributes:
        model: Name on the server; "embedded" or a `.gguf` path starts a server; None takes the first one served.
        base_url: Where the server is; None for an embedded model.
        temperature: Of every call; None leaves it to the recipe, else 0.7.
        top_p: Nucleus sampling.
        max_tokens: Longest reply, in tokens.
        extra_body: Fields sent along unchanged.
    """

    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    top_p: float = 0.95
    max_tokens: int = 1024
    extra_body: dict[str, object] = field(default_factory=dict)

    @property
    def starts_here(self) -> bool:
        """Whether the model is served by a process of our own."""
        name = "" if self.base_url else self.model or ""
        return name == EMBEDDED or name.endswith(".gguf")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of `solve`; recorded in run.json and taken up again by `resume`.

    Attributes:
        recipe: Name, `module:function` or `file.py:function`.
        arguments: What the user gave with -s or in the config file, before checking.
        policy: The model that answers.
        judge: The model that scores; None when the policy judges itself (then `judge_max_tokens` differs only).
        judge_max_tokens: Longest judgement, in tokens.
        seed: The run's seed.
        width: Asks in flight in one tree; None keeps the recipe's.
        max_concurrency: Sequences in flight over all roles; None is 32, or 4 for an embedded model.
        timeout: Seconds for one HTTP attempt.
        max_retries: Further attempts of a call.
        wait_for_server: Seconds to wait for a server that is still loading.
        max_calls: Calls a problem.
        token_limit: Tokens a problem.
        time_limit: Seconds a problem.
        prompts: Folder that overrides shipped prompts, file by file.
        answer_kind: How answers are read, for all problems; None leaves it to the data.
        problem_field: Field of the data that holds the problem; None leaves it to be found, as with the next two.
        answer_field: Field that holds the gold answer.
        id_field: Field that holds the id.
        skip_bad: Leave out rows of the data that are no problems, and count them.
        limit: "N" or "A-B" (from 1): which problems of the data file.
        ids: Only these problems.
        fail_on_error: Share (< 1) or number of failed problems above which the exit code is 1.
        keep_calls: Keep the call logs of finished problems.
    """

    recipe: str = "mctsr"
    arguments: dict[str, object] = field(default_factory=dict)
    policy: RoleOptions = field(default_factory=RoleOptions)
    judge: RoleOptions | None = None
    judge_max_tokens: int = 512
    seed: int = 0
    width: int | None = None
    max_concurrency: int | None = None
    timeout: float = 600.0
    max_retries: int = 5
    wait_for_server: float = 0.0
    max_calls: int | None = None
    token_limit: int | None = None
    time_limit: float | None = None
    prompts: str | None = None
    answer_kind: str | None = None
    problem_field: str | None = None
    answer_field: str | None = None
    id_field: str | None = None
    skip_bad: bool = False
    limit: str | None = None
    ids: tuple[str, ...] = ()
    fail_on_error: float | None = None
    keep_calls: bool = False


class Address(NamedTuple):
    """A server's address in one form.

    Attributes:
        base: What paths such as `/chat/completions` are added to; no slash at the end.
        root: The same without the version, for paths such as `/health`.
        host: Host name or IP, lower case.
        local: Whether it is this machine or a private network, where no key is asked for.
    """

    base: str
    root: str
    host: str
    local: bool


def check_body(body: Mapping[str, object], keys: Collection[str | None] = ()) -> None:
    """Check fields that are to be sent along: they are recorded, and must leave the run's own fields alone.

    Args:
        body: The fields.
        keys: Keys that must not be in it, wherever they are.

    Raises:
        UsageError: It sets what a run decides, holds a key or what is called like one, or is nested too deeply.
    """
    if ours := [name for name in _OURS if name in body]:
        raise UsageError(f"the extra body sets {named(ours)}, which the run itself decides; leave that out")
    secrets = [key.strip() for key in keys if key and key.strip()]
    level: list[object] = [body]
    for _ in range(DEEPEST):
        pairs = [pair for value in level if isinstance(value, Mapping) for pair in value.items()]
        names = [str(name) for name, _ in pairs]
        listed = [inner for value in level if isinstance(value, list) for inner in value]
        level = [value for _, value in pairs] + listed
        # First of all: the name that the next message repeats could be the key.
        if any(_holds(value, key) for value in [*names, *level] for key in secrets):
            raise UsageError(
                "the extra body holds the API key and is recorded; give the key by --api-key alone"
            )
        if secret := next(filter(_is_secret, names), None):
            raise UsageError(f"the extra body holds {shown(secret)} and is recorded; give it by --api-key")
    if any(isinstance(value, Mapping | list) for value in level):
        raise UsageError(f"the extra body is nested deeper than {DEEPEST} levels; send less")


def _is_secret(name: str) -> bool:
    bare = re.sub(r"[^a-z]", "", name.lower())
    return bare == "token" or any(found.end() == len(bare) for found in _SECRETS.finditer(bare))


def _holds(value: object, key: str) -> bool:
    # A short key such as "x" may stand in any text by chance.
    return isinstance(value, str) and (value == key or (len(key) > 5 and key in value))


def masked(address: str) -> str:
    """Cover what may be secret in an address: user and password, and all after a question mark or hash."""
    before, at, after = address.rpartition("@")
    scheme = before[: before.find("//") + 2] if "//" in before else ""
    place, mark, _ = after.replace("#", "?").partition("?")
    return short((f"{scheme}***@" if at else "") + place + ("?***" if mark else ""))


def read_address(text: str) -> Address:
    """Read a base URL in any usual shape.

    `host:8000`, `http://h:8000`, with or without `/v1`, with a path before it, or the full address of an
    endpoint. Without a scheme, a known port or a local host means http, everything else https.

    Raises:
        UsageError: it is no address of a web server, or it carries a password.
    """
    given = text.strip().strip("\"'").strip()
    parts = _split(given)
    host = (parts.hostname or "").lower()
    local = is_local(host)
    scheme = parts.scheme or ("http" if local or parts.port not in {None, 443} else "https")
    place = f"[{host}]" if ":" in host else host
    port = "" if parts.port is None else f":{parts.port}"
    path = _path(parts.path)
    base = f"{scheme}://{place}{port}{path}"
    last = path.rsplit("/", 1)[-1]
    root = base.removesuffix(f"/{last}") if _VERSION.fullmatch(last) else base
    return Address(base, root, host, local)


def is_local(host: str) -> bool:
    """Say whether a host is this machine, a private address, or a name that only a local network knows."""
    try:
        return not ip_address(host.split("%", maxsplit=1)[0]).is_global
    except ValueError:
        suffix = host.rstrip(".").rsplit(".", 1)[-1]
        return "." not in host or suffix in {"localhost", "local", "internal", "lan"}


def _split(given: str) -> SplitResult:
    safe = repr(masked(given))
    try:
        parts = urlsplit(given if "://" in given else f"//{given}")
        port = parts.port
    except ValueError:
        # The error's own words could repeat a password.
        raise UsageError(f"base URL {safe} is no address, perhaps for its port; {_ALLOWED}") from None
    if "@" in parts.netloc:
        raise UsageError("the base URL carries a user or password; give the key in OPENAI_API_KEY instead")
    if parts.query or parts.fragment:
        raise UsageError(f"base URL {safe} has a part after ? or #; give a key in OPENAI_API_KEY; {_ALLOWED}")
    if parts.scheme not in {"", "http", "https"} or not _is_host(parts.hostname or ""):
        raise UsageError(f"base URL {safe} is no address; {_ALLOWED}")
    if not parts.scheme and port is None and _is_bare_word(parts.hostname or ""):
        raise UsageError(f"base URL {safe} is one bare word; {_ALLOWED}")
    return parts


def _is_bare_word(host: str) -> bool:
    # Could as well be a model's name typed in the wrong place.
    return "." not in host and ":" not in host and host != "localhost"


def _is_host(host: str) -> bool:
    try:
        ip_address(host.split("%", maxsplit=1)[0])
    except ValueError:
        return _NAME.fullmatch(host) is not None and ".." not in host
    return True


def _path(path: str) -> str:
    """Return the path that endpoints are added to; a full endpoint address is believed as it stands."""
    bare = path.rstrip("/")
    cut = _ENDPOINTS.sub("", bare).rstrip("/")
    known = cut != bare or any(_VERSION.fullmatch(segment) for segment in cut.split("/"))
    return cut if known else f"{cut}/v1"
