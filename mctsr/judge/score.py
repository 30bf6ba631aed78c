r"""Read the score out of a judge's reply, or say that there is none.

A wrong number poisons a tree, a missing one costs one more question: every ambiguity ends as None. Read, best first:
1. JSON: the score of the last object that has one. An object that is cut off gives its score only if the pair is whole
   and all before it well-formed (`{"score": 40, "reason": "…`), else the reply is None. Reasons are never searched.
2. A final, overall or total score; else the last label (`[Score] -20`, `Score: 9`, `Rating = 70`).
3. Prose ("I would score this 40", "this answer deserves 85"), if all such places agree.
4. A number alone on the first or last line, or in brackets or a box at the very end.
A numerator counts only if its denominator is the top of the scale (`-50/100` on ±100, `9/10` on 0..10); a percent sign
is a denominator of 100. Others (`9/10` on ±100) are None and not rescaled: whether 0/10 means 0 or -100 is not in the
reply. None, too: numbers outside the scale (never clipped), other scripts' digits, ranges (`30-40`), sums, decimal
commas (`1,0`), `Score - 40` where it may be a minus. Thoughts and fenced programs are skipped. Knows no prompts.
"""

import math
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple


def _regex(pattern: str) -> re.Pattern[str]:
    """Compile with spaces as layout, either case, and dots that match newlines."""
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE | re.DOTALL)


END = 1 << 15
_Scale = tuple[float, float]
_WORD, _TO = r"(?:score|rating|grade|reward)", r"[ \t]*(?:to|and|through|,|-|\.\.+|~)[ \t]*"
_NUM = r"""(?:(?:[+-]|(?:minus|negative|plus)\s)?
    (?:(?:[1-9]\d{0,2}(?:,\d{3}){1,9}|\d{1,40})(?:\.\d{1,40})?(?:e[+-]?\d{1,3})?|\.\d{1,40}))"""
_THINK = r"(?:think|thinking|thought|reasoning)[>\]]"
_THOUGHT = _regex(rf"[<\[]{_THINK} .*? (?:[<\[]/{_THINK}|\Z)")
_THOUGHT_END = _regex(rf"[<\[]/{_THINK}")
_PROGRAM = _regex(r"```(?:py|c|java|js|rust|go|sql|bash|sh)\w*+\+*\s .*? (?:```|\Z)")
_JSON_REPLY = _regex(r"\s*+ (?:```\w*+\s*+)? \[?\s*+ \{")
_JSON_START = _regex(r"""\{\s* (?:["']|\w{2,30}\s*:|\Z)""")
_JSON_TOKEN = _regex(r""""(?:[^"\\]++|\\.)*+" | '[^'\n]*+' | [{}:,\[\]'] | [^\s{}:,\[\]"']++ | (?P<open>")""")
_JSON_KEY = _regex(rf"""["'\s]* (?:(?:final|overall|total)[\s_-]?)? {_WORD} ["'\s]*""")
_STRING = r"""\s*"(?:[^"\\]++|\\.)*+"\s*"""
_JSON_BEGUN = _regex(rf"""\{{ (?:{_STRING}:(?:{_STRING}|\s*[^\s"{{}}\[\],:]++\s*),)*+ {_STRING}:""")
_JSON_VALUE = _regex(r"""\s* (?:"([^"\\\n]*+)"|([^,}\]\["\n]++)) \s* (?:[}\n]|,[\s"'}])""")
_MARKUP = _regex(r"(?<!\d)\*|\*(?!\d)|(?<!\w)_|_(?!\w)|[`$]|\\[()\[\],!;]|\\(?=%)|</\w{1,20}>|\\text(?=\{)")
_SIGNS = str.maketrans(dict.fromkeys("−–‒‑‐﹣－", "-") | {"—": ":", "：": ":", "\u00a0": " ", "\u2009": " "})
_TAG = _regex(rf"""(?<![a-z]){_WORD}(?![a-z]) | (?P<verb>
    \bI(?:['’]d|['’]ll|\s(?:would|will|must|can|only|therefore))*+\s(?:give|assign|award|rate|mark)\b
    | \b(?:answer|solution|attempt|it|this)\s(?:deserves|earns|gets|receives|merits|scores) | \bgiving\s(?:it|this))""")
