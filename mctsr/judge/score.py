r"""Read the score out of a judge's reply, or say that there is none.

A wrong number poisons a tree, a missing one costs another question: every ambiguity ends as None.
What is read, best first:

1. JSON: the score of the last object that has one. An object that is cut off yields its score only if the pair is
   complete and well-formed (`{"score": 40, "reason": "…`), else the reply yields None; reasons are never searched.
2. A final, overall or total score; else the last label (`[Score] -20`, `Score: 9`, `Rating = 70`).
3. Prose ("I would score this 40", "this answer deserves 85"), if all such places agree.
4. A number alone on the first or last line, or in brackets or a box at the very end.

A numerator counts only if its denominator is the top of the scale (`-50/100` on ±100, `9/10` on 0..10); a percent
sign is a denominator of 100. Anything else (`9/10` on ±100) is None and not rescaled: whether 0/10 means 0 or -100 on
a two-sided scale is not in the reply. None, too: numbers outside the scale (no clipping), ranges (`30-40`), sums,
decimal commas (`1,0`), and `Score - 40` where it may be a minus. Thoughts (`<think>`) and fenced programs are ignored.
The module knows nothing of prompts or retries.
"""

import json
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_X = re.IGNORECASE | re.VERBOSE
_WORD = r"(?:score|rating|grade|reward)"
_NUM = (
    r"(?:[+-]|(?:minus|negative|plus)\s)?"
    r"(?:(?:[1-9]\d{0,2}(?:,\d{3}){1,9}|\d{1,40})(?:\.\d{1,40})?(?:e[+-]?\d{1,3})?|\.\d{1,40})"
)
_THINK = r"(?:think|thinking|thought|reasoning)[>\]]"
_THOUGHT = re.compile(rf"[<\[]{_THINK}.*?(?:[<\[]/{_THINK}|\Z)", re.IGNORECASE | re.DOTALL)
_THOUGHT_END = re.compile(rf"[<\[]/{_THINK}", re.IGNORECASE)
_PROGRAM = re.compile(
    r"```(?:py|c|java|js|rust|go|sql|bash|sh)\w*+\+*\s.*?(?:```|\Z)", re.IGNORECASE | re.DOTALL
)
_JSON_REPLY = re.compile(r"\s*+(?:```\w*+\s*+)?\[?\s*+\{")
_JSON_START = re.compile(r"""\{\s*(?:["']|\w{2,30}\s*:|\Z)""")
_JSON_TOKEN = re.compile(
    r""""(?:[^"\\]++|\\.)*+"|'[^'\n]*+'|[{}:,\[\]']|[^\s{}:,\[\]"']++|(?P<open>")""", re.DOTALL
)
_JSON_KEY = re.compile(rf"""["'\s]*(?:(?:final|overall|total)[\s_-]?)?{_WORD}["'\s]*""", re.IGNORECASE)
_JSON_VALUE = re.compile(r"""(\s*(?:"([^"\\\n]*+)"|([^,}\]\["\n]++)))\s*(?:[}\n]|,[\s"'}])""")
_MARKUP = re.compile(
    r"\*\*|(?<!\d)\*|\*(?!\d)|(?<!\w)_|_(?!\w)|`|\$|\\[()\[\],!;]|\\(?=%)|</\w{1,20}>|\\text(?=\{)"
)
_SIGNS = str.maketrans(dict.fromkeys("−–‒‑﹣－", "-") | {"—": ":", "：": ":", "\u00a0": " ", "\u202f": " "})
_TAG = re.compile(
    rf"""(?<![a-z]){_WORD}(?![a-z])|(?P<verb>\bI(?:['’]d|['’]ll|\s(?:would|will|must|can|only|therefore))*+\s
    (?:give|assign|award|rate|mark)\b|\b(?:answer|solution|response|attempt|it|this)\s
    (?:deserves|earns|gets|receives|merits)\b|\bgiving\s(?:it|this)\b)""",
    _X,
)
_FINAL = re.compile(r"\b(?:final|overall|total)[\s_\[(:]+(?:[a-z]+[\s_\[(]+){0,2}$", re.IGNORECASE)
_NOT_THE_SCORE = re.compile(
    r"""\b(?:max(?:imum)?|min(?:imum)?|highest|lowest|best|worst|possible|full|perfect|top|passing|average|previous|example
    |out\sof|not|never|cannot|n['’]t|instead\sof|than|reasons?|justification|explanation|rationale|basis|breakdown)
    \W{1,3}(?:[a-z]+\s){0,3}[(\["'<]?$""",
    _X,
)
_LABEL = re.compile(
    r"""["'\])>}]*\s*(?:[(\[][^()\[\]\n]{0,60}[)\]]\s*)?(?:[:=|]|\.\.|…)|\s*[\]>]|[ \t]*(?:\n|\Z)"""
)
_GAP = re.compile(
    r"""(?:[\s:=|<>\[\](){}"'“”’~≈\#…]++|\.{2,}+|\\boxed|/(?=\s*\d)|(?:is|was|of|at|to|be|it|this|that|the|an?|my|i|i'?d|
    i'?ll|would|will|should|must|give|assign|award|as|so|only|just|about|around|roughly|approximately|answer|solution|
    response|score|rating|grade|final|overall|total|points?|mark|therefore|out|from|between|on|in|within|scale|range|
    ranging|max|maximum|possible)\b){0,30}+""",
    _X,
)
_INTRODUCES = re.compile(r"\b(?:from|between|on|in|within|scale|range|ranging)\b", re.IGNORECASE)
_TOP = re.compile(
    r"(?:\bout\s+of|/|\bmax(?:imum)?|\bpossible)[\s:]*(?:(?:an?|the|possible|maximum|of)\s){0,5}$", re.I
)
_TO = r"[ \t]*(to|and|through|,|-|\.\.+|~)[ \t]*"
_RANGE = re.compile(rf"({_NUM}){_TO}({_NUM})(?!\.?\d)", re.IGNORECASE)
_NUMBER = re.compile(
    rf"""(-[ \t]+)?({_NUM})(?![\d_]|[.,]\d|-\w|:\d|[ \t]*[-+*×^=][ \t]*\d)(?:[ \t]*(?:points?|pts|marks?)\b|(?![a-z]))
    (?![ \t]+(?:[a-z]+[ \t]+)?(?:errors?|mistakes?|steps?|issues?|flaws?|problems?|reasons?|criteria|parts?|times|gaps?)\b)
    """,
    _X,
)
_OVER = re.compile(
    rf"""[ \t\])}}"']{{0,4}}+\(?(?:(?P<percent>%|percent\b)|(?:/|out[ ]of\b|of\b|over\b)[ \t]*
    (?:(?:an?|the|maximum|max|total|possible|of)[ ])*+(?P<top>{_NUM})|(?:on|in)[ ]an?[ ](?P<points>\d{{1,9}})-point
    |(?:(?:on|in|an?|the|scale|range|of|from|between|within)[ \t:]+)*+[(\[]?{_NUM}{_TO}(?P<upper>{_NUM})(?=[\s)\].]|\Z))""",
    _X,
)
_SCALE = re.compile(rf"\bscale\b[^.\n\d+-]{{0,20}}{_NUM}\s*(?:to|and|-)\s*({_NUM})", re.IGNORECASE)
_ENDS = re.compile(
    r"""(?!\s+(?:would|could|might|is\s(?:too|not))\b)[\])}"']*[ \t]*(?:\Z|[\n.,;:!?)%(/-]|
    (?:out|on|because|since|as|overall|due|and|but|given)\b|for\s(?:this|the|its?)\b)""",
    _X,
)
_ALONE = re.compile(
    rf"(?:overall,? )?(?:\\boxed)?[\[({{]?\s*{_NUM}[\])}}]?(?: ?%|\s*(?:/|out of)\s*\+?\d{{1,9}}(?:[,.;:] [^\n]*)?)?[.!]?",
    re.I,
)
_BRACKETED = re.compile(rf"(?:^|[.!?\s])\s*((?:\\boxed\s*\{{|\[)\s*{_NUM}\s*[\]}}])[.\s]*\Z", re.IGNORECASE)
_ANSWER = re.compile(
    r"""(?:[:,=]|\b(?:is|are|be|get|gives|equals|answer|result|thus|so|hence|therefore))\s*\Z
    |\b(?:correct|final|right|actual|true)\s(?:answer|result|value|solution)\b[^\n]{0,60}\s*\Z""",
    _X,
)


