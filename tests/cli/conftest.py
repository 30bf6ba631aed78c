"""The command line as users have it: the installed entry point, in this process or as one of its own."""

import asyncio
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from tests.support.fake_server import FakeServer

COMMAND = [sys.executable, "-m", "mctsr.cli"]
ANSWER = "score 50. The answer is \\boxed{4}."
"""A reply that can be read as an answer and as a score."""


class Ended(NamedTuple):
    """How a command ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str


class Command(Protocol):
    """Runs `mctsr` with arguments."""

    def __call__(self, *arguments: object, stdin: str = "") -> Ended:
        """Return how it ended."""
        ...


Serve = Callable[..., FakeServer]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run every command in an empty folder, without variables of the developer's."""
    for name in list(os.environ):
        if name.startswith(("MCTSR_", "OPENAI_")) and name != "MCTSR_CACHE_DIR":
            monkeypatch.delenv(name)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def mctsr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Give the command in this process."""
    (entry,) = entry_points(group="console_scripts", name="mctsr")
    main = entry.load()

    def run(*arguments: object, stdin: str = "") -> Ended:
        monkeypatch.setattr(sys, "argv", ["mctsr", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        code = main()
        return Ended(code, *capsys.readouterr())

    return run


class _Served:
    """A fake server on a thread and a loop of its own, so that it answers while a command blocks this one."""

    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.wait(server.start())

    def wait(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    def stop(self) -> None:
        self.wait(self.server.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Give a function that starts a fake server; its arguments are those of `FakeServer`."""
    started: list[_Served] = []

    def start(reply: Any = ANSWER, **how: Any) -> FakeServer:
        started.append(_Served(FakeServer(reply, **how)))
        return started[-1].server

    yield start
    for served in started:
        served.stop()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Give a data file of three problems whose answers are 4, 4 and 5."""
    file = tmp_path / "sums.jsonl"
    rows = [("a", "2+2?", "4"), ("b", "1+3?", "4"), ("c", "2+3?", "5")]
    lines = [f'{{"id": "{id}", "question": "{text}", "answer": "{gold}"}}\n' for id, text, gold in rows]
    file.write_text("".join(lines), encoding="utf-8")
    return file
