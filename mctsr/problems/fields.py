"""Which fields of a row are read, and what is said of the others.

Knows names alone; looks at no value but to see whether there is one.
"""

from collections.abc import Iterator, Mapping, Sequence

from mctsr.errors import DataError, named, shown

from .rows import TEXT, Row

GOLD = "answer"
ID = ("id", "unique_id")

_GOLD_LIKE = ("gold", "target", "label", "solution", "final_answer", "expected")


def check_names(row: Row) -> None:
    """Refuse a row whose field would be read if it were spelt in small letters: `Question`, `ANSWER`.

    Raises:
        DataError: There is one; names what it should be.
    """
    fields = row.fields
    known = {name for names in (TEXT, (GOLD,), ID) if not fields.keys() & set(names) for name in names}
    if wrong := [name for name in fields if name not in known and name.lower() in known]:
        meant = named(repr(name.lower()) for name in wrong)
        raise DataError(
            f"{row.where}: the field{'s' if len(wrong) > 1 else ''} {named(map(shown, wrong))} "
            f"would not be read; did you mean {meant}? names are in small letters"
        )


def unused(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Say which fields are not used, and where gold answers seem to be when none is found."""
    used = {name for fields in rows for name in _used(fields)}
    there = dict.fromkeys(name for fields in rows for name, value in fields.items() if value is not None)
    left = [name for name in there if name not in used]
    notes = [f"fields not used: {named(left)}"] if left else []
    if GOLD not in used and (like := next(_gold_like(left), None)):
        notes.append(
            f"no gold answers: they are read from {GOLD!r}; if {shown(like)} holds them, rename it to {GOLD}"
        )
    return notes


def _used(fields: Mapping[str, object]) -> Iterator[str]:
    for names in (TEXT, ID, (GOLD,)):
        if (name := next((name for name in names if fields.get(name) is not None), None)) is not None:
            yield name


def _gold_like(left: Sequence[str]) -> Iterator[str]:
    """Yield the fields that look like gold answers, the likeliest first."""
    for like in _GOLD_LIKE:
        yield from (name for name in left if name.lower() == like)
