"""The embedded model: llama.cpp in a child process, spoken to like any other server.

Knows: how to start the child, wait until it is healthy, show its log when it is not, and stop it.
Does not know: requests and replies (the HTTP client), nor where model files come from (`mctsr.lm.local.gguf`).
"""

import asyncio
import os
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import urlsplit

from mctsr.errors import MissingExtra, ServerError, UsageError

_CHILD = Path(__file__).with_name("llama_child.py")
_HEALTH_SECONDS = 0.1
_TAIL_BYTES = 4000
_TAIL_LINES = 5


class EmbeddedServer:
    """A llama.cpp server on a loopback port that lives as long as the `async with` block.

    The child ends with this process however that ends, `kill -9` included. Ctrl-C in the terminal does not
    reach it, so that replies in flight can still be received while the run stops.
    """

    def __init__(
        self,
        model: Path,
        *,
        n_parallel: int = 4,
        n_ctx: int = 4096,
        threads: int | None = None,
        start_timeout: float = 120.0,
    ) -> None:
        """Describe a server; nothing runs before `start`.

        Args:
            model: a GGUF file.
            n_parallel: slots, the sequences decoded at once, >= 1; more requests wait in the server.
            n_ctx: context of each slot in tokens, prompt and reply together, >= 1.
            threads: CPU threads, >= 1; half the usable cores when None.
            start_timeout: seconds to wait until the model is loaded, > 0.

        Raises:
            UsageError: a number is out of range.
        """
        self.model = model
        self.n_parallel = n_parallel
        self.n_ctx = n_ctx
        self.threads = max(1, _usable_cores() // 2) if threads is None else threads
        self.start_timeout = start_timeout
        for name in ("n_parallel", "n_ctx", "threads", "start_timeout"):
            if getattr(self, name) <= 0:
                raise UsageError(f"embedded model: {name} is {getattr(self, name)}; give a number above 0")
        self._process: asyncio.subprocess.Process | None = None
        self._log: IO[bytes] | None = None
        self._address: str | None = None

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:PORT/v1`.

        Raises:
            ServerError: the server does not run.
        """
        if self._address is None:
            raise ServerError("the embedded model does not run; start it first")
        return f"{self._address}/v1"

    @property
    def pid(self) -> int | None:
        """Process id of the child, None while it does not run."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start the child and wait until the model is loaded; nothing when it runs already.

        Raises:
            MissingExtra: the llama.cpp binding is not installed.
            ServerError: the child ended, or was not healthy in time; the message ends with its log's tail.
        """
        if self._process is not None:
            return
        if find_spec("xllamacpp") is None:
            raise MissingExtra(
                "the embedded model needs xllamacpp; install it with: pip install 'mctsr[embedded]'"
            )
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `stop`)
        try:
            self._process = process = await self._spawn(self._log)
            async with asyncio.timeout(self.start_timeout):
                self._address = await self._wait_until_healthy(process)
        except TimeoutError:
            raise self._failure(f"was not ready after {self.start_timeout:g} s") from None
        finally:
            if self._address is None:
                await self.stop()

    async def stop(self) -> None:
        """Stop the child; nothing when none runs. Requests in flight are cut off."""
        process, self._process, self._address = self._process, None, None
        if process is not None:
            await _end(process)
        if self._log is not None:
            self._log.close()

    async def __aenter__(self) -> Self:
        """Start the server."""
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server."""
        await self.stop()

    async def _spawn(self, log: IO[bytes]) -> asyncio.subprocess.Process:
        # -P keeps this folder off the child's path, where our module names would hide others'.
        command = [sys.executable, "-P", str(_CHILD), "--model", str(self.model)]
        numbers = {"--n-parallel": self.n_parallel, "--n-ctx": self.n_ctx, "--threads": self.threads}
        for flag, number in numbers.items():
            command += [flag, str(number)]
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )

    async def _wait_until_healthy(self, process: asyncio.subprocess.Process) -> str:
        assert process.stdout is not None
        address = (await process.stdout.readline()).decode().strip()
        while process.returncode is None and address:
            if await _is_healthy(address):
                return address
            await asyncio.sleep(_HEALTH_SECONDS)
        raise self._failure(f"ended while loading (exit code {await process.wait()})")

    def _failure(self, what: str) -> ServerError:
        return ServerError(f"llama.cpp {what} with {self.model}; its log ends: {self._log_tail() or 'empty'}")

    def _log_tail(self) -> str:
        if self._log is None:
            return ""
        # pread leaves the position alone that the child's writes share.
        descriptor = self._log.fileno()
        start = max(0, os.fstat(descriptor).st_size - _TAIL_BYTES)
        text = os.pread(descriptor, _TAIL_BYTES, start).decode(errors="replace")
        return " | ".join(line.strip() for line in text.splitlines()[-_TAIL_LINES:])


async def _end(process: asyncio.subprocess.Process) -> None:
    # There is nothing to tidy up in the child, and one that is still loading hears nothing milder.
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _is_healthy(address: str) -> bool:
    """Ask `/health`: 503 means that the model is still loading."""
    url = urlsplit(address)
    try:
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
    except OSError:
        return False
    try:
        writer.write(b"GET /health HTTP/1.0\r\n\r\n")
        return b" 200 " in await reader.readline()
    except OSError:
        return False
    finally:
        writer.close()


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
