"""Bytes to a server and back: one pool of connections, the key, the time limit.

Knows: aiohttp, proxies, and what each way of losing a connection means.
Does not know: what is in the bytes, or whether to try again.
"""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.request import getproxies, proxy_bypass

import aiohttp

from mctsr.errors import Refused, ServerError, UsageError

from .address import Address, masked

LONGEST_PAGE = 8 << 20
"""Bytes of a page that is fetched, such as a list of models; no more is read."""

_SHORT_KEY = 5
_CUT = "…"
_KEEPALIVE = 4.0  # servers on uvicorn close idle connections after 5 s
_CONNECT_SECONDS = 10.0
_DROPPED = (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError)
_UNREACHABLE = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
_HOPELESS = (aiohttp.ClientSSLError, aiohttp.InvalidURL)


class Raw(NamedTuple):
    """A reply as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Lost(Exception):
    """No whole reply came.

    Attributes:
        unreachable: No connection could be made at all.
        dropped: The server closed the connection before it said anything.
    """

    def __init__(self, words: str, *, unreachable: bool = False, dropped: bool = False) -> None:
        super().__init__(words)
        self.unreachable = unreachable
        self.dropped = dropped


class Connection:
    """A pool of connections to one server; opened by the first request, closed by `close`."""

    def __init__(self, address: Address, api_key: str | None, timeout: float | None) -> None:
        """Describe the connection; nothing is opened yet.

        Args:
            address: Where the server lives.
            api_key: Sent as a bearer token; None or blank sends none.
            timeout: Seconds for one whole exchange; None for no limit.

        Raises:
            UsageError: a remote server and no key, or a key that cannot be sent.
        """
        key = (api_key or "").strip()
        if not key and not address.local:
            raise UsageError(
                f"no key for {address.host}; set OPENAI_API_KEY (to EMPTY if that server wants none)"
            )
        if not key.isascii() or not key.isprintable():
            raise UsageError("the API key holds characters that no header can carry; copy it again")
        self._key = key
        self._hidden = _pattern(key)
        self._timeout = timeout
        self._proxy = _proxy(address)
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"Connection(key={'yes' if self._key else 'no'}, timeout={self._timeout})"

    async def post(self, url: str, payload: bytes, longest: int = LONGEST_PAGE) -> Raw:
        """Send JSON and return the reply of at most `longest` bytes, whatever its status.

        Raises:
            Lost: no whole reply came.
            ServerError: the reply is longer; the rest is not read.
            Refused: no reply can ever come (TLS).
        """
        return await self._exchange("POST", url, payload, self._timeout, longest)

    async def get(self, url: str, seconds: float) -> Raw:
        """Fetch `url` within `seconds`; raises as `post` does."""
        return await self._exchange("GET", url, None, seconds, LONGEST_PAGE)

    def hide(self, words: str) -> str:
        """Cover the key in words that a server sent back, also where they were cut in the middle of it."""
        if self._hidden is None:
            return words
        covered = self._hidden.sub("***", words)
        if covered.endswith(_CUT):
            said = covered.removesuffix(_CUT)
            part = next((n for n in range(len(self._key) - 1, 2, -1) if said.endswith(self._key[:n])), 0)
            covered = f"{said[: len(said) - part]}***{_CUT}" if part else covered
        return covered

    async def close(self) -> None:
        """Close every connection; requests in flight end on the server too."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(
        self, method: str, url: str, payload: bytes | None, seconds: float | None, longest: int
    ) -> Raw:
        limit = aiohttp.ClientTimeout(total=seconds, sock_connect=_CONNECT_SECONDS)
        request = self._opened().request(
            method, url, data=payload, timeout=limit, allow_redirects=False, proxy=self._proxy
        )
        try:
            async with request as reply:
                return Raw(reply.status, reply.headers, await _read(reply, longest))
        except _HOPELESS as error:
            why = masked(str(error)) if "@" in str(error) else error
            raise Refused(f"{url} cannot be spoken to: {why}; check http or https in --base-url") from error
        except _UNREACHABLE as error:
            raise Lost(_why(error), unreachable=True) from error
        except _DROPPED as error:
            raise Lost("the server closed the connection", dropped=True) from error
        except TimeoutError as error:
            raise Lost(f"no reply within {seconds:g} s" if seconds else "timed out") from error
        except aiohttp.ClientError as error:
            raise Lost(f"the reply was cut off ({type(error).__name__})") from error

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json", "User-Agent": "mctsr"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE, ttl_dns_cache=300),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=headers,
            )
        return self._session


async def _read(reply: aiohttp.ClientResponse, longest: int) -> bytes:
    """Read a body whole, or not at all: what is too long is neither kept nor parsed."""
    body = bytearray()
    async for part in reply.content.iter_any():
        body += part
        if len(body) > longest:
            where = f"{reply.url.origin()}{reply.url.path}"
            raise ServerError(
                f"{where} answered {reply.status} with more than {longest / 1e6:.1f} MB, which no reply needs; "
                "check what runs there, or lower --max-tokens",
                status=reply.status,
            )
    return bytes(body)


def _pattern(key: str) -> re.Pattern[str] | None:
    """Make the pattern that finds a key; a short one may be part of a word by chance and counts alone."""
    if not key:
        return None
    # Server words are folded to single spaces.
    spelt = r"\s+".join(map(re.escape, key.split()))
    return re.compile(spelt if len(key) > _SHORT_KEY else rf"(?<!\w){spelt}(?!\w)")


def _proxy(address: Address) -> str | None:
    # aiohttp's own trust_env asks the environment, in a thread, before every single request.
    if address.local or proxy_bypass(address.host):
        return None
    return getproxies().get(address.base.split(":")[0])


def _why(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"the host name {error.host} is unknown"
    number = error.os_error.errno if isinstance(error, aiohttp.ClientConnectorError) else None
    if number and number > 0:
        return os.strerror(number).lower()
    return "no connection in time" if isinstance(error, TimeoutError) else str(error)
