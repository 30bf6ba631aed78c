"""The embedded server against the real llama.cpp and the real default model."""

import asyncio
import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mctsr.errors import MissingExtra, ServerError, UsageError
from mctsr.lm.local import gguf as models
from mctsr.lm.local.embedded import EmbeddedServer
from tests.support.llama import N_CTX, N_PARALLEL


async def _post(base_url: str, content: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    """Send one user message; returns the status and the parsed reply."""
    body = {"messages": [{"role": "user", "content": content}], "temperature": 0.0, "seed": 1, **fields}
    url = f"{base_url}/chat/completions"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as reply:
        return reply.status, await reply.json()


def _wait_until(condition: Callable[[], bool], *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def _is_running(pid: int) -> bool:
    """Tell whether a process exists and is no zombie (its reaper may be slow or absent)."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.strip().startswith("Z")


@pytest.mark.embedded
async def test_a_chat_is_answered_with_the_tokens_counted(llama_url: str) -> None:
    status, reply = await _post(llama_url, "What is 2 + 3?", max_tokens=6)
    assert status == 200
    assert reply["choices"][0]["message"]["content"].strip()
    assert 0 < reply["usage"]["completion_tokens"] <= 6
    assert reply["usage"]["prompt_tokens"] > 0


@pytest.mark.embedded
async def test_a_reply_obeys_a_json_schema(llama_url: str) -> None:
    schema = {
        "type": "object",
        "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 9}},
        "required": ["score"],
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "score", "schema": schema, "strict": True}}
    status, reply = await _post(llama_url, "Rate this day.", max_tokens=24, response_format=wanted)
    assert status == 200
    parsed = json.loads(reply["choices"][0]["message"]["content"])
    assert list(parsed) == ["score"]
    assert 0 <= parsed["score"] <= 9


@pytest.mark.embedded
async def test_slots_and_context_are_those_asked_for(llama_url: str) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(llama_url.removesuffix("/v1") + "/slots") as reply:
            slots = await reply.json()
        async with session.get(f"{llama_url}/models") as reply:
            listed = await reply.json()
    assert [slot["n_ctx"] for slot in slots] == [N_CTX] * N_PARALLEL
    assert listed["data"][0]["id"] == "SmolLM2-135M-Instruct.Q4_1"


@pytest.mark.embedded
async def test_as_many_sequences_as_slots_run_and_one_more_is_refused(llama_url: str) -> None:
    status, reply = await _post(llama_url, "Hi", max_tokens=1, n=N_PARALLEL, temperature=1.0)
    assert status == 200
    assert len(reply["choices"]) == N_PARALLEL
    status, _ = await _post(llama_url, "Hi", max_tokens=1, n=N_PARALLEL + 1, temperature=1.0)
    assert status == 400


@pytest.mark.embedded
async def test_a_prompt_longer_than_one_slot_is_refused_by_name(llama_url: str) -> None:
    status, reply = await _post(llama_url, "one " * (N_CTX + 1), max_tokens=1)
    assert status == 400
    assert reply["error"]["type"] == "exceed_context_size_error"


@pytest.mark.embedded
async def test_the_child_is_gone_after_the_block() -> None:
    async with EmbeddedServer(models.fetch_default(), n_parallel=1, n_ctx=256, threads=1) as server:
        pid = server.pid
        assert pid is not None
        assert _is_running(pid)
        assert server.base_url.startswith("http://127.0.0.1:")
    assert not _is_running(pid)
    assert server.pid is None
    with pytest.raises(ServerError, match="start it first"):
        _ = server.base_url


@pytest.mark.embedded
def test_the_child_is_gone_after_its_parent_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(
        textwrap.dedent("""
            import asyncio, sys
            from pathlib import Path
            from mctsr.lm.local.embedded import EmbeddedServer

            async def main():
                async with EmbeddedServer(Path(sys.argv[1]), n_parallel=1, n_ctx=256, threads=1) as server:
                    print(server.pid, flush=True)
                    await asyncio.sleep(60)

            asyncio.run(main())
        """),
        encoding="utf-8",
    )
    command = [sys.executable, str(program), str(models.fetch_default())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert _is_running(child)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert _wait_until(lambda: not _is_running(child), seconds=10)


@pytest.mark.embedded
async def test_a_broken_file_is_one_error_with_the_log_and_no_child(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(200))
    server = EmbeddedServer(broken, threads=1)
    with pytest.raises(ServerError, match=r"exit code 1.*failed to load model") as caught:
        await server.start()
    assert "\n" not in str(caught.value)
    assert str(broken) in str(caught.value)
    assert server.pid is None


@pytest.mark.embedded
async def test_a_start_that_takes_too_long_leaves_no_child() -> None:
    server = EmbeddedServer(models.fetch_default(), threads=1, start_timeout=0.01)
    starting = asyncio.ensure_future(server.start())
    pids: set[int] = set()
    while not starting.done():
        if server.pid is not None:
            pids.add(server.pid)
        await asyncio.sleep(0.001)
    with pytest.raises(ServerError, match=r"not ready after 0\.01 s"):
        starting.result()
    assert pids
    assert not any(_is_running(pid) for pid in pids)


async def test_without_the_binding_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def hide(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "xllamacpp" else real(name, package)

    monkeypatch.setattr("mctsr.lm.local.embedded.find_spec", hide)
    with pytest.raises(MissingExtra, match=r"pip install 'mctsr\[embedded\]'"):
        await EmbeddedServer(Path("any.gguf")).start()


def test_numbers_out_of_range_are_named() -> None:
    with pytest.raises(UsageError, match="n_parallel is 0"):
        EmbeddedServer(Path("any.gguf"), n_parallel=0)
    with pytest.raises(UsageError, match="n_ctx is -1"):
        EmbeddedServer(Path("any.gguf"), n_ctx=-1)
    with pytest.raises(UsageError, match="threads is 0"):
        EmbeddedServer(Path("any.gguf"), threads=0)
    with pytest.raises(UsageError, match="start_timeout is 0"):
        EmbeddedServer(Path("any.gguf"), start_timeout=0.0)


async def test_stopping_a_server_that_never_ran_does_nothing() -> None:
    server = EmbeddedServer(Path("any.gguf"))
    await server.stop()
    assert server.pid is None
