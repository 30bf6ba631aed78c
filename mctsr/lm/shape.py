"""Whether a value read from JSON has the shape of a type: the same types from which JSON Schemas are made.

Knows the few kinds of type that records use, and compiles each into one function, because a run has thousands of
lines. Keys that a type does not name are let pass: they do no harm, and what was paid for is not thrown away for
them. Does not know what values mean.
"""

import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import is_dataclass

Check = Callable[[object], str]
"""Says where and how a value differs, such as ".usage.calls is null, must be a whole number"; "" when it fits."""

_UNIONS = (typing.Union, types.UnionType)
_made: dict[object, Check] = {}
_LARGEST = 2**63
"""Whole numbers beyond this are written with digits that a reader of JSON loses."""


def checker(kind: object) -> Check:
    """Return the check for a type: a TypedDict, several told apart by a tag, or a dataclass with all defaults.

    Raises:
        TypeError: The type has a part of a kind that records do not use.
    """
    if kind not in _made:
        _made[kind] = _check(kind)
    return _made[kind]


def _check(kind: object) -> Check:
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return _one_of(arguments)
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return _each(_check(arguments[0]))
    if origin is tuple:
        return _row([_check(item) for item in arguments])
    if origin is dict:
        return _values(_check(arguments[1]))
    if origin in _UNIONS:
        return _any(arguments)
    if isinstance(kind, type) and (typing.is_typeddict(kind) or is_dataclass(kind)):
        parts = {key: _check(hint) for key, hint in typing.get_type_hints(kind).items()}
        return _keys(parts, required=getattr(kind, "__required_keys__", frozenset()))
    raise TypeError(f"records hold no {kind}")


def _is(kind: type, words: str) -> Check:
    # A subclass never comes out of JSON, and bool must not pass for int.
    return lambda value: "" if type(value) is kind else _wrong(value, words)


def _whole(value: object) -> str:
    fits = type(value) is int and -_LARGEST <= value < _LARGEST
    return "" if fits else _wrong(value, "a whole number")


def _number(value: object) -> str:
    # Infinities and NaN differ from themselves by NaN.
    fits = value - value == 0.0 if type(value) is float else type(value) is int
    return "" if fits else _wrong(value, "a number")


def _one_of(allowed: Sequence[object]) -> Check:
    words = " or ".join(map(repr, allowed))
    return lambda value: "" if type(value) is str and value in allowed else _wrong(value, words)


def _each(check: Check) -> Check:
    def items(value: object) -> str:
        if type(value) is not list:
            return _wrong(value, "a list")
        for number, item in enumerate(value):
            if fault := check(item):
                return f"[{number}]{fault}"
        return ""

    return items


def _row(checks: Sequence[Check]) -> Check:
    def row(value: object) -> str:
        if type(value) is not list or len(value) != len(checks):
            return _wrong(value, f"a list of {len(checks)}")
        for number, check in enumerate(checks):
            if fault := check(value[number]):
                return f"[{number}]{fault}"
        return ""

    return row


def _values(check: Check) -> Check:
    def values(value: object) -> str:
        if type(value) is not dict:
            return _wrong(value, "an object")
        for key, item in value.items():
            if fault := check(item):
                return f".{key}{fault}"
        return ""

    return values


def _keys(parts: Mapping[str, Check], *, required: Collection[str]) -> Check:
    pairs = tuple(parts.items())

    def keys(value: object) -> str:
        if type(value) is not dict:
            return _wrong(value, "an object")
        for key, check in pairs:
            if key in value:
                if fault := check(value[key]):
                    return f".{key}{fault}"
            elif key in required:
                return f".{key} is missing"
        return ""

    return keys


def _any(options: Sequence[object]) -> Check:
    """Check against several types; of records, the one that the value's own tag names says what is wrong."""
    if all(typing.is_typeddict(option) for option in options):
        return _tagged([option for option in options if isinstance(option, type)])
    some, *others = (_check(option) for option in options if option is not type(None))
    null = type(None) in options

    def anyone(value: object) -> str:
        if value is None and null:
            return ""
        fault = some(value)
        return fault if fault and all(check(value) for check in others) else ""

    return anyone


def _tagged(records: Sequence[type]) -> Check:
    hints = [typing.get_type_hints(record) for record in records]
    tag = next(key for key, hint in hints[0].items() if typing.get_origin(hint) is typing.Literal)
    checks = {
        typing.get_args(hint[tag])[0]: checker(record) for hint, record in zip(hints, records, strict=True)
    }
    known = _keys({tag: _one_of(tuple(checks))}, required=(tag,))

    def one(value: object) -> str:
        fault = known(value)
        return fault or checks[typing.cast(dict[str, str], value)[tag]](value)

    return one


def _wrong(value: object, words: str) -> str:
    if value is None or isinstance(value, bool):
        said = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, str | int | float):
        said = f"{value!r:.40}" if isinstance(value, str) else f"{value:.6g}"
    else:
        said = "a list" if isinstance(value, list) else "an object"
    return f" is {said}, must be {words}"


_PLAIN: Mapping[object, Check] = {
    str: _is(str, "a text"),
    int: _whole,
    float: _number,
    bool: _is(bool, "true or false"),
    type(None): _is(type(None), "null"),
    object: lambda value: "",
}
