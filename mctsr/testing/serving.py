"""The simulated reasoner behind the OpenAI chat protocol.

Knows the protocol's fields. Does not know what is asked or said.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import orjson
from aiohttp import web

from mctsr.lm.base import Message

from .reasoner import Reasoner, count_words

MODEL = "simulated-reasoner"


def application(reasoner: Reasoner) -> web.Application:
    """Build the application: `/v1/models` and `/v1/chat/completions`."""

    async def models(request: web.Request) -> web.Response:
        return _json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def chat(request: web.Request) -> web.Response:
        body = orjson.loads(await request.read())
        try:
            return _json(_completion(reasoner, body))
        except (KeyError, TypeError, ValueError) as error:
            words = f"unusable request: {type(error).__name__}: {error}"
            return _json({"error": {"message": words, "type": "invalid_request_error"}}, 400)

    app = web.Application(client_max_size=2**24)
    app.add_routes([web.get("/v1/models", models), web.post("/v1/chat/completions", chat)])
    return app


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")


def _completion(reasoner: Reasoner, body: Mapping[str, object]) -> dict[str, object]:
    turns = body["messages"]
    if not isinstance(turns, list):
        raise TypeError("messages must be a list")
    messages = [Message(turn["role"], turn["content"]) for turn in turns]
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    seed, structured = int(str(body.get("seed") or 0)), bool(body.get("response_format"))
    choices, said = [], 0
    for i in range(int(str(body.get("n") or 1))):
        text = reasoner.reply(messages, seed + i, structured=structured)
        text, finish = _cut(text, int(str(limit)) if limit else None)
        said += len(text.split())
        message = {"role": "assistant", "content": text}
        choices.append({"index": i, "message": message, "finish_reason": finish})
    heard = count_words(messages)
    usage = {"prompt_tokens": heard, "completion_tokens": said, "total_tokens": heard + said}
    return {"object": "chat.completion", "model": MODEL, "choices": choices, "usage": usage}


def _cut(text: str, limit: int | None) -> tuple[str, str]:
    words = text.split()
    if limit is None or len(words) <= limit:
        return text, "stop"
    return " ".join(words[:limit]), "length"


@asynccontextmanager
async def simulated_server(reasoner: Reasoner | None = None, *, port: int = 0) -> AsyncIterator[str]:
    """Serve a reasoner on the loopback address and give the base URL; port 0 picks a free one."""
    runner = web.AppRunner(application(reasoner or Reasoner()), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def main() -> None:
    """Serve until interrupted; the first line on stdout is the base URL."""
    parser = argparse.ArgumentParser(prog="python -m mctsr.testing.reasoner", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    for name in ("p_solve", "p_fix", "p_break", "auc"):
        default = Reasoner.__dataclass_fields__[name].default
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=default)
    given = vars(parser.parse_args())
    port = given.pop("port")
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(Reasoner(**given), port))


async def _serve(reasoner: Reasoner, port: int) -> None:
    async with simulated_server(reasoner, port=port) as url:
        print(url, flush=True)  # noqa: T201
        await asyncio.Event().wait()
