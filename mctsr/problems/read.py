"""Problems and gold answers out of data files: either without the other."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from mctsr.errors import DataError, UsageError, shown
from mctsr.grading import Gold
from mctsr.lm import wire
from mctsr.parts import Problem

from .fields import Columns
from .golds import gold_in
from .kinds import checked, kind_of, profile
from .load import Loaded, clean_question, hash_id, load
from .rows import Faults

_RANGE = re.compile(r"(?:([0-9]{1,18})-)?([0-9]{1,18})")
_FOUND = Columns()


def read_problems(
    source: str,
    *,
    limit: str | None = None,
    ids: Sequence[str] = (),
    kind: str | None = None,
    columns: Columns = _FOUND,
    skip_bad: bool = False,
    stdin: str | None = None,
) -> list[Problem]:
    """Read the problems of a data file, in its order.

    Args:
        source: Path of a file; "-" for standard input, which may also be one plain question; `org/name[:split]`
            for a data set of the Hugging Face hub, when nothing lies at that path.
        limit: "N" for the first N, "A-B" for a range counted from 1, both ends included.
        ids: Keep only these; applied before `limit`.
        kind: How answers are read; None takes it from names and texts where these tell.
        columns: Fields that hold text and id; those left out are found.
        skip_bad: Whether rows that are no problems are left out.
        stdin: What stands on standard input, when it was read already.

    Raises:
        DataError: The file cannot be read as problems; names the line.
        UsageError: `limit`, `ids`, `kind` or `columns` do not fit.
    """
    checked(kind)
    loaded = load(source, columns, kind=kind, skip_bad=skip_bad, stdin=stdin)
    if isinstance(loaded, str):
        found = [question_problem(loaded, kind)]
    else:
        found = [Problem(item.id, item.text, loaded.kind(item)) for item in loaded.items]
    return _limited(_picked(found, ids), limit)


def question_problem(text: str, kind: str | None = None) -> Problem:
    """Make a problem of one question; its id is a hash of the text.

    Raises:
        DataError: There is nothing in the text.
    """
    cleaned = clean_question(text)
    if not cleaned:
        raise DataError("the question is empty; give a text")
    return Problem(hash_id(cleaned), cleaned, kind_of(cleaned, profile("", (), kind)))


def read_gold(
    source: str, *, columns: Columns = _FOUND, skip_bad: bool = False, stdin: str | None = None
) -> dict[str, Gold]:
    """Read the gold answers of a data file by problem id; rows without one are left out.

    Args:
        source: As for `read_problems`.
        columns: Fields that hold text, answer and id; those left out are found.
        skip_bad: Whether rows that are no problems, and answers that are none, are left out.
        stdin: What stands on standard input, when it was read already.

    Returns:
        Typed answers; `str` of one is its text, or a line of JSON that `Gold.read` takes up again.

    Raises:
        DataError: An answer is neither a number nor a text with something in it; names the line.
    """
    loaded = load(source, columns, skip_bad=skip_bad, stdin=stdin)
    return {} if isinstance(loaded, str) else golds(loaded, Faults(skip_bad))


def golds(loaded: Loaded, faults: Faults) -> dict[str, Gold]:
    """Collect the gold answers of rows; `faults` receives those that are none.

    Raises:
        DataError: One is none and must not be skipped.
    """
    found = {}
    for item in loaded.items:
        try:
            gold = gold_in(item.row, loaded.columns)
        except ValueError as error:
            faults.report(str(error))
            continue
        if gold is not None:
            found[item.id] = gold
    faults.settle(len(loaded.items) - len(faults.found))
    return found


def problems_sha256(problems: Iterable[Problem]) -> str:
    """Hash ids, texts and answer kinds, in order."""
    return hashlib.sha256(wire.canonical([[p.id, p.text, p.kind] for p in problems])).hexdigest()


def problem_hash(problem: Problem) -> str:
    """Hash one problem's text and kind to 12 hexadecimal digits, to say later which problems changed."""
    return hashlib.blake2b(wire.canonical([problem.text, problem.kind]), digest_size=6).hexdigest()


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
