"""What a server's "no" means.

Knows: the shapes of error bodies, the words for a prompt that is too long, for an unknown model and for a
field that a server does not take, and how long a server asks to wait.
Does not know: when a call is sent again (see `server`).
"""

import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from http import HTTPStatus
from typing import Literal, NamedTuple

from . import wire

LONGEST_WAIT = 120.0
"""Seconds; no server's wish to wait is honoured beyond it."""

Verdict = Literal["again", "overload", "overflow", "refused", "final"]

_LONGEST_LINE = 400
_LONGEST_BODY = 1 << 16
_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
_OVERFLOW = re.compile(
    r"context(?!-free).{0,60}(length|size|window|exceed)|(length|size|window|exceed).{0,60}context(?!-free)"
    r"|max_(completion_)?tokens must be at least 1, got (0|-\d+)"
    r"|prompt is too long|inputs? (is|are) too long|input (token count|length).{0,60}exceed"
    r"|inputs.{0,20} tokens \+ .{0,20}max_new_tokens",
    re.IGNORECASE | re.DOTALL,
)
_UNKNOWN_MODEL = re.compile(
    r"model.{0,120}(not found|does not exist|doesn't exist|no such|not a valid)|(unknown|invalid) model|"
    r"not a valid model",
    re.IGNORECASE | re.DOTALL,
)
_MODERATED = re.compile(r"moderat|flagged|safety", re.IGNORECASE)
_RANGE = re.compile(
    r"must be|should be|between|at most|at least|too (large|small|high|low)|range|less than|greater than"
    r"|maximum|minimum|exceed",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"(?:max(?:imum)?(?: allowed| value)?(?: is|:)?|at most|up to|<=|less than or equal to|between 0 and)"
    r"\s*(\d{1,6})\b",
    re.IGNORECASE,
)
_NEVER_DROPPED = {"model", "messages", "prompt", "input"}
_VALUES = {"temperature", "top_p", "max_tokens", "max_completion_tokens"}
_SYNONYMS = {"response_format": r"json_schema|structured[ _]outputs?|guided|grammar"}


class Fault(NamedTuple):
    """An error as a server worded it.

    Attributes:
        status: HTTP status, or the one that the body names where HTTP said 200.
        message: The server's own words in one line.
        param: The field that it names, "" when it names none.
        code: Its code and type, such as "insufficient_quota", joined by a space.
    """

    status: int
    message: str
    param: str = ""
    code: str = ""


def read_fault(status: int, raw: bytes) -> Fault:
    """Read an error body of any shape: OpenAI's, FastAPI's, plain text, HTML or nothing."""
    raw = raw[:_LONGEST_BODY]
    try:
        data = wire.loads(raw)
    except ValueError:
        return Fault(status, _plain_line(raw) or _phrase(status))
    return _fault(status, data)


def fault_within(data: object) -> Fault | None:
    """Find the error that came with HTTP 200, in the body or in its first choice; None when there is none."""
    if not isinstance(data, Mapping):
        return None
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    for place in (data, first):
        if isinstance(place, Mapping) and place.get("error"):
            code = _get(place["error"], "code")
            status = code if isinstance(code, int) and 400 <= code < 600 else HTTPStatus.BAD_GATEWAY
            return _fault(int(status), place)
    return None


def judge(fault: Fault) -> Verdict:
    """Say what a fault means for the call.

    "again" and "overload" are worth another try, "overflow" ends the prompt, "refused" concerns every call
    alike, and "final" this call only.
    """
    status, words = fault.status, fault.message
    if "insufficient_quota" in fault.code or status in {402, 405} or 300 <= status < 400:
        return "refused"
    if status in {401, 403, 404}:
        return "final" if status == HTTPStatus.FORBIDDEN and _MODERATED.search(words) else "refused"
    if status in {429, 503}:
        return "overload"
    if _OVERFLOW_CODES & set(fault.code.split()) or _OVERFLOW.search(words):
        return "overflow"
    if status in {408, 409, 425} or (status >= 500 and status not in {501, 505}):
        return "again"
    return "refused" if "model_not_found" in fault.code or _UNKNOWN_MODEL.search(words) else "final"


def blamed_field(fault: Fault, body: Collection[str]) -> str | None:
    """Name the optional field of `body` that a fault complains about; None when there is none.

    A value out of range of a field that the user chooses is the user's business and is not blamed.
    """
    if fault.status not in {400, 422, 501}:
        return None
    named = [(at, name) for name in body if (at := _mention(fault, name)) >= 0]
    if not named:
        return None
    name = min(named)[1]
    unsupported = "unsupported" in fault.code
    return None if name in _VALUES and not unsupported and _RANGE.search(fault.message) else name


def most_allowed(fault: Fault) -> int | None:
    """Read the largest number that a server says it takes where it got a larger one; None when it names none."""
    found = _MOST.search(fault.message)
    return int(found[1]) if found else None


def wait_wished(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Read how many seconds a server asks to wait, in [0, LONGEST_WAIT]; None when it does not say."""
    millis = _number(headers.get("retry-after-ms", ""))
    given = headers.get("Retry-After", "")
    seconds = millis / 1000 if millis is not None else _number(given)
    if seconds is None:
        try:
            until = parsedate_to_datetime(given)
        except ValueError:
            return None
        seconds = (until.astimezone(UTC) - (now or datetime.now(UTC))).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT)


def one_line(text: str) -> str:
    """Fold whitespace, drop what no terminal should see, and cut to a readable length."""
    printable = "".join(c if c.isprintable() else " " for c in text[: 8 * _LONGEST_LINE])
    line = " ".join(printable.split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"


def _mention(fault: Fault, name: str) -> int:
    """Say where a fault names a field: 0 for its `param`, later for its words, -1 for nowhere."""
    if name in _NEVER_DROPPED:
        return -1
    if name == fault.param.split(".")[0]:
        return 0
    found = re.search(rf"(?<!\w)({re.escape(name)})(?!\w)", fault.message)
    if found is None and name in _SYNONYMS:
        found = re.search(_SYNONYMS[name], fault.message, re.IGNORECASE)
    return 1 + found.start() if found else -1


def _fault(status: int, data: object) -> Fault:
    body = _first(data)
    inner = _first(next((found for key in ("error", "errors") if (found := _get(body, key))), body))
    detail = _get(inner, "detail") or _get(body, "detail")
    where = _get(_first(detail), "loc")
    words = _get(_first(detail), "msg") or _get(inner, "message") or detail or _get(body, "message") or inner
    param = (
        [str(part) for part in where if part != "body"] if isinstance(where, list) else [_get(inner, "param")]
    )
    codes = " ".join(str(code) for key in ("code", "type") if (code := _get(inner, key)))
    line = words if isinstance(words, str) else wire.dumps(words).decode() if words else ""
    named = ".".join(part for part in param if isinstance(part, str)).removeprefix("body.")
    return Fault(status, one_line(line) or _phrase(status), named, codes)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _get(value: object, key: str) -> object:
    return value.get(key) if isinstance(value, Mapping) else None


def _plain_line(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    bare = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", title[1] if title else text)
    return one_line(unescape(bare))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return f"status {status}"


def _number(text: str) -> float | None:
    try:
        value = float(text) if text.isascii() else math.nan
    except ValueError:
        return None
    return None if math.isnan(value) else value
