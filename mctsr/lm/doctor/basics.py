"""The probes that every search lives by: replies, thoughts, limits, several drafts, seeds, the end of a reply.

Knows: what is asked and what shows. Does not know: how a step is continued (`turns`), or who calls it.
"""

import asyncio
import time
from collections.abc import Sequence

from mctsr.errors import Refused, ServerError, shown
from mctsr.lm.base import Completion
from mctsr.lm.replies.ends import CUT

from .finding import Bench, Finding, is_empty, silent

SUM = "What is 2 + 2? Answer with the number alone."
COUNT = (
    "Count from 1 to 9. Write the numbers in order, in digits, separated by commas and single spaces, all on one "
    "line, with no other words before or behind them. Begin with 1 and do not end before 9."
)
STOP = "5"
NEVER = "@@@"
_WORDS = "Write eight random English words."
_SUM_TOKENS, _WORD_TOKENS, COUNT_TOKENS = 24, 10, 40


async def replies(bench: Bench) -> Sequence[Finding]:
    """Ask for a plain reply, and look for a thought in it; a failure means that nothing can be run."""
    try:
        reply = await bench.ask("reply", SUM, max_tokens=_SUM_TOKENS)
    except ServerError as error:
        means = "no search can run" + ("; check URL, model and key" if isinstance(error, Refused) else "")
        return [Finding("completions", str(error), "bad", means)]
    return [_replied(reply), _thinking(reply)]


async def says(bench: Bench) -> Sequence[Finding]:
    """Ask for a plain reply, without which there may be something else."""
    return [_replied(await bench.ask("reply", SUM, max_tokens=_SUM_TOKENS))]


def _replied(reply: Completion) -> Finding:
    changed = [note for note in reply.wire if note.startswith(("dropped", "renamed"))]
    means = f"changed for this server: {', '.join(changed)}" if changed else ""
    if reply.text.strip():
        said = f"{shown(reply.text.strip()[:40])} in {reply.seconds:.1f} s"
        return Finding("completions", said, "good", means)
    why = "a thought alone" if reply.thought else "an empty reply"
    cut = f", cut off after {_SUM_TOKENS} tokens" if reply.finish == "length" else ""
    return Finding("completions", f"{why}{cut}, in {reply.seconds:.1f} s", "weak", means)


def _thinking(reply: Completion) -> Finding:
    if reply.thought:
        means = "thoughts count as reply tokens: raise --max-tokens, or turn them off by --extra-body"
        return Finding("thinking", "on: the reply has a thought of its own", "weak", means)
    if not reply.text.strip() and reply.finish == "length":
        return Finding("thinking", "perhaps on and hidden: tokens were used and nothing said", "weak")
    if is_empty(reply):
        return silent("thinking")
    return Finding("thinking", "off: no thought was seen")


async def drafts(bench: Bench) -> Sequence[Finding]:
    """Ask for two drafts side by side and for the first one again, alone; look at their length, too."""
    began = time.perf_counter()
    got = list(await asyncio.gather(_draft(bench, 0), _draft(bench, 1)))
    seconds = time.perf_counter() - began
    got.append(await _draft(bench, 0))
    if _said(got[2]) != _said(got[0]):
        # Other calls in flight may change a reply; what is asked alone twice has no such excuse.
        got.append(await _draft(bench, 0))
    if all(map(is_empty, got)):
        return [silent("n drafts"), silent("seeds"), silent("token limit")]
    found = f"2 calls side by side gave 2 replies in {seconds:.1f} s"
    return [Finding("n drafts", found, "good", "n drafts are n calls"), _seeds(*map(_said, got)), _limit(got)]


async def _draft(bench: Bench, sample: int) -> Completion:
    return await bench.ask("draft", _WORDS, sample=sample, temperature=1.0, max_tokens=_WORD_TOKENS)


def _said(reply: Completion) -> str:
    return reply.thought + reply.text


def _seeds(first: str, second: str, alone: str, again: str = "") -> Finding:
    if not first.strip() or not second.strip():
        return silent("seeds")
    if first == second:
        means = "drafts may all be one text; votes and best-of-n gain nothing then"
        return Finding("seeds", "two seeds gave the same text at temperature 1", "weak", means)
    if first == alone:
        return Finding("seeds", "differ, and one seed repeats")
    means = "a run is repeated from its call log alone"
    found = "differ; one seed repeats " + (
        "only while nothing else is asked" if alone == again else "nothing"
    )
    return Finding("seeds", found, "weak", means)


def _limit(got: Sequence[Completion]) -> Finding:
    most = max(reply.usage.completion_tokens for reply in got)
    if not most:
        return Finding("token limit", "tokens are not counted", "unknown", "--token-limit does not hold")
    if most > _WORD_TOKENS:
        found = f"not kept: {most} tokens, {_WORD_TOKENS} were allowed"
        return Finding("token limit", found, "weak", "replies may be of any length")
    return Finding("token limit", f"kept: {most} tokens of {_WORD_TOKENS} allowed")


async def stops(bench: Bench) -> Sequence[Finding]:
    """Ask for an end at a stop string, and for one that never comes."""
    counted = await bench.ask("stop", COUNT, stop=(STOP,), max_tokens=COUNT_TOKENS)
    ended = await bench.ask("own end", SUM, stop=(NEVER,), max_tokens=_SUM_TOKENS)
    return [_stopped(counted), _ended(ended)]


def _stopped(reply: Completion) -> Finding:
    if "dropped stop" in reply.wire:
        means = "a step runs on to the model's own end and is cut afterwards"
        return Finding("stop strings", "not taken", "weak", means)
    if is_empty(reply):
        return silent("stop strings")
    if CUT in reply.wire:
        means = "each step pays for what is written behind it"
        return Finding("stop strings", "not obeyed: the reply went on and is cut here", "weak", means)
    if reply.stop:
        return Finding("stop strings", "obeyed, named, and kept in the step")
    if reply.stop == "" or reply.finish != "stop":
        said = shown(reply.text.strip()[:40])
        return Finding("stop strings", f"not seen: the model did not come to it ({said})", "unknown")
    means = "steps lose their separator"
    return Finding("stop strings", "obeyed, but not named", "weak", means)


def _ended(reply: Completion) -> Finding:
    if is_empty(reply):
        return silent("own end")
    if reply.stop == "":
        return Finding("own end", "told apart from a stop string")
    if reply.finish == "stop":
        means = "a solution's end is known by its final answer alone"
        return Finding("own end", "not told apart from a stop string", "weak", means)
    return Finding("own end", f"not seen within {_SUM_TOKENS} tokens", "unknown")