_FINAL = _regex(r"\b(?:final|overall|total)[\s_\[(:]+ (?:[a-z]+[\s_\[(]+){0,2} $")
_OTHER = _regex(r"""\b(?:max(?:imum)?|min(?:imum)?|highest|lowest|best|worst|possible|full|perfect|top|passing|average
    |previous|example|out\sof|not|never|cannot|n['’]t|instead\sof|than|reasons?|justification|explanation|rationale
    |basis|breakdown)\W{1,3}(?:[a-z]+\s){0,3}[(\["'<]?$""")
_LABEL = _regex(r"""["'\])>}]*\s*(?:[(\[][^()[\]\n]{0,60}[)\]]\s*)?(?:[:=|…]|\.\.) | \s*[\]>]
    | [ \t]*(?:\n|\Z)""")
_GAP = _regex(r"""(?:[\s:=|<>\[\](){}"'“”’~≈\#…]++|\.{2,}+|,(?=\s)|\\boxed|/(?=\s*\d)|(?:is|was|of|at|to|be|it|this|that
    |the|an?|my|i|i'?d|i'?ll|would|will|should|must|give|assign|award|as|so|only|just|about|around|roughly|approximately
    |answer|solution|response|score|rating|grade|final|overall|total|points?|mark|therefore|out|from|between|on|in|within
    |scale|range|ranging|max|maximum|possible|for|assigned|given)\b){0,20}+""")
_NAMES_SCALE = _regex(r"\b(?:from|between|on|in|within|scale|range|ranging)\b")
_NAMES_TOP = _regex(r"(?:\bout\s+of|/|\bmax(?:imum)?|\bpossible)[\s:]*(?:(?:an?|the|possible)\s){0,5}$")
_RANGE = _regex(rf"({_NUM}) ({_TO}) ({_NUM}) (?!\.?\d)")
_NUMBER = _regex(rf"""(-[ \t]+)? ({_NUM}) (?![\d_]|[.,]\d|-\w|:\d|[ \t]*[-+*×^= ][ \t]*\d)
    (?:[ \t]*(?:points?|pts|marks?)\b|(?![a-z])) (?![ \t]+(?:[a-z]+[ \t]+)?
    (?:errors?|mistakes?|steps?|issues?|flaws?|problems?|reasons?|criteria|parts?|times|gaps?)\b)""")
_OVER = _regex(rf"""[ \t\])}}"']{{0,4}}+ \(?(?:(?:%|percent\b)
    | (?:/|out[ ]of\b|of\b|over\b)[ \t]*(?:(?:an?|the|maximum|max|total|possible|of)[ ])*+(?P<top>{_NUM})
    | (?:on|in)[ ]an?[ ](?P<points>\d{{1,9}})-point
    | (?:(?:on|in|a|the|scale|range|of|from|between)[ \t:]+)*+[(\[]?{_NUM}{_TO}(?P<upper>{_NUM})(?![^\s).\]]))""")
_SCALE = _regex(rf"\bscale\b [^.\n\d+-]{{0,20}} {_NUM} \s*(?:to|and|-)\s* ({_NUM})")
_ENDS = _regex(r"""(?!\s+(?:would|could|might|is\s(?:too|not))\b) [\])}"']* [ \t]* (?:\Z|[\n.,;:!?)%(/-]
    |(?:out|on|because|since|as|overall|due|and|but|given)\b|for\s(?:this|the|its?)\b)""")
