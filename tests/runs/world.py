"""A small world for runs: problems on disk, models that answer by place or by seed, folders that are compared."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mctsr.batch import BatchEvent, Plan, Summary, plan, resume_plan, run_record, solve
from mctsr.lm.base import Place, Request
from mctsr.lm.connect import Connected, Found
from mctsr.lm.scripted import Reply, Scripted
from mctsr.runs.folder import Run
from mctsr.runs.records import VOLATILE
from mctsr.runs.settings import RoleOptions, Settings
from mctsr.runs.writer import RunWriter

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def write_jsonl(path: Path, rows: Iterable[Mapping[str, object]]) -> str:
    """Write rows as JSON Lines and return the path as text."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def sums(count: int, gold: Callable[[int], object] = lambda i: i + 2) -> list[dict[str, object]]:
    """Make rows of additions; a gold of None is left out."""
    rows: list[dict[str, object]] = []
    for i in range(count):
        answer = gold(i)
        rows.append({"id": f"sum-{i}", "question": f"What is {i} and 2?"})
        rows[-1] |= {} if answer is None else {"answer": answer}
    return rows


def by_place(place: Place, request: Request) -> Reply:
    """Reply as a model would whose words depend on nothing but the place."""
    number = place.seed(7)
    if request.role == "judge":
        return f'{{"reason": "because of {number}", "score": {number % 150 - 75}}}'
    return f"Thought {number}. The final answer is \\boxed{{{number % 9}}}"


def by_seed(body: Mapping[str, Any]) -> str:
    """Reply over HTTP by the request's seed alone."""
    number = int(body["seed"])
    if "response_format" in body:
        return f'{{"reason": "because of {number}", "score": {number % 150 - 75}}}'
    return f"Thought {number}. The final answer is \\boxed{{{number % 9}}}"


def settings(**more: object) -> Settings:
    """Make settings of a short search; keyword arguments override."""
    base: dict[str, object] = {
        "recipe": "mctsr",
        "arguments": {"rollouts": 2},
        "policy": RoleOptions("fake", "http://127.0.0.1:9/v1"),
    }
    return Settings(**{**base, **more})  # type: ignore[arg-type]


def connected(models: Scripted, concurrency: int = 4) -> Connected:
    """Stand in for servers."""
    seats = [Found("policy", "other", "fake", "http://127.0.0.1:9/v1", "", None)]
    return Connected(models, seats, [], concurrency)


async def run(
    folder: Path,
    planned: Plan,
    models: Scripted | None = None,
    concurrency: int = 4,
    watch: Callable[[BatchEvent], None] = lambda _: None,
) -> Summary:
    """Begin a run in `folder` and solve it."""
    there = connected(models or Scripted(by_place), concurrency)
    with RunWriter.create(folder, run_record(planned, there, NOW)) as writer:
        return await solve(planned, writer, there, watch)


async def go_on(folder: Path, models: Scripted | None = None, concurrency: int = 4) -> Summary:
    """Resume the run in `folder`."""
    planned, there = resume_plan(Run.open(folder)), connected(models or Scripted(by_place), concurrency)
    with RunWriter.reopen(folder) as writer:
        return await solve(planned, writer, there)


def planned(tmp: Path, count: int = 3, **more: object) -> Plan:
    """Plan a run on `count` additions."""
    return plan(settings(**more), write_jsonl(tmp / "sums.jsonl", sums(count)))


def lines(path: Path) -> list[Any]:
    """Read JSON Lines strictly."""
    return [json.loads(line, parse_constant=_refuse) for line in path.read_bytes().split(b"\n")[:-1]]


def steady(record: Any) -> Any:
    """Drop what two runs of the same replies may differ in."""
    if isinstance(record, dict):
        return {key: steady(value) for key, value in record.items() if key not in VOLATILE}
    return [steady(value) for value in record] if isinstance(record, list) else record


def everything(folder: Path) -> bytes:
    """Return the bytes of all files of a folder together."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
