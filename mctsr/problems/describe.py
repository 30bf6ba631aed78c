"""What a data file holds, in words and numbers, for whoever is about to use it.

Knows what was guessed, what is odd, and what was left out. This is for people: it shows gold answers.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import NamedTuple

from mctsr.grading import Gold

from .fields import Columns
from .load import Item, Loaded, load
from .read import golds, question_problem
from .rows import Faults
from .used import ANY, answer_empty, fields_beside, fields_empty, fields_read, fields_unused

SAMPLES = 3


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
        beside: Fields that tell type, unit and tolerance of gold answers.
        empty: Fields that hold nothing in any row.
        empty_answer: The one of them that is there for gold answers.
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
    beside: list[str]
    empty: list[str]
    empty_answer: str | None
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
        fields=fields_read(loaded),
        unused=fields_unused(loaded),
        beside=fields_beside(loaded),
        empty=fields_empty(loaded),
        empty_answer=answer_empty(loaded),
        kind=loaded.profile.kind,
        kind_by=loaded.profile.by,
        kinds=dict(kinds),
        odd=odd,
        bad=[*loaded.bad, *faults.found],
        samples=[_sample(item, loaded, gold) for item in loaded.items[:SAMPLES]],
    )


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
    return Description(
        "one question", 1, fields, [], [], [], None, problem.kind, "", kinds, odd, [], [sample]
    )
