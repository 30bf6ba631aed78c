"""Real vLLM servers on the CPU, one at a time, with small models that `scripts/test_vllm` made.

Without it nothing here is collected: the servers take minutes, and an environment of their own.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from .serving import Served, serving

FOLDER = os.environ.get("MCTSR_VLLM_MODELS", "")
if not FOLDER:
    collect_ignore_glob = ["test_*.py"]

MODELS = Path(FOLDER)
_FIGURES = pytest.StashKey[list[str]]()


class Ended(NamedTuple):
    """How a command ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str


class Command(Protocol):
    """Runs `mctsr` with arguments, as a process of its own."""

    def __call__(self, *arguments: object) -> Ended:
        """Return how it ended."""
        ...


class Tell(Protocol):
    """Takes a figure that is shown at the end."""

    def __call__(self, line: str, /) -> None:
        """Take one line."""
        ...


def pytest_configure(config: pytest.Config) -> None:
    """Begin a list of figures."""
    config.stash[_FIGURES] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show what was measured."""
    if config.stash[_FIGURES]:
        terminalreporter.section("what was measured")
        for line in config.stash[_FIGURES]:
            terminalreporter.write_line(line)


@pytest.fixture(scope="module")
def tell(request: pytest.FixtureRequest) -> Tell:
    """Give what keeps figures for the end."""
    return request.config.stash[_FIGURES].append


@pytest.fixture(scope="module")
def policy(tell: Tell) -> Iterator[Served]:
    """Serve the model that writes."""
    with serving(MODELS / "policy", "--enable-prompt-tokens-details", "--block-size", "32") as server:
        tell(f"generation server: ready in {server.seconds:.0f} s, cache blocks of {server.block} tokens")
        yield server


@pytest.fixture(scope="module")
def labels(tell: Tell) -> Iterator[Served]:
    """Serve the model that says labels; at most five alternatives a token, as some servers are set."""
    more = ("--enable-prompt-tokens-details", "--block-size", "32", "--max-logprobs", "5")
    with serving(MODELS / "labels", *more) as server:
        tell(f"label server: ready in {server.seconds:.0f} s")
        yield server


@pytest.fixture(scope="module")
def steps(tell: Tell) -> Iterator[Served]:
    """Serve the process reward model at /pooling."""
    mark = json.loads((MODELS / "steps" / "step_mark.json").read_text())
    pooler = json.dumps({"step_tag_id": mark})
    with serving(MODELS / "steps", "--runner", "pooling", "--pooler-config", pooler) as server:
        tell(f"/pooling server: ready in {server.seconds:.0f} s")
        yield server


@pytest.fixture(scope="module")
def reward(tell: Tell) -> Iterator[Served]:
    """Serve the reward model at /classify."""
    with serving(MODELS / "reward", "--runner", "pooling", "--block-size", "32") as server:
        tell(f"/classify server: ready in {server.seconds:.0f} s")
        yield server


@pytest.fixture
def mctsr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Give the command, run in an empty folder."""
    for name in list(os.environ):
        if name.startswith(("MCTSR_", "OPENAI_")) and name != "MCTSR_CACHE_DIR":
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ended:
        command = [sys.executable, "-m", "mctsr.cli", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=550)
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
