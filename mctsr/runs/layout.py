"""What lies where in a run folder, and who may write it.

Knows names and the lock. Does not know what the files hold, except that run.json tells its schema.
"""

import fcntl
import os
import re
import time
from hashlib import blake2b
from pathlib import Path
from typing import cast

from mctsr.errors import RunError

from . import files
from .records import SCHEMA, RunRecord

RUN, TREES, RESULTS, GRADES = "run.json", "trees.jsonl", "results.jsonl", "grades.jsonl"
SUMMARY, LOG, LIVE, CALLS = "summary.json", "run.log", "live", "calls"

_LOCK_TRIES, _LOCK_SECONDS = 5, 0.02
_SAFE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")


def read_record(folder: Path) -> RunRecord:
    """Read run.json.

    Raises:
        RunError: The folder holds no run, or one of a later version.
    """
    file = folder / RUN
    try:
        record = files.loads(file.read_bytes())
    except OSError:
        raise RunError(
            f"{folder} holds no run; give a folder with a {RUN}, `mctsr runs` lists them"
        ) from None
    except ValueError as error:
        raise RunError(f"{file} is damaged ({error}); restore it from a copy") from None
    schema = record.get("schema") if isinstance(record, dict) else None
    if not isinstance(schema, int):
        raise RunError(f"{file} is not the record of a run; give a folder that `mctsr solve` wrote")
    if schema > SCHEMA:
        raise RunError(f"{file} has schema {schema}, this version reads up to {SCHEMA}; update mctsr")
    return cast(RunRecord, record)


def ensure_free(folder: Path) -> None:
    """Make sure that beginning a run in `folder` would delete nothing; the folder need not exist.

    Raises:
        RunError: It holds a run, or files that a run would replace.
    """
    names = (RUN, SUMMARY, TREES, GRADES, LOG, LIVE, CALLS)
    results = folder / RESULTS  # is there, and empty, as soon as the folder is locked
    if any((folder / name).exists() for name in names) or (results.exists() and results.stat().st_size):
        raise RunError(
            f"{folder} holds a run already; go on with `mctsr resume {folder}`, give another --output-dir, "
            "or --overwrite to delete it"
        )


def file_name(problem: str) -> str:
    """Turn a problem's id into a file name: safe for any id, different for different ones, also without case."""
    if _SAFE.fullmatch(problem):
        return f"{problem}.jsonl"
    digest = blake2b(problem.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    stem = _UNSAFE.sub("-", problem.lower())[:40].strip("-")
    return f"{stem or 'id'}~{digest}.jsonl"


def lock_folder(folder: Path) -> int:
    """Open results.jsonl, which is never replaced, and hold its lock; the kernel lets go however we end.

    Raises:
        RunError: Another process holds it.
    """
    file = os.open(folder / RESULTS, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(_LOCK_SECONDS)  # a reader that asks `is_locked` holds it for an instant
        else:
            return file
    os.close(file)
    raise RunError(f"{folder} is being written by another process; wait for it, or stop it")


def is_locked(folder: Path) -> bool:
    """Say whether a living process writes the folder."""
    try:
        file = os.open(folder / RESULTS, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
