"""What is said when the model behind a role is of the wrong kind.

One odd path gives no score and the search goes on; a model that can never answer in the way it is asked stops the run
before more is spent on it.
"""

from mctsr.errors import UsageError, short


def wrong_model(found: str, allowed: str, role: str = "prm") -> UsageError:
    """Return the error for a model of the wrong kind.

    Args:
        found: What it did.
        allowed: What to serve instead.
        role: The role whose model and URL are meant.
    """
    urls = f"--{role}-base-url and --{role}-model"
    return UsageError(f"the model of the {role} role {short(found)}; serve {allowed} there (see {urls})")


def counted(n: int, noun: str) -> str:
    """Write a number with its noun: "1 step", "2 steps"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