class _Reading(NamedTuple):
    """What stands after a tag: a score, a number that cannot be one, the scale itself, or no number."""

    kind: Literal["score", "unfit", "scale", "nothing"]
    value: float | None
    end: int


class _Mention(NamedTuple):
    """One place that speaks of the score; rank 2 is a final score, 1 a label, 0 prose."""

    reading: _Reading
    rank: int
    own: bool


class _Object(NamedTuple):
    """One JSON object: its span, whether it was closed, its scores."""

    start: int
    end: int
    closed: bool
    scores: tuple[_Reading, ...]


class _Scale(NamedTuple):
    low: float
    high: float


def read_score(text: str, low: float = -100, high: float = 100) -> float | None:
    """Read a judge's score from free text or JSON.

    Args:
        text: The reply, whatever it holds; the time is linear in its length.
        low: Smallest score of the scale.
        high: Largest score of the scale.

    Returns:
        A finite number in [low, high], or None where no score can be read beyond doubt.
    """
    scale = _Scale(low, high)
    text = _spoken(text, scale)
    objects = list(_objects(text, scale))
    rated = [found for found in objects if found.scores]
    if objects and not objects[-1].closed:
        rated = objects[-1:]
    if rated:
        values = {reading.value for reading in rated[-1].scores}
        return values.pop() if len(values) == 1 else None
    for found in reversed(objects):
        text = text[: found.start] + "\n" + text[found.end :]
    return _read_text(_MARKUP.sub("", text.translate(_SIGNS)), scale)


