"""A server that speaks the OpenAI chat protocol and misbehaves on demand.

In a test:

    async with FakeServer(lambda body: "4") as server:
        server.queue(status(500), drop())
        ... server.url, server.bodies, server.peak ...

As a process of its own, for tests of the command line; it prints its URL and serves until it is killed:

    python -m tests.support.fake_server --reply "The answer is 4." --log requests.jsonl

`--reply` takes a text, or `module:function` for a function of the request's body.
"""

import argparse
import asyncio
import importlib
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

Body = dict[str, Any]
Reply = str | Mapping[str, Any]
Answer = Callable[[Body], tuple[int, Any]]
Fault = Callable[["FakeServer", web.Request, Body], Awaitable[web.StreamResponse]]


def chat(reply: Reply, body: Body) -> dict[str, Any]:
    """Wrap a reply: a text, a message's fields, or a whole reply (with "choices") that is left alone."""
    if not isinstance(reply, str) and "choices" in reply:
        return dict(reply)
    fields = {"content": reply} if isinstance(reply, str) else dict(reply)
    finish = fields.pop("finish_reason", "stop")
    prompt, said = _words(body), len(str(fields.get("content") or "").split())
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "model": body.get("model"),
        "choices": [{"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said},
    }


def error(message: str, code: object = None, param: str | None = None, kind: str = "Error") -> dict[str, Any]:
    """Build an error body as OpenAI's server words it."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def status(
    number: int, message: str = "made up", *, headers: Mapping[str, str] | None = None, **more: Any
) -> Fault:
    """Answer with an error; `more` goes into its body: code, param, kind."""
    return raw(json.dumps(error(message, **more)).encode(), number=number, headers=headers)


def raw(data: bytes, *, number: int = 200, headers: Mapping[str, str] | None = None) -> Fault:
    """Answer with these bytes."""

    async def act(server: "FakeServer", request: web.Request, body: Body) -> web.StreamResponse:
        return web.Response(status=number, body=data, headers=headers)

    return act


def cut() -> Fault:
    """Answer with the first half of a reply's JSON."""

    async def act(server: "FakeServer", request: web.Request, body: Body) -> web.StreamResponse:
        whole = json.dumps(chat("cut", body)).encode()
        return web.Response(body=whole[: len(whole) // 2])

    return act


def drop(after: int = 0) -> Fault:
    """Close the connection, after `after` bytes of a reply that promised more."""

    async def act(server: "FakeServer", request: web.Request, body: Body) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        if after:
            await response.prepare(request)
            await response.write(b" " * after)
        assert request.transport is not None
        request.transport.close()
        return response

    return act


def hang() -> Fault:
    """Never answer."""

    async def act(server: "FakeServer", request: web.Request, body: Body) -> web.StreamResponse:
        await server.stopping.wait()
        return web.Response(status=503)

    return act


class FakeServer:
    """One model behind a loopback port.

    Attributes:
        bodies: Bodies of all chat requests, in order of arrival.
        headers: Their headers.
        gets: Paths of all GET requests.
        posts: Paths and bodies of all requests to further endpoints.
        peak: Most chat requests ever in flight at once.
        stopping: Set when the server stops.
    """

    def __init__(
        self,
        reply: Callable[[Body], Reply] | Reply = "The answer is 4.",
        *,
        delay: Callable[[Body], float] | float = 0.0,
        models: tuple[str, ...] | None = ("fake",),
        extra: Mapping[str, Any] | None = None,
        refuses: Mapping[str, str] | None = None,
        context: int | None = None,
        loading: float = 0.0,
        pages: Mapping[str, Any] | None = None,
        key: str | None = None,
        port: int = 0,
        log: Path | None = None,
        more: Mapping[str, Answer] | None = None,
    ) -> None:
        """Say how it behaves.

        Args:
            reply: What it says, or a function of the request's body.
            delay: Seconds that a reply takes.
            models: The models it lists; None for a server without such a list.
            extra: Further fields of each listed model.
            refuses: Fields it answers 400 to, with the words it uses.
            context: Words of prompt that fit.
            loading: Seconds after the start in which it answers 503.
            pages: JSON at further paths, such as "/props".
            key: The only key it accepts; None for any or none.
            port: Port; 0 for a free one.
            log: File to which each request's body is appended as a line.
            more: Further endpoints, and what each says to a body; see `tests.support.fake_ways`.
        """
        self.reply = reply
        self.delay = delay
        self.models = models
        self.extra = dict(extra or {})
        self.refuses = dict(refuses or {})
        self.context = context
        self.loading = loading
        self.pages = dict(pages or {})
        self.key = key
        self.port = port
        self.log = log
        self.more = dict(more or {})
        self.posts: list[tuple[str, Body]] = []
        self.bodies: list[Body] = []
        self.headers: list[Mapping[str, str]] = []
        self.gets: list[str] = []
        self.peak = self._in_flight = 0
        self.stopping = asyncio.Event()
        self._faults: deque[Fault] = deque()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def queue(self, *faults: Fault) -> None:
        """Let the next chat requests end in these faults, one each."""
        self._faults.extend(faults)

    async def start(self) -> None:
        """Start to serve; a port that was given or found before is kept."""
        self.stopping.clear()
        self._began = time.monotonic()
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._chat)
        for path, answer in self.more.items():
            app.router.add_post(path, partial(self._more, answer))
        app.router.add_get("/{path:.*}", self._get)
        app.router.add_post("/{path:.*}", partial(self._more, lambda _: (404, {"detail": "Not Found"})))
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Stop; nothing answers at its port any more."""
        self.stopping.set()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _get(self, request: web.Request) -> web.StreamResponse:
        self.gets.append(request.path)
        if not self._knows(request):
            return _json(error("Incorrect API key provided", "invalid_api_key"), 401)
        if self._is_loading():
            return _json(error("Loading model", 503, kind="unavailable_error"), 503)
        if request.path == "/v1/models" and self.models is not None:
            listed = [{"id": name, "object": "model", **self.extra} for name in self.models]
            return _json({"object": "list", "data": listed})
        if request.path in self.pages:
            return _json(self.pages[request.path])
        return _json({"detail": "Not Found"}, 404)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: Body = await request.json()
        self.bodies.append(body)
        self.headers.append(request.headers)
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(body, ensure_ascii=False) + "\n")
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        try:
            return await self._answer(request, body)
        finally:
            self._in_flight -= 1

    async def _answer(self, request: web.Request, body: Body) -> web.StreamResponse:
        if not self._knows(request):
            return _json(error("Incorrect API key provided", "invalid_api_key"), 401)
        if self._faults:
            return await self._faults.popleft()(self, request, body)
        if self._is_loading():
            return _json(error("Loading model", 503, kind="unavailable_error"), 503)
        for field, words in self.refuses.items():
            if field in body:
                return _json(error(words, 400, kind="BadRequestError"), 400)
        if self.context is not None and _words(body) > self.context:
            words = f"This model's maximum context length is {self.context} tokens. Your prompt is longer."
            return _json(error(words, "context_length_exceeded"), 400)
        seconds = self.delay(body) if callable(self.delay) else self.delay
        if seconds:
            await asyncio.sleep(seconds)
        reply = self.reply(body) if callable(self.reply) else self.reply
        return _json(chat(reply, body))

    async def _more(self, answer: Answer, request: web.Request) -> web.StreamResponse:
        body: Body = await request.json()
        self.posts.append((request.path, body))
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        try:
            if not self._knows(request):
                return _json(error("Incorrect API key provided", "invalid_api_key"), 401)
            if self._faults:
                return await self._faults.popleft()(self, request, body)
            for field, words in self.refuses.items():
                if field in body:
                    return _json(error(words, 400, kind="BadRequestError"), 400)
            number, data = answer(body)
            return _json(data, number)
        finally:
            self._in_flight -= 1

    def _knows(self, request: web.Request) -> bool:
        return self.key is None or request.headers.get("Authorization") == f"Bearer {self.key}"

    def _is_loading(self) -> bool:
        return time.monotonic() - self._began < self.loading


def _json(data: object, number: int = 200) -> web.Response:
    return web.Response(body=json.dumps(data).encode(), status=number, content_type="application/json")


def _words(body: Body) -> int:
    return sum(len(str(message.get("content")).split()) for message in body.get("messages", []))


def _load(text: str) -> Callable[[Body], Reply] | str:
    module, colon, name = text.partition(":")
    if not colon or not all(part.isidentifier() for part in (*module.split("."), name)):
        return text
    function: Callable[[Body], Reply] = getattr(importlib.import_module(module), name)
    return function


async def _serve() -> None:
    parser = argparse.ArgumentParser(description="Serve a fake model until killed.")
    parser.add_argument("--reply", default="The answer is 4.", help="a text, or module:function")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds each reply takes")
    parser.add_argument("--loading", type=float, default=0.0, help="seconds in which it answers 503")
    parser.add_argument("--context", type=int, default=None, help="words of prompt that fit")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, default=None, help="file for the requests' bodies")
    given = parser.parse_args()
    async with FakeServer(
        _load(given.reply),
        delay=given.delay,
        loading=given.loading,
        context=given.context,
        port=given.port,
        log=given.log,
    ) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
