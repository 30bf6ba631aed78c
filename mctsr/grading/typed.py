r"""Gold answers that are more than one text: several answers, a unit, a tolerance.

Knows how such a gold is made from what a data file holds and how it is spelt in one string, so that records can
keep it. It does not know how answers are compared.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Self

from .gold import clean_gold
from .notation import CURRENCY, clean
from .parts.shapes import COLLECTIONS, brackets_of, split_list

KINDS = ("value", "list", "set", "tuple", "interval")
_SPELLING = '{"gold":'


@dataclass(frozen=True, slots=True)
class Gold:
    r"""A gold answer with its type.

    Attributes:
        kind: "value" (one answer of any shape), "list" (several, in this order), "set" (several, in any order),
            "tuple" (one point) or "interval" (one interval, in brackets).
        content: the answers; one text for "value" and "interval".
        unit: what a value is measured in, empty for none; an answer without a unit is taken to mean it.
        tolerance: absolute tolerance as a decimal text such as "1e-1", empty for none.
    """

    kind: str
    content: tuple[str, ...]
    unit: str = ""
    tolerance: str = ""

    def __str__(self) -> str:
        """Spell it: the bare text for a plain value, else one line of JSON that `read` understands."""
        if self.is_plain:
            return self.content[0]
        fields = {
            "gold": list(self.content),
            "kind": self.kind,
            "unit": self.unit,
            "tolerance": self.tolerance,
        }
        return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)

    @classmethod
    def read(cls, spelling: str) -> Self:
        """Read what `str` wrote; every other text is a plain value."""
        if not spelling.startswith(_SPELLING):
            return cls("value", (spelling,))
        try:
            fields = json.loads(spelling)
            return cls(
                str(fields["kind"]),
                tuple(str(part) for part in fields["gold"]),
                str(fields.get("unit", "")),
                str(fields.get("tolerance", "")),
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls("value", (spelling,))

    @property
    def is_plain(self) -> bool:
        """Whether it is one answer with nothing to it, which a string says as well."""
        return self.kind == "value" and not self.unit and not self.tolerance

    @property
    def text(self) -> str:
        """The answers in one text, as a person would write them."""
        several = ", ".join(self.content)
        return f"({several})" if self.kind == "tuple" and len(self.content) > 1 else several


def gold_of(
    value: object,
    *,
    kind: str | None = None,
    unit: str | None = None,
    tolerance: str | float | None = None,
    multiple: bool = False,
) -> Gold:
    r"""Make a gold answer of what a data file holds.

    Args:
        value: a number or a text (see `clean_gold`), or a list of them, which is several answers in any order. Text in
            a list keeps what `clean_gold` leaves of it, and an answer that a list repeats is due as many times.
        kind: one of `KINDS`; None takes "set" for several answers and "value" otherwise.
        unit: what the value is measured in; LaTeX and dollars are removed.
        tolerance: absolute tolerance, a positive number or its text.
        multiple: whether a text is several answers with commas between, in any order.

    Raises:
        ValueError: for a value, kind or tolerance that is not understood.
    """
    several = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    kind = kind or ("set" if multiple or (several and len(_items(value)) > 1) else "value")
    if kind not in KINDS:
        raise ValueError(f"gold kind {kind!r} is unknown: use one of {', '.join(KINDS)}")
    content = tuple(clean_gold(item) for item in _items(value)) if several else (clean_gold(value),)
    if kind in COLLECTIONS and len(content) == 1:
        content = _split(content[0], kind)
        content = tuple(dict.fromkeys(content)) if kind == "set" else content
    if kind in ("value", "interval") and len(content) != 1:
        raise ValueError(f"gold answer {value!r:.80} holds {len(content)} answers: kind {kind!r} takes one")
    return Gold(kind, content, clean(unit or ""), _tolerance(tolerance))


def _items(value: object) -> list[object]:
    items = list(value) if isinstance(value, Sequence) else []
    if not items:
        raise ValueError("gold answer [] is empty: give at least one answer")
    return items


def _split(text: str, kind: str) -> tuple[str, ...]:
    """Cut one text into its answers; brackets that belong to the kind go."""
    cleaned = clean(text)
    inside = brackets_of(cleaned)
    if inside and inside[0] == {"tuple": "(", "set": "{"}.get(kind):
        cleaned = inside[1]
    return tuple(part.replace(CURRENCY, r"\$") for part in split_list(cleaned)) or (text,)


def _tolerance(value: str | float | None) -> str:
    if value is None or value == "":
        return ""
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        raise ValueError(f"tolerance {value!r} is no number: give one such as 0.1") from None
    if not number.is_finite() or not 0 <= number < Decimal("1e300") or math.isinf(float(number)):
        raise ValueError(f"tolerance {value!r} is out of range: give a number of at least 0")
    return str(value).strip() if number else ""
