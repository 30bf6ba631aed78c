"""Opening and reading what ought to be plain files, and the words for a disk that takes no more.

Knows that a folder, a named pipe or a device may lie where a file ought to be, and that opening one of them must
neither hang nor end in a traceback. Does not know what files hold.
"""

import os
import stat
from pathlib import Path

from mctsr.errors import RunError

READ = os.O_RDONLY
APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND


def open_file(path: Path, flags: int = READ) -> int:
    """Open a plain file, also through a link, and return its descriptor; `flags` is `READ` or `APPEND`.

    Raises:
        RunError: Something else lies there, or it cannot be read.
        FileNotFoundError: Nothing lies there.
        OSError: It cannot be written.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe waits until somebody writes to it.
        file = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0o644)
    except (FileNotFoundError, NotADirectoryError) as error:
        if flags == READ:
            raise FileNotFoundError(error.errno, error.strerror, str(path)) from None
        raise unwritable(path, error) from None
    except OSError as error:
        if path.exists() and not path.is_file():
            raise _no_file(path) from None
        if flags != READ:
            raise unwritable(path, error) from None
        raise RunError(
            f"{path} cannot be read: {error.strerror}; allow it, or restore it from a copy"
        ) from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _no_file(path)
    return file


def read_file(path: Path) -> bytes:
    """Return all bytes of a plain file.

    Raises:
        RunError: Something else lies there, or it cannot be read.
        FileNotFoundError: Nothing lies there.
    """
    try:
        with os.fdopen(open_file(path), "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}; restore it from a copy") from None


def unwritable(path: Path, error: OSError, run: Path | None = None) -> OSError:
    """Word a failure to write: the path, the reason, what is lost (nothing) and how a run goes on.

    Args:
        path: What could not be written.
        error: Why.
        run: The run folder, where it is known.

    Returns:
        An error with the same number, to be raised.
    """
    worded = OSError(
        f"{path} cannot be written: {error.strerror or error}; what was written before is kept: mend this, "
        f"then go on with: mctsr resume {run or 'RUN'}"
    )
    worded.errno = error.errno
    return worded


def _no_file(path: Path) -> RunError:
    return RunError(f"{path} is no plain file; move away what lies there, or restore the file from a copy")
