"""One `vllm serve` for the length of a block, and what can be asked of it behind the product's back."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

READY_SECONDS = 420.0
_ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}
_FLAGS = ("--enforce-eager", "--dtype", "bfloat16", "--max-model-len", "2048")


@dataclass(frozen=True, slots=True)
class Served:
    """A server that answers.

    Attributes:
        root: Its address, without /v1.
        model: The model's name there.
        seconds: How long it took to come up.
    """

    root: str
    model: str
    seconds: float

    @property
    def url(self) -> str:
        """What users give as --base-url."""
        return f"{self.root}/v1"

    @property
    def block(self) -> int:
        """Tokens in a block of its prefix cache."""
        found = re.search(r'vllm:cache_config_info\{[^}]*[{,]block_size="(\d+)"', self.page())
        assert found is not None
        return int(found[1])

    def page(self) -> str:
        """Return /metrics as it is."""
        with urllib.request.urlopen(f"{self.root}/metrics", timeout=30) as reply:
            text: str = reply.read().decode()
            return text

    def metric(self, name: str) -> float:
        """Return one number of /metrics, summed over its labels."""
        found = re.findall(rf"^vllm:{name}(?:\{{[^}}]*\}})? (\S+)$", self.page(), re.MULTILINE)
        assert found, name
        return sum(map(float, found))

    def post(self, path: str, **body: object) -> tuple[int, Any]:
        """Send a body and return status and reply."""
        data = json.dumps({"model": self.model, **body}).encode()
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def tokens(self, text: str, *, opened: bool = False) -> list[int]:
        """Return the ids of a text."""
        code, found = self.post("/tokenize", prompt=text, add_special_tokens=opened)
        assert code == 200, found
        ids: list[int] = found["tokens"]
        return ids

    def rendered(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Return the ids of a chat with the assistant's turn opened."""
        turns = [{"role": role, "content": content} for role, content in messages]
        code, found = self.post("/tokenize", messages=turns, add_generation_prompt=True)
        assert code == 200, found
        ids: list[int] = found["tokens"]
        return ids

    def idle(self, seconds: float) -> float:
        """Wait until nothing runs or waits there, and return how long that took; fails after `seconds`."""
        began = time.monotonic()
        while self.metric("num_requests_running") + self.metric("num_requests_waiting"):
            assert time.monotonic() - began < seconds, "a request still runs"
            time.sleep(0.02)
        return time.monotonic() - began


def shared_blocks(first: Sequence[int], second: Sequence[int], block: int) -> int:
    """Return how many tokens of `second` a cache holds that has seen `first`: whole blocks, never the last token."""
    pairs = enumerate(zip(first, second, strict=False))
    same = next((n for n, (a, b) in pairs if a != b), min(len(first), len(second)))
    return min(same, len(second) - 1) // block * block


@contextmanager
def serving(model: Path, *flags: str) -> Iterator[Served]:
    """Serve a model while the block runs."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(Path(sys.executable).with_name("vllm")),
        "serve",
        str(model),
        "--served-model-name",
        model.name,
    ]
    command += ["--host", "127.0.0.1", "--port", str(port), *_FLAGS, *flags]
    began = time.monotonic()
    with tempfile.NamedTemporaryFile("w+", prefix="vllm-", suffix=".log") as log:
        # A session of its own: it has children that must end with it.
        process = subprocess.Popen(
            command, env=os.environ | _ENVIRONMENT, stdout=log, stderr=log, start_new_session=True
        )
        try:
            root = f"http://127.0.0.1:{port}"
            _wait(process, root, Path(log.name))
            yield Served(root, model.name, time.monotonic() - began)
        finally:
            _end(process)


def _wait(process: "subprocess.Popen[bytes]", root: str, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{root}/health", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-30:])
    raise RuntimeError(f"vLLM did not come up:\n{tail}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(30)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
