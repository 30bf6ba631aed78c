"""What a data file holds, in words and numbers, for whoever is about to use it.

Knows what was guessed, what is odd, and what was left out. This is for people: it shows gold answers.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from mctsr.errors import named, shown
from mctsr.grading import Gold

from .fields import ID, Columns, find, gold_like, text_fields, unused
from .golds import SIDE, gold_field, has_type
from .load import Item, Loaded, load
from .read import golds, question_problem
from .rows import Faults

SAMPLES = 3
ANY = "any kind"
MOST_SHOWN = 3
_PLAIN = (("problem", "question"), ("answer",), ("id", "unique_id", "a hash of the text"))


class Sample(NamedTuple):
    """One problem as it is read; `gold` is spelt in one line, None when there is none."""

    id: str
    problem: str
    gold: str | None
    kind: str | None


@dataclass(frozen=True, slots=True)
class Description:
    """A data file in words and numbers.

    Attributes:
        format: What the file is.
        problems: How many problems it holds.
        fields: Where "problem", "answer" and "id" are taken from, each with the number of rows.
        unused: Fields that are not read.
        kind: How answers are read where the problem's text says nothing else, and what says so.
        kinds: Problems by the way their answers are read; "any kind" where nothing says it.
        odd: How many rows are out of the ordinary, by what they have; all are counted, also those at zero.
        bad: What was wrong with each row that was left out.
        samples: The first problems.
    """

    format: str
    problems: int
    fields: dict[str, dict[str, int]]
    unused: list[str]
    kind: str | None
    kind_by: str
    kinds: dict[str, int]
    odd: dict[str, int]
    bad: list[str]
    samples: list[Sample]

    def as_dict(self) -> dict[str, object]:
        """Return it as plain JSON values."""
        return {**asdict(self), "samples": [sample._asdict() for sample in self.samples]}


def describe(
    source: str,
    *,
    kind: str | None = None,
    columns: Columns | None = None,
    skip_bad: bool = False,
    stdin: str | None = None,
) -> Description:
    """Describe a data file.

    Args:
        source: As for `read_problems`, like the others.
        kind: How answers are read; None finds out.
        columns: Fields that the user names.
        skip_bad: Whether bad rows are counted; else the first one is an error.
        stdin: What stands on standard input, when it was read already.

    Raises:
        DataError: It cannot be read as problems, or a gold answer is none; names the line.
        UsageError: `kind` or `columns` do not fit.
    """
    loaded = load(source, columns or Columns(), kind=kind, skip_bad=skip_bad, stdin=stdin)
    if isinstance(loaded, str):
        return _of_question(loaded, kind)
    faults = Faults(skip_bad)
    gold = golds(loaded, faults)
    typed = gold.values()
    kinds = Counter(loaded.kind(item) or ANY for item in loaded.items)
    texts = Counter(item.text for item in loaded.items)
    odd = {
        "no gold answer": len(loaded.items) - len(gold),
        "several answers": sum(one.kind in ("set", "list") and len(one.content) > 1 for one in typed),
        "a unit": sum(bool(one.unit) for one in typed),
        "a tolerance": sum(bool(one.tolerance) for one in typed),
        "options to choose from": kinds["letter"],
        "the text of another": sum(count - 1 for count in texts.values()),
        "left out": len(loaded.bad),
        "an answer that is none": len(faults.found),
    }
    return Description(
        format=loaded.format,
        problems=len(loaded.items),
        fields=_fields(loaded),
        unused=_unused(loaded),
        kind=loaded.profile.kind,
        kind_by=loaded.profile.by,
        kinds=dict(kinds),
        odd=odd,
        bad=[*loaded.bad, *faults.found],
        samples=[_sample(item, loaded, gold) for item in loaded.items[:SAMPLES]],
    )


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
    fields, left = _fields(loaded), _unused(loaded)
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
        f"{loaded.format}: {_spelt(_fields(loaded))}",
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


def _fields(loaded: Loaded) -> dict[str, dict[str, int]]:
    texts, answers, ids = Counter[str](), Counter[str](), Counter[str]()
    for item in loaded.items:
        texts[" + ".join(text_fields(item.row, loaded.columns))] += 1
        if (answer := gold_field(item.row, loaded.columns)) is not None:
            answers[answer] += 1
        id = find(item.row.fields, ID, loaded.columns.id)
        ids[id or ("the key around it" if item.row.key is not None else "a hash of the text")] += 1
    return {"problem": dict(texts), "answer": dict(answers), "id": dict(ids)}


def _unused(loaded: Loaded) -> list[str]:
    typed = any(has_type(row.fields) for row in loaded.rows)
    return [name for name in unused(loaded.rows, loaded.columns) if not (typed and name in SIDE)]


def _spelt(fields: dict[str, dict[str, int]]) -> str:
    return ", ".join(f"{role} from {named(names) or 'nowhere'}" for role, names in fields.items())


def _sample(item: Item, loaded: Loaded, gold: Mapping[str, Gold]) -> Sample:
    known = gold.get(item.id)
    return Sample(item.id, item.text, None if known is None else str(known), loaded.kind(item))


def _of_question(text: str, kind: str | None) -> Description:
    problem = question_problem(text, kind)
    fields: dict[str, dict[str, int]] = {
        "problem": {"the text": 1},
        "answer": {},
        "id": {"a hash of the text": 1},
    }
    sample = Sample(problem.id, problem.text, None, problem.kind)
    odd = {"no gold answer": 1}
    kinds = {problem.kind or ANY: 1}
    return Description("one question", 1, fields, [], problem.kind, "", kinds, odd, [], [sample])
