"""Which problem a user means."""

from collections.abc import Sequence

from mctsr.errors import RunError


def find_problem(ids: Sequence[str], name: str) -> str:
    """Return the id that `name` means: an id, the beginning of just one, or "#N" for the N-th problem, from 1.

    A bare number that begins no id counts like "#N": shells take "#" for the start of a comment.

    Raises:
        RunError: None or several fit.
    """
    if name in ids:
        return name
    number = name.removeprefix("#")
    fitting = [id for id in ids if id.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        shown = ", ".join(fitting[:5]) + (", …" if len(fitting) > 5 else "")
        raise RunError(f"{name!r} fits {len(fitting)} problems ({shown}); give more of the id, or '#N'")
    if number.isascii() and number.isdigit() and 1 <= int(number) <= len(ids):
        return ids[int(number) - 1]
    raise RunError(
        f"the run has no problem {name!r}; give an id, its beginning, or '#1' to '#{len(ids)}'; "
        "without an id all are listed"
    )
