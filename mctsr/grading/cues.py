"""Cues: where in a reply its writer says that an answer follows.

Knows boxes, `####` lines, phrases, tags and JSON keys, and yields what stands behind each, best guess first
within a kind of cue. Whether that is an answer is for `candidates`. Every search is linear in the text.
"""

import re
from collections import deque
from collections.abc import Iterator

from .boxes import find_boxes, last_group
from .candidates import is_placeholder, is_prose, read_box, read_candidate

_KEPT_CUES = 64  # the last ones win, so older ones need not be kept
_REACH = 800  # characters looked at behind a cue

_MARK = re.compile(r"#{4,}[ \t*]*([^\n]*)")
_HEADING = re.compile(
    r"\W*(?:step|part|case|method|approach|example|section|phase|solution|problem|question|equation|attempt"
    r"|conclusion|verification|explanation|summary|analysis|reasoning|check|calculation|result)s?\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\W*[0-9]+[.)]\s+\D*[A-Za-z]{3}")
_TITLE = re.compile(r"[\s*_\[]*(?:the\s+)?(?:final\s+|correct\s+)?answer[\s*_\]:]*", re.IGNORECASE)
_CUE = re.compile(
    r"""
      (?P<json>["']?(?:final[_ ]?)?answer["']\s?:\s?)
    | (?P<tag><(?:final_)?answer>)
    | (?P<bracket>\[\s?(?:final\s)?answer\s?\])
    | \banswers?\b[^.\n:=<>"'#]{0,60}?
      (?:\b(?:is|are|was|equals|becomes|(?:would|should|must|will)\sbe)\b|\*{0,2}[:=])(?:\s(?:therefore|thus|simply|hence|then|just|now))?
    | \banswer\s(?=isn['’]t\s)
    | \b(?:correct|right|best|final)\s(?:answer\s)?(?:option|choice|letter)\s?(?:is\b|\*{0,2}[:=])
      (?=[\s*_$\\({]*(?:text\w*\{)?\(?(?-i:[A-J])(?:[).:,*}$]|\s*$))
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_WEAK_CUE = re.compile(r"^[ \t*]*A:[ \t*]*", re.MULTILINE)
_OPTIONS = re.compile(r"^[ \t*]*\(?B[.:)]", re.MULTILINE)
_JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.){0,600})"', re.DOTALL)
_JSON_OTHER = re.compile(r"\[[^\]\n]{0,300}\]|[^,}\n\"]{1,300}")
_CLOSING_TAG = re.compile(r"</(?:final_)?answer>", re.IGNORECASE)
_DISPLAY = re.compile(r"[*_:=\s]*(\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|\$[^$\n]+\$)", re.DOTALL)
_LEAD = re.compile(r"(?:[\s*_:=]|```[A-Za-z]*)*")


def from_boxes(text: str, kind: str | None) -> str | None:
    """Read the last usable box, with the neighbours that a comma, "and" or "or" ties to it."""
    boxes, last = find_boxes(text)[-_KEPT_CUES:], None
    while boxes and (last := read_box(boxes[-1].content, kind)) is None:
        boxes.pop()
    values = [*(read_box(box.content, kind) for box in last_group(text, boxes)[:-1]), last]
    return ", ".join(dict.fromkeys(value for value in values if value is not None)) or None


def from_marks(text: str, kind: str | None) -> str | None:
    """Read the last `####` line that holds a value, or the line below one that says "Final Answer"."""
    marks = deque(_MARK.finditer(text), maxlen=_KEPT_CUES)
    for mark in reversed(marks):
        found = _read_mark(mark[1][:_REACH], text[mark.end() : mark.end() + _REACH], kind)
        if found is not None:
            return found
    return None


def from_phrases(text: str, kind: str | None) -> str | None:
    """Read what follows the last "the answer is", `Answer:`, `[Final Answer]`, JSON key or tag."""
    for cue in reversed(deque(_CUE.finditer(text), maxlen=_KEPT_CUES)):
        for candidate in _behind(cue, text[cue.end() : cue.end() + _REACH]):
            found = read_candidate(candidate, kind)
            if found is not None:
                return found
    if kind == "letter" or _OPTIONS.search(text):
        return None
    for cue in reversed(deque(_WEAK_CUE.finditer(text), maxlen=_KEPT_CUES)):
        found = read_candidate(_first_value(text[cue.end() : cue.end() + _REACH]), kind)
        if found is not None:
            return found
    return None


def _read_mark(line: str, below: str, kind: str | None) -> str | None:
    if _TITLE.fullmatch(line):
        return read_candidate(_first_value(below), kind)
    if _HEADING.match(line) and not re.search(r"[:=]\W*[-\d]", line):
        return None
    is_last_line = not below.strip("\n\r\t `$*-_\\])")
    if _NUMBERED.match(line) and not is_last_line:
        return None
    found = read_candidate(line, kind)
    if found is None or is_placeholder(found):
        return None
    title = is_prose(line) and not re.search(r"\banswer\b|[=:]", line, re.IGNORECASE)
    return found if is_last_line or (not title and _is_value(found)) else None


def _is_value(found: str) -> bool:
    """Tell a value from a heading of one word: a digit, a formula, a letter or yes and no."""
    if len(found) <= 2 or re.search(r"[0-9\\√π∞^+*/=]", found):
        return True
    return found.lower() in {"yes", "no", "true", "false"} or bool(re.fullmatch(r"\([A-Za-z]\)", found))


def _behind(cue: re.Match[str], rest: str) -> Iterator[str]:
    if cue["tag"]:
        yield _CLOSING_TAG.split(rest, maxsplit=1)[0]
    elif cue["json"]:
        yield _json_value(rest)
    else:
        yield _first_value(rest)


def _json_value(rest: str) -> str:
    r"""Read a JSON value without a parser: models write `"\frac{1}{2}"`, which JSON reads as a form feed."""
    if text := _JSON_TEXT.match(rest):
        return text[1].replace("\\\\", "\\").replace('\\"', '"')
    other = _JSON_OTHER.match(rest)
    return other[0] if other else _first_value(rest)


def _first_value(rest: str) -> str:
    """Return the formula that a text begins with, else its first line that holds something."""
    if display := _DISPLAY.match(rest):
        line_rest = rest[display.end() :].partition("\n")[0]
        return display[1] if "$$" in display[1] or display[1][1] in "[" else display[1] + line_rest
    lead = _LEAD.match(rest)
    return rest[lead.end() if lead else 0 :].partition("\n")[0]
