"""A small run folder made by hand: four problems, three finished, with everything a reader must cope with.

Also the command line as tests run it.
"""

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from mctsr.exchange import Problem
from mctsr.problems import problem_hash
from mctsr.runs.records import (
    EventRecord,
    GradeRecord,
    NodeRecord,
    ResultRecord,
    RunRecord,
    SampleRecord,
    TreeRecord,
)
from mctsr.runs.writer import RunWriter

NASTY = "[red]not red[/] \x1b[31mnot red\x1b[0m \x07\u202e \u2603 \U0001f9ee e\u0301 日本"
IDS = ("clips-1", "clips-2", "nasty-[b]\x1b", "late-4")
GOLD = {"clips-1": "72", "clips-2": "5", "nasty-[b]\x1b": "8", "late-4": "9"}


def sample(value: float, raw: float | None = None, text: str = '{"score": 1}') -> SampleRecord:
    """Make one evaluation; `raw` defaults to the value."""
    return {"value": value, "raw": value if raw is None else raw, "text": text}


def node(number: int, parent: int | None = None, answer: str | None = None, **more: object) -> NodeRecord:
    """Make a node; any field can be given. Without samples it is unjudged."""
    made: dict[str, object] = {
        "id": number,
        "parent": parent,
        "depth": 0 if parent is None else 1,
        "ask": number,
        "text": f"Thinking as node {number}. The answer is {answer}."
        if answer
        else f"Node {number} has no idea.",
        "answer": answer,
        "work": {} if parent is None else {"critique": f"Node {parent} forgets a step."},
        "samples": [],
        "visits": 0,
        "value": None,
        "prior": 1.0,
        "unscored": [],
        "planted": False,
        "truncated": False,
        "twin": None,
        "ended": "",
    }
    return {**made, **more}  # type: ignore[typeddict-item]


def clips_nodes() -> list[NodeRecord]:
    """Make a tree of eight nodes: 0 > (2, 3 > (5, 6 > 7)), and 1 > 4, where 1 was planted; 7 is the best."""
    judged = {"samples": [sample(60.0), sample(-10.5)], "visits": 2, "value": 24.75}
    return [
        node(0, None, "70", **judged),
        node(1, None, None, planted=True, samples=[sample(-90.0)], visits=1, value=-90.0),
        node(
            2, 0, "70", twin=0, unscored=["no score in the reply: 3 tries", "no score in the reply: 3 tries"]
        ),
        node(3, 0, "72", samples=[sample(50.0, 100.0, "Score: 100")], visits=1, value=50.0),
        node(4, 1, None, truncated=True, unscored=["truncated score: 3 tries"]),
        node(5, 3, "x = 72", depth=2, samples=[sample(10.0)], visits=1, value=10.0),
        node(
            6,
            3,
            "72",
            depth=2,
            samples=[sample(55.0)],
            visits=1,
            value=55.0,
            ended="context overflow: 900 > 512",
        ),
        node(7, 6, "72", depth=3, samples=[sample(90.0)], visits=1, value=90.0),
    ]


def events_of(nodes: Sequence[NodeRecord]) -> list[EventRecord]:
    """Make the events of a tree whose ask n asked the parent of node n, roots aside."""
    rows: list[EventRecord] = [{"event": "asked", "ask": 0, "node": None, "n": 1, "again": False}]
    for made in nodes:
        if made["parent"] is not None:
            rows.append({"event": "asked", "ask": made["id"], "node": made["parent"], "n": 1, "again": True})
        rows.append(
            {
                "event": "folded",
                "ask": made["id"],
                "born": [made["id"]],
                "judged": [made["id"] for _ in made["samples"]],
                "unscored": [made["id"] for _ in made["unscored"]],
                "ended": [made["id"]] if made["ended"] else [],
                "changed": [(made["id"], made["visits"], made["value"])],
                "front": [],
                "faults": ["server error: HTTP 500"] if made["id"] == 4 else [],
                "tokens": 100,
            }
        )
    return [*rows, {"event": "stopped", "reason": "rollouts"}]


def tree(
    id: str, nodes: Sequence[NodeRecord], selected: int | None, text: str = "How many clips?"
) -> TreeRecord:
    """Make a tree."""
    return {
        "schema": 1,
        "problem_id": id,
        "problem": text,
        "recipe": "mctsr",
        "selected": selected,
        "front": [],
        "nodes": list(nodes),
        "events": events_of(nodes),
    }


