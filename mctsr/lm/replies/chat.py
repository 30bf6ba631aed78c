"""A completion as the chat and the completions endpoints reply it.

Knows: the shapes of choices and messages, thoughts between tags or apart, what a server says of the end.
Does not know: HTTP, or what was asked.
"""

from collections.abc import Mapping

from mctsr.lm import wire
from mctsr.lm.base import Completion

from .fields import Malformed, finish_of, ids_of, kind_of, surrogates, usage_of
from .tokens import tokens_of

_PARTS = {"text", "output_text", "thinking", "reasoning", "refusal"}
_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>", "[THINK]": "[/THINK]"}
_ENDS = ("stop_reason", "matched_stop")
_IDS = ("token_ids", "response_token_ids")


def read_reply(data: object, *, whole: bool = False) -> Completion:
    """Read the completion out of a reply; its seconds and retries are left for the caller.

    Null content, thoughts in a field of their own or between tags, missing usage and unknown finish reasons
    are all ordinary.

    Args:
        data: The reply.
        whole: Leave a thought between tags in the text, which is to be continued character for character,
            and say what the server itself tells of the end (see `Completion.stop`).

    Raises:
        Malformed: there is no choice or no text in it, or the server gave up in the middle.
    """
    choices = data.get("choices") if isinstance(data, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise Malformed("the reply holds no choices")
    assert isinstance(data, Mapping)
    choice = choices[0]
    message = choice.get("message")
    message = {"content": choice.get("text")} if message is None else message
    if not isinstance(message, Mapping):
        raise Malformed(f"the reply's message is {kind_of(message)}, no object")
    said, inner = _content(message)
    text, thought = (said, "") if whole else split_thought(said)
    cleaned, replaced = wire.clean(text)
    thoughts = [_reasoning(message), inner, thought]
    ids = next((found for name in _IDS if (found := ids_of(choice.get(name)))), ())
    return Completion(
        text=cleaned,
        finish=finish_of(choice.get("finish_reason")),
        thought=wire.clean("\n".join(t for t in thoughts if t)).text,
        usage=usage_of(data.get("usage"), data.get("timings")),
        wire=(surrogates(replaced, "reply"),) if replaced else (),
        stop=_end(choice) if whole else None,
        ids=ids,
        tokens=tokens_of(choice.get("logprobs"), ids),
    )


def _end(choice: Mapping[str, object]) -> str | None:
    """Return the stop string that a server names, "" when it says that there was none, None when it is silent.

    Where the end of turn is a token, SGLang names that token's id, and vLLM nothing.
    """
    name = next((name for name in _ENDS if name in choice), None)
    if name is None or finish_of(choice.get("finish_reason")) != "stop":
        return None
    end = choice[name]
    return end if isinstance(end, str) else ""


def split_thought(text: str) -> tuple[str, str]:
    """Split a text into what is said and what is thought.

    The thought stands between tags at the start. A template may have written the opening tag into the
    prompt, then only the closing one is there; a thought that was cut off has only the opening one.
    """
    start = text.lstrip()
    for opening, closing in _TAGS.items():
        if start.startswith(opening):
            inside, _, after = start.removeprefix(opening).partition(closing)
            return after.lstrip(), inside.strip()
    for closing in _TAGS.values():
        before, found, after = text.partition(closing)
        if found:
            return after.lstrip(), before.strip()
    return text, ""


def _content(fields: Mapping[str, object]) -> tuple[str, str]:
    content = fields.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping) and part.get("type", "text") in _PARTS]
        if len(parts) < len(content):
            raise Malformed("the reply's content holds parts that are no text")
        return _joined(parts, "text"), _joined(parts, "thinking") or _joined(parts, "reasoning")
    said = fields.get("refusal") if content is None else content
    if said is not None and not isinstance(said, str):
        raise Malformed(f"the reply's content is {kind_of(said)}, no text")
    return said or "", ""


def _joined(parts: list[Mapping[str, object]], key: str) -> str:
    texts = [part.get(key) for part in parts if _type(part) == key]
    flat = [
        _joined([p for p in t if isinstance(p, Mapping)], "text") if isinstance(t, list) else t for t in texts
    ]
    if not all(isinstance(t, str) for t in flat):
        raise Malformed("the reply's content holds a part without its text")
    return "".join(map(str, flat))


def _type(part: Mapping[str, object]) -> object:
    named = part.get("type", "text")
    return "text" if named == "output_text" else named


def _reasoning(fields: Mapping[str, object]) -> str:
    found = (fields.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in found if isinstance(text, str) and text), "")
