"""Problems and gold answers out of rows, each row with an id of its own."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from mctsr.errors import DataError, UsageError, named, shown
from mctsr.grading import clean_gold
from mctsr.grading.extract import KINDS
from mctsr.lm import wire
from mctsr.parts import Problem

from .fields import GOLD, ID, check_names, unused
from .rows import ACCEPTED, TEXT, Row, is_json, read_rows, stdin_text

_NUMBERS = re.compile(r"gsm[-_]?8k|gsm[-_]?hard|svamp|aime|amc", re.IGNORECASE)
_RANGE = re.compile(r"(?:([0-9]{1,18})-)?([0-9]{1,18})")


def read_problems(
    source: str,
    *,
    limit: str | None = None,
    ids: Sequence[str] = (),
    kind: str | None = None,
    stdin: str | None = None,
) -> list[Problem]:
    """Read the problems of a data file, in its order.

    Args:
        source: Path of a JSON Lines or JSON file; "-" for standard input, which may also be one plain question.
        limit: "N" for the first N, "A-B" for a range counted from 1, both ends included.
        ids: Keep only these; applied before `limit`.
        kind: How answers are read; None takes it from the file's name where that is known.
        stdin: What stands on standard input, when it was read already.

    Raises:
        DataError: The file cannot be read as problems; names the line.
        UsageError: `limit`, `ids` or `kind` do not fit.
    """
    kind = _checked_kind(kind) or ("number" if _NUMBERS.search(Path(source).name) else None)
    text = stdin_text(source, stdin)
    if text is not None and not is_json(text):
        found = [question_problem(text, kind)]
    else:
        found = [Problem(id, _text(row), kind) for id, row in _identified(read_rows(source, text))]
    return _limited(_picked(found, ids), limit)


def question_problem(text: str, kind: str | None = None) -> Problem:
    """Make a problem of one question; its id is a hash of the text.

    Raises:
        DataError: There is nothing in the text.
    """
    cleaned = wire.clean(text.strip()).text
    if not cleaned:
        raise DataError("the question is empty; give a text")
    return Problem(_hash_id(cleaned), cleaned, _checked_kind(kind))


def read_gold(source: str, *, stdin: str | None = None) -> dict[str, str]:
    """Read the gold answers of a data file by problem id; rows without one are left out.

    Raises:
        DataError: An answer is neither a number nor a text with something in it; names the line.
    """
    text = stdin_text(source, stdin)
    if text is not None and not is_json(text):
        return {}
    gold = {}
    for id, row in _identified(read_rows(source, text)):
        answer = row.fields.get(GOLD)
        if answer is None:
            continue
        try:
            gold[id] = wire.clean(clean_gold(answer)).text
        except ValueError as error:
            raise DataError(f"{row.where}: {error}") from None
    return gold


def read_notes(source: str, *, stdin: str | None = None) -> list[str]:
    """Say what a user may not expect of a data file that can be read: one line each, none as a rule.

    That is fields that are not used, gold answers under another name, several lines that are one question.
    """
    text = stdin_text(source, stdin)
    if text is None or is_json(text):
        return unused([row.fields for row in read_rows(source, text)])
    lines = sum(bool(line.strip()) for line in text.splitlines())
    one = f"standard input is read as one question of {lines} lines; give JSON Lines for several"
    return [one] if lines > 1 else []


def problems_sha256(problems: Iterable[Problem]) -> str:
    """Hash ids, texts and answer kinds, in order."""
    return hashlib.sha256(wire.canonical([[p.id, p.text, p.kind] for p in problems])).hexdigest()


def problem_hash(problem: Problem) -> str:
    """Hash one problem's text and kind to 12 hexadecimal digits, to say later which problems changed."""
    return hashlib.blake2b(wire.canonical([problem.text, problem.kind]), digest_size=6).hexdigest()


def _identified(rows: Iterable[Row]) -> list[tuple[str, Row]]:
    """Give every row its id: its own, else a hash of its text, never its place in the file."""
    seen: dict[str, str] = {}
    found = []
    for row in rows:
        check_names(row)
        text = _text(row)
        given = next((name for name in ID if row.fields.get(name) is not None), None)
        id = _hash_id(text) if given is None else _given_id(row, given)
        if id in seen:
            what = f"id {shown(id)} stands" if given else "the same problem without an id stands"
            raise DataError(
                f"{row.where}: {what} already in {seen[id]}; every problem needs an id of its own"
            )
        seen[id] = row.where
        found.append((id, row))
    return found


def _text(row: Row) -> str:
    name = next((name for name in TEXT if row.fields.get(name) is not None), None)
    if name is None:
        fields = named(map(shown, sorted(row.fields))) or "(none)"
        raise DataError(f"{row.where}: no problem text among the fields {fields}; {ACCEPTED}")
    text = row.fields[name]
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{row.where}: {name!r} is {text!r:.40}; it must be a text with something in it")
    return wire.clean(text).text


def _given_id(row: Row, name: str) -> str:
    given = row.fields[name]
    if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
        raise DataError(f"{row.where}: {name!r} is {given!r:.40}; it must be a text or a whole number")
    return wire.clean(str(given)).text


def _hash_id(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _checked_kind(kind: str | None) -> str | None:
    if kind not in KINDS:
        allowed = ", ".join(repr(known) for known in KINDS if known)
        raise UsageError(f"answer kind {shown(kind)} is unknown; allowed are {allowed}")
    return kind


def _picked(problems: list[Problem], ids: Sequence[str]) -> list[Problem]:
    known = {problem.id for problem in problems}
    if unknown := [id for id in ids if id not in known]:
        close = get_close_matches(unknown[0], known, 1)
        hint = f"did you mean {shown(close[0])}? " if close else ""
        raise UsageError(
            f"no problem has the id {shown(unknown[0])}; {hint}the file holds {len(known)} problems"
        )
    return [problem for problem in problems if problem.id in ids] if ids else problems


def _limited(problems: list[Problem], limit: str | None) -> list[Problem]:
    if limit is None:
        return problems
    match = _RANGE.fullmatch(limit.strip())
    first, last = (int(match[1] or 1), int(match[2])) if match else (1, 0)
    if not 1 <= first <= last:
        raise UsageError(f"limit {shown(limit)} is no range; allowed is N or A-B with 1 <= A <= B")
    if first > len(problems):
        raise UsageError(f"limit {shown(limit)} begins behind the last of {len(problems)} problems")
    return problems[first - 1 : last]
