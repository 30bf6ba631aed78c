"""What a data file is read as, and what a user may not expect of it, in lines for people.

Knows how guesses are worded. Shows no gold answer.
"""

from collections.abc import Sequence

from mctsr.errors import named, shown

from .fields import Columns, gold_like
from .load import load
from .read import golds
from .rows import Faults
from .used import ANY, fields_read, fields_unused

MOST_SHOWN = 3
_PLAIN = (("problem", "question"), ("answer",), ("id", "unique_id", "a hash of the text"))


def read_notes(
    source: str,
    *,
    columns: Columns | None = None,
    kind: str | None = None,
    skip_bad: bool = False,
    stdin: str | None = None,
) -> list[str]:
    """Say what a user may not expect of a data file that can be read: one line each, none as a rule.

    That is fields that were guessed, fields that are not used, rows that were left out, several lines that are one
    question.

    Args:
        source: As for `read_problems`, like the others.
        columns: Fields that the user names.
        kind: How answers are read; None finds out.
        skip_bad: Whether bad rows were left out.
        stdin: What stands on standard input, when it was read already.
    """
    loaded = load(source, columns or Columns(), kind=kind, skip_bad=skip_bad, stdin=stdin)
    if isinstance(loaded, str):
        lines = sum(bool(line.strip()) for line in loaded.splitlines())
        one = f"standard input is read as one question of {lines} lines; give JSON Lines for several"
        return [one] if lines > 1 else []
    fields, left = fields_read(loaded), fields_unused(loaded)
    notes = []
    if any(name not in plain for plain, names in zip(_PLAIN, fields.values(), strict=True) for name in names):
        notes.append(f"read from {loaded.format}: {_spelt(fields)}")
    if left:
        notes.append(f"fields not used: {named(left)}")
    if not fields["answer"] and (like := gold_like(left)):
        notes.append(f"no gold answers found; if {shown(like)} holds them, give --answer-field {like}")
    return notes + skipped(source, columns=columns, skip_bad=skip_bad, stdin=stdin)


def reading(
    source: str,
    *,
    columns: Columns | None = None,
    kind: str | None = None,
    skip_bad: bool = False,
    stdin: str | None = None,
) -> list[str]:
    """Say from which fields problems, gold answers and ids are taken, and how answers are read; a line each.

    The arguments are those of `read_notes`.
    """
    loaded = load(source, columns or Columns(), kind=kind, skip_bad=skip_bad, stdin=stdin)
    if isinstance(loaded, str):
        return ["one question"]
    profile = loaded.profile
    return [
        f"{loaded.format}: {_spelt(fields_read(loaded))}",
        f"answers read as {profile.kind or ANY} ({profile.by})",
    ]


def skipped(
    source: str, *, columns: Columns | None = None, skip_bad: bool = False, stdin: str | None = None
) -> list[str]:
    """Say in one line how many rows and gold answers were left out, and why the first of them; none when none was."""
    if not skip_bad:
        return []
    loaded = load(source, columns or Columns(), skip_bad=True, stdin=stdin)
    if isinstance(loaded, str):
        return []
    faults = Faults(skip=True)
    golds(loaded, faults)
    words = ((loaded.bad, "row", "left out"), (faults.found, "gold answer", "left out for being none"))
    return [
        f"{len(found)} {noun}{'s' if len(found) > 1 else ''} {rest}: {_first(found)}"
        for found, noun, rest in words
        if found
    ]


def _first(found: Sequence[str]) -> str:
    more = f"; and {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
    return "; ".join(_brief(fault) for fault in found[:MOST_SHOWN]) + more


def _brief(fault: str) -> str:
    return fault.partition("; accepted are")[0].partition("; name its field")[0]


def _spelt(fields: dict[str, dict[str, int]]) -> str:
    return ", ".join(f"{role} from {named(names) or 'nowhere'}" for role, names in fields.items())
