"""Records as they are read back: nothing that a person or a broken disk changed gets past this.

Knows which lines are records, and what must hold inside a record beyond its types. What is no record is left out
of lists with a note, and is an error where something asked for it by name. Does not know what records are for.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar, cast

from mctsr.lm.shape import checker

from . import files
from .records import AskedRecord, FoldedRecord, GradeRecord, ResultRecord, RunRecord, TreeRecord

Record = TypeVar("Record", ResultRecord, GradeRecord)


class Records(NamedTuple, Generic[Record]):
    """What a file of records holds.

    Attributes:
        found: The records, in order.
        notes: What was left out and why, for people.
        damaged: How many whole lines were left out.
        torn: How many bytes follow the last newline.
    """

    found: list[Record]
    notes: list[str]
    damaged: int
    torn: int


def read_records(path: Path, kind: type[Record]) -> Records[Record]:
    """Read the lines that are records of `kind`; a file that does not exist has none.

    Raises:
        RunError: The file is no plain file, or cannot be read.
    """
    lines, check = files.read_lines(path), checker(kind)
    found, notes = [], []
    for number, line in enumerate(lines.whole, start=1):
        try:
            record = files.loads(line.data)
            fault = check(record) or _misplaced(cast(Mapping[str, object], record))
        except ValueError:
            record, fault = None, " is no JSON"
        if fault:
            notes.append(f"{path.name}, line {number}: damaged ({fault.lstrip(' .')}), left out")
        else:
            found.append(cast(Record, record))
    damaged = len(notes)
    if lines.torn:
        notes.append(f"{path.name}: the last line was torn off after {len(lines.torn)} bytes, left out")
    return Records(found, notes, damaged, len(lines.torn))


def run_fault(record: object) -> str:
    """Say what keeps a value from being the record of a run; "" when nothing does."""
    fault = checker(RunRecord)(record)
    if fault:
        return fault.lstrip(" .")
    run = cast(RunRecord, record)
    ids, hashes = run["problem_ids"], run["problem_hashes"]
    if len(ids) != len(hashes):
        return f"problem_hashes has {len(hashes)} entries, must have one for each of {len(ids)} problem_ids"
    if len(set(ids)) != len(ids):
        return "problem_ids names a problem twice"
    for number, problem in enumerate(run["problems"] or ()):
        if not (
            isinstance(problem.get("id"), str) and isinstance(problem.get("text"), str) and "kind" in problem
        ):
            return f"problems[{number}] must have a text under id and text, and a kind"
    return ""


def tree_fault(value: object, problem: str) -> str:
    """Say what keeps a value from being the tree of `problem`; "" when nothing does."""
    fault = checker(TreeRecord)(value)
    if fault:
        return fault.lstrip(" .")
    tree = cast(TreeRecord, value)
    if tree["problem_id"] != problem:
        return f"it is the tree of {tree['problem_id']!r}"
    return next(_tree_faults(tree), "")


def _misplaced(record: Mapping[str, object]) -> str:
    offset, length = record.get("offset"), record.get("length")
    negative = isinstance(offset, int) and isinstance(length, int) and min(offset, length) < 0
    return "offset and length must not be negative" if negative else ""


def _tree_faults(tree: TreeRecord) -> Iterator[str]:
    """Find references that lead nowhere; parents come before their children, so no path is endless."""
    nodes, events = tree["nodes"], tree["events"]
    known = range(len(nodes))
    for number, node in enumerate(nodes):
        if node["id"] != number:
            yield f"nodes[{number}].id is {node['id']}, must be {number}"
        if node["parent"] is not None and node["parent"] not in range(number):
            yield f"nodes[{number}].parent is {node['parent']}, must be an earlier node or null"
        if node["twin"] is not None and node["twin"] not in known:
            yield f"nodes[{number}].twin is {node['twin']}, must be a node or null"
    judged: Counter[int] = Counter()
    unscored: Counter[int] = Counter()
    for number, event in enumerate(events):
        if event["event"] == "folded":
            judged.update(event["judged"])
            unscored.update(event["unscored"])
        if event["event"] != "stopped" and any(node not in known for node in _named(event)):
            yield f"events[{number}] names a node that is not there"
    for number, node in enumerate(nodes):
        if (judged[number], unscored[number]) != (len(node["samples"]), len(node["unscored"])):
            yield f"nodes[{number}] has not the samples and reasons that the events tell of"
    chosen = [] if tree["selected"] is None else [tree["selected"]]
    if any(node not in known for node in (*tree["front"], *chosen)):
        yield "front or selected name a node that is not there"


def _named(event: AskedRecord | FoldedRecord) -> Iterator[int]:
    """Yield every node that an event names."""
    if event["event"] == "asked":
        if event["node"] is not None:
            yield event["node"]
        return
    for ids in (event["born"], event["judged"], event["unscored"], event["ended"], event["front"]):
        yield from ids
    yield from (row[0] for row in event["changed"])