def result(id: str, grown: TreeRecord | None, **more: object) -> ResultRecord:
    """Make the result of a tree; without one the problem failed. Any field can be given."""
    nodes = grown["nodes"] if grown else []
    given = [made["answer"] for made in nodes if made["answer"] is not None and not made["planted"]]
    selected = nodes[grown["selected"]]["answer"] if grown and grown["selected"] is not None else None
    made: dict[str, object] = {
        "schema": 1,
        "id": id,
        "status": "ok" if grown else "failed",
        "stopped": "rollouts" if grown else "no first answer: server error: HTTP 500",
        "selected_by": "best value" if grown else "none",
        "answers": {
            "first": given[0] if given else None,
            "selected": selected,
            "majority": given[0] if given else None,
            "distinct": list(dict.fromkeys(given)),
        },
        "counts": {
            "nodes": len(nodes),
            "rollouts": max(len(nodes) - 2, 0),
            "unscored": sum(len(made["unscored"]) for made in nodes),
            "asked_again": 0,
            "truncated": sum(made["truncated"] for made in nodes),
            "empty": 0,
            "duplicates": sum(made["twin"] is not None for made in nodes),
            "retried": 2,
            "failed_calls": 0 if grown else 6,
            "repeated": 1,
            "replayed": 0,
            "stale": 0,
        },
        "usage": {
            "calls": 3 * len(nodes),
            "prompt_tokens": 1000 * len(nodes),
            "completion_tokens": 100 * len(nodes),
            "cached_tokens": 10,
            "seconds": 2.5 * len(nodes),
        },
        "overshoot": {"tokens": 40} if grown else {},
        "unscored_reasons": {"no score in the reply": 2, "truncated score": 1} if len(nodes) == 8 else {},
        "wire": ["dropped response_format"],
        "seconds": 4.0 * len(nodes),
        "finished": "2026-01-02T03:04:05+00:00",
        "offset": 0,
        "length": 0,
    }
    return {**made, **more}  # type: ignore[typeddict-item]


def grade(id: str, gold: str, answers: Mapping[str, bool | None]) -> GradeRecord:
    """Make a grade: whether each answer is right, None for ungradable."""
    return {
        "schema": 1,
        "id": id,
        "gold": gold,
        "grader": "exact-1",
        "verdicts": {
            answer: {
                "equal": bool(equal),
                "method": "none" if equal is None else "numeric",
                "reason": "as the test says",
            }
            for answer, equal in answers.items()
        },
    }


def run_record(ids: Sequence[str] = IDS, **more: object) -> RunRecord:
    """Make a run.json of problems that all have gold answers, unless `gold_sha256` is None.

    Any field can be given.
    """
    made: dict[str, object] = {
        "schema": 1,
        "name": "sample",
        "created": "2026-01-02T03:04:05+00:00",
        "versions": {"mctsr": "0.1.0"},
        "settings": {"policy": {"model": None}, "judge": None},
        "recipe": "mctsr",
        "recipe_arguments": {"rollouts": 6},
        "recipe_source_sha256": "",
        "prompts": {},
        "data": None,
        "problems": None,
        "problem_ids": list(ids),
        "problem_hashes": [problem_hash(Problem(id, "How many clips?")) for id in ids],
        "problems_sha256": "",
        "gold": None,
        "gold_ids": list(ids) if more.get("gold_sha256", "feed") else [],
        "gold_sha256": "feed",
        "servers": [
            {
                "role": "policy",
                "kind": "llama.cpp",
                "model": "tiny-model",
                "base_url": "http://127.0.0.1:9/v1",
                "version": "",
                "context": 2048,
            }
        ],
        "notices": [],
    }
    return {**made, **more}  # type: ignore[typeddict-item]


def nasty_tree() -> TreeRecord:
    """Make a tree of one ungradable answer whose texts try to steer a terminal."""
    made = node(
        0,
        None,
        NASTY,
        text=NASTY + "\nsecond line\r\nthird",
        samples=[sample(1.0, None, NASTY)],
        visits=1,
        value=1.0,
        unscored=[NASTY],
    )
    return tree(IDS[2], [made], 0, NASTY)


def make_run(folder: Path, *, record: RunRecord | None = None) -> Path:
    """Write the sample run: one right, one failed, one ungradable, one unfinished problem."""
    record = record or run_record()
    with RunWriter.create(folder, record) as writer:
        clips = tree(IDS[0], clips_nodes(), 7)
        writer.commit(clips, result(IDS[0], clips))
        writer.commit(None, result(IDS[1], None))
        nasty = nasty_tree()
        writer.commit(nasty, result(IDS[2], nasty))
        if record["gold_sha256"] is not None:
            writer.grade(grade(IDS[0], "72", {"70": False, "72": True, "x = 72": None}))
            writer.grade(grade(IDS[2], "8", {NASTY: None}))
    return folder


def make_trees(folder: Path, trees: Sequence[TreeRecord], **more: object) -> Path:
    """Write a finished run of `trees`, ungraded; `more` goes into run.json."""
    record = run_record([grown["problem_id"] for grown in trees], gold_sha256=None, **more)
    with RunWriter.create(folder, record) as writer:
        for grown in trees:
            writer.commit(grown, result(grown["problem_id"], grown))
    return folder


class Said(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str


def command(*arguments: str) -> Said:
    """Run the installed command in this process, its output in pipes."""
    (entry,) = entry_points(group="console_scripts", name="mctsr")
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        mock.patch.object(sys, "argv", ["mctsr", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            code = entry.load()()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        out.flush()
        err.flush()
    texts = [stream.detach().getvalue().decode() for stream in (out, err)]
    return Said(code, *texts)
