"""Probes of continuing a begun turn: in which way, with ids in and out, and whether the prefix is found again.

Knows: what shows that a turn went on. Does not know: the ways themselves (`lm.continuing`).
"""

from collections.abc import Sequence

from mctsr.errors import ContextOverflow, shown
from mctsr.lm.base import Completion
from mctsr.lm.continuing.trial import BEGUN, goes_on

from .basics import COUNT, NEVER
from .finding import NOTHING, Bench, Finding, is_empty, silent

_LETTERS = "Write the letters of the English alphabet in order, in lower case, separated by commas."
_BY = "continued by "
_QUOTED = "quoted"
_TOKEN_IDS = "token ids"
_OPENED, _MORE = 8, 6
_TIMES = 12
"""Repetitions of the question that are longer than the blocks of any usual cache; vLLM on a CPU has 128 tokens."""

_EXACT = frozenset({"prefill", "token_ids"})


async def continues(bench: Bench) -> Sequence[Finding]:
    """Begin the alphabet in the model's name; it must go on with the next letter."""
    reply = await bench.ask("continue", _LETTERS, begun=BEGUN, max_tokens=_MORE)
    way, on = way_of(reply), goes_on(reply.text)
    other = NOTHING if is_empty(reply) else f"says something else: {shown(reply.text.strip()[:30])}"
    said = "goes on" if on else other
    found = f"by {way}: {said}"
    if way == _QUOTED:
        means = "" if is_empty(reply) else "the model reads its own steps as a quotation, which is weaker"
        return [Finding("continuing", found, "weak", means, frozenset({"steps"}), _EXACT)]
    gives = frozenset({"steps", "prefill"}) | (_EXACT if way == _TOKEN_IDS else frozenset())
    # The way itself was tried out before; another word than the next letter is the model's own weakness.
    return [Finding("continuing", found, "good" if on else "weak", "", gives, _EXACT - gives)]


async def ids(bench: Bench) -> Sequence[Finding]:
    """Open a turn and go on with it by its ids; count what was read and what was known of it."""
    first = await bench.ask("ids", COUNT, stop=(NEVER,), max_tokens=_OPENED)
    if not first.text.strip():
        return [silent("ids in = ids out")]
    second = await bench.ask("ids", COUNT, begun=first.text, begun_ids=first.ids, max_tokens=_MORE, sample=1)
    return [_same(first, second), await _cached(bench, second)]


def way_of(reply: Completion) -> str:
    """Return the way in which a reply was continued, as it is noted of it."""
    noted = (note.removeprefix(_BY) for note in reply.wire if note.startswith(_BY))
    return next(noted, "an unknown way")


def _same(first: Completion, second: Completion) -> Finding:
    ids, before, after = first.ids, first.usage.prompt_tokens, second.usage.prompt_tokens
    if not ids:
        return Finding(
            "ids in = ids out", "no token ids come back", "weak", "texts are tokenized again each step"
        )
    if not before or not after:
        return Finding("ids in = ids out", "ids come back; prompt tokens are not counted", "unknown")
    words = f"{before} + {len(ids)} ids, then a prompt of {after}"
    if before + len(ids) == after:
        return Finding("ids in = ids out", f"the same: {words}")
    means = "joined texts tokenize otherwise: the prefix cache is missed"
    return Finding("ids in = ids out", f"not the same: {words}", "weak", means)


async def _cached(bench: Bench, again: Completion) -> Finding:
    """Look for cached tokens in a prompt that was sent before, and if there are none, in a longer one sent twice."""
    if not again.usage.cached_tokens:
        long = "\n\n".join([COUNT] * _TIMES)
        try:
            for sample in range(2):
                again = await bench.ask("cache", long, stop=(NEVER,), max_tokens=1, sample=sample)
        except ContextOverflow:
            pass  # what was seen of the short one stands
    cached, prompt = again.usage.cached_tokens, again.usage.prompt_tokens
    if cached:
        return Finding("cached tokens", f"counted: {cached} of {prompt} prompt tokens")
    means = "the hit rate of the prefix cache cannot be reported (vLLM: --enable-prompt-tokens-details)"
    return Finding("cached tokens", f"none told for {prompt or 'the'} tokens sent twice", "weak", means)
