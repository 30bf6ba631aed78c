"""The one place where kernels are compiled, and where the machine code is kept."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import numba
from numba.core import config

P = ParamSpec("P")
R = TypeVar("R")

_HERE = Path(__file__).parent
_IMPORTS = re.compile(rb"^from ([\w.]+) import", re.MULTILINE)


def _writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK)


@cache
def _digest(source: Path) -> bytes:
    """Return a digest of a file and of the kernel modules and neighbours that it imports, and they import."""
    text = source.read_bytes()
    digest = blake2b(text, digest_size=6)
    for name in sorted({found.rpartition(b".")[2].decode() for found in _IMPORTS.findall(text)}):
        for imported in {source.with_name(f"{name}.py"), _HERE / f"{name}.py"} - {source}:
            if imported.exists():
                digest.update(_digest(imported))
    return digest.digest()


@cache
def _cache_folder(source: Path) -> str:
    """Choose where the kernels of a file are kept; the name follows from all that can be compiled into them.

    Numba asks only whether a function's own file has changed. A kernel that calls one of another file would go on
    running the old one.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    named = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(named)] if named else [_HERE / "__pycache__", home / "mctsr"]
    anywhere = Path(tempfile.gettempdir()) / f"mctsr-numba-{os.getuid()}"
    base = next((place for place in places if _writable(place)), anywhere)
    return str(base / f"kernels-{_digest(source).hex()}")


@contextmanager
def _kept_in(folder: str) -> Iterator[None]:
    """Have numba choose `folder` for the functions decorated meanwhile; everybody else's stay where they are."""
    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = folder  # type: ignore[attr-defined]
    try:
        yield
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` on first use and keep the machine code on disk.

    Division follows IEEE (no ZeroDivisionError inside a kernel). `NUMBA_DISABLE_JIT=1` leaves the plain
    Python function, which computes the same.
    """
    with _kept_in(_cache_folder(Path(function.__code__.co_filename))):
        return cast(Callable[P, R], numba.njit(cache=True, error_model="numpy")(function))


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` into every kernel that calls it, so that a constant argument folds its branches away."""
    compiled = numba.njit(function, error_model="numpy", inline="always")
    return cast(Callable[P, R], compiled)
