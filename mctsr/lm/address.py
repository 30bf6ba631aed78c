"""Addresses of servers, in any shape in which people give them.

Knows: hosts, ports, paths and what people paste. Does not know: what answers at an address.
"""

import re
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from mctsr.errors import UsageError, short

_ENDPOINTS = re.compile(r"/(chat/completions|completions|models|embeddings|responses)/*$")
_VERSION = re.compile(r"v\d\w*|beta")
_NAME = re.compile(r"[^\W_]([\w.-]*\w)?\.?")
_ALLOWED = "allowed is http(s)://HOST[:PORT][/PATH], for example http://localhost:8000/v1"


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
