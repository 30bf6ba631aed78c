"""Bytes to a server and back: headers, every way to lose a reply, proxies, closing."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from mctsr.errors import Refused, ServerError, UsageError
from mctsr.lm.address import read_address
from mctsr.lm.connection import Connection, Lost
from tests.support.fake_server import FakeServer, Fault, cut, drop, hang, raw, status

BODY = b'{"messages": []}'


@pytest.fixture
async def fake() -> AsyncIterator[FakeServer]:
    async with FakeServer("4") as server:
        yield server


def to(url: str, key: str | None = None, timeout: float | None = 5.0) -> Connection:
    return Connection(read_address(url), key, timeout)


async def lost(fault: Fault, fake: FakeServer, timeout: float | None = 5.0) -> Lost:
    """Send one request that ends in `fault`, and return what became of it."""
    fake.queue(fault)
    connection = to(fake.url, timeout=timeout)
    try:
        with pytest.raises(Lost) as caught:
            await connection.post(f"{fake.url}/chat/completions", BODY)
    finally:
        await connection.close()
    return caught.value


# Replies


async def test_a_reply_comes_as_it_is_whatever_its_status(fake: FakeServer) -> None:
    connection = to(fake.url)
    fake.queue(status(500, "made up", headers={"Retry-After": "7"}), raw(b"\xff\x00no json", number=418))
    replies = [await connection.post(f"{fake.url}/chat/completions", BODY) for _ in range(3)]
    await connection.close()
    assert [reply.status for reply in replies] == [500, 418, 200]
    assert (replies[0].headers["retry-after"], replies[1].body) == ("7", b"\xff\x00no json")


async def test_a_request_says_what_it_is_and_carries_the_key(fake: FakeServer) -> None:
    for key, sent in ((" sk-1\n", "Bearer sk-1"), (None, None), ("", None)):
        connection = to(fake.url, key)
        await connection.post(f"{fake.url}/chat/completions", BODY)
        await connection.close()
        headers = fake.headers[-1]
        assert headers.get("Authorization") == sent
        assert (headers["Content-Type"], headers["User-Agent"]) == ("application/json", "mctsr")


async def test_a_redirect_is_a_reply_and_not_followed(fake: FakeServer) -> None:
    connection = to(fake.url)
    fake.queue(raw(b"", number=307, headers={"Location": f"{fake.url}/models"}))
    reply = await connection.post(f"{fake.url}/chat/completions", BODY)
    await connection.close()
    assert (reply.status, fake.gets) == (307, [])


# Too much


@pytest.mark.parametrize("number", [200, 500])
async def test_a_reply_that_is_too_long_is_not_read_to_its_end(fake: FakeServer, number: int) -> None:
    connection = to(fake.url)
    url = f"{fake.url}/chat/completions"
    fake.queue(raw(b"x" * 1000, number=number), raw(b"x" * 1001, number=number))
    assert len((await connection.post(url, BODY, 1000)).body) == 1000
    with pytest.raises(ServerError, match=rf"{url} answered {number} with more than 0\.0 MB") as caught:
        await connection.post(url, BODY, 1000)
    assert caught.value.status == number
    assert (await connection.post(url, BODY)).status == 200
    await connection.close()


# Losses


async def test_each_loss_says_what_happened_and_what_it_means(fake: FakeServer) -> None:
    dropped = await lost(drop(), fake)
    assert (str(dropped), dropped.dropped, dropped.unreachable) == (
        "the server closed the connection",
        True,
        False,
    )
    torn = await lost(drop(after=5), fake)
    assert (str(torn), torn.dropped, torn.unreachable) == (
        "the reply was cut off (ClientPayloadError)",
        False,
        False,
    )
    late = await lost(hang(), fake, timeout=0.05)
    assert (str(late), late.dropped, late.unreachable) == ("no reply within 0.05 s", False, False)


async def test_half_a_reply_that_was_sent_whole_is_not_lost(fake: FakeServer) -> None:
    fake.queue(cut())
    connection = to(fake.url)
    reply = await connection.post(f"{fake.url}/chat/completions", BODY)
    await connection.close()
    assert reply.status == 200


async def test_a_closed_port_and_an_unknown_host_are_unreachable() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    for url, words in (
        (f"http://127.0.0.1:{port}/v1", "connection refused"),
        ("http://no-such-host.invalid/v1", "the host name no-such-host.invalid is unknown"),
    ):
        connection = to(url, "some key")
        with pytest.raises(Lost, match=words) as caught:
            await connection.get(f"{url}/models", 5.0)
        await connection.close()
        assert caught.value.unreachable
        assert not caught.value.dropped


async def test_a_fetch_has_a_time_limit_of_its_own() -> None:
    released = asyncio.Event()

    async def wait(request: web.Request) -> web.StreamResponse:
        await released.wait()
        return web.Response()

    app = web.Application()
    app.router.add_get("/v1/models", wait)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    connection = to("http://127.0.0.1:1", timeout=None)
    with pytest.raises(Lost, match=r"no reply within 0\.05 s"):
        await connection.get(f"http://127.0.0.1:{runner.addresses[0][1]}/v1/models", 0.05)
    await connection.close()
    released.set()
    await runner.cleanup()


async def test_speaking_tls_to_a_plain_server_can_never_work(fake: FakeServer) -> None:
    url = fake.url.replace("http:", "https:")
    connection = to(url, "some key")
    with pytest.raises(Refused, match="check http or https in --base-url"):
        await connection.post(f"{url}/chat/completions", BODY)
    await connection.close()


# Closing


async def test_closing_twice_does_no_harm_and_a_later_request_opens_anew(fake: FakeServer) -> None:
    connection = to(fake.url)
    await connection.close()
    for _ in range(2):
        assert (await connection.post(f"{fake.url}/chat/completions", BODY)).status == 200
        await connection.close()
        await connection.close()


# Keys


def test_a_key_is_covered_wherever_a_server_repeats_it() -> None:
    assert to("http://localhost:1", "sk-secret").hide("bad key sk-secret, sk-secret!") == "bad key ***, ***!"
    assert to("http://localhost:1", "a key").hide("see a \u00a0 key") == "see ***"
    assert to("http://localhost:1").hide("nothing to hide") == "nothing to hide"


@pytest.mark.parametrize("key", ["x", "k1", "EMPTY"])
def test_a_short_key_is_covered_where_it_stands_alone(key: str) -> None:
    hide = to("http://localhost:1", key).hide
    assert hide(f"bad key '{key}', a{key} and {key}b: {key}") == f"bad key '***', a{key} and {key}b: ***"


def test_what_is_left_of_a_key_before_a_cut_is_covered_too() -> None:
    hide = to("http://localhost:1", "sk-secret").hide
    assert hide("wrong key sk-sec…") == "wrong key ***…"
    assert hide("wrong key sk-sec") == "wrong key sk-sec"
    assert hide("it goes on…") == "it goes on…"


def test_a_key_is_in_no_picture_of_a_connection() -> None:
    assert repr(to("http://localhost:1", "sk-secret")) == "Connection(key=yes, timeout=5.0)"
    assert repr(to("http://localhost:1")) == "Connection(key=no, timeout=5.0)"


@pytest.mark.parametrize("key", [None, "", " \n"])
def test_a_remote_server_wants_a_key_and_a_local_one_does_not(key: str | None) -> None:
    with pytest.raises(UsageError, match=r"no key for api\.example\.com; set OPENAI_API_KEY"):
        to("https://api.example.com/v1", key)
    for local in ("http://localhost:1", "http://10.0.0.7:8000", "http://gpu-box:8000"):
        assert repr(to(local, key)).startswith("Connection(key=no")


# Proxies


async def test_a_remote_server_is_reached_through_the_proxy_of_the_environment(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, port = fake.url.removesuffix("/v1").rpartition(":")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    connection = to("http://api.example.invalid/v1", "some key")
    reply = await connection.get("http://api.example.invalid/v1/models", 5.0)
    await connection.close()
    assert (reply.status, fake.gets) == (200, ["/v1/models"])
    monkeypatch.setenv("no_proxy", "example.invalid")
    connection = to("http://api.example.invalid/v1", "some key")
    with pytest.raises(Lost, match="unknown"):
        await connection.get("http://api.example.invalid/v1/models", 5.0)
    await connection.close()


async def test_a_local_server_is_never_asked_for_through_a_proxy(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    connection = to(fake.url)
    assert (await connection.get(f"{fake.url}/models", 5.0)).status == 200
    await connection.close()
