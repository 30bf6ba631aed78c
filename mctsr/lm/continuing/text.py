"""Continuing by text: the server's own template renders the chat, and the begun turn is written behind it.

Knows: llama.cpp's /apply-template and /completion, which alone tells a stop string from the model's end there, and
how vLLM turns ids back into a rendered chat.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Self

from mctsr.errors import ServerError
from mctsr.lm import wire
from mctsr.lm.asking.asked import Asked, Door
from mctsr.lm.base import Completion, Finish, Usage
from mctsr.lm.dialects import Logical, completion_body, native_body, template_fields
from mctsr.lm.replies.chat import read_reply
from mctsr.lm.replies.fields import Malformed, ids_of, surrogates, usage_of
from mctsr.lm.replies.tokens import tokens_of

from .ids import chat_ids
from .way import continued

_FINISH: dict[object, Finish] = {"eos": "stop", "word": "stop", "limit": "length"}


@dataclass(frozen=True, slots=True)
class NativeText:
    """llama.cpp's own endpoints."""

    name: str = "text"
    exact: bool = True

    async def ask(self, logical: Logical, door: Door) -> Asked[Completion]:
        """Write the begun turn behind the rendered chat."""
        url = f"{door.root}/apply-template"
        given = {"messages": logical["messages"]} | template_fields(logical)
        rendered = _rendered(await door.fetch(url, given), url)
        parse, notes = continued(logical, self.name, read_native)
        body = native_body(logical, rendered + logical.get("begun", ""))
        return Asked(f"{door.root}/completion", body, parse, frozenset(logical["extra_body"]), notes)

    def proven(self, asked: Asked[Completion], reply: Completion) -> Self | None:
        """Something came back for what was sent."""
        return self if _answered(reply) else None


@dataclass(frozen=True, slots=True)
class PlainText:
    """The completions endpoint of a server that has a /tokenize for chats and a /detokenize."""

    name: str = "text"
    exact: bool = True

    async def ask(self, logical: Logical, door: Door) -> Asked[Completion]:
        """Write the begun turn behind the rendered chat, without a second opening token."""
        ids, url = await chat_ids(logical, door), f"{door.root}/detokenize"
        rendered = _rendered(await door.fetch(url, {"model": logical["model"], "tokens": ids}), url)
        parse, notes = continued(logical, self.name, partial(read_reply, whole=True))
        body = completion_body(logical, door.kind, rendered + logical.get("begun", ""))
        # With it dropped, the prompt would open twice.
        kept = frozenset({"add_special_tokens", *logical["extra_body"]})
        return Asked(f"{door.base}/completions", body, parse, kept, notes)

    def proven(self, asked: Asked[Completion], reply: Completion) -> Self | None:
        """Something came back for what was sent."""
        return self if _answered(reply) else None


def read_native(data: object) -> Completion:
    """Read a reply of llama.cpp's own /completion.

    Raises:
        Malformed: there is no text in it.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("content"), str):
        raise Malformed("the reply holds no content")
    text, replaced = wire.clean(data["content"])
    end, ids = data.get("stop_type"), ids_of(data.get("tokens"))
    if end == "eos" and len(ids) == data.get("tokens_predicted"):
        ids = ids[:-1]  # the id that ended the turn has no text
    counts = {
        "prompt_tokens": data.get("tokens_evaluated"),
        "completion_tokens": data.get("tokens_predicted"),
    }
    return Completion(
        text=text,
        finish=_FINISH.get(end, "other"),
        usage=usage_of(counts, data.get("timings")),
        wire=(surrogates(replaced, "reply"),) if replaced else (),
        stop=str(data.get("stopping_word") or "") if end == "word" else "" if end == "eos" else None,
        ids=ids,
        tokens=tokens_of(data.get("completion_probabilities"), ids),
    )


def _rendered(data: Mapping[str, object], url: str) -> str:
    text = data.get("prompt")
    if not isinstance(text, str) or not text:
        raise ServerError(f"{url} gave no rendered chat", status=200)
    return text


def _answered(reply: Completion) -> bool:
    return bool(reply.text) or reply.usage != Usage()
