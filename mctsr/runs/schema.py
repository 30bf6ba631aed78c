"""JSON Schemas of the files in a run folder, made from the types in `records`.

Knows the few kinds of type that the records use. The schemas kept in docs/schema are compared with these in a
test: a change of a record cannot go unnoticed.
"""

import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path

from .records import SCHEMA, GradeRecord, ResultRecord, RunRecord, SummaryRecord, TreeRecord

_FILES: Mapping[str, type] = {
    "run": RunRecord,
    "tree": TreeRecord,
    "result": ResultRecord,
    "grade": GradeRecord,
    "summary": SummaryRecord,
}
_PLAIN: Mapping[object, dict[str, object]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    object: {},
}
_UNIONS = (typing.Union, types.UnionType)


def schemas() -> dict[str, dict[str, object]]:
    """Return a JSON Schema (draft 2020-12) for one record of each file, by the record's name."""
    return {name: _document(name, record) for name, record in _FILES.items()}


def write(folder: Path) -> None:
    """Write every schema to `<name>.json` in `folder`."""
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=2, ensure_ascii=False)
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def _document(name: str, record: type) -> dict[str, object]:
    definitions: dict[str, object] = {}
    body = _schema(record, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"mctsr {name} record, schema {SCHEMA}",
        **body,
        "$defs": definitions,
    }


def _schema(kind: object, definitions: dict[str, object]) -> dict[str, object]:
    """Describe one type; records land in `definitions` and are referred to."""
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is tuple:
        items = [_schema(item, definitions) for item in arguments]
        size = {"minItems": len(items), "maxItems": len(items)}
        return {"type": "array", "prefixItems": items, "items": False, **size}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    if origin in _UNIONS:
        return {"anyOf": [_schema(option, definitions) for option in arguments]}
    if not (isinstance(kind, type) and typing.is_typeddict(kind)):
        raise TypeError(f"records hold no {kind}")
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # a record that contains itself would come back here
        definitions[kind.__name__] = _record(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _record(kind: type, definitions: dict[str, object]) -> dict[str, object]:
    hints = typing.get_type_hints(kind)
    required: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
    return {
        "description": " ".join((kind.__doc__ or "").split()),
        "type": "object",
        "properties": {key: _schema(hint, definitions) for key, hint in hints.items()},
        "required": [key for key in hints if key in required],
        "additionalProperties": False,
    }
