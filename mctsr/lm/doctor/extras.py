"""Probes of what a server gives beside the text: log-probabilities, and replies in a form that it enforces.

Knows: what is asked and what shows. Does not know: who reads labels or scores.
"""

import json
from collections.abc import Sequence

from mctsr.errors import shown
from mctsr.lm.base import Completion

from .basics import SUM
from .finding import NOTHING, Bench, Finding, is_empty, silent

ALTERNATIVES = 20
"""Alternatives a token that judges ask for when they read a label."""

LOGPROBS, SCHEMA = frozenset({"logprobs"}), frozenset({"schema"})

_WORDS = ("alpha", "beta")
_FORM = {
    "type": "object",
    "properties": {"word": {"type": "string", "enum": list(_WORDS)}},
    "required": ["word"],
    "additionalProperties": False,
}
_PROSE = "Tell me in one sentence of plain prose, without any quotes or brackets, what the sea is like."
_PROSE_TOKENS = 32


async def logprobs(bench: Bench) -> Sequence[Finding]:
    """Ask for two tokens with their alternatives."""
    reply = await bench.ask("log-probabilities", SUM, max_tokens=2, logprobs=ALTERNATIVES)
    if not reply.tokens and is_empty(reply):
        return [Finding("log-probabilities", NOTHING, "unknown", "", lacks=LOGPROBS)]
    if not reply.tokens:
        return [Finding("log-probabilities", "none come back", "weak", "", lacks=LOGPROBS)]
    most = max(len(token.top) for token in reply.tokens)
    if most < 2:
        means = "labels are seen only where the model says them"
        return [Finding("log-probabilities", "of the token itself alone", "weak", means, LOGPROBS)]
    found = f"{most} alternatives a token, {ALTERNATIVES} asked for"
    if most >= ALTERNATIVES:
        return [Finding("log-probabilities", found, "good", "", LOGPROBS)]
    means = "a label outside of them counts as impossible"
    return [Finding("log-probabilities", found, "weak", means, LOGPROBS)]


async def constrained(bench: Bench) -> Sequence[Finding]:
    """Ask for prose under a JSON Schema that allows two words."""
    reply = await bench.ask("schema", _PROSE, schema=_FORM, max_tokens=_PROSE_TOKENS)
    means = "scores are read out of free text; a weak model then loses many"
    if "dropped response_format" in reply.wire:
        return [Finding("JSON Schema", "not taken", "weak", means, lacks=SCHEMA)]
    if _obeys(reply):
        return [Finding("JSON Schema", "obeyed", "good", "", SCHEMA)]
    if not reply.text.strip():
        return [silent("JSON Schema")]
    return [
        Finding("JSON Schema", f"not obeyed: {shown(reply.text.strip()[:40])}", "weak", means, lacks=SCHEMA)
    ]


def _obeys(reply: Completion) -> bool:
    try:
        said = json.loads(reply.text)
    except ValueError:
        return False
    return isinstance(said, dict) and said.keys() == {"word"} and said["word"] in _WORDS
