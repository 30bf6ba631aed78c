"""What can go wrong, as a tree.

    MctsrError
    ├── UsageError            the user's input is wrong: exit code 2, nothing was lost
    │   ├── DataError         a data file, with file and line
    │   ├── PromptError       a prompt file or the values put into it
    │   ├── RecipeError       a recipe's name or its arguments
    │   ├── RunError          a run folder that does not fit what was asked
    │   └── MissingExtra      an optional package is not installed
    └── ServerError           one call failed for good
        ├── ContextOverflow   the prompt does not fit the model's context: ends a node, never a run
        ├── Refused           the server says no for every call alike (key, model): ends the run
        └── ServerGone        nothing answers any more: the run stops and can be resumed

Messages are one line with three parts: what was given, what is allowed, what to do.
"""


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