def _spoken(text: str, scale: _Scale) -> str:
    """Drop thoughts and fenced programs, except in a reply that is JSON from its start."""
    if _JSON_REPLY.match(text):
        return text
    text = _THOUGHT.sub("\n", text)
    for last in list(_THOUGHT_END.finditer(text))[-1:]:
        if all(found.closed for found in _objects(text[: last.start()], scale)):
            text = text[last.end() :]
    return re.sub(r"\\n(?![a-z])", "\n", _PROGRAM.sub("\n", text))


def _objects(text: str, scale: _Scale) -> Iterator[_Object]:
    """Find the outermost JSON objects, tolerating what models get wrong in them."""
    start = _JSON_START.search(text)
    while start:
        end, keys = _keys(text, start.start())
        closed = end is not None
        top = [at for depth, at in keys if depth == min(keys)[0] and (closed or depth == 1)]
        values = (_JSON_VALUE.match(text, at) for at in top)
        readings = (
            _after(f"{value[2] or value[3]}".translate(_SIGNS), 0, scale)
            for value in values
            if value and (closed or _well_formed(text[start.start() : value.end(1)]))
        )
        stop = len(text) if end is None else end
        yield _Object(start.start(), stop, closed, tuple(r for r in readings if r.kind in ("score", "unfit")))
        start = _JSON_START.search(text, stop) if closed else None


def _keys(text: str, start: int) -> tuple[int | None, list[tuple[int, int]]]:
    """Scan one object: its end (None if cut off), and depth and position of the score values."""
    depth, before, keys = 0, "", []
    for token in _JSON_TOKEN.finditer(text, start):
        if token["open"]:
            break
        depth += (token[0] == "{") - (token[0] == "}")
        if depth == 0:
            return token.end(), keys
        if token[0] == ":" and _JSON_KEY.fullmatch(before):
            keys.append((depth, token.end()))
        before = token[0]
    return None, keys


