"""The one process that may write a run folder.

Knows the order of writing that makes a kill at any moment harmless: run.json, then for each problem its tree,
its result (the commit), the end of its call log, and its grade. Whatever a kill leaves half done is cut off when
the folder is opened again. Does not know how problems are solved.
"""

import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from mctsr.errors import RunError

from . import files
from .files import Line
from .layout import (
    CALLS,
    GRADES,
    LIVE,
    LOG,
    RESULTS,
    RUN,
    SUMMARY,
    TREES,
    ensure_free,
    file_name,
    lock_folder,
    read_record,
)
from .records import GradeRecord, ResultRecord, RunRecord, SummaryRecord, TreeRecord


class RunWriter:
    """Writes one run folder; a context manager that gives the folder back at its end.

    Attributes:
        folder: Where.
        keep_calls: Whether call logs of finished problems are kept in `calls/`.
        ok: Ids of the problems that have a result which is not `failed`.
    """

    def __init__(self, folder: Path, record: RunRecord, lock: int) -> None:
        """Take over a folder whose lock is held; use `create` or `reopen`."""
        self.folder = folder
        self.keep_calls = record["settings"].get("keep_calls") is True
        self.ok: set[str] = set()
        self._results = lock
        self._trees = self._open(TREES)
        self._grades = self._open(GRADES)
        self._log = self._open(LOG)

    @classmethod
    def create(cls, folder: Path, record: RunRecord, *, overwrite: bool = False) -> "RunWriter":
        """Begin a run in `folder`, which is made when it does not exist.

        Raises:
            RunError: The folder holds a run and `overwrite` is False, or another process writes it.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"the run folder {folder} cannot be made: {error.strerror}") from None
        lock = lock_folder(folder)
        try:
            if not overwrite:
                ensure_free(folder)
            _clear(folder, lock)
            files.write_atomic(folder / RUN, files.dumps(record))
            return cls(folder, record, lock)
        except BaseException:
            os.close(lock)
            raise

    @classmethod
    def reopen(cls, folder: Path) -> "RunWriter":
        """Go on with a run, after cutting off what a kill left half written.

        Raises:
            RunError: There is no run, another process writes it, or trees are missing that were committed.
        """
        record = read_record(folder)
        writer = cls(folder, record, lock_folder(folder))
        try:
            writer._recover()
        except BaseException:
            writer.close()
            raise
        return writer

    def live_path(self, problem: str) -> Path:
        """Return where the call log of a problem lies while it is unfinished."""
        return self.folder / LIVE / file_name(problem)

    def commit(self, tree: TreeRecord | None, result: ResultRecord) -> ResultRecord:
        """Write a finished problem: its tree, then its result, then the end of its call log.

        Returns:
            The result with the place of its tree.
        """
        placed = result.copy()
        placed["offset"], placed["length"] = os.lseek(self._trees, 0, os.SEEK_END), 0
        if tree is not None:
            data = files.dumps(tree)
            placed["length"] = len(data)
            files.append_line(self._trees, data)
        files.append_line(self._results, files.dumps(placed))
        if placed["status"] == "ok":
            self.ok.add(placed["id"])
            self._retire(self.live_path(placed["id"]))
        return placed

    def grade(self, record: GradeRecord) -> None:
        """Append a grade."""
        files.append_line(self._grades, files.dumps(record))

    def summary(self, record: SummaryRecord) -> None:
        """Replace summary.json."""
        files.write_atomic(self.folder / SUMMARY, files.dumps(record))

    def record(self, record: RunRecord) -> None:
        """Replace run.json, for what changes when a run goes on: servers, gold answers, notices."""
        files.write_atomic(self.folder / RUN, files.dumps(record))

    def log(self, text: str) -> None:
        """Append a line with the time to run.log; it is for people and may be lost."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        os.write(self._log, f"{stamp} {text}\n".encode("utf-8", "replace"))

    def close(self) -> None:
        """Close the files and let go of the lock; closing twice is harmless."""
        for file in (self._trees, self._grades, self._log, self._results):
            if file >= 0:
                os.close(file)
        self._trees = self._grades = self._log = self._results = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self, name: str) -> int:
        return os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def _retire(self, live: Path) -> None:
        if not self.keep_calls:
            live.unlink(missing_ok=True)
        elif live.exists():
            (self.folder / CALLS).mkdir(exist_ok=True)
            live.replace(self.folder / CALLS / live.name)

    def _recover(self) -> None:
        lines = _cut_torn(self.folder / RESULTS, self._results)
        _cut_torn(self.folder / GRADES, self._grades)
        results = [cast(ResultRecord, files.loads(line.data)) for line in lines]
        end = max((r["offset"] + r["length"] + 1 for r in results if r["length"]), default=0)
        if os.fstat(self._trees).st_size < end:
            raise RunError(
                f"{self.folder / TREES} is shorter than {RESULTS} says; restore it from a copy, or begin a new run"
            )
        os.ftruncate(self._trees, end)
        last = {result["id"]: result["status"] for result in results}
        self.ok = {id for id, status in last.items() if status == "ok"}
        for id in self.ok:
            self._retire(self.live_path(id))
        for left in self.folder.glob(f"{files.TEMPORARY}*"):
            left.unlink()


def _clear(folder: Path, lock: int) -> None:
    """Delete an old run's files and nothing else; run.json goes first, so that half of a run is none."""
    for name in (RUN, SUMMARY, TREES, GRADES, LOG):
        (folder / name).unlink(missing_ok=True)
    os.ftruncate(lock, 0)
    for name in (LIVE, CALLS):
        for log in (folder / name).glob("*.jsonl"):
            log.unlink()


def _cut_torn(path: Path, file: int) -> list[Line]:
    """Cut a file behind its last line that can be read, and return the lines before the cut."""
    whole, torn = files.read_lines(path)
    while whole and not _is_json(whole[-1].data):
        whole.pop()
        torn = b"?"
    if torn:
        os.ftruncate(file, whole[-1].offset + len(whole[-1].data) + 1 if whole else 0)
    return whole


def _is_json(data: bytes) -> bool:
    try:
        files.loads(data)
    except ValueError:
        return False
    return True
