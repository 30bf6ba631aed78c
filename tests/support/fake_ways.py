"""A made-up model behind the endpoints of vLLM and llama.cpp, for continuing turns and for scores.

The model knows one text by heart for each question and says it from where the prompt ends. A token is a word with
the white space behind it, or a run of white space; the ids of tokens are those of first sight. What differs between
servers is as in theirs: who keeps a stop string, who names it, how log-probabilities are laid out.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.support.fake_server import Answer, Body, Reply, error

EOS = "<|end|>"
ALPHABET = "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z"


class Said(NamedTuple):
    """What the model said: tokens up to a stop string, its own end or the limit."""

    tokens: list[str]
    end: str
    """"stop string", "eos" or "length"."""
    stop: str | None

    @property
    def text(self) -> str:
        return "".join(token for token in self.tokens if token != EOS)


class Model:
    """A model that says one text.

    Attributes:
        text: What it says to every question but the one for the alphabet.
        ids: The vocabulary as far as it was seen.
    """

    def __init__(self, text: str = "Step 1: add.\n\nStep 2: 42.\n\nSo 42.") -> None:
        self.text = text
        self.ids: dict[str, int] = {}

    def encode(self, text: str) -> list[int]:
        return [self.ids.setdefault(token, 1000 + len(self.ids)) for token in split(text)]

    def decode(self, ids: list[int]) -> str:
        words = {id: token for token, id in self.ids.items()}
        return "".join(words[id] for id in ids)

    def render(self, messages: list[dict[str, str]]) -> str:
        return "".join(f"<{turn['role']}> {turn['content']} {EOS} " for turn in messages) + "<assistant> "

    def go_on(self, prompt: str, stops: list[str], limit: int) -> Said:
        """Continue a rendered prompt."""
        begun = prompt.rpartition("<assistant> ")[2]
        whole = ALPHABET if "alphabet" in prompt else self.text
        # What does not begin as it would have begun is ended with one word more.
        left = whole[len(begun) :] if whole.startswith(begun) else " indeed."
        said: list[str] = []
        for token in split(left):
            if len(said) == limit:
                return Said(said, "length", None)
            said.append(token)
            text = "".join(said)
            hit = next((stop for stop in stops if stop in text), None)
            if hit is not None:
                return Said(said, "stop string", hit)
        return Said([*said, EOS], "eos", None)


def split(text: str) -> list[str]:
    """Cut a text into tokens."""
    return re.findall(r"\n+|[^\s]+ ?| +", text)


def cut(said: Said, *, keep: bool) -> str:
    """Return the text as a server does that keeps the stop string, or not."""
    if said.stop is None:
        return said.text
    at = said.text.index(said.stop)
    return said.text[: at + len(said.stop)] if keep else said.text[:at]


def vllm(model: Model, *, ids: bool = True) -> dict[str, Answer]:
    """Make vLLM's endpoints for a model; without `ids` it refuses them as a prompt."""

    def tokenize(body: Body) -> tuple[int, Any]:
        if "messages" in body:
            assert body["add_generation_prompt"] is True
            found = model.encode(model.render(body["messages"]))
        else:
            assert body["add_special_tokens"] is False
            found = model.encode(body["prompt"])
        return 200, {"count": len(found), "tokens": found, "token_strs": None}

    def detokenize(body: Body) -> tuple[int, Any]:
        return 200, {"prompt": model.decode(body["tokens"])}

    def complete(body: Body) -> tuple[int, Any]:
        prompt = body["prompt"]
        if isinstance(prompt, list):
            if not ids:
                return 400, error("token ids are not taken here", 400)
            count, prompt = len(prompt), model.decode(prompt)
        else:
            assert body["add_special_tokens"] is False
            count = len(model.encode(prompt))
        said = model.go_on(prompt, body.get("stop", []), body["max_tokens"])
        keep = body.get("include_stop_str_in_output", False)
        choice = {
            "index": 0,
            "text": cut(said, keep=keep),
            "finish_reason": "length" if said.end == "length" else "stop",
            "stop_reason": said.stop,
            "logprobs": old_logprobs(said, body.get("logprobs")),
        }
        if body.get("return_token_ids"):
            choice["token_ids"] = [model.encode(token)[0] for token in said.tokens]
        usage = {"prompt_tokens": count, "completion_tokens": len(said.tokens)}
        return 200, {"choices": [choice], "usage": usage}

    return {"/tokenize": tokenize, "/detokenize": detokenize, "/v1/completions": complete}