_ITEM = _regex(r"\d{1,2}[.)][ \t]+\S")
_ALONE = _regex(rf"""(?:overall,?\s)? (?:\\boxed)? [\[({{]? \s* {_NUM} [\])}}]?
    (?:[ ]?%|\s*(?:/|out\sof)\s*\+?\d{{1,9}}(?:[,.;:][ ][^\n]*)?)? [.!]?""")
_BRACKETED = _regex(rf"(?:^|[.!?\s]) \s* ((?:\\boxed\s*\{{|\[)\s* {_NUM} \s*[\]}}]) [.\s]* \Z")
_ANSWER = _regex(r"""(?:[:,=]|\b(?:is|are|be|get|gives|equals|answer|result|thus|so|hence|therefore))\s*\Z
    | \b(?:correct|final|right|actual|true)\s(?:answer|result|value|solution)\b[^\n]{0,60}\s*\Z""")


class _Reading(NamedTuple):
    """What stands after a tag: a score, a number that cannot be one, the scale itself, or no number."""

    kind: Literal["score", "unfit", "scale", "nothing"]
    value: float | None
    end: int
    rank: str = "prose"


class _Object(NamedTuple):
    """One JSON object; an unfit score is None."""

    start: int
    end: int
    closed: bool
    scores: set[float | None]


def read_score(text: str, low: float = -100, high: float = 100) -> float | None:
    """Read a judge's score from free text or JSON.

    Args:
        text: The reply, whatever it holds; of a long one the first and the last `END` characters are read.
        low: Smallest score of the scale.
        high: Largest score of the scale.

    Returns:
        A finite number in [low, high], or None where no score can be read beyond doubt.
    """
    scale = (low, high)
    text = _spoken(text if len(text) <= 2 * END else f"{text[:END]}\n{text[-END:]}", scale)
    objects = list(_objects(text, scale))
    if rated := [o for o in objects if not o.closed] or [o for o in objects if o.scores]:
        return _only(rated[-1].scores)
    starts, ends = [o.start for o in objects], [o.end for o in objects]
    prose = "\n".join(text[a:b] for a, b in zip([0, *ends], [*starts, len(text)], strict=True))
    return _read_text(_MARKUP.sub("", prose.translate(_SIGNS)), scale)


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
    begin = _JSON_START.search(text)
    while begin:
        start, (end, keys) = begin.start(), _keys(text, begin.start())
        outermost = min(keys)[0] if keys else 1
        top = [at for depth, at in keys if depth == outermost]
        if end is None and not (len(top) == 1 and _JSON_BEGUN.fullmatch(text, start, top[0])):
            top = []
        values = [value[1] or value[2] or "" for at in top if (value := _JSON_VALUE.match(text, at))]
        readings = [_after(value.translate(_SIGNS), 0, scale) for value in values]
        scores = {r.value for r in readings if r.kind in ("score", "unfit")}
        yield _Object(start, len(text) if end is None else end, end is not None, scores)
        begin = _JSON_START.search(text, end) if end is not None else None


def _keys(text: str, start: int) -> tuple[int | None, list[tuple[int, int]]]:
    """Scan one object: its end (None if cut off), and depth and position of the score values."""
    depth, before, keys = 0, "", list[tuple[int, int]]()
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


def _after(text: str, at: int, scale: _Scale) -> _Reading:
    """Read what follows a tag: scales named on the way are passed over, then a number must stand there."""
    kind: Literal["scale", "nothing"] = "nothing"
    for _ in range(3):
        begin, at = at, _GAP.match(text, at).end()  # type: ignore[union-attr]
        lead = text[max(begin, at - 60) : at]
        bracket = lead.rstrip()[-1:] in ("(", "[")
        span = _RANGE.match(text, at)
        if span and (bracket or span[2].strip() != ","):
            ends = (_float(span[1]), _float(span[3]))
            named = bracket or ends == scale or _NAMES_SCALE.search(lead)
            if not named or ends[1] != scale[1]:
                return _Reading("unfit", None, at)
            kind, at = "scale", span.end()
            continue
        number = _NUMBER.match(text, at)
        if number is None or (_NAMES_SCALE.search(lead) and not _NAMES_TOP.search(lead)):
            return _Reading(kind, None, at)
        if not _NAMES_TOP.search(lead):
            return _score(number, lead, scale)
        if _float(number[2]) != scale[1]:
            return _Reading("unfit", None, at)
        kind, at = "scale", number.end()
    return _Reading(kind, None, at)


