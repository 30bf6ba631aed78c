"""Replies of typical length that every part can read; each differs from the others by its place alone.

Brief ones are for comparison: solutions end with their first step, all agree, and all are judged well.
Knows typical lengths. Contacts nothing and counts nothing.
"""

import math

from mctsr.lm.base import Completion, Place, Pooled, Pooling, Request, Token, Usage

REPLY_TOKENS = 300
JUDGEMENT_TOKENS = 60
CHARACTERS_A_TOKEN = 4
STEPS = 6
"""Steps of a solution that is grown step by step."""

_STEP_END = "<extra_0>"
_AGREED = 89
"""What brief replies say: the highest of all scores, and one answer."""


async def half(answer: str) -> bool:
    """Call half of the made-up answers right."""
    return len(answer) + sum(map(ord, answer)) & 1 == 0


async def every(answer: str) -> bool:
    """Call all made-up answers right."""
    return True


def reply(place: Place, request: Request, tokens: int, *, brief: bool = False) -> Completion:
    """Make up a reply that can be read: an answer, its next step, or a score that differs from call to call."""
    tokens, last = min(tokens, request.max_tokens or tokens), 1 if brief else STEPS
    number = _AGREED if brief else place.seed(0) % 10**6
    if request.role != "policy" and request.logprobs is not None:
        return Completion("", usage=Usage(_prompt_tokens(request), tokens), tokens=(_label(number),))
    if step := step_of(request):
        tokens, end = min(tokens, REPLY_TOKENS // STEPS), request.stop[0]
        if step < last:  # the last one holds the answer
            return _written(request, f"Step {number}: {_filler(tokens)}{end}", tokens, end)
    if request.role == "judge":
        # Such a number lies on every judge's scale.
        text = f'{{"reason": "{_filler(tokens)}", "score": {number % 90 / 10}}}'
    else:
        left = max(last - request.begun.count("\n\n"), 1)
        lines = (_filler(tokens // STEPS) + "\n\n") * (left - 1)
        text = f"{lines}The final answer is \\boxed{{{number % 90}}}"
    return _written(request, text, tokens, "" if request.begun or request.stop else None)


def scores(place: Place, pooling: Pooling, *, brief: bool = False) -> Pooled:
    """Make up the scores of a reward model."""
    texts = [*(turn.content for turn in pooling.messages), pooling.text]
    usage = Usage(sum(map(len, texts)) // CHARACTERS_A_TOKEN)
    score = (_AGREED if brief else place.seed(0) % 90) / 100
    steps = max(1, sum(text.count(_STEP_END) for text in texts))
    rows = ((score,),) if pooling.task == "classify" else ((1 - score, score),) * steps
    return Pooled(rows, usage)


def step_of(request: Request) -> int:
    """Say which step of a solution is asked for, from 1; 0 for anything else."""
    grown = request.stop and request.role == "policy"
    return 1 + sum(map(request.begun.count, request.stop)) if grown else 0


def _written(request: Request, text: str, tokens: int, end: str | None) -> Completion:
    """Make a reply of a text, as one token if any are asked for: nobody counts them."""
    whole = () if request.logprobs is None else (Token(text, -0.1 * tokens * (1 + len(text) % 7)),)
    return Completion(text, usage=Usage(_prompt_tokens(request), tokens), stop=end, tokens=whole)


def _label(number: int) -> Token:
    """Make a token that any judge's labels are read from."""
    good = (1 + number % 90) / 100
    top = tuple(
        (text, math.log(chance))
        for chance, pair in ((good, "Yes +"), (1 - good, "No -"))
        for text in pair.split()
    )
    return Token("Yes", top[0][1], None, top)


def _filler(tokens: int) -> str:
    return "step " * (tokens * CHARACTERS_A_TOKEN // len("step "))


def _prompt_tokens(request: Request) -> int:
    texts = [*(turn.content for turn in request.messages), request.begun]
    return sum(map(len, texts)) // CHARACTERS_A_TOKEN
