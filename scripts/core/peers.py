"""Other searches on a tree of the same shape, in an environment of their own that is deleted afterwards."""

import json
import subprocess
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .python import SUM, leaf_seconds
from .table import Sheet, interleaved, number
from .world import SMALL_PUCT, SMALL_UCT, World, room, run_ours, start

RUNS = Path(__file__).with_name("peer_runs.py")
#: What is installed, one environment for all; pip gets nothing but these.
PINNED = {
    "mctx": ("mctx==0.0.71", "jax==0.7.1", "jaxlib==0.7.1"),
    "OpenSpiel": ("open_spiel==2.0.2",),
    "treequest": ("treequest==0.3.3",),
}


class Peer(NamedTuple):
    """A row: what it is, which peer, the arguments of `peer_runs.py`, and whether ours is the one from Python."""

    name: str
    of: str
    arguments: tuple[str, ...]
    stepped: bool
    puct: bool = False


PEERS = (
    Peer("OpenSpiel Python MCTS, UCT", "OpenSpiel", ("openspiel", "uct"), False),
    Peer("OpenSpiel Python MCTS, PUCT", "OpenSpiel", ("openspiel", "puct"), False, True),
    Peer("mctx MuZero policy, batch 1", "mctx", ("mctx", "1"), False, True),
    Peer("mctx MuZero policy, batch 16, a sim of one tree", "mctx", ("mctx", "16"), False, True),
    Peer("treequest StandardMCTS, 100 nodes", "treequest", ("treequest", "standard", "100"), True),
    Peer("treequest StandardMCTS, 1 000 nodes", "treequest", ("treequest", "standard", "1000"), True),
    Peer("treequest StandardMCTS, 3 000 nodes", "treequest", ("treequest", "standard", "3000"), True),
    Peer("treequest AB-MCTS-A, 100 nodes", "treequest", ("treequest", "abmctsa", "100"), True),
    Peer("treequest AB-MCTS-A, 300 nodes", "treequest", ("treequest", "abmctsa", "300"), True),
)

BEYOND = (
    (
        "mctx",
        "a batch of trees inside one compiled JAX program, on GPU or TPU, with a learned network as model and policy",
    ),
    (
        "OpenSpiel",
        "more than a hundred games behind one interface, chance nodes, several players, proven wins and losses",
    ),
    (
        "treequest",
        "AB-MCTS-M, a mixed model fitted by PyMC or NumPyro; a bandit over several models at each node",
    ),
)


@contextmanager
def environment(peers: Sequence[str]) -> Iterator[dict[str, Path]]:
    """Install `peers`; yields the Python of each that could be installed, and says which could not."""
    with tempfile.TemporaryDirectory(prefix="mctsr-peers-") as folder:
        home = Path(folder) / "env"
        venv.create(home, with_pip=True)
        python = home / "bin" / "python"
        found = {}
        for peer in peers:
            command = [
                python,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-input",
                "--no-cache-dir",
                *PINNED[peer],
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                reason = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
                print(f"{peer} ({' '.join(PINNED[peer])}) can't be installed here, and is left out: {reason}")
            else:
                found[peer] = python
        yield found


def timed(python: Path, arguments: Sequence[str]) -> float | str:
    """Run a peer in its environment; return seconds a simulation, or why there are none."""
    try:
        done = subprocess.run(
            [python, RUNS, *arguments], capture_output=True, text=True, check=False, timeout=300
        )
    except subprocess.TimeoutExpired:
        return "took more than 300 s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["it failed"])[-1]
    found = json.loads(done.stdout.splitlines()[-1])
    return float(found["seconds"] / found["sims"])


def peers(sheet: Sheet) -> None:
    """Print the table."""
    sheet.title("peers: the same small tree (branching 3-16, depth <= 8, 1 000 simulations)")
    pinned = ", ".join(sorted(one for names in PINNED.values() for one in names))
    print(f"{pinned}; fastest of three runs, CPU time, compiled before\n")
    ours = {False: _kernels(SMALL_UCT), True: _kernels(SMALL_PUCT)}
    stepped = leaf_seconds(1)[SUM]
    rows = [
        ("mctsr kernels, UCT", *_numbers(ours[False]), "1"),
        ("mctsr kernels, PUCT", *_numbers(ours[True]), "1"),
        ("mctsr from Python, one node a step, 1 000 nodes", *_numbers(stepped), "1"),
    ]
    with environment(tuple(PINNED)) as found:
        for peer in PEERS:
            if peer.of in found:
                seconds = timed(found[peer.of], peer.arguments)
                mine = stepped if peer.stepped else ours[peer.puct]
                rows.append(_row(peer, seconds, mine))
    sheet.rows(("search", "sims/s", "us/sim", "times ours"), rows)
    print(
        "\nmctsr and mctx make the children of a leaf at its first visit, OpenSpiel at its second. mctx has one"
        "\nnumber of children, 10. A step of treequest makes one node, and its cost grows with the tree; it is"
        "\ncompared with mctsr's public classes called from Python, the others with mctsr's kernels.\n"
    )
    print("What they do and ours does not:")
    for name, what in BEYOND:
        print(f"  {name:11}{what}")


def _row(peer: Peer, seconds: float | str, mine: float) -> tuple[str, str, str, str]:
    if isinstance(seconds, str):
        return peer.name, "-", "-", seconds
    return peer.name, *_numbers(seconds), number(seconds / mine)


def _numbers(seconds: float) -> tuple[str, str]:
    return number(1 / seconds), number(seconds * 1e6)


def _kernels(world: World) -> float:
    nodes = room(world)
    start(nodes)
    run_ours(world, nodes)
    spent = interleaved({"": lambda: run_ours(world, nodes)}, lambda: start(nodes), 101)
    return spent[""] / world.sims
