"""A run that is killed at any moment goes on where it was: nothing is lost, nothing is asked twice, sums are right."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from mctsr.batch import plan, resume_plan, run_record, solve
from mctsr.lm.connect import connect
from mctsr.runs.folder import Run
from mctsr.runs.settings import RoleOptions
from mctsr.runs.writer import RunWriter
from tests.runs.world import NOW, by_seed, lines, settings, steady, sums, write_jsonl
from tests.support.fake_server import Body, FakeServer, chat

PROBLEMS, ROLLOUTS, KILLS = 8, 4, 5
CALLS = PROBLEMS * (3 + 4 * ROLLOUTS)


async def begin(folder: Path, url: str) -> None:
    """Begin a run, or go on with the one that is there."""
    if (folder / "run.json").exists():
        planned = resume_plan(Run.open(folder))
        async with connect(planned.settings) as there:
            with RunWriter.reopen(folder) as writer:
                await solve(planned, writer, there)
        return
    source = write_jsonl(folder.parent / "sums.jsonl", sums(PROBLEMS))
    chosen = settings(arguments={"rollouts": ROLLOUTS}, policy=RoleOptions("fake", url), max_concurrency=3)
    planned = plan(chosen, source)
    async with connect(chosen) as there:
        with RunWriter.create(folder, run_record(planned, there, NOW)) as writer:
            await solve(planned, writer, there)


async def started(folder: Path, url: str) -> asyncio.subprocess.Process:
    call = f"begin(Path({str(folder)!r}), {url!r})"
    code = f"import asyncio; from pathlib import Path; from tests.test_kill import begin; asyncio.run({call})"
    root = Path(__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": str(root)}
    return await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=root, env=env)


async def asked(server: FakeServer, count: int) -> None:
    """Wait until the server has seen `count` requests."""
    while len(server.bodies) < count:
        await asyncio.sleep(0.002)


def call(body: Body) -> str:
    """Name a call by all that was sent, its seed included."""
    return json.dumps(body, sort_keys=True)


def tokens(body: Body) -> int:
    """Count what the server says a call took."""
    return int(chat(by_seed(body), body)["usage"]["total_tokens"])


async def test_a_run_killed_five_times_ends_as_if_it_had_never_been(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    moments = sorted(rng.choice(np.arange(5, CALLS - 20), KILLS, replace=False).tolist())
    async with FakeServer(by_seed, delay=0.012) as server:
        for moment in moments:
            process = await started(tmp_path / "run", server.url)
            await asyncio.wait_for(asked(server, moment), 20)
            await asyncio.sleep(float(rng.uniform(0, 0.012)))
            process.send_signal(signal.SIGKILL)
            assert await process.wait() == -signal.SIGKILL
            await asyncio.sleep(0.05)  # what was in flight is counted by the server, too
        process = await started(tmp_path / "run", server.url)
        assert await asyncio.wait_for(process.wait(), 30) == 0
        bodies = list(server.bodies)
        (tmp_path / "plain").mkdir()
        await begin(tmp_path / "plain" / "run", server.url)

    found = Run.open(tmp_path / "run")
    results = found.results()
    assert (found.state, found.notes) == ("finished", [])
    assert [line["id"] for line in lines(found.path / "results.jsonl")] == list(results)
    assert [tree["problem_id"] for tree in lines(found.path / "trees.jsonl")] == list(results)
    assert sorted(results) == sorted(found.grades()) == [f"sum-{i}" for i in range(PROBLEMS)]
    assert not list((found.path / "live").iterdir())

    seen = Counter(map(call, bodies))
    repeated = sum(result["counts"]["repeated"] for result in results.values())
    assert len(seen) == sum(result["usage"]["calls"] for result in results.values()) == CALLS
    assert len(bodies) - CALLS <= repeated <= 3 * KILLS
    used = sum(r["usage"]["prompt_tokens"] + r["usage"]["completion_tokens"] for r in results.values())
    assert used == sum(tokens(json.loads(body)) for body in seen)

    plain = Run.open(tmp_path / "plain" / "run")
    for id in results:
        assert steady(found.tree(id)) == steady(plain.tree(id))
        assert steady(results[id]) == steady(plain.results()[id])
        assert found.grades()[id] == plain.grades()[id]
