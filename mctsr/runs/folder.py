"""Reading run folders, also while they are being written.

Knows which files hold what, and tolerates what a kill leaves behind: a torn last line is left out and noted.
Changes nothing and loads no tree that is not asked for.
"""

import os
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar, cast

from mctsr.errors import RunError

from . import files
from .layout import GRADES, RESULTS, RUN, TREES, is_locked, read_record
from .records import GradeRecord, ResultRecord, RunRecord, TreeRecord

State = Literal["running", "finished", "interrupted", "failed"]
Record = TypeVar("Record", ResultRecord, GradeRecord)

LATEST = "latest"


class Run:
    """One run folder as it was when first read; open it again to see what was added.

    Attributes:
        path: The folder.
        record: Its run.json.
        notes: What was found to be damaged, for people.
    """

    def __init__(self, path: Path, record: RunRecord) -> None:
        """Take the parts; use `open`."""
        self.path = path
        self.record = record
        self.notes: list[str] = []

    @classmethod
    def open(cls, path: Path) -> "Run":
        """Open a run folder.

        Raises:
            RunError: It holds no run, or one of a later version.
        """
        return cls(path, read_record(path))

    def results(self) -> dict[str, ResultRecord]:
        """Return the results by problem id; the last line of an id wins."""
        return self._results

    def grades(self) -> dict[str, GradeRecord]:
        """Return the grades by problem id; the last line of an id wins."""
        return self._grades

    def tree(self, id: str) -> TreeRecord:
        """Return the tree of a finished problem; reads nothing else.

        Raises:
            RunError: The problem has none.
        """
        result = self._results.get(id)
        if result is None or not result["length"]:
            raise RunError(f"{self.path} has no tree of {id!r}; {self._why_not(id)}")
        return self._tree_at(result)

    def trees(self) -> Iterator[TreeRecord]:
        """Yield the trees of all finished problems, in the order in which they were finished."""
        for result in sorted(self._results.values(), key=lambda result: result["offset"]):
            if result["length"]:
                yield self._tree_at(result)

    def unfinished(self) -> list[str]:
        """Return the ids of the problems without a result, in order; failed ones have one."""
        return [id for id in self.record["problem_ids"] if id not in self._results]

    @property
    def state(self) -> State:
        """Whether a process writes the run now, every problem has a result, or neither.

        "failed" is a run in which every problem failed.
        """
        if is_locked(self.path):
            return "running"
        if self.unfinished():
            return "interrupted"
        return "finished" if any(r["status"] == "ok" for r in self._results.values()) else "failed"

    @cached_property
    def _results(self) -> dict[str, ResultRecord]:
        found: dict[str, ResultRecord] = {}
        for result in self._lines(RESULTS, ResultRecord):
            # The order of the dictionary is that of the winning lines.
            found.pop(result["id"], None)
            found[result["id"]] = result
        return found

    @cached_property
    def _grades(self) -> dict[str, GradeRecord]:
        return {grade["id"]: grade for grade in self._lines(GRADES, GradeRecord)}

    def _lines(self, name: str, kind: type[Record]) -> Iterator[Record]:
        whole, torn = files.read_lines(self.path / name)
        for number, line in enumerate(whole, start=1):
            try:
                yield cast(Record, files.loads(line.data))
            except ValueError:
                self.notes.append(f"{name}, line {number}: damaged, left out")
        if torn:
            self.notes.append(f"{name}: the last line was torn off after {len(torn)} bytes, left out")

    def _tree_at(self, result: ResultRecord) -> TreeRecord:
        try:
            with (self.path / TREES).open("rb") as file:
                data = os.pread(file.fileno(), result["length"], result["offset"])
            tree = files.loads(data)
        except (OSError, ValueError) as error:
            place = f"{self.path / TREES}, byte {result['offset']}"
            raise RunError(f"{place}: the tree of {result['id']!r} is damaged ({error})") from None
        return cast(TreeRecord, tree)

    def _why_not(self, id: str) -> str:
        if id in self._results:
            return f"the problem failed: {self._results[id]['stopped']}"
        if id in self.record["problem_ids"]:
            return "the problem is not finished"
        return f"the run has {len(self.record['problem_ids'])} problems and none with this id"


def new_folder(base: Path, name: str, now: datetime) -> Path:
    """Return a folder below `base` that does not exist yet, named by the time and `name`."""
    stem = f"{now:%Y-%m-%dT%H-%M-%S}-{name}"
    free = base / stem
    count = 1
    while free.exists():
        count += 1
        free = base / f"{stem}-{count}"
    return free


def list_runs(base: Path) -> list[Run]:
    """Open every run directly below `base`, the oldest first; folders that hold none are passed over."""
    found = []
    for file in base.glob(f"*/{RUN}"):
        try:
            found.append(Run.open(file.parent))
        except RunError:
            continue
    return sorted(found, key=lambda run: (run.record["created"], run.path.name))


def find_run(name: str, base: Path) -> Path:
    """Find the run folder that `name` means: a path, a name below `base`, its unique beginning, or "latest".

    Raises:
        RunError: None or several fit.
    """
    for path in (Path(name).expanduser(), base / name):
        if (path / RUN).is_file():
            return path
    runs = [run.path for run in list_runs(base)]
    if name == LATEST and runs:
        return runs[-1]
    fitting = [path for path in runs if path.name.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(path.name for path in fitting[:5])
        raise RunError(f"{name!r} fits {len(fitting)} runs ({names}); give more of the name")
    known = ", ".join(path.name for path in runs[-5:]) or "none yet"
    raise RunError(f"no run {name!r}, neither a folder nor below {base} (there: {known})")
