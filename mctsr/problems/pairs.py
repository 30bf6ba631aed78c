"""Pairs of a gold answer and an answer or a whole reply, out of JSON Lines.

Knows which fields make a pair. Compares nothing.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mctsr.errors import DataError, short, shown
from mctsr.grading import Gold, gold_of
from mctsr.lm import wire

from .source import STDIN, decoded, read_file, stdin_text
from .tables import PARQUET, delimiter_of

ACCEPTED = 'a pair is an object with "gold" and with "answer" or "reply"'
_LINES = "JSON Lines is expected, one pair a line"


class Pair(NamedTuple):
    """One line of a file of pairs.

    Attributes:
        line: Its number, from 1.
        gold: The gold answer.
        text: The answer, None for none.
        is_reply: Whether `text` is a whole reply, out of which the answer is still to be read.
    """

    line: int
    gold: Gold
    text: str | None
    is_reply: bool


def read_pairs(source: str) -> Iterator[Pair]:
    """Read a file of pairs, packed or not, or standard input for "-".

    Raises:
        DataError: It cannot be read, or a line is no pair; names file and line.
    """
    name = "standard input" if source == STDIN else short(source)
    lines = [(number, line) for number, line in enumerate(_text(source, name).split("\n"), 1) if line.strip()]
    if not lines:
        raise DataError(f"{name} holds no pairs; {ACCEPTED}")
    for number, line in lines:
        where = f"{name}, line {number}"
        try:
            fields = wire.loads(line.encode("utf-8", "surrogatepass"))
        except ValueError as error:
            raise DataError(f"{where} is no JSON ({error}); {_LINES}: {ACCEPTED}") from None
        yield _pair(where, number, fields)


def _text(source: str, name: str) -> str:
    given = stdin_text(source)
    if given is not None:
        return given
    data = read_file(source, "file of pairs").data
    if data.startswith(PARQUET):
        raise DataError(f"{name} is a Parquet file; {_LINES}: {ACCEPTED}")
    if delimiter := delimiter_of(data, "", ("gold",)):
        raise DataError(f"{name} is {'TSV' if delimiter == chr(9) else 'CSV'}; {_LINES}: {ACCEPTED}")
    return decoded(name, data)


def _pair(where: str, number: int, fields: object) -> Pair:
    if not isinstance(fields, dict) or "gold" not in fields or not {"answer", "reply"} & fields.keys():
        raise DataError(f"{where}: {ACCEPTED}, not {shown(fields)}")
    if "answer" in fields and "reply" in fields:
        raise DataError(f'{where}: both "answer" and "reply" are there; give only one of them')
    gold, is_reply = fields["gold"], "reply" in fields
    text = fields["reply" if is_reply else "answer"]
    if isinstance(text, bool | dict | list):
        raise DataError(f"{where}: the answer is {text!r:.40}; it must be a text, a number or null")
    try:
        typed = Gold.read(gold) if isinstance(gold, str) and not Gold.read(gold).is_plain else gold_of(gold)
    except ValueError as error:
        raise DataError(f"{where}: {error}") from None
    return Pair(number, typed, None if text is None else wire.clean(str(text)).text, is_reply)
