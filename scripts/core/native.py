"""The same tree in C: builds `reference.c` when there is a compiler and calls it on the product's own array."""

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from mctsr.kernels import rules
from mctsr.kernels.node import Nodes

from .world import World

SOURCE = Path(__file__).with_name("reference.c")
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-ffp-contract=off", "-shared", "-fPIC")
CODES = {rules.UCB1: 0, rules.PUCT_ALPHAZERO: 1}

#: Grows the tree of a world; arguments as of `world.run_ours`.
Native = Callable[..., int]


class CWorld(ctypes.Structure):
    """`World` of `reference.c`."""

    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("fewest", ctypes.c_int32),
        ("choices", ctypes.c_int32),
        ("deepest", ctypes.c_int32),
        ("k", ctypes.c_double * 3),
        ("low", ctypes.c_double),
    )


def compiler() -> str | None:
    """Find a C compiler."""
    return shutil.which("gcc") or shutil.which("cc")


def version() -> str:
    """Say which compiler it is, and with what flags."""
    said = subprocess.run(
        [compiler() or "gcc", "--version"], capture_output=True, text=True, check=True
    ).stdout
    return f"{said.splitlines()[0]}, {' '.join(FLAGS[1:5])}"


def build(*, linked: bool = False) -> Native:
    """Compile and load the reference; `linked` follows the links of siblings instead of counting them up."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "reference.so"
        subprocess.run([compiler() or "gcc", *FLAGS, "-o", library, SOURCE, "-lm"], check=True)
        run = ctypes.CDLL(str(library)).run
    run.restype = ctypes.c_int32

    def native(world: World, nodes: Nodes, size: int = 1, sims: int = 0) -> int:
        shape = CWorld(world.seed, *world.shape, (ctypes.c_double * 3)(*world.k[:3]), 0.0)
        base = ctypes.c_void_p(nodes.ctypes.data)
        return int(
            run(base, size, sims or world.sims, CODES[world.rule], ctypes.byref(shape), ctypes.c_int(linked))
        )

    return native
