"""Which fields of a data file are read, which are not, and which hold nothing.

Knows the roles of fields. Shows no gold answer.
"""

from collections import Counter

from .fields import GOLD, ID, find, normal, text_fields, unused
from .golds import SIDE, gold_field, has_type
from .load import Loaded

ANY = "any kind"


def fields_read(loaded: Loaded) -> dict[str, dict[str, int]]:
    """Count from which fields "problem", "answer" and "id" are taken, in how many rows."""
    texts, answers, ids = Counter[str](), Counter[str](), Counter[str]()
    for item in loaded.items:
        texts[" + ".join(text_fields(item.row, loaded.columns))] += 1
        if (answer := gold_field(item.row, loaded.columns)) is not None:
            answers[answer] += 1
        id = find(item.row.fields, ID, loaded.columns.id)
        ids[id or ("the key around it" if item.row.key is not None else "a hash of the text")] += 1
    return {"problem": dict(texts), "answer": dict(answers), "id": dict(ids)}


def fields_unused(loaded: Loaded) -> list[str]:
    """List the fields that hold something and are read in no row."""
    beside = fields_beside(loaded)
    return [name for name in unused(loaded.rows, loaded.columns) if name not in beside]


def fields_beside(loaded: Loaded) -> list[str]:
    """List the fields that say more of the gold answers: their type, unit and tolerance."""
    if not any(has_type(row.fields) for row in loaded.rows):
        return []
    empty = fields_empty(loaded)
    there = {name for row in loaded.rows for name in row.fields}
    return [name for name in SIDE if name in there and name not in empty]


def fields_empty(loaded: Loaded) -> list[str]:
    """List the fields that hold nothing in any row."""
    holds: dict[str, bool] = {}
    for row in loaded.rows:
        for name, value in row.fields.items():
            holds[name] = holds.get(name, False) or value is not None
    return [name for name, held in holds.items() if not held]


def answer_empty(loaded: Loaded) -> str | None:
    """Name the field that is there for gold answers and holds none in any row."""
    empty, given = fields_empty(loaded), loaded.columns.answer
    if given is not None:
        return given if given in empty else None
    return next((name for known in GOLD for name in empty if normal(name) == known), None)