def _score(number: re.Match[str], lead: str, scale: _Scale) -> _Reading:
    """Turn the number behind `lead` into a score, if its sign, denominator and size allow it."""
    text, value, before = number.string, _float(number[2]), lead.rstrip(" \t")[-1:]
    if before == "\n" and _ITEM.match(text, number.start(2)):
        return _Reading("nothing", None, number.end())
    fits = True
    if number[1] and number[2][0] in "0123456789.":
        value = -value if before in (":", "=") else value
        fits = before in (":", "=") or scale[0] >= 0
    if over := _OVER.match(text, number.end()):
        fits &= _float(over["top"] or over["points"] or over["upper"] or "100") == scale[1]
    end = over.end() if over else number.end()
    fits &= scale[0] <= value <= scale[1]
    return _Reading("score", value + 0.0, end) if fits else _Reading("unfit", None, end)


def _float(number: str) -> float:
    plain = re.sub(r"(?:minus|negative)\s", "-", re.sub(r"plus\s|,", "", number.lower()))
    return float(plain) if plain.isascii() else math.nan


def _only(values: set[float | None]) -> float | None:
    return next(iter(values)) if len(values) == 1 else None


def _mentions(text: str, scale: _Scale) -> Iterator[_Reading]:
    """Find the places that speak of the score, in order."""
    for tag in _TAG.finditer(text):
        line = text[max(0, tag.start() - 120) : tag.start()].rsplit("\n", 1)[-1]
        if _OTHER.search(line):
            continue
        starts = not tag["verb"] and not line.strip(" \t#>*-[(<|\"'{")
        label = not tag["verb"] and _LABEL.match(text, tag.end())
        reading = _after(text, tag.end(), scale)
        if (named := _SCALE.search(line)) and _float(named[1]) != scale[1]:
            reading = _Reading("unfit", None, tag.end())
        spoken = reading.kind in ("score", "unfit") and _ENDS.match(text, reading.end)
        if label or spoken or (starts and reading.kind == "score"):
            prose = "own" if re.search(r"\b(?:I|[Mm]y)\b", line + tag[0]) else "prose"
            rank = "final" if _FINAL.search(line) else "label" if label or starts else prose
            yield reading._replace(rank=rank)


def _read_text(text: str, scale: _Scale) -> float | None:
    """Choose among the places that speak of the score."""
    mentions = list(_mentions(text, scale))
    finals = [m for m in mentions if m.rank == "final" and m.kind != "scale"]
    labels = finals or [m for m in mentions if m.rank == "label" and m.kind != "scale"]
    if labels and labels[-1].kind != "nothing":
        return labels[-1].value
    after = labels[-1].end if labels else 0
    if prose := [m for m in mentions if m.rank in ("own", "prose") and m.end >= after]:
        return _only({m.value for m in [m for m in prose if m.rank == "own"] or prose})
    return _alone(text[after:].strip(), scale)


def _alone(text: str, scale: _Scale) -> float | None:
    """Read a number that stands by itself: the first line, the last line, or brackets at the end."""
    if text.count("\\boxed") > 1:
        return None
    first, last, tail = text.split("\n", 1)[0].strip(), text.rsplit("\n", 1)[-1].strip(), text[-200:]
    numbers = [first] if _ALONE.fullmatch(first) else []
    ending = last if _ALONE.fullmatch(last) else found[1] if (found := _BRACKETED.search(tail)) else ""
    if ending and not _ANSWER.search(tail[: tail.rfind(ending)]):
        numbers.append(ending)
    return _only({_after(number, 0, scale).value for number in numbers})