def old_logprobs(said: Said, most: int | None) -> dict[str, Any] | None:
    """Lay log-probabilities out as the completions endpoint does: k + 1 entries, the sampled one first."""
    if most is None:
        return None
    tops = [{token: -0.5, **{f"other {n}": -1.0 - n for n in range(most)}} for token in said.tokens]
    return {"tokens": said.tokens, "token_logprobs": [-0.5] * len(said.tokens), "top_logprobs": tops}


def llama_cpp(model: Model) -> dict[str, Answer]:
    """Make llama.cpp's own endpoints for a model."""

    def template(body: Body) -> tuple[int, Any]:
        return 200, {"prompt": model.render(body["messages"])}

    def complete(body: Body) -> tuple[int, Any]:
        said = model.go_on(body["prompt"], body.get("stop", []), body["n_predict"])
        kind = {"length": "limit", "eos": "eos", "stop string": "word"}[said.end]
        listed = [
            {"id": model.encode(token)[0], "token": token, "logprob": -0.5, "top_logprobs": []}
            for token in said.tokens
        ]
        return 200, {
            "content": cut(said, keep=False),
            "tokens": [entry["id"] for entry in listed] if body.get("return_tokens") else [],
            "stop_type": kind,
            "stopping_word": said.stop or "",
            "tokens_evaluated": len(model.encode(body["prompt"])),
            "tokens_predicted": len(said.tokens),
            "timings": {"cache_n": 3},
            "completion_probabilities": listed if body.get("n_probs") else [],
        }

    return {"/apply-template": template, "/completion": complete}


def chat(
    model: Model, *, opens: Callable[[Body], bool], echoes: bool = False, names: str = ""
) -> Callable[[Body], Reply]:
    """Make what a chat endpoint says.

    Args:
        model: Says it.
        opens: Whether a last message of the assistant is continued; it is answered anew otherwise.
        echoes: Whether the reply repeats it.
        names: The field that tells the stop string; "" for none.
    """

    def reply(body: Body) -> Reply:
        *before, last = body["messages"]
        begun = ""
        if last["role"] == "assistant":
            begun = last["content"] if opens(body) else ""
        else:
            before = body["messages"]
        limit = int(body.get("max_tokens") or body["max_completion_tokens"])
        said = model.go_on(model.render(before) + begun, body.get("stop", []), limit)
        keep = bool(body.get("include_stop_str_in_output") or body.get("no_stop_trim"))
        text = (begun if echoes else "") + cut(said, keep=keep)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "length" if said.end == "length" else "stop",
        }
        if names:
            choice[names] = said.stop
        return {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": len(said.tokens)}}

    return reply


def pooling(score: Callable[[Body], list[list[Any]]]) -> dict[str, Answer]:
    """Make a reward model's /pooling and /classify."""

    def usage() -> dict[str, int]:
        return {"prompt_tokens": 41, "total_tokens": 41, "completion_tokens": 0}

    def pool(body: Body) -> tuple[int, Any]:
        data = [{"index": 0, "object": "pooling", "data": score(body)}]
        return 200, {"object": "list", "data": data, "usage": usage()}

    def classify(body: Body) -> tuple[int, Any]:
        row = {"index": 0, "label": "LABEL_0", "probs": score(body)[0], "num_classes": 1}
        return 200, {"object": "list", "data": [row], "usage": usage()}

    return {"/pooling": pool, "/classify": classify}
