r"""Extraction: finds the final answer in a model's reply.

Knows the order in which places are trusted: the reasoning block and a runaway continuation are cut, then the
last box, the last `####` line that holds a value, phrases, tags and JSON, and only for numbers the last
number. It evaluates nothing, takes linear time, and prefers None to a guess.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from .candidates import is_refusal, last_number, read_letter
from .cues import from_boxes, from_marks, from_phrases
from .phrases import closing_point, date_of

KINDS = ("number", "letter", "formula", None)

_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
_THOUGHT_START = re.compile(r"<(?:think|thinking|thought|reasoning)>|\[THINK\]", re.IGNORECASE)
_END_OF_TURN = re.compile(r"<\|(?:im_end|im_start|endoftext|eot_id|end|user)\|>|</s>")
_NEW_PROBLEM = re.compile(
    r"^[ \t#*>_]*(?:(?:new|next)\s)?(?:question|problem|Q)(?:\s[0-9]{1,5})?[ \t*_]*:",
    re.IGNORECASE | re.MULTILINE,
)
_LITERAL_NEWLINE = re.compile(r"(?<!\\)\\n(?![a-z])")
_CODE = re.compile(r"```[ \t]*[A-Za-z][^\n]*\n.*?(?:```|\Z)", re.DOTALL)
_BOLD_OPTION = re.compile(r"\*\*\s*(\(?[A-J]\)\s*[^*]{1,60}?)\s*\*\*\.?")
_SHORT_REPLY = 300
_SHORT_LINE = 40


def extract_answer(text: str, kind: str | None = None) -> str | None:
    r"""Return the final answer of a reply as its writer typed it, or None.

    Args:
        text: the whole reply.
        kind: what an answer looks like in this data set: "number", "letter", "formula", or None when that is
            unknown. None and "number" fall back on the last number of the reply; the others never do.

    Returns:
        The answer without its wrapping (`75,000` dollars stay `$75,000`), or None when the reply gives none:
        refusals, placeholders, a reply cut while thinking. Never the whole reply.

    Raises:
        ValueError: for an unknown kind.

    Source: the reply shapes in the published MCTSr runs and the order that graders agree on.
    """
    if kind not in KINDS:
        raise ValueError(f'answer kind {kind!r} is unknown: use "number", "letter", "formula" or None')
    segments = list(_segments(text))
    for segment in segments:
        for read in (from_boxes, from_marks, from_phrases):
            found = read(segment, kind)
            if found is not None:
                return found
    if kind == "formula":
        return None
    fallback = {"letter": _last_line_letter, "number": _last_number}.get(kind or "", _closing_value)
    return next(filter(None, map(fallback, segments)), None)


def _segments(text: str) -> Iterator[str]:
    """Yield the parts of a reply in which to look, first the one that answers the problem at hand."""
    text = _after_thought(text)
    text = _LITERAL_NEWLINE.sub("\n", text)
    turns = _END_OF_TURN.split(text)
    text = next((turn for turn in turns if turn.strip()), "")
    starts = [0, *(match.start() for match in _NEW_PROBLEM.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        if text[start:end].strip():
            yield text[start:end]


def _after_thought(text: str) -> str:
    ends = [match.end() for match in _THOUGHT_END.finditer(text)]
    text = text[ends[-1] :] if ends else text
    start = _THOUGHT_START.search(text)
    return text[: start.start()] if start else text


def _last_number(segment: str) -> str | None:
    if len(segment) <= _SHORT_REPLY and is_refusal(segment):
        return None
    return last_number(_CODE.sub("\n", segment))


def _closing_value(segment: str) -> str | None:
    """Return what the last line says when it is a point, an option or a day, else the last number."""
    number = _last_number(segment)
    line = segment.rstrip().rpartition("\n")[2]
    if option := _BOLD_OPTION.fullmatch(line.strip()):
        return option[1]
    if number is None:
        return None
    day = date_of(line, last=True)
    return closing_point(line) or (day if day and last_number(day) == number else number)


def _last_line_letter(segment: str) -> str | None:
    line = segment.rstrip().rpartition("\n")[2]
    return read_letter(line) if len(line) <= _SHORT_LINE and not is_refusal(line) else None
