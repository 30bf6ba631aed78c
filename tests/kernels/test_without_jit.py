"""The kernels as plain Python: everything above once more, with compilation switched off."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="this is the run without JIT")
def test_kernels_compute_the_same_without_jit() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE)]
    done = subprocess.run(
        command,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=HERE.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout
    assert "1 skipped" in done.stdout
