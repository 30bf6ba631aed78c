"""Plain text: what the model reads is sent as it is, with no template of a chat around it.

For models that were trained on text alone, such as reward models that say a label after each step. Knows: which
endpoint takes text, and what a server says that has none. Does not know: what the text is for.
"""

import re
from functools import partial

from mctsr.errors import ServerError, UsageError, short
from mctsr.lm.asking.asked import Asked, Door
from mctsr.lm.base import Completion, Role
from mctsr.lm.dialects import Logical, completion_body, native_body
from mctsr.lm.replies.chat import read_reply

from .text import read_native
from .way import continued

_ABSENT = {404, 405, 501}
_UNFIT = re.compile(
    r"not support.{0,40}completion|not supported in the v1/completions|completions?.{0,20}not (enabled|supported)",
    re.IGNORECASE | re.DOTALL,
)
_WRAPS = "Ollama puts a chat's template around a completion's text"


def is_raw(logical: Logical) -> bool:
    """Say whether there is text and no chat."""
    return bool(logical.get("begun")) and not logical["messages"]


async def ask_raw(logical: Logical, door: Door) -> Asked[Completion]:
    """Send the begun text alone; the server puts its opening token before it, as the model expects.

    Raises:
        UsageError: A server of this kind changes the text.
    """
    if door.kind == "ollama":
        raise UsageError(_words(logical["role"], f"{door.base}: {_WRAPS}"))
    text, kept, native = logical.get("begun", ""), frozenset(logical["extra_body"]), door.kind == "llama.cpp"
    parse, _ = continued(logical, "raw", read_native if native else partial(read_reply, whole=True))
    if native:
        return Asked(f"{door.root}/completion", native_body(logical, text), parse, kept)
    return Asked(
        f"{door.base}/completions", completion_body(logical, door.kind, text, opened=True), parse, kept
    )


def no_raw(role: Role, error: ServerError) -> UsageError | None:
    """Return what is to be said when a failure shows that a server takes no plain text; None when it does not."""
    if error.status in _ABSENT or _UNFIT.search(str(error)):
        return UsageError(_words(role, str(error).split("; ")[0]))
    return None


def _words(role: Role, found: str) -> str:
    return (
        f"the model of the {role} role cannot go on from plain text ({short(found)}); a token PRM needs text "
        f"completion: serve it with vLLM or llama.cpp (see --{role}-base-url and --{role}-model)"
    )
