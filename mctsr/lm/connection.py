"""Bytes to a server and back: one pool of connections, the key, the time limit.

Knows: aiohttp, proxies, and what each way of losing a connection means.
Does not know: what is in the bytes, or whether to try again.
"""

import os
from collections.abc import Mapping
from typing import NamedTuple
from urllib.request import getproxies, proxy_bypass

import aiohttp

from mctsr.errors import Refused, UsageError

from .options import Address

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
        self._timeout = timeout
        self._proxy = _proxy(address)
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"Connection(key={'yes' if self._key else 'no'}, timeout={self._timeout})"

    async def post(self, url: str, payload: bytes) -> Raw:
        """Send JSON and return the reply, whatever its status.

        Raises:
            Lost: no whole reply came.
            Refused: no reply can ever come (TLS).
        """
        return await self._exchange("POST", url, payload, self._timeout)

    async def get(self, url: str, seconds: float) -> Raw:
        """Fetch `url` within `seconds`; raises as `post` does."""
        return await self._exchange("GET", url, None, seconds)

    def hide(self, words: str) -> str:
        """Cover the key in words that a server sent back."""
        return words.replace(self._key, "***") if len(self._key) > 5 else words

    async def close(self) -> None:
        """Close every connection; requests in flight end on the server too."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(self, method: str, url: str, payload: bytes | None, seconds: float | None) -> Raw:
        limit = aiohttp.ClientTimeout(total=seconds, sock_connect=_CONNECT_SECONDS)
        request = self._opened().request(
            method, url, data=payload, timeout=limit, allow_redirects=False, proxy=self._proxy
        )
        try:
            async with request as reply:
                return Raw(reply.status, reply.headers, await reply.read())
        except _HOPELESS as error:
            raise Refused(f"{url} cannot be spoken to: {error}; check http or https in --base-url") from error
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
