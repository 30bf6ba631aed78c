"""The one place where kernels are compiled."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import numba
from numba.core import config

P = ParamSpec("P")
R = TypeVar("R")


def _writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


def _choose_cache() -> None:
    """Give numba a cache folder where it would find none: a read-only install with a read-only home."""
    own = Path(__file__).parent
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    if os.environ.get("NUMBA_CACHE_DIR") or _writable(own) or _writable(home):
        return
    os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"mctsr-numba-{os.getuid()}")
    config.reload_config()  # type: ignore[no-untyped-call]


_choose_cache()


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` on first use and keep the machine code on disk.

    Division follows IEEE (no ZeroDivisionError inside a kernel). `NUMBA_DISABLE_JIT=1` leaves the plain
    Python function, which computes the same.
    """
    return cast(Callable[P, R], numba.njit(cache=True, error_model="numpy")(function))
