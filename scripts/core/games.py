"""Playouts a second of the searches that play the arena, and of OpenSpiel's C++ MCTS on the same boards."""

import sys
from pathlib import Path

from .peers import environment, timed
from .table import Sheet, number

BOARDS = {"hex7": "hex(board_size=7)", "breakthrough6": "breakthrough(rows=6,columns=6)"}
TITLES = {"hex7": "Hex 7x7", "breakthrough6": "Breakthrough 6x6"}
METHODS = ("uct", "rave", "grave", "mcps")
PLAYOUTS, MANY = 1_000, 10_000
GRAVE_COST = {"hex7": 3.5, "breakthrough6": 2.5}
TIMES = 15


def games(sheet: Sheet) -> None:
    """Print playouts a second and the ratios that are wanted."""
    sheet.title("games: playouts a second, one random playout a leaf, from the opening, compiled before")
    ours = {
        (board, method, n): rate(board, method, n)
        for board in BOARDS
        for method in METHODS
        for n in (PLAYOUTS, MANY)
    }
    theirs = openspiel()
    rows = []
    for board, title in TITLES.items():
        for n in (PLAYOUTS, MANY):
            rates = [ours[board, method, n] for method in METHODS]
            other = theirs.get((board, n), "-")
            shown = number(other) if isinstance(other, float) else other
            costs = [f"{rates[0] / one:.2f}" for one in rates[1:]]
            rows.append((title, number(n), *map(number, rates), *costs, shown))
    heads = (
        "board",
        "playouts",
        "UCT",
        "RAVE",
        "GRAVE",
        "MCPS",
        "RAVE cost",
        "GRAVE cost",
        "MCPS cost",
        "OpenSpiel C++ UCT",
    )
    sheet.rows(heads, rows)
    print(
        "\nCost in units of UCT. Ours are bitboards with moves compiled in; OpenSpiel plays any game behind one"
        "\ninterface and copies a general state for every playout: most of the distance is that, not the search."
        "\nGRAVE goes deeper and expands more nodes than UCT with as many playouts; that is part of its cost.\n"
    )
    for board, title in TITLES.items():
        cost = ours[board, "uct", PLAYOUTS] / ours[board, "grave", PLAYOUTS]
        sheet.at_most(f"GRAVE in units of UCT, {title}, {PLAYOUTS} playouts", cost, GRAVE_COST[board])
        other = theirs.get((board, PLAYOUTS))
        if isinstance(other, float):
            sheet.at_least(
                f"UCT in units of OpenSpiel's C++, {title}", ours[board, "uct", PLAYOUTS] / other, 20.0
            )
        sheet.at_least(f"MCPS a second at {PLAYOUTS}, {title}", ours[board, "mcps", PLAYOUTS], 100_000.0)
        sheet.at_least(f"MCPS a second at {MANY}, {title}", ours[board, "mcps", MANY], 40_000.0)


def rate(board: str, method: str, playouts: int) -> float:
    """Median playouts per second of CPU time of the arena's own search."""
    scripts = str(Path(__file__).resolve().parent.parent)
    if scripts not in sys.path:
        sys.path.insert(0, scripts)
    from games.play import playouts_per_second

    seen = sorted(playouts_per_second(board, method, playouts, seed) for seed in range(TIMES))
    return seen[TIMES // 2]


def openspiel() -> dict[tuple[str, int], float | str]:
    """Playouts a second of the C++ search, by board and number of playouts; empty when it cannot be had."""
    found: dict[tuple[str, int], float | str] = {}
    with environment(("OpenSpiel",)) as pythons:
        if "OpenSpiel" in pythons:
            for board, name in BOARDS.items():
                for n in (PLAYOUTS, MANY):
                    seconds = timed(pythons["OpenSpiel"], ("openspiel_cpp", name, str(n)))
                    found[board, n] = seconds if isinstance(seconds, str) else 1 / seconds
    return found
