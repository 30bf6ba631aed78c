"""What lies where in a run folder, and who may write it.

Knows names, the lock, and when a folder is a run at all: when its run.json is the record of one. Whatever else lies
there under our names belongs to somebody else.
"""

import fcntl
import os
import re
import time
from hashlib import blake2b
from pathlib import Path
from typing import cast

from mctsr.errors import RunError
from mctsr.lm import disk
from mctsr.lm.options import Settings
from mctsr.lm.shape import checker

from . import files
from .reading import run_fault
from .records import SCHEMA, RunRecord

RUN, TREES, RESULTS, GRADES = "run.json", "trees.jsonl", "results.jsonl", "grades.jsonl"
SUMMARY, LOG, LIVE, CALLS = "summary.json", "run.log", "live", "calls"
FILES, FOLDERS = (RUN, TREES, RESULTS, GRADES, SUMMARY, LOG), (LIVE, CALLS)

_LOCK_TRIES, _LOCK_SECONDS = 5, 0.02
_SAFE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")


def read_record(folder: Path) -> RunRecord:
    """Read run.json.

    Raises:
        RunError: The folder holds no run, a damaged one, or one of a later version.
    """
    file = folder / RUN
    try:
        record = files.loads(disk.read_file(file))
    except FileNotFoundError:
        raise RunError(
            f"{folder} holds no run; give a folder with a {RUN}, `mctsr runs` lists them"
        ) from None
    except ValueError as error:
        raise RunError(f"{file} is damaged ({error}); restore it from a copy") from None
    schema = record.get("schema") if isinstance(record, dict) else None
    if type(schema) is not int:
        raise RunError(f"{file} is not the record of a run; give a folder that `mctsr solve` wrote")
    if schema > SCHEMA:
        raise RunError(f"{file} has schema {schema}, this version reads up to {SCHEMA}; update mctsr")
    if fault := run_fault(record) or _settings_fault(cast(RunRecord, record)):
        raise RunError(f"{file} is damaged ({fault}); restore it from a copy")
    return cast(RunRecord, record)


def ensure_free(folder: Path, *, overwrite: bool = False) -> None:
    """Make sure that beginning a run in `folder` deletes nothing but, with `overwrite`, an old run.

    The folder need not exist. Files that a run does not write are no hindrance: they stay.

    Raises:
        RunError: It holds a run and `overwrite` is False, or files of somebody else that a run would replace.
    """
    held = [name for name in (*FILES, *FOLDERS) if os.path.lexists(folder / name)]
    if RESULTS in held and _is_empty(folder / RESULTS):
        held.remove(RESULTS)  # is there as soon as the folder is locked, before the run begins
    if not held:
        return
    try:
        read_record(folder)
    except RunError as error:
        why = f" ({error})" if RUN in held else ""
        raise RunError(
            f"{folder} is not a run of mctsr and holds files ({', '.join(held)}); "
            f"give another --output-dir{why}"
        ) from None
    if not overwrite:
        raise RunError(
            f"{folder} holds a run already; go on with `mctsr resume {folder}`, give another --output-dir, "
            "or --overwrite to delete it"
        )
    # What a link leads to was not made by the run that is deleted.
    if links := [name for name in held if (folder / name).is_symlink()]:
        raise RunError(f"{folder} has links ({', '.join(links)}); remove them, or give another --output-dir")


def owner_of(path: Path) -> Path | None:
    """Return the run folder to whose own files `path` belongs, whether it is there yet or not; None for none."""
    name, folder = path.name.casefold(), path.parent
    if folder.name.casefold() in FOLDERS:
        folder = folder.parent
    elif name not in FILES:
        return None
    return folder if os.path.lexists(folder / RUN) else None


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
        RunError: Another process holds it, or something else lies in its place.
        OSError: The folder cannot be written.
    """
    file = disk.open_file(folder / RESULTS, disk.APPEND)
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
        file = disk.open_file(folder / RESULTS)
    except (RunError, FileNotFoundError):
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def _is_empty(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not path.stat().st_size


def _settings_fault(record: RunRecord) -> str:
    fault = checker(Settings)(record["settings"])
    return f"settings{fault}" if fault else ""
