"""The one process that may write a run folder.

Knows the order of writing that makes a kill at any moment harmless: run.json, then for each problem its tree,
its result (the commit), the end of its call log, and its grade. Whatever one kill leaves half done is cut off when
the folder is opened again; what no kill can have left is never cut off. Does not know how problems are solved.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from mctsr.errors import RunError
from mctsr.lm import disk

from . import files
from .layout import (
    CALLS,
    FILES,
    FOLDERS,
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
from .recovery import cut_back


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
            RunError: The folder holds a run and `overwrite` is False, or files of somebody else that a run would
                replace, or another process writes it.
        """
        # Before the lock, which makes a file; and behind it, because another process may have begun meanwhile.
        ensure_free(folder, overwrite=overwrite)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = lock_folder(folder)
        except OSError as error:
            raise RunError(f"the run folder {folder} cannot be made: {error.strerror or error}") from None
        try:
            ensure_free(folder, overwrite=overwrite)
            if os.path.lexists(folder / RUN):
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
            RunError: There is no run, another process writes it, committed trees are missing, or there are more
                trees without a result than a kill can have left.
        """
        record = read_record(folder)
        _ensure_folders(folder)
        lock = lock_folder(folder)
        try:
            writer = cls(folder, record, lock)
        except BaseException:
            os.close(lock)
            raise
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

        Raises:
            OSError: It cannot be written; nothing of it stays.
        """
        placed = result.copy()
        end = placed["offset"] = os.lseek(self._trees, 0, os.SEEK_END)
        placed["length"] = 0
        if tree is not None:
            data = files.dumps(tree)
            placed["length"] = len(data)
            files.append_line(self._trees, data, self.folder / TREES)
        try:
            files.append_line(self._results, files.dumps(placed), self.folder / RESULTS)
        except OSError:
            # A second problem may fail in the same way: trees without a result must not pile up.
            os.ftruncate(self._trees, end)
            raise
        if placed["status"] == "ok":
            self.ok.add(placed["id"])
            self._retire(self.live_path(placed["id"]))
        return placed

    def grade(self, record: GradeRecord) -> None:
        """Append a grade."""
        files.append_line(self._grades, files.dumps(record), self.folder / GRADES)

    def summary(self, record: SummaryRecord) -> None:
        """Replace summary.json."""
        files.write_atomic(self.folder / SUMMARY, files.dumps(record))

    def record(self, record: RunRecord) -> None:
        """Replace run.json, for what changes when a run goes on: servers, gold answers, notices."""
        files.write_atomic(self.folder / RUN, files.dumps(record))

    def log(self, text: str) -> None:
        """Append a line with the time to run.log; it is for people and may be lost."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        with suppress(OSError):
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
        return disk.open_file(self.folder / name, disk.APPEND)

    def _retire(self, live: Path) -> None:
        if not live.is_file():
            return
        if self.keep_calls:
            (self.folder / CALLS).mkdir(exist_ok=True)
            live.replace(self.folder / CALLS / live.name)
        else:
            live.unlink()

    def _recover(self) -> None:
        results = cut_back(self.folder, self._trees, self._results, self._grades)
        for note in results.notes:
            self.log(note)
        last = {result["id"]: result["status"] for result in results.found}
        self.ok = {id for id, status in last.items() if status == "ok"}
        for id in self.ok:
            self._retire(self.live_path(id))
        for left in self.folder.glob(f"{files.TEMPORARY}*"):
            if left.is_file() and not left.is_symlink():
                left.unlink()


def _ensure_folders(folder: Path) -> None:
    for name in FOLDERS:
        if os.path.lexists(folder / name) and not (folder / name).is_dir():
            raise RunError(f"{folder / name} is no folder; move away what lies there")


def _clear(folder: Path, lock: int) -> None:
    """Delete what the old run wrote and nothing else; run.json stays until the new one takes its place.

    So a kill leaves a folder that is still known for a run.
    """
    ids = read_record(folder)["problem_ids"]
    logs = (folder / name / file_name(id) for name in FOLDERS for id in ids)
    for file in (*logs, *(folder / name for name in FILES if name not in (RUN, RESULTS))):
        if file.is_file() and not file.is_symlink():
            file.unlink()
    os.ftruncate(lock, 0)
