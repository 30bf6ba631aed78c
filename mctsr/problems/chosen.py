"""What a run's settings ask of its data: which fields, which problems, which rows.

Knows which setting goes where, and how a source is named so that it can be found again.
"""

from mctsr.errors import user_path
from mctsr.lm.options import Settings
from mctsr.parts import Problem

from .fields import Columns
from .hub import is_hub_name
from .notes import read_notes, reading, skipped
from .read import read_gold, read_problems


def chosen_problems(source: str, settings: Settings, stdin: str | None = None) -> list[Problem]:
    """Read the problems that `settings` choose; see `read_problems`."""
    return read_problems(
        source,
        limit=settings.limit,
        ids=settings.ids,
        kind=settings.answer_kind,
        columns=_columns(settings),
        skip_bad=settings.skip_bad,
        stdin=stdin,
    )


def chosen_gold(source: str, settings: Settings, stdin: str | None = None) -> dict[str, str]:
    """Read gold answers from where `settings` say, each spelt in one line as records keep it; see `read_gold`."""
    found = read_gold(source, columns=_columns(settings), skip_bad=settings.skip_bad, stdin=stdin)
    return {id: str(gold) for id, gold in found.items()}


def chosen_notes(source: str, settings: Settings, stdin: str | None = None) -> list[str]:
    """Say what may not be expected of the data as `settings` read it; see `read_notes`."""
    return read_notes(
        source,
        columns=_columns(settings),
        kind=settings.answer_kind,
        skip_bad=settings.skip_bad,
        stdin=stdin,
    )


def chosen_reading(source: str, settings: Settings, stdin: str | None = None) -> list[str]:
    """Say from which fields the data is read as `settings` have it; see `reading`."""
    return reading(
        source,
        columns=_columns(settings),
        kind=settings.answer_kind,
        skip_bad=settings.skip_bad,
        stdin=stdin,
    )


def chosen_skips(source: str, settings: Settings, stdin: str | None = None) -> tuple[str, ...]:
    """Say how many rows `settings` leave out for what is wrong with them; see `skipped`."""
    return tuple(skipped(source, columns=_columns(settings), skip_bad=settings.skip_bad, stdin=stdin))


def lasting_name(source: str) -> str:
    """Return a source in the form that names it from any folder: an absolute path, or a data set's name."""
    return source if is_hub_name(source) else str(user_path(source).resolve())


def _columns(settings: Settings) -> Columns:
    return Columns(settings.problem_field, settings.answer_field, settings.id_field)
