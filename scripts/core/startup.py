"""What a fresh process spends until its first kernels have run, and when the first request to a model leaves."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

from .table import Sheet

#: What a fresh process runs: a whole search by the default recipe, then a descent, with a slow model.
PROGRAM = """
import asyncio, json, sys, threading, time
began = time.perf_counter()
from mctsr.engine import search
from mctsr.lm.base import Completion, Usage
from mctsr.parts import Problem
from mctsr.recipes.registry import choose

seen = {}

class Slow:
    offers = frozenset()

    def logical(self, place, request):
        return {}

    async def complete(self, place, request, *, sent=lambda: None):
        if not seen:
            seen.update(cpu=time.process_time(), wall=time.perf_counter() - began, numba="numba" in sys.modules)
        sent()
        await asyncio.sleep(LATENCY)
        seen["threads"] = max(seen.get("threads", 0), threading.active_count())
        return Completion("The answer is 7.\\\\nScore: 60", usage=Usage(100, 10))

recipe = choose("mctsr", {"rollouts": 2}).build()
found = asyncio.run(search(Problem("p", "What is 3 + 4?", "number"), recipe, Slow()))
assert not found.failed, found.reason
done = {"search_cpu": time.process_time(), "search_wall": time.perf_counter() - began}

import numpy as np
from mctsr.backup import Mean
from mctsr.select.descent import Descent
from mctsr.select.scores import uct
from mctsr.tree import Sample, State, Tree

tree = Tree()
for i in range(3):
    tree.add(i - 1, State(str(i)))
    tree.judged(i, (Sample(0.5, 0.5),))
    Mean()(tree, i)
Descent(uct()).ask(tree, np.random.default_rng(0), 1)
done["descent_cpu"] = time.process_time()
print(json.dumps({**seen, **done, "calls": found.ledger.tally.calls}))
"""

#: One kernel and nothing else.
ONE = """
import json, time
began = time.process_time()
import numba
numba_cpu = time.process_time()
from mctsr.kernels import walk
from mctsr.kernels.node import fresh
walk.mark(fresh(16), -1, 0)
print(json.dumps({"began": began, "numba": numba_cpu, "one": time.process_time()}))
"""
LATENCY = 0.5


class Start(NamedTuple):
    """CPU seconds of one process, by what it had done by then."""

    one: dict[str, float]
    search: dict[str, float]


def startup(sheet: Sheet) -> None:
    """Print cold and warm starts."""
    sheet.title("startup: fresh processes, CPU seconds since their start")
    with tempfile.TemporaryDirectory(prefix="mctsr-numba-") as cache:
        cold = fresh_process(PROGRAM, cache)
        starts = [Start(fresh_process(ONE, cache), fresh_process(PROGRAM, cache)) for _ in range(5)]
    one = {name: statistics.median(s.one[name] for s in starts) for name in starts[0].one}
    warm = {name: statistics.median(s.search[name] for s in starts) for name in starts[0].search}
    rows = [
        ("interpreter", "", f"{one['began']:.2f}"),
        ("numba imported", "", f"{one['numba']:.2f}"),
        ("first kernel has run", "", f"{one['one']:.2f}"),
        ("first request to the model left", f"{cold['cpu']:.2f}", f"{warm['cpu']:.2f}"),
        (
            f"a search by mctsr, {cold['calls']} calls",
            f"{cold['search_cpu']:.2f}",
            f"{warm['search_cpu']:.2f}",
        ),
        ("and a descent by UCT with mean backup", f"{cold['descent_cpu']:.2f}", f"{warm['descent_cpu']:.2f}"),
    ]
    sheet.rows(("CPU s until", "empty cache", "filled cache"), rows)
    chain = warm["calls"] * LATENCY
    print(
        f"\nwall s until the first request left: {cold['wall']:.2f} with an empty, {warm['wall']:.2f} with a filled"
        f" cache; until\nthe search was done: {cold['search_wall']:.2f} and {warm['search_wall']:.2f}, with"
        f" {LATENCY} s a call (at most {chain:.1f} s of them one after another)\n"
    )
    sheet.at_most("cold: everything compiled", cold["descent_cpu"], 12.0, " s")
    sheet.at_most("warm: first kernel has run", one["one"], 1.7, " s")
    sheet.at_most("numba imported before the first request left (0 no, 1 yes)", float(warm["numba"]), 0.0)


def fresh_process(program: str, cache: str) -> dict[str, float]:
    """Run a program in a new process with that cache; return what it printed."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    code = program.replace("LATENCY", str(LATENCY))
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"a fresh process failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout)
    return found
