"""The product's kernels against C on the same records: same tree, and how long a simulation takes."""

import numpy as np

from mctsr.kernels.node import NODE, Nodes

from . import native
from .table import Sheet, interleaved, number
from .world import BIG_PUCT, BIG_UCT, SMALL_PUCT, SMALL_UCT, World, room, run_ours, start

#: Worlds, how often each is grown, and the ratio to C that is wanted (None: shown only).
WORLDS = ((SMALL_UCT, 301, 0.85), (SMALL_PUCT, 301, 0.85), (BIG_UCT, 7, None), (BIG_PUCT, 9, 0.8))
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def tree(sheet: Sheet) -> None:
    """Print the comparison and the growth with size."""
    sheet.title("tree: the product's numba kernels against C, same 64-byte records, same tree")
    if native.compiler() is None:
        print("no C compiler here: the comparison with C is left out")
    else:
        _compare(sheet)
    _sizes(sheet)


def _compare(sheet: Sheet) -> None:
    print(f"{native.version()}; CPU time of the thread, median of interleaved runs\n")
    counted, linked = native.build(), native.build(linked=True)
    rows, ratios = [], []
    for world, times, target in WORLDS:
        nodes = room(world)
        size = same_tree(world, nodes, counted)
        runs = {
            "ours": lambda world=world, nodes=nodes: run_ours(world, nodes),
            "C": lambda world=world, nodes=nodes: counted(world, nodes),
            "linked": lambda world=world, nodes=nodes: linked(world, nodes),
        }
        spent = interleaved(runs, lambda nodes=nodes: start(nodes), times)
        ns = {name: seconds / world.sims * 1e9 for name, seconds in spent.items()}
        ratios.append((world.name, ns["C"] / ns["ours"], target))
        rows.append(
            (
                world.name,
                number(size),
                f"{_mean_depth(nodes, size):.1f}",
                f"{1e3 / ns['ours']:.2f}",
                *(f"{ns[name]:.0f}" for name in runs),
                f"{ns['C'] / ns['ours']:.2f}",
                f"{ns['linked'] / ns['ours']:.2f}",
            )
        )
    heads = (
        "world",
        "nodes",
        "mean depth",
        "Msims/s",
        "ns/sim",
        "C ns/sim",
        "C by links",
        "ours : C",
        "ours : C by links",
    )
    sheet.rows(heads, rows)
    print(
        "\nC counts siblings up, which lie side by side here; by links it follows `next`, as it must elsewhere."
    )
    print("Every record of every tree was equal, byte for byte.\n")
    for name, ratio, target in ratios:
        if target is not None:
            sheet.at_least(f"speed in units of C, {name}", ratio, target)


def same_tree(world: World, nodes: Nodes, counted: native.Native) -> int:
    """Grow the tree by both, and refuse to go on when one record differs; return its size."""
    start(nodes)
    size = run_ours(world, nodes)
    ours = nodes[:size].copy()
    start(nodes)
    other = counted(world, nodes)
    if other != size:
        raise SystemExit(f"{world.name}: {size} nodes, in C {other}")
    for name in NODE.names or ():
        if not np.array_equal(ours[name], nodes[name][:size], equal_nan=NODE[name].kind == "f"):
            first = int(np.flatnonzero(ours[name] != nodes[name][:size])[0])
            raise SystemExit(
                f"{world.name}: {name} of node {first} is {ours[name][first]}, in C {nodes[name][first]}"
            )
    return size


def _mean_depth(nodes: Nodes, size: int) -> float:
    """Mean depth at which simulations ended: visits of all nodes but the root, over those of the root."""
    return float(nodes["visits"][1:size].sum() / nodes["visits"][0])


def _sizes(sheet: Sheet) -> None:
    """Time the last simulations of trees of growing size."""
    print("\nWhat one simulation costs at a tree's size (second half of its simulations; branching 8):\n")
    rows = []
    for world in (BIG_UCT, BIG_PUCT):
        nodes = room(world)
        for size in SIZES:
            sims = size // 8
            first = sims // 2
            spent, depth = _last(world, nodes, first, sims - first, max(3, 20_000 // sims))
            ns = spent / (sims - first) * 1e9
            rows.append(
                (world.name[-4:], number(size), f"{depth:.1f}", f"{ns:.0f}", f"{ns / (depth + 1):.0f}")
            )
    sheet.rows(("rule", "nodes", "mean depth", "ns/sim", "ns per level"), rows)
    small, big = (float(row[4]) for row in rows[5::2])
    print("\nA step that looked at all nodes would cost 1 000 times as much at the bottom as at the top.")
    sheet.at_most("a level at a million nodes against ten thousand, PUCT", big / small, 4.0)


def _last(world: World, nodes: Nodes, first: int, sims: int, times: int) -> tuple[float, float]:
    """Median seconds of `sims` simulations after `first`, and their mean depth."""
    state: dict[str, int] = {}

    def before() -> None:
        start(nodes)
        state["size"] = run_ours(world, nodes, 1, first)
        state["visits"] = int(nodes["visits"][1 : state["size"]].sum())

    def run() -> None:
        state["size"] = run_ours(world, nodes, state["size"], sims)

    spent = interleaved({"": run}, before, times)[""]
    return spent, (int(nodes["visits"][1 : state["size"]].sum()) - state["visits"]) / sims
