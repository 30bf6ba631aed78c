"""How the answers of a data set are read: as a number, an option letter or a formula.

Taken from the names of file and fields and from the problem's own text; gold answers have no say.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from mctsr.errors import UsageError, shown
from mctsr.grading.extract import KINDS

from .fields import normal

NUMBER, LETTER, FORMULA = "number", "letter", "formula"

_NAMES = (
    (re.compile(r"gsm[-_]?8k|gsm[-_]?hard|svamp|(?<![a-z])(?:aime|amc)(?![a-z])"), NUMBER),
    (re.compile(r"olympiad|odyssey|minerva|(?<![a-z])math(?![a-z])"), FORMULA),
)
_FIELDS = (
    ({"body", "question"}, NUMBER),
    ({"input", "code", "target"}, NUMBER),
    ({"question", "answer_type", "is_multiple_answer"}, FORMULA),
    ({"problem", "level", "type"}, FORMULA),
    ({"problem", "level", "subject"}, FORMULA),
    ({"question", "reasoning", "label", "level"}, FORMULA),
)
_USUAL = re.compile(r"(?:test|train|dev|valid|validation|eval|data|main|problems|questions)(?:[-_.].*)?")
_LISTED = re.compile(
    r"^[ \t&]*(?:\\item[ \t]*|\$?\\bullet\$?[ \t]*)?(?:\\(?:text|textbf|mathrm)\{)?\(?([A-F])[.):]",
    re.MULTILINE,
)
_INLINE = re.compile(r"(?<![\w\\)(])(?:\\(?:text|textbf|mathrm|mathbf)\{)?(?:\(([A-F])\)|([A-F])\))")
_ASKED = re.compile(r"(?i:enter|give|provide|choose|state) the (?:correct )?letter\b|answer as \$?A\$?,")
_SEVERAL = re.compile(r"\bletters of\b|\ball (?:that|which) apply\b|separated by commas", re.IGNORECASE)
_DRAWING = re.compile(r"\[asy\].*?\[/asy\]", re.DOTALL)


class Profile(NamedTuple):
    """What is known of a whole data set.

    Attributes:
        kind: How its answers are read, None when nothing says so.
        by: What says so.
    """

    kind: str | None
    by: str


def checked(kind: str | None) -> str | None:
    """Return a kind that the user names.

    Raises:
        UsageError: There is no such kind.
    """
    if kind not in KINDS:
        allowed = ", ".join(repr(known) for known in KINDS if known)
        raise UsageError(f"answer kind {shown(kind)} is unknown; allowed are {allowed}")
    return kind


def profile(source: str, fields: Collection[str], given: str | None = None) -> Profile:
    """Say what a data set's answers are by what the user says, its file's name, or the names of its fields.

    Args:
        source: Path of the file; a name such as `test.jsonl` leaves it to the folder.
        fields: Names of all fields.
        given: What the user says.

    Raises:
        UsageError: `given` is no kind.
    """
    if checked(given) is not None:
        return Profile(given, "as given")
    path = Path(source.lower())
    name = f"{path.parent.name}/{path.name}" if _USUAL.fullmatch(path.name) else path.name
    for pattern, kind in _NAMES:
        if pattern.search(name):
            return Profile(kind, "by the file's name")
    known = {normal(field) for field in fields}
    for wanted, kind in _FIELDS:
        if wanted <= known:
            return Profile(kind, "by the names of its fields")
    return Profile(None, "nothing says what answers are like")


def kind_of(text: str, profile: Profile) -> str | None:
    """Say how the answer of one problem is read: options to choose from in its text ask for a letter.

    A data set of numbers, and a user, are believed.
    """
    if profile.kind == NUMBER or profile.by == "as given":
        return profile.kind
    return LETTER if _has_options(text) else profile.kind


def _has_options(text: str) -> bool:
    """Say whether one of several options is asked for; labels in a drawing are none."""
    if _ASKED.search(text):
        return True
    if ")" not in text and "." not in text and ":" not in text:
        return False
    said = _DRAWING.sub("", text) if "[asy]" in text else text
    listed = [match[1] for match in _LISTED.finditer(said)]
    inline = [match[1] or match[2] for match in _INLINE.finditer(said)]
    return (_in_order(listed, 2) or _in_order(inline, 3)) and not _SEVERAL.search(said)


def _in_order(labels: list[str], least: int) -> bool:
    """Say whether A, B, … stand one after the other, `least` of them."""
    return "ABCDEF"[:least] in "".join(labels)
