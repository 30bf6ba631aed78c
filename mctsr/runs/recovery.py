"""What is cut off when a run folder is opened for writing again.

Knows what one kill can leave behind: a torn last line in each file, and one tree whose result was not written any
more. All checks come before the first cut, and what no kill can have left is an error. Does not know who writes.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mctsr.errors import RunError, named, shown

from .layout import GRADES, RESULTS, TREES
from .reading import Records, read_records
from .records import GradeRecord, ResultRecord

if TYPE_CHECKING:
    from .folder import Run


def cut_back(folder: Path, trees: int, results: int, grades: int) -> Records[ResultRecord]:
    """Cut the files of a run back to what was committed, and return the results.

    Args:
        folder: The run.
        trees: Its trees.jsonl, open for writing.
        results: Its results.jsonl; this is also the lock.
        grades: Its grades.jsonl.

    Raises:
        RunError: Committed trees are missing, or there are more trees without a result than a kill can have left.
    """
    read = read_records(folder / RESULTS, ResultRecord)
    loose = _loose(folder / TREES, trees, read.found, read.damaged)
    _cut(trees, loose)
    _cut(results, read.torn)
    _cut(grades, read_records(folder / GRADES, GradeRecord).torn)
    return read


def tree_damage(run: "Run") -> str:
    """Say in one line which trees of a run cannot be read, and what to do; "" when all can.

    They keep nobody from solving the other problems, so this is no error. Reads all trees.
    """
    damaged: list[str] = []
    for id, result in run.results().items():
        try:
            if result["length"]:
                run.tree(id)
        except RunError:
            damaged.append(id)
    if not damaged:
        return ""
    return (
        f"{TREES}: {len(damaged)} of its trees cannot be read ({named(map(shown, damaged))}) and stay as they are; "
        f"restore {TREES} from a copy, or delete the lines of these problems in {RESULTS} to solve them again"
    )


def _loose(path: Path, file: int, results: Sequence[ResultRecord], damaged: int) -> int:
    """Return how many bytes at the end of trees.jsonl a kill left without a result.

    Problems are committed one after the other, so a second tree means that results were lost by other means, and
    the trees must stay to be looked at. A damaged line of results.jsonl may be the result of one of them; then
    whole trees stay, where they do no harm.
    """
    placed = [result for result in results if result["length"]]
    for result in placed:
        _ensure_place(path, file, result)
    end = max((result["offset"] + result["length"] + 1 for result in placed), default=0)
    rest = os.pread(file, os.fstat(file).st_size - end, end)
    torn = len(rest) - rest.rfind(b"\n") - 1
    found = rest.count(b"\n") + (torn > 0)
    if found > 1 + damaged:
        raise RunError(
            f"{path} holds {found} trees that {RESULTS} does not know, and a kill leaves one at most; restore "
            f"{RESULTS} from a copy, or, to solve these problems again, save a copy of {TREES} and cut it with: "
            f"truncate -s {end} {path}"
        )
    return torn if damaged else len(rest)


def _ensure_place(path: Path, file: int, result: ResultRecord) -> None:
    begin, end = result["offset"], result["offset"] + result["length"]
    if os.fstat(file).st_size <= end:
        raise RunError(f"{path} is shorter than {RESULTS} says; restore it from a copy, or begin a new run")
    before = os.pread(file, 1, begin - 1) if begin else b"\n"
    if (before, os.pread(file, 1, end)) != (b"\n", b"\n"):
        raise RunError(
            f"{path} has no tree of {result['id']!r} at byte {begin}, where {RESULTS} says; restore both from a "
            f"copy, or delete this problem's line in {RESULTS} to solve it again"
        )


def _cut(file: int, bytes: int) -> None:
    """Take some bytes off the end of a file."""
    if bytes:
        os.ftruncate(file, os.fstat(file).st_size - bytes)
