"""What is said when the model behind a role is of the wrong kind.

One odd path gives no score and the search goes on; a model that can never answer in the way it is asked stops the run
before more is spent on it.
"""

from mctsr.errors import WrongModel, short


def wrong_model(found: str, allowed: str, endpoint: str, part: str, role: str = "prm") -> WrongModel:
    """Return the error for a model of the wrong kind.

    Args:
        found: What it did.
        allowed: What to serve instead.
        endpoint: The last part of the address at which it was asked.
        part: Of the places of its calls.
        role: The role whose model and URL are meant.
    """
    where = f"it is asked at {endpoint}; see --{role}-base-url and --{role}-model"
    return WrongModel(f"the model of the {role} role {short(found)}; serve {allowed} there ({where})", part)


def counted(n: int, noun: str) -> str:
    """Write a number with its noun: "1 step", "2 steps"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
