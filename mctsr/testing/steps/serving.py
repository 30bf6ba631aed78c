"""The reasoner in steps behind the OpenAI chat protocol, and as a reward model at `/pooling`.

Knows the protocols' fields. Does not know what is asked or said.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import fields

import orjson
from aiohttp import web

from mctsr.lm.base import Message, Token
from mctsr.testing.puzzles import read_puzzle
from mctsr.testing.step_reasoner import StepReasoner, count_words, label

from .hearing import marked_steps
from .judge import KINDS, StepJudge
from .policy import StepWriter

MODEL = "simulated-steps"


def application(reasoner: StepReasoner, *, prefill: bool = True) -> web.Application:
    """Build the application: `/v1/models`, `/v1/chat/completions` and `/pooling`.

    Without `prefill` a chat whose last turn is the assistant's is refused, as many servers do.
    """

    async def models(request: web.Request) -> web.Response:
        return _json({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    app = web.Application(client_max_size=2**24)
    app.add_routes(
        [
            web.get("/v1/models", models),
            web.post("/v1/chat/completions", _answering(lambda body: _completion(reasoner, body, prefill))),
            web.post("/pooling", _answering(lambda body: _pooled(reasoner, body))),
        ]
    )
    return app


def _answering(
    answer: Callable[[Mapping[str, object]], dict[str, object]],
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(request: web.Request) -> web.Response:
        body = orjson.loads(await request.read())
        try:
            return _json(answer(body))
        except (KeyError, TypeError, ValueError) as error:
            words = f"unusable request: {type(error).__name__}: {error}"
            return _json({"error": {"message": words, "type": "invalid_request_error"}}, 400)

    return handle


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")


def _messages(body: Mapping[str, object]) -> list[Message]:
    turns = body["messages"]
    if not isinstance(turns, list) or not turns:
        raise TypeError("messages must be a list of at least one")
    return [Message(turn["role"], turn["content"]) for turn in turns]


def _completion(reasoner: StepReasoner, body: Mapping[str, object], prefill: bool) -> dict[str, object]:
    messages = _messages(body)
    if messages[-1].role == "assistant" and not prefill:
        raise ValueError("the last message must be from the user")
    limit = body.get("max_tokens") or body.get("max_completion_tokens")
    seed, stop = int(str(body.get("seed") or 0)), _stops(body.get("stop"))
    choices, spoken = [], 0
    for i in range(int(str(body.get("n") or 1))):
        said = reasoner.reply(messages, seed + i, stop)
        text, cut = _cut(said.text, int(str(limit)) if limit else None)
        spoken += len(text.split())
        choices.append(
            {
                "index": i,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "length" if cut else "stop",
                "stop_reason": None if cut else said.stop or None,
                "logprobs": _logprobs(said.p_yes) if body.get("logprobs") else None,
            }
        )
    heard = count_words(messages)
    usage = {"prompt_tokens": heard, "completion_tokens": spoken, "total_tokens": heard + spoken}
    return {"object": "chat.completion", "model": MODEL, "choices": choices, "usage": usage}


def _stops(given: object) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given)) if isinstance(given, list) else ()


def _cut(text: str, limit: int | None) -> tuple[str, bool]:
    words = text.split()
    if limit is None or len(words) <= limit:
        return text, False
    return " ".join(words[:limit]), True


def _logprobs(p_yes: float | None) -> dict[str, object] | None:
    return None if p_yes is None else {"content": [_entry(label(p_yes))]}


def _entry(token: Token) -> dict[str, object]:
    top = [{"token": text, "logprob": logprob} for text, logprob in token.top]
    return {"token": token.text, "logprob": token.logprob, "top_logprobs": top}


def _pooled(reasoner: StepReasoner, body: Mapping[str, object]) -> dict[str, object]:
    messages = _messages(body)
    item = {"index": 0, "object": "pooling", "data": _rows(reasoner, messages)}
    heard = count_words(messages)
    usage = {"prompt_tokens": heard, "completion_tokens": 0, "total_tokens": heard}
    return {"object": "list", "model": MODEL, "data": [item], "usage": usage}


def _rows(reasoner: StepReasoner, messages: Sequence[Message]) -> list[list[float]]:
    """Return a row a step: of what is no puzzle nothing is known, but a reward model has a score for any text."""
    said = {turn.role: turn.content for turn in messages}
    steps = marked_steps(said.get("assistant", ""))
    if steps and read_puzzle(said.get("user", "")) is None:
        return [[0.5, 0.5]] * len(steps)
    return reasoner.scores(messages)


@asynccontextmanager
async def step_server(
    reasoner: StepReasoner | None = None, *, port: int = 0, prefill: bool = True
) -> AsyncIterator[str]:
    """Serve a reasoner on the loopback address and give the base URL; port 0 picks a free one."""
    runner = web.AppRunner(application(reasoner or StepReasoner(), prefill=prefill), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def main() -> None:
    """Serve until interrupted; the first line on stdout is the base URL."""
    parser = argparse.ArgumentParser(prog="python -m mctsr.testing.step_reasoner", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--no-prefill", action="store_true", help="refuse to continue a begun turn")
    parser.add_argument("--judge", choices=KINDS, default="noisy")
    parser.add_argument("--lasting", action="store_true", help="an overlooked mistake stays so")
    for part in (StepWriter, StepJudge):
        for one in fields(part):
            if one.name not in {"kind", "lasting"}:
                kind = int if one.name == "seed" else float
                parser.add_argument(f"--{one.name.replace('_', '-')}", type=kind, default=one.default)
    given = parser.parse_args()
    writer = StepWriter(given.p_err, given.evenness)
    judge = StepJudge(given.judge, **{one.name: getattr(given, one.name) for one in fields(StepJudge)[1:]})
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(StepReasoner(writer, judge), given.port, prefill=not given.no_prefill))


async def _serve(reasoner: StepReasoner, port: int, *, prefill: bool) -> None:
    async with step_server(reasoner, port=port, prefill=prefill) as url:
        print(url, flush=True)  # noqa: T201
        await asyncio.Event().wait()
