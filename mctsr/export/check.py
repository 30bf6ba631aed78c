"""Whether a file holds labelled steps that trainers can read, and how its labels are balanced.

Knows the two formats of labelled steps as they are read, whoever wrote the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mctsr.errors import DataError, UsageError
from mctsr.runs.files import loads, read_lines

from .math_shepherd import verdicts_of

_HARD = {"+": 1.0, "-": 0.0}


@dataclass(slots=True)
class Checked:
    """What a file of labelled steps holds.

    Attributes:
        form: "stepwise" or "math-shepherd".
        kind: "hard" or "soft".
        rows: How many solutions.
        steps: How many labelled steps; `good` of them are good, for soft labels: above 0.5.
        low: Lowest label, in [0, 1]; `high` the highest.
    """

    form: str = ""
    kind: str = ""
    rows: int = 0
    steps: int = 0
    good: int = 0
    low: float = 1.0
    high: float = 0.0


def check(path: Path) -> Checked:
    """Read a file of labelled steps, one row a line.

    Raises:
        DataError: A row is none of these formats, its steps and labels do not fit each other, or rows differ in
            format or kind of label; names the line.
        UsageError: The file does not exist, is a folder, or cannot be read.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist; give a file that holds stepwise or math-shepherd rows")
    if path.is_dir():
        raise UsageError(f"give a file, {path} is a folder; mctsr export RUN writes into its folder export")
    lines, found = read_lines(path), Checked()
    every = [*(line.data for line in lines.whole), *([lines.torn] if lines.torn else [])]
    for number, data in enumerate(every, start=1):
        if fault := _line_fault(data, torn=number > len(lines.whole)):
            raise DataError(f"{path}, line {number} {fault}")
        try:
            _take(found, *_read(loads(data)))
        except ValueError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
    if not found.rows:
        raise DataError(f"{path} holds no row; write one with mctsr export RUN --format stepwise")
    return found


def _line_fault(data: bytes, *, torn: bool) -> str:
    """Say what keeps a line from being JSON, and what to do about it; "" when nothing does."""
    if not data.strip():
        return "is empty; delete it"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "is not UTF-8 text; save the file as UTF-8"
    if text.startswith("\ufeff"):
        return "begins with a byte order mark; save the file as UTF-8 without one"
    try:
        loads(data)
    except ValueError:
        if torn or (text.lstrip().startswith("{") and not text.rstrip().endswith("}")):
            return "is cut off; write the file again, or delete this line"
        return "is not JSON; mend or delete this line"
    return ""


def _take(found: Checked, form: str, kind: str, labels: Sequence[float]) -> None:
    before = (found.form, found.kind)
    if found.rows and before != (form, kind):
        raise ValueError(f"a {form} row with {kind} labels among {before[0]} rows with {before[1]} ones")
    found.form, found.kind = form, kind
    found.rows += 1
    found.steps += len(labels)
    found.good += sum(label > 0.5 for label in labels)
    found.low, found.high = min(found.low, *labels), max(found.high, *labels)


def _read(row: object) -> tuple[str, str, list[float]]:
    """Return a row's format, its kind of labels, and these in [0, 1]."""
    if isinstance(row, Mapping) and {"prompt", "completions", "labels"} <= row.keys():
        return "stepwise", *_stepwise(row["prompt"], row["completions"], row["labels"])
    if isinstance(row, Mapping) and {"input", "label"} <= row.keys():
        return "math-shepherd", *_math_shepherd(row["input"], row["label"])
    raise ValueError("no stepwise row (prompt, completions, labels) and no math-shepherd row (input, label)")


def _stepwise(prompt: object, steps: object, labels: object) -> tuple[str, list[float]]:
    if not isinstance(prompt, str) or not isinstance(steps, list) or not isinstance(labels, list):
        raise ValueError("prompt must be a text, completions and labels must be lists")
    if not steps or not all(isinstance(step, str) and step.strip() for step in steps):
        raise ValueError("completions must be texts, at least one, none empty")
    if len(steps) != len(labels):
        raise ValueError(f"{len(steps)} completions have {len(labels)} labels; each needs one")
    if all(isinstance(label, int) and label in (0, 1) for label in labels):
        return "hard", [float(label) for label in labels]
    if any(isinstance(label, bool) or not isinstance(label, int | float) for label in labels):
        raise ValueError("labels must all be true or false (or 1 and 0), or all numbers from 0.0 to 1.0")
    return "soft", _in_range([float(label) for label in labels])


def _in_range(labels: list[float]) -> list[float]:
    for number, label in enumerate(labels, start=1):
        if not 0.0 <= label <= 1.0:
            raise ValueError(f"label {number} is {label:g}, must be from 0.0 to 1.0; mend the label")
    return labels


def _math_shepherd(text: object, label: object) -> tuple[str, list[float]]:
    if not isinstance(text, str) or not isinstance(label, str):
        raise ValueError("input and label must be texts")
    verdicts = verdicts_of(text, label)
    if all(verdict in _HARD for verdict in verdicts):
        return "hard", [_HARD[verdict] for verdict in verdicts]
    if any(verdict in _HARD for verdict in verdicts):
        raise ValueError("label mixes + and - with numbers")
    return "soft", _in_range([float(verdict) for verdict in verdicts])
