r"""Candidates: turns the text behind an answer mark into an answer, or rejects it.

Knows wrappers (Markdown, dollars, brackets, labels), placeholders, refusals, option letters and how to cut a
number out of a sentence. It does not know where in a reply a candidate came from.
"""

import re

from .notation import clean
from .numerals import read_numeral
from .phrases import date_of, is_more_than_a_number, without_aside

LONGEST_BOX = 2000
LONGEST_CANDIDATE = 400
_MOST_WORDS = 5
_MOST_LAYERS = 8

_INT = r"(?:[1-9][0-9]{0,2}(?:(?:,|\{,\}|,?\\[!,]|[\u2009\u202f\u00a0])\s?[0-9]{3})+(?![0-9])|[0-9]+)"
_DEC = rf"(?:{_INT}(?:\.[0-9]+)?|(?<![0-9])\.[0-9]+)"
_NUMBER = re.compile(
    rf"(?<![\w.\\^])(?:(?<![)\]}}])[-−])?(?<![\w.])\s?\\?\$?"
    rf"(?:(?:{_INT}\s?)?\\[dt]?frac\s?\{{[-−]?{_DEC}\}}\{{{_DEC}\}}"
    rf"|[0-9]+\s[0-9]+/[0-9]+|{_DEC}(?:\s?/\s?{_DEC})?(?:e[-+]?[0-9]{{1,4}})?)(?:\s?\\?%|\s(?:thousand|(?:m|b|tr)illion)\b)?",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"[\s*_\[]*(?:the\s+)?(?:my\s+)?(?:final[\s_]+|correct\s+)?answer\b[\s*_\]]*(?:is\b)?[\s*_:=]*", re.I
)
_MATH = re.compile(
    r"(?P<mark>\$\$?)(?P<dollars>[^$]+?)(?P=mark)|\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]", re.DOTALL
)
_SENTENCE_END = re.compile(
    r"\.\s+(?=[A-Z$*(\\])|\s-{2,}|-{3,}|```"
    r"|(?<![0-9)}$])\s[–—]\s|\s[–—]\s(?![0-9$\\(])|,\s(?:and\s)?not\s(?=[$*\\(]*[0-9])"
)
_REASON = re.compile(r",?\s+\(?(?:because|since|so that|which|where|as\s+(?:we|it|the))\b", re.IGNORECASE)
_WORD = re.compile(r"(?<![\\A-Za-z])[^\W\d_]{3,}+(?![A-Za-z]*[({])")
_TYPESET_WORDS = re.compile(r"\\(?:text\w{0,6}|mbox|mathrm|operatorname|begin|end)\s*\{[^{}]*\}")
_BLANK_WORDS = re.compile(
    r"(?:the|your|my|final|numerical|numeric|computed|calculated|correct|answer|value|number|result|here|is"
    r"|solution|letter|option|insert|placeholder|integer|[\s_.?…\-]|\\[lc]?dots|\\phantom|\\text)+",
    re.IGNORECASE,
)
_SLOT = re.compile(r"[\[{<]\s*[A-Za-z][A-Za-z_ ]+[\]}>]")
_REFUSAL = re.compile(
    r"\b(?:I|we)\s*(?:['’]m|am|are)?\s*(?:sorry(?!\s+(?:for|about))|afraid|unable|not\s+(?:sure|able|certain))\b"
    r"|\b(?:I|we)\s+(?:really\s+)?(?:do\s+not|don\s*['’]?\s*t|did\s*n['’]?t|can\s*not|can['’]?t|could\s*n['’]?t)\s+"
    r"(?:\w+\s+)?(?:know|understand|help|solve|answer|determine|figure|be|provide|assist|do|compute|tell)\b"
    r"|\b(?:no\s+idea|idk|unable\s+to|dunno|don['’]?t\s+know|n/a)\b|^\W*(?:unknown|not\s+sure|sorry(?!\s+(?:for|about)))\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"(?:(?:also|not|indeed|therefore|thus|now|still|likely|probably|clearly|in|partially)\s+)*(?:in)?(?:correct|wrong|right"
    r"|valid|accurate|verified|reasonable|consistent|confirmed|clear|complete|found|given|obtained|same|the\s+same)\b"
    r"[^0-9$\\]*$",
    re.IGNORECASE,
)
_LETTER_START = re.compile(
    r"\W*(?:the\W+)?(?:(?:option|choice|answer|letter)\W+(?:is\W+)?){0,3}([A-Z])\)?(?![\w'’/])(\s+[A-Za-z]+)?",
)
_LETTER_LIST = re.compile(r"\W*([A-Z](?:\s*(?:,|and|&|,\s*and)\s*[A-Z])+)\W*")
_LETTER_INSIDE = re.compile(r"\(([A-Z])\)|\b(?:option|choice)\s+\(?([A-Z])\b")
_LETTERED = re.compile(r"\(?[A-J]\)[\s:]+(?=\S)")
_AFTER_LETTER = {"because", "since", "as", "which", "is", "and", "with", "for", "so", "due", "from", "by"}


def read_box(content: str, kind: str | None) -> str | None:
    """Read the content of a box, or reject a placeholder, a refusal or a text too long to be an answer."""
    if len(content) > LONGEST_BOX:
        return None
    text = _strip(content)
    if is_placeholder(text) or is_refusal(text):
        return None
    if kind == "letter":
        return read_letter(text)
    is_sentence = kind == "number" and "\\" not in text and is_prose(text)
    return _reduce(text, kind) if is_sentence else text


def read_candidate(text: str, kind: str | None) -> str | None:
    """Read the text behind a mark such as "the answer is", or reject it.

    Args:
        text: the rest of the line, or the display that follows.
        kind: "number", "letter", "formula" or None.
    """
    text = _strip(text[: 2 * LONGEST_CANDIDATE])
    if is_placeholder(text):
        return None
    text = _strip(_LABEL.sub("", text, count=1) if _LABEL.match(text) else text)
    text = _strip(_SENTENCE_END.split(text, maxsplit=1)[0])
    if is_placeholder(text) or len(text) > LONGEST_CANDIDATE or is_refusal(text) or _OPINION.match(text):
        return None
    if kind == "letter":
        return read_letter(text)
    if is_prose(text):
        return _reduce(text, kind)
    if kind != "number":
        return text
    text = _LETTERED.sub("", text, count=1)
    return text if _NUMBER.search(text) or "\\" in text else None


def read_letter(text: str) -> str | None:
    """Read an option letter (or a list of them) from a candidate such as `\\text{(C)}` or `C. 12`."""
    text = clean(text)
    if len(text) == 1 and text.isascii() and text.isalpha():
        return text.upper()
    if listed := _LETTER_LIST.fullmatch(text):
        return listed[1]
    if match := _LETTER_START.match(text):
        follower = (match[2] or "").strip()
        if not follower or follower in _AFTER_LETTER:
            return match[1]
    if match := _LETTER_INSIDE.search(text):
        return match[1] or match[2]
    match = re.fullmatch(r"\(([a-z])\)", text)
    return match[1].upper() if match else None


def last_number(text: str) -> str | None:
    """Return the last number of a text as it is written, or None. Linear time."""
    found = None
    for match in _NUMBER.finditer(text):
        found = match
    return found.group().strip() if found else None


def is_refusal(text: str) -> bool:
    """Tell whether a short text declines to answer."""
    return bool(_REFUSAL.search(" ".join(text.split())))


def is_placeholder(text: str) -> bool:
    """Tell whether a text only holds the place of an answer: `[answer]`, `{final_answer}`, `...`, nothing."""
    bare = clean(text).strip("*_ ")
    inner = bare.strip("[]{}<> ")
    return not inner or bool(_SLOT.fullmatch(bare) or _BLANK_WORDS.fullmatch(inner))


def is_prose(text: str) -> bool:
    """Tell whether a text is language rather than an answer in notation (units are no language)."""
    cleaned = clean(_TYPESET_WORDS.sub(" ", text))
    words = _WORD.findall(cleaned)
    if not words or read_numeral(clean(text)) is not None:
        return False
    starts_with_word = cleaned.startswith(words[0]) and "=" not in cleaned
    return len(words) >= 2 or (starts_with_word and any(char.isdigit() for char in cleaned))


def _reduce(text: str, kind: str | None) -> str | None:
    """Cut the answer out of a sentence."""
    text = without_aside(_REASON.split(text, maxsplit=1)[0])
    if is_more_than_a_number(text):
        return text
    pieces = [_inside(match) for match in _MATH.finditer(text)]
    readable = [piece for piece in pieces if read_numeral(clean(piece)) is not None]
    if readable and kind != "formula":
        return readable[0]
    if pieces:
        return pieces[0]
    if kind != "number" and (date := date_of(text)):
        return date
    if kind != "formula" and (number := _number_of_sentence(text)):
        return number
    return text if kind != "number" and len(text.split()) <= _MOST_WORDS else None


def _number_of_sentence(text: str) -> str | None:
    result = text.rpartition("=")[2].strip()
    start = _NUMBER.match(result)
    if start:
        return start.group().strip()
    return last_number(text)


def _inside(match: re.Match[str]) -> str:
    return (match["dollars"] or match["round"] or match["square"]).strip()


def _strip(text: str) -> str:
    """Take wrappers off both ends until nothing changes, a few layers at most."""
    for _ in range(_MOST_LAYERS):
        before = text
        text = text.strip().strip("`").strip()
        text = re.sub(r"^(?:\*\*|__|[*:>]\s|=\s)+|(?:\*\*|__|\\n)+$", "", text).strip()
        text = re.sub(r"(?<![.\\])[.,;:]$|\\\\$", "", text).strip()
        text = _without_odd_delimiters(text)
        match = _MATH.match(text)
        text = _inside(match) if match and match.end() == len(text) else text
        if text == before:
            break
    return text


def _without_odd_delimiters(text: str) -> str:
    r"""Drop a closing `\)`, `\]`, `]` or `$` whose opening stands outside the candidate, and `[85]`."""
    for opening, closing in ((r"\(", r"\)"), (r"\[", r"\]")):
        if text.endswith(closing) and opening not in text:
            return text.removesuffix(closing).strip()
        if text.startswith(opening) and closing not in text:
            return text.removeprefix(opening).strip()
    if text.endswith("$") and not text.endswith("\\$") and text.strip("$").count("$") == 0 and text[0] != "$":
        return text.rstrip("$").strip()
    if text.startswith("}"):
        return text[1:].strip()
    if (
        text.startswith("[")
        and text.endswith("]")
        and "," not in text
        and read_numeral(clean(text[1:-1])) is not None
    ):
        return text[1:-1].strip()
    return text
