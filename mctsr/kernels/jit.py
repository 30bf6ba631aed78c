"""The one place where kernels are compiled, and where the machine code is kept.

Numba is imported when the first kernel is needed, not before: a run's first calls to a model are on their way by
then, and half a second of loading is hidden behind them.
"""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any, Generic, ParamSpec, TypeVar, cast

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
    from numba.core import config

    before = config.CACHE_DIR  # type: ignore[attr-defined]
    config.CACHE_DIR = folder  # type: ignore[attr-defined]
    try:
        yield
    finally:
        config.CACHE_DIR = before  # type: ignore[attr-defined]


def _kept(function: Callable[P, R]) -> Callable[P, R]:
    import numba

    with _kept_in(_cache_folder(Path(function.__code__.co_filename))):
        return cast(Callable[P, R], numba.njit(cache=True, error_model="numpy")(function))


def _woven(function: Callable[P, R]) -> Callable[P, R]:
    import numba

    return cast(Callable[P, R], numba.njit(function, error_model="numpy", inline="always"))


class _Later(Generic[P, R]):
    """A kernel that is made when it is first called, or first compiled into another one."""

    _lock = RLock()

    def __init__(self, function: Callable[P, R], make: Callable[[Callable[P, R]], Callable[P, R]]) -> None:
        self.__wrapped__ = function
        self.__doc__ = function.__doc__
        self._make = make
        self._made: Callable[P, R] | None = None

    def _real(self) -> Callable[P, R]:
        if self._made is None:
            with self._lock:
                self._made = self._made or self._make(self.__wrapped__)
            names = self.__wrapped__.__globals__
            if names.get(self.__wrapped__.__name__) is self:
                names[self.__wrapped__.__name__] = self._made  # the module's name leads there directly now
        return self._made

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._real()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Look like the dispatcher that numba asks for when it compiles a caller."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._real(), name)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` on first use and keep the machine code on disk.

    Division follows IEEE (no ZeroDivisionError inside a kernel). `NUMBA_DISABLE_JIT=1` leaves the plain
    Python function, which computes the same.
    """
    return cast(Callable[P, R], _Later(function, _kept))


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` into every kernel that calls it, so that a constant argument folds its branches away."""
    return cast(Callable[P, R], _Later(function, _woven))
