"""Continuing by token ids: the chat is rendered and tokenized once, then ids are only appended.

Joined texts tokenize otherwise than their pieces did, which loses the server's prefix cache and moves the model
off what it had said itself; ids do not. Knows: vLLM's /tokenize and its ids at /completions.
"""

from dataclasses import dataclass, replace
from typing import Self

from mctsr.errors import ServerError
from mctsr.lm.asking.asked import Asked, Door
from mctsr.lm.base import Completion
from mctsr.lm.dialects import Logical, completion_body, template_fields
from mctsr.lm.replies.chat import read_reply
from mctsr.lm.replies.fields import ids_of

from .way import continued


@dataclass(frozen=True, slots=True)
class TokenIds:
    """Ids in and ids out."""

    name: str = "token ids"
    exact: bool = True

    async def ask(self, logical: Logical, door: Door) -> Asked[Completion]:
        """Append the ids of the begun turn, those that the model itself gave where all are known."""
        begun = logical.get("begun", "")
        prompt = list(await chat_ids(logical, door))
        if begun:
            prompt += logical.get("begun_ids") or await _text_ids(logical["model"], begun, door)
        parse, notes = continued(logical, self.name, _read)
        body = completion_body(logical, door.kind, prompt)
        return Asked(f"{door.base}/completions", body, parse, frozenset(logical["extra_body"]), notes)

    def proven(self, asked: Asked[Completion], reply: Completion) -> Self | None:
        """Ids came back, and as many were read as were sent."""
        prompt = asked.body["prompt"]
        assert isinstance(prompt, list)
        whole = reply.usage.prompt_tokens in {0, len(prompt)}
        return self if whole and (reply.ids or reply.stop == "") else None


async def chat_ids(logical: Logical, door: Door) -> tuple[int, ...]:
    """Return the ids of the rendered chat, the assistant's turn opened behind it."""
    body = {"model": logical["model"], "messages": logical["messages"], "add_generation_prompt": True}
    return await _tokenized(body | template_fields(logical), door)


async def _text_ids(model: str, text: str, door: Door) -> tuple[int, ...]:
    return await _tokenized({"model": model, "prompt": text, "add_special_tokens": False}, door)


async def _tokenized(body: dict[str, object], door: Door) -> tuple[int, ...]:
    url = f"{door.root}/tokenize"
    ids = ids_of((await door.fetch(url, body)).get("tokens"))
    if not ids:
        raise ServerError(f"{url} gave no token ids", status=200)
    return ids


def _read(data: object) -> Completion:
    reply = read_reply(data, whole=True)
    # The id that ended the turn stands last and has no text; behind it nothing could be continued.
    return replace(reply, ids=reply.ids[:-1]) if reply.stop == "" else reply
