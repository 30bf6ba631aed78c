"""Reading run folders, also while they are being written.

Knows which files hold what, and tolerates damage: a line that is torn or no record is left out and noted.
Changes nothing and loads no tree that is not asked for.
"""

import os.path
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar, cast

from mctsr.errors import RunError, user_path

from . import files
from .layout import GRADES, RESULTS, RUN, TREES, is_locked, read_record
from .reading import read_records, tree_fault
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
            RunError: It holds no run, a damaged one, or one of a later version.
        """
        return cls(path, read_record(path))

    @property
    def uses_gold(self) -> bool:
        """Whether its search was told which answers are right: its trees are for labels, its answers no test."""
        return self.record["recipe_arguments"].get("uses_gold") is True

    def results(self) -> dict[str, ResultRecord]:
        """Return the results by problem id; the last line of an id wins.

        Raises:
            RunError: The file cannot be read at all; the same holds for `grades`.
        """
        return self._results

    def grades(self) -> dict[str, GradeRecord]:
        """Return the grades by problem id; the last line of an id wins."""
        return self._grades

    def tree(self, id: str) -> TreeRecord:
        """Return the tree of a finished problem; reads nothing else.

        Raises:
            RunError: The problem has none, or it is damaged.
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
        read, known = read_records(self.path / name, kind), set(self.record["problem_ids"])
        self.notes += read.notes
        for record in read.found:
            if record["id"] in known:
                yield record
            else:
                self.notes.append(f"{name}: {record['id']!r} is no problem of this run, left out")

    def _tree_at(self, result: ResultRecord) -> TreeRecord:
        try:
            tree = files.loads(files.read_part(self.path / TREES, result["offset"], result["length"]))
            fault = tree_fault(tree, result["id"])
        except (RunError, OSError, ValueError) as error:
            fault = str(error)
        if fault:
            place = f"{self.path / TREES}, byte {result['offset']}"
            raise RunError(f"{place}: the tree of {result['id']!r} is damaged ({fault})")
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


class Damaged(NamedTuple):
    """A folder that cannot be read as a run, and why."""

    path: Path
    reason: str


class Listing(NamedTuple):
    """The folders with a run.json in one place: runs, the oldest first, and those that are none."""

    runs: list[Run]
    damaged: list[Damaged]


def list_runs(base: Path) -> Listing:
    """Open every run directly below `base`; folders without a run.json are passed over."""
    runs, damaged = [], []
    for file in sorted(base.glob(f"*/{RUN}")):
        try:
            runs.append(Run.open(file.parent))
        except RunError as error:
            damaged.append(Damaged(file.parent, str(error)))
    return Listing(sorted(runs, key=lambda run: (run.record["created"], run.path.name)), damaged)


def find_run(name: str, base: Path) -> Path:
    """Find the run folder that `name` means: a path, a name below `base`, its unique beginning, or "latest".

    A damaged run is found by its name, so that it can be said what is wrong with it; it is never the latest.

    Raises:
        RunError: None or several fit.
    """
    for path in (user_path(name), base / name):
        if os.path.lexists(path / RUN):
            return path
    listing = list_runs(base)
    runs = [run.path for run in listing.runs]
    if name == LATEST and runs:
        return runs[-1]
    paths = [*(path for path, _ in listing.damaged), *runs]
    fitting = [path for path in paths if path.name.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(path.name for path in fitting[:5])
        raise RunError(f"{name!r} fits {len(fitting)} runs ({names}); give more of the name")
    known = ", ".join(path.name for path in paths[-5:]) or "none yet"
    raise RunError(f"no run {name!r}, neither a folder nor below {base} (there: {known})")
