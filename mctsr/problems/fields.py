"""Which fields of a row are read, as the user names them or as the common data sets call them.

Knows names, in any letter case, and how SVAMP cuts a problem in two. Looks at no gold answer.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mctsr.errors import UsageError, named, shown
from mctsr.lm import wire

from .rows import Row

TEXT = ("problem", "question", "input", "prompt", "content")
GOLD = ("answer", "final_answer", "target", "gold", "expected_answer", "ground_truth", "solution")
ID = ("id", "unique_id", "idx")
BODY = "body"

_GOLD_LIKE = ("label", "expected", "output", "response", "result", "correct_answer", "reference")
_REMAINS = re.compile(r"(?:\s|\\end\{problem\}|\\noindent|\\newline|\\\\)+\Z")
_TYPESET = ("\\end{problem}", "\\noindent")


@dataclass(frozen=True, slots=True)
class Columns:
    """Fields that the user names; None leaves one to be found.

    Attributes:
        problem: Holds the problem's text.
        answer: Holds the gold answer.
        id: Holds the id.
    """

    problem: str | None = None
    answer: str | None = None
    id: str | None = None

    @property
    def texts(self) -> Collection[str]:
        """Names that a problem's text may have, in small letters."""
        return TEXT if self.problem is None else (normal(self.problem),)


def normal(name: str) -> str:
    """Return a field's name as it is compared: small letters, underscores between words."""
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def find(fields: Mapping[str, object], names: Sequence[str], given: str | None = None) -> str | None:
    """Return the field that holds something under the first of `names` that does; `given` must be met exactly."""
    if given is not None:
        return given if fields.get(given) is not None else None
    alike: dict[str, str] = {}
    for name in names:
        if fields.get(name) is not None:
            return name
        alike = alike or {normal(name): name for name, value in fields.items() if value is not None}
        if name in alike:
            return alike[name]
    return None


def text_fields(row: Row, columns: Columns) -> tuple[str, ...]:
    """Return the fields that a problem's text is made of, in order; empty for none."""
    name = find(row.fields, TEXT, columns.problem)
    if name is None:
        return ()
    body = find(row.fields, (BODY,)) if columns.problem is None and normal(name) == "question" else None
    return (name,) if body is None else (body, name)


def text_of(row: Row, columns: Columns) -> str:
    """Return a problem's text: SVAMP's two halves joined, remains of typesetting at the end removed.

    Raises:
        ValueError: There is none; the message names the line.
    """
    names = text_fields(row, columns)
    if not names:
        there = named(map(shown, sorted(row.fields))) or "(none)"
        wanted = f"no problem text in {shown(columns.problem)}" if columns.problem else "no problem text"
        raise ValueError(f"{row.where}: {wanted} among the fields {there}; name its field by --problem-field")
    parts = []
    for name in names:
        text = row.fields[name]
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{row.where}: {name!r} is {text!r:.40}; it must be a text with something in it")
        parts.append(text)
    return wire.clean(_joined(parts) if len(parts) > 1 else _tidy(parts[0])).text


def given_id(row: Row, columns: Columns) -> str | None:
    """Return the id that a row brings along, None when it has none.

    Raises:
        ValueError: It is no text or whole number, or is not where the user says; the message names the line.
    """
    name = find(row.fields, ID, columns.id)
    if name is None and columns.id is not None:
        raise ValueError(f"{row.where}: no id in {shown(columns.id)}; every row needs one there")
    if name is None:
        return None if row.key is None else wire.clean(row.key).text
    given = row.fields[name]
    if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
        raise ValueError(f"{row.where}: {name!r} is {given!r:.40}; it must be a text or a whole number")
    return wire.clean(str(given)).text


def check_columns(rows: Sequence[Row], columns: Columns) -> None:
    """Refuse a field that no row has.

    Raises:
        UsageError: The user names one; says which there are.
    """
    there = dict.fromkeys(name for row in rows for name in row.fields)
    for role in ("problem", "answer", "id"):
        name = getattr(columns, role)
        if name is not None and name not in there:
            raise UsageError(
                f"no row has the field {shown(name)} of --{role}-field; there are {named(map(shown, there))}"
            )


def unused(rows: Sequence[Row], columns: Columns) -> list[str]:
    """List the fields that hold something and are read in no row."""
    used: set[str | None] = set()
    for row in rows:
        used.update(text_fields(row, columns))
        used |= {find(row.fields, GOLD, columns.answer), find(row.fields, ID, columns.id)}
    there = dict.fromkeys(name for row in rows for name, value in row.fields.items() if value is not None)
    return [name for name in there if name not in used]


def gold_like(names: Sequence[str]) -> str | None:
    """Return the name that most looks like gold answers."""
    return next((name for like in _GOLD_LIKE for name in names if normal(name) == like), None)


def _joined(parts: Sequence[str]) -> str:
    body, question = (part.strip() for part in parts)
    return f"{body}{'' if body.endswith(('.', '!', '?', ':', ';', ',')) else '.'} {question}"


def _tidy(text: str) -> str:
    return _REMAINS.sub("", text) if text.rstrip().endswith(_TYPESET) else text
