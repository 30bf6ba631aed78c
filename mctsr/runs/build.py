"""From a finished search to its records.

Knows how a tree, its events and its costs are written down. Touches no file and no gold answer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mctsr.answer import first, majority
from mctsr.changes import Row
from mctsr.engine import Outcome
from mctsr.expand.drafts import TIMES
from mctsr.kernels.node import NONE, PLANTED, TRUNCATED
from mctsr.lm.base import Tally
from mctsr.parts import Problem, Selected
from mctsr.rollout import Asked, Event, Folded
from mctsr.stop import Limits
from mctsr.tree import State, Tree

from .records import (
    SCHEMA,
    AnswersRecord,
    CountsRecord,
    EventRecord,
    GradeRecord,
    NodeRecord,
    ResultRecord,
    RowRecord,
    SummaryRecord,
    TreeRecord,
)
from .usage import role_record, total_usage, usage_by_role, usage_record
from .verdict import word_of


@dataclass(frozen=True, slots=True)
class Effort:
    """What a problem took in this process, beside what its ledger says.

    Attributes:
        seconds: Wall time.
        repeated: Calls asked again because a kill came before their reply was logged.
        replayed: Calls answered from the log.
        stale: Logged replies passed over because the request has changed.
        wire: What had to be changed for the servers.
    """

    seconds: float = 0.0
    repeated: int = 0
    replayed: int = 0
    stale: int = 0
    wire: Sequence[str] = ()


def tree_record(
    problem: Problem, recipe: str, outcome: Outcome, events: Iterable[Event], selected: Selected
) -> TreeRecord:
    """Write a tree down, with its events: enough to show every intermediate state."""
    tree = outcome.tree
    return {
        "schema": SCHEMA,
        "problem_id": problem.id,
        "problem": problem.text,
        "recipe": recipe,
        "selected": selected.node,
        "front": list(tree.front),
        "nodes": [_node(tree, node) for node in range(len(tree))],
        "events": [_event(event) for event in events],
    }


def result_record(
    problem: Problem, outcome: Outcome, selected: Selected, effort: Effort, limits: Limits
) -> ResultRecord:
    """Write down what a search found and cost; a failed one has no answers that count."""
    tree, ledger = outcome.tree, outcome.ledger
    unscored = {reason: count for reason, count in sorted(ledger.unscored.items()) if count}
    record = _result(problem, outcome.reason, ledger.tally, effort)
    record["status"] = "failed" if outcome.failed else "ok"
    record["counts"]["nodes"] = len(tree)
    record["counts"]["rollouts"] = ledger.folds
    record["counts"]["unscored"] = sum(unscored.values())
    record["counts"]["duplicates"] = sum(map(_repeats, tree.states))
    record["unscored_reasons"] = unscored
    record["overshoot"] = limits.overshoot(ledger)
    if not outcome.failed:
        record["selected_by"] = selected.by
        record["answers"] = _answers(tree, selected)
    return record


def _repeats(state: State) -> int:
    """Count the drafts whose text was there already: the node itself, and those that were merged into it."""
    times = state.work.get(TIMES, "")
    return (state.twin is not None) + (int(times) - 1 if times.isdecimal() else 0)


def summary_record(
    ids: Sequence[str], results: Mapping[str, ResultRecord], grades: Mapping[str, GradeRecord]
) -> SummaryRecord:
    """Count where a run stands; summary.json can be made anew from the other files by this."""
    status = Counter(result["status"] for result in results.values())
    usages = [result["usage"] for result in results.values()]
    counts = [result["counts"] for result in results.values()]
    graded = [id for id in grades if id in results and results[id]["status"] == "ok"]
    return {
        "schema": SCHEMA,
        "problems": len(ids),
        "ok": status["ok"],
        "failed": status["failed"],
        "unfinished": sum(id not in results for id in ids),
        "graded": len(graded),
        "correct": sum(word_of(results[id]["answers"]["selected"], grades[id]) == "right" for id in graded),
        "calls": sum(usage["calls"] for usage in usages),
        **role_record(total_usage(usages)),
        "roles": {role: role_record(usage) for role, usage in usage_by_role(usages).items()},
        "repeated": sum(count["repeated"] for count in counts),
        "replayed": sum(count["replayed"] for count in counts),
        "stale": sum(count["stale"] for count in counts),
    }


def _node(tree: Tree, node: int) -> NodeRecord:
    state, row = tree.states[node], tree.nodes[node]
    parent = int(row["parent"])
    record: NodeRecord = {
        "id": node,
        "parent": None if parent == NONE else parent,
        "depth": int(row["depth"]),
        "ask": state.ask,
        "text": state.text,
        "answer": state.answer,
        "work": dict(state.work),
        "samples": [{"value": s.value, "raw": s.raw, "text": s.text} for s in state.samples],
        "visits": int(row["visits"]),
        "value": _finite(float(row["value"])),
        "prior": float(row["prior"]),
        "unscored": list(state.unscored),
        "planted": tree.has(node, PLANTED),
        "truncated": tree.has(node, TRUNCATED),
        "twin": state.twin,
        "ended": state.ended,
    }
    if state.step:
        record["step"] = True
    if state.ids:
        record["ids"] = list(state.ids)
    if state.logprob is not None:
        record["logprob"] = state.logprob
    if state.tokens:
        record["tokens"] = state.tokens
    return record


def _event(event: Event) -> EventRecord:
    if isinstance(event, Asked):
        node = None if event.node == NONE else event.node
        return {"event": "asked", "ask": event.ask, "node": node, "n": event.n, "again": event.again}
    if isinstance(event, Folded):
        return {
            "event": "folded",
            "ask": event.ask,
            "born": list(event.born),
            "judged": list(event.judged),
            "unscored": list(event.unscored),
            "ended": list(event.ended),
            "changed": [_row(row) for row in event.changed],
            "front": list(event.front),
            "faults": list(event.faults),
            "tokens": event.tally.usage.total_tokens,
        }
    return {"event": "stopped", "reason": event.reason}


def _row(row: Row) -> RowRecord:
    return row.id, row.visits, _finite(row.value)


def _finite(number: float) -> float | None:
    return number if -float("inf") < number < float("inf") else None


def _result(problem: Problem, stopped: str, tally: Tally, effort: Effort) -> ResultRecord:
    """Fill in all that does not need a tree; the problem counts as failed until something else is said."""
    return {
        "schema": SCHEMA,
        "id": problem.id,
        "status": "failed",
        "stopped": stopped,
        "selected_by": "none",
        "answers": {"first": None, "selected": None, "majority": None, "distinct": []},
        "counts": _counts(tally, effort),
        "usage": usage_record(tally),
        "overshoot": {},
        "unscored_reasons": {},
        "wire": sorted(set(effort.wire)),
        "seconds": round(effort.seconds, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "offset": 0,
        "length": 0,
    }


def _counts(tally: Tally, effort: Effort) -> CountsRecord:
    return {
        "nodes": 0,
        "rollouts": 0,
        "unscored": 0,
        "asked_again": tally.reasked,
        "truncated": tally.truncated,
        "empty": tally.empty,
        "duplicates": 0,
        "retried": tally.retried,
        "failed_calls": tally.failed,
        "repeated": effort.repeated,
        "replayed": effort.replayed,
        "stale": effort.stale,
    }


def _answers(tree: Tree, selected: Selected) -> AnswersRecord:
    given = [answer for node in tree.answers() if (answer := tree.states[node].answer) is not None]
    return {
        "first": first(tree).answer,
        "selected": selected.answer,
        "majority": majority(tree).answer,
        "distinct": list(dict.fromkeys(given)),
    }