def _well_formed(begun: str) -> bool:
    """Tell whether an object that was cut off is strict JSON up to here, escapes aside."""
    try:
        json.loads(re.sub(r"\\.", "x", begun, flags=re.DOTALL) + "}", strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _after(text: str, at: int, scale: _Scale) -> _Reading:
    """Read what follows a tag: scales named on the way are passed over, then a number must stand there."""
    kind: Literal["scale", "nothing"] = "nothing"
    for _ in range(3):
        begin, at = at, _GAP.match(text, at).end()  # type: ignore[union-attr]
        lead = text[max(begin, at - 60) : at]
        bracket = lead.rstrip()[-1:] in ("(", "[")
        span = _RANGE.match(text, at)
        if span and (bracket or span[2] != ","):
            ends = _Scale(_float(span[1]), _float(span[3]))
            named = bracket or ends == scale or _INTRODUCES.search(lead)
            if not named or ends.high != scale.high:
                return _Reading("unfit", None, at)
            kind, at = "scale", span.end()
            continue
        number = _NUMBER.match(text, at)
        if number is None or (_INTRODUCES.search(lead) and not _TOP.search(lead)):
            return _Reading(kind, None, at)
        if not _TOP.search(lead):
            return _score(number, lead, scale)
        if _float(number[2]) != scale.high:
            return _Reading("unfit", None, at)
        kind, at = "scale", number.end()
    return _Reading(kind, None, at)


def _score(number: re.Match[str], lead: str, scale: _Scale) -> _Reading:
    """Turn the number behind `lead` into a score, if its sign, denominator and size allow it."""
    text, value = number.string, _float(number[2])
    before = lead.rstrip(" \t")[-1:]
    if before == "\n" and re.compile(r"\d{1,2}[.)][ \t]+\S").match(text, number.start(2)):
        return _Reading("nothing", None, number.end())
    fits = True
    if number[1] and number[2][0] in "0123456789.":
        value = -value if before in (":", "=") else value
        fits = before in (":", "=") or scale.low >= 0
    over = _OVER.match(text, number.end())
    if over:
        fits &= (
            _float("100" if over["percent"] else over["top"] or over["points"] or over["upper"]) == scale.high
        )
    if fits and scale.low <= value <= scale.high:
        return _Reading("score", value, over.end() if over else number.end())
    return _Reading("unfit", None, number.end())


def _float(number: str) -> float:
    return float(re.sub(r"(?:minus|negative)\s", "-", re.sub(r"plus\s|,", "", number.lower())))


def _mentions(text: str, scale: _Scale) -> Iterator[_Mention]:
    """Find the places that speak of the score, in order."""
    for tag in _TAG.finditer(text):
        line = text[max(0, tag.start() - 60) : tag.start()].rsplit("\n", 1)[-1]
        if _NOT_THE_SCORE.search(line):
            continue
        starts = not line.strip(" \t#>*-[(<|\"'{")
        label = not tag["verb"] and _LABEL.match(text, tag.end())
        reading = _after(text, tag.end(), scale)
        named = _SCALE.search(line)
        if named and _float(named[1]) != scale.high:
            reading = _Reading("unfit", None, tag.end())
        spoken = reading.kind in ("score", "unfit") and _ENDS.match(text, reading.end)
        if label or spoken or (starts and reading.kind == "score"):
            rank = 2 if _FINAL.search(line) else int(bool(label) or starts)
            yield _Mention(reading, rank, bool(re.search(r"\b(?:i|my)\b", line + tag[0], re.IGNORECASE)))


def _read_text(text: str, scale: _Scale) -> float | None:
    """Choose among the places that speak of the score."""
    mentions = list(_mentions(text, scale))
    labels = [m for m in mentions if m.rank and m.reading.kind != "scale"]
    chosen = ([m for m in labels if m.rank == 2] or labels)[-1:]
    if chosen and chosen[0].reading.kind != "nothing":
        return chosen[0].reading.value
    after = chosen[0].reading.end if chosen else 0
    prose = [m for m in mentions if m.rank == 0 and m.reading.end >= after]
    values = {m.reading.value for m in [m for m in prose if m.own] or prose}
    if values:
        return values.pop() if len(values) == 1 else None
    return _alone(text[after:].strip(), scale)


def _alone(text: str, scale: _Scale) -> float | None:
    """Read a number that stands by itself: the first line, the last line, or brackets at the end."""
    if text.count("\\boxed") > 1:
        return None
    first, last = text.split("\n", 1)[0].strip(), text.rsplit("\n", 1)[-1].strip()
    found = [first] if _ALONE.fullmatch(first) else []
    tail = text[-200:]
    bracketed = _BRACKETED.search(tail)
    ending = last if _ALONE.fullmatch(last) else bracketed[1] if bracketed else ""
    if ending and not _ANSWER.search(tail[: tail.rfind(ending)]):
        found.append(ending)
    values = {_after(number, 0, scale).value for number in found}
    return values.pop() if len(values) == 1 else None
