"""What can go wrong, as a tree, and how it is said.

    MctsrError
    ├── UsageError            the user's input is wrong: exit code 2, nothing was lost
    │   ├── DataError         a data file, with file and line
    │   ├── PromptError       a prompt file or the values put into it
    │   ├── RecipeError       a recipe's name or its arguments
    │   ├── RunError          a run folder that does not fit what was asked
    │   ├── WrongModel        what answers for a role can never answer as it is asked
    │   └── MissingExtra      an optional package is not installed
    └── ServerError           one call failed for good
        ├── ContextOverflow   the prompt does not fit the model's context: ends a node, never a run
        ├── Refused           the server says no for every call alike (key, model): ends the run
        └── ServerGone        nothing answers any more: the run stops and can be resumed

Messages are one line with three parts: what was given, what is allowed, what to do. What was given can be of any
length: `short`, `shown` and `named` keep a line readable. A path as a user wrote it goes through `user_path`.
"""

import re
from collections.abc import Iterable
from pathlib import Path

LONGEST_SHOWN = 200
"""Characters of one name, path or value in a message."""

LONGEST_LINE = 1200
"""Characters of a whole message."""

MOST_NAMED = 10
"""Names in a list in a message."""

_LONG_WORD = re.compile(rf"\S{{{LONGEST_SHOWN + 1},}}")


class MctsrError(Exception):
    """Base of everything this package raises on purpose."""


class UsageError(MctsrError):
    """The user's input is wrong; the command line exits with 2."""


class DataError(UsageError):
    """A data file cannot be read as problems; names file and line."""


class PromptError(UsageError):
    """A prompt file is malformed, or was filled with the wrong values."""


class RecipeError(UsageError):
    """A recipe is unknown, or its arguments do not fit its signature."""


class RunError(UsageError):
    """A run folder is missing, damaged, locked or does not fit what was asked."""


class WrongModel(UsageError):
    """What answers for a role can never answer as it is asked; what it said to calls of `part` counts for nothing."""

    def __init__(self, message: str, part: str) -> None:
        super().__init__(message)
        self.part = part


class MissingExtra(UsageError):
    """A feature needs an optional package; the message names the extra."""


class ServerError(MctsrError):
    """One call to a language model failed for good, after its retries.

    Attributes:
        status: HTTP status, 0 when no answer came at all.
        retries: Attempts after the first.
    """

    kind = "server"

    def __init__(self, message: str, *, status: int = 0, retries: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.retries = retries


class ContextOverflow(ServerError):
    """The prompt is longer than the model's context."""

    kind = "context"


class Refused(ServerError):
    """The server refuses every call alike: bad key, unknown model, wrong path."""

    kind = "refused"


class ServerGone(ServerError):
    """The server can no longer be reached at all."""

    kind = "gone"


def short(text: str, most: int = LONGEST_SHOWN) -> str:
    """Shorten a text to `most` characters, the middle left out: both ends say what it is."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 3
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def shown(value: object) -> str:
    """Write a value as Python would, shortened."""
    # Shortened before, too: the quotes of a long text are worth keeping.
    return repr(short(value)) if isinstance(value, str) else short(repr(value))


def named(names: Iterable[object], most: int = MOST_NAMED) -> str:
    """List names, the first `most` of them, and say how many more there are."""
    every = [short(str(name)) for name in names]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def brief(message: str) -> str:
    """Keep a whole message readable, whatever was put into it."""
    return short(_LONG_WORD.sub(lambda word: short(word[0]), message), LONGEST_LINE)


def user_path(text: str) -> Path:
    """Return the path that a user wrote, a `~` or `~user` at its beginning replaced by the home folder.

    Raises:
        UsageError: That user has no home here, or the text is no path.
    """
    if "\0" in text:
        raise UsageError(f"the path {shown(text)} holds a zero character; give another")
    path = Path(text)
    if not text.startswith("~"):
        # "./~x" is "~x" to pathlib, and whoever expands it again would look for a user.
        return Path.cwd() / path if str(path).startswith("~") else path
    try:
        return path.expanduser()
    except RuntimeError:
        first = short(path.parts[0])
        raise UsageError(
            f"the path {shown(text)} begins with {first}, whose home folder is unknown; write it in full, "
            f"or ./{first} for a name that begins with ~"
        ) from None
