"""Made-up reward models of every kind, good and bad, for `FakeServer(more=…)` and its `reply`."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.fake_server import Answer, Body, error
from tests.support.fake_ways import pooling

MARK = "<extra_0>"
GOOD = {"+": 0.8, "-": 0.2}
CHATTY = {"So": 0.9, "Step": 0.1}

Say = Callable[[Body], Mapping[str, Any]]


def steps_of(body: Body) -> int:
    """Count the steps that a pooling model is asked about."""
    return str(body["messages"][-1]["content"]).count(MARK)


def per_step(body: Body) -> list[list[float]]:
    """Score each step with 0.75."""
    return [[0.25, 0.75]] * steps_of(body)


def scorer(score: Callable[[Body], list[list[Any]]] = per_step) -> dict[str, Answer]:
    """Make the endpoints of a model behind vLLM's pooling runner; it generates nothing."""
    return pooling(score)


def refusing(words: str, *, when: Callable[[Body], bool] = lambda _: True) -> dict[str, Answer]:
    """Make a /pooling that answers 400 in these words, and scores what it does not refuse."""
    good = scorer()["/pooling"]
    return {"/pooling": lambda body: (400, error(words, 400)) if when(body) else good(body)}


def label_chat(chances: Mapping[str, float]) -> Say:
    """Make the reply of a chat model of one token, with the chances of what could have stood there."""
    listed = [{"token": text, "logprob": math.log(chance)} for text, chance in chances.items()]

    def say(body: Body) -> Mapping[str, Any]:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": listed[0]["token"]},
            "finish_reason": "length",
            "logprobs": {"content": [{**listed[0], "top_logprobs": listed}]},
        }
        return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}

    return say


def label_text(chances: Mapping[str, float]) -> dict[str, Answer]:
    """Make the /completions of such a model."""
    logs = {text: math.log(chance) for text, chance in chances.items()}
    first = next(iter(logs))

    def complete(body: Body) -> tuple[int, Any]:
        logprobs = {"tokens": [first], "token_logprobs": [logs[first]], "top_logprobs": [logs]}
        choice = {"index": 0, "text": first, "finish_reason": "length", "logprobs": logprobs}
        return 200, {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}

    return {"/v1/completions": complete}
