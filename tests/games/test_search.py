"""The searches that the arena plays with, at Breakthrough 4x4 and Hex."""

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
METHODS = ["uct", "rave", "grave", "mcps", "grave-abstract", "mcps-abstract"]


@pytest.fixture(scope="module")
def games() -> Iterator[Any]:
    """`games.play`, imported as the scripts import it."""
    sys.path.insert(0, str(SCRIPTS))
    yield import_module("games.play")
    sys.path.remove(str(SCRIPTS))


def grown(games: Any, method: str, state: Any, seed: int, playouts: int = 300) -> Any:
    """Return a player of Hex that has searched from `state`."""
    player = games.Player("hex7", games.methods()[method], playouts)
    player.grow(state, games.new_rng(seed))
    return player


@pytest.mark.parametrize("method", METHODS)
def test_every_playout_is_one_visit_of_the_root_and_of_one_child(games: Any, method: str) -> None:
    player = grown(games, method, games.load("hex7")[0].start, 1)
    nodes = player.memory.nodes
    children = nodes["visits"][1 : 1 + nodes["n_children"][0]]
    assert nodes["visits"][0] == children.sum() == 300
    assert nodes["n_children"][0] == 49
    assert np.all(np.abs(nodes["value"][1:50][children > 0]) <= 1)


@pytest.mark.parametrize("method", METHODS)
def test_a_search_repeats_with_its_seed_whatever_its_memory_held_before(games: Any, method: str) -> None:
    start = games.load("hex7")[0].start
    once = grown(games, method, start, 1)
    visits = once.memory.nodes["visits"][:50].copy()
    once.grow(start, games.new_rng(2))
    assert not np.array_equal(once.memory.nodes["visits"][:50], visits)
    once.grow(start, games.new_rng(1))
    assert np.array_equal(once.memory.nodes["visits"][:50], visits)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mover", [0, 1])
def test_the_winning_move_is_played(games: Any, method: str, mover: int) -> None:
    """Each player lacks one cell of a straight chain; the two chains would cross there."""
    player = games.Player("hex7", games.methods()[method], 500)
    state = player.game.start.copy()
    state[0] = sum(1 << (8 * row + 3) for row in range(7) if row != 3)
    state[1] = sum(1 << (8 * 3 + column) for column in range(7) if column != 3)
    state[2] = mover
    assert player.choose(state, games.new_rng(4)) == mover * 64 + 27


def test_the_root_row_holds_how_often_each_move_occurred(games: Any) -> None:
    player = grown(games, "mcps", games.load("hex7")[0].start, 3)
    counts, frozen = player.statistics.table[0, :, 0], player.statistics.frozen[0, :, 0]
    assert counts.sum() > 300 * 30
    # The root's AMAF row misses nothing: it got its row with the first playout.
    assert np.array_equal(counts, frozen)
    assert np.array_equal(player.statistics.table[0, :, 1], player.statistics.frozen[0, :, 1])


def test_the_arena_goes_on_where_it_stopped(tmp_path: Path) -> None:
    out = tmp_path / "arena.jsonl"
    command = [sys.executable, str(SCRIPTS / "arena"), "--only", "hex7", "grave(ref=50, bias=1e-05) - uct"]
    command += ["--playouts", "20", "--out", str(out), "--games"]

    def run(games: int) -> str:
        return subprocess.run([*command, str(games)], check=True, capture_output=True, text=True).stdout

    assert "0 games are in" in run(3)
    lines = out.read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [0, 1, 2]
    out.write_text("\n".join(lines[:2]) + "\n" + lines[2][:20])
    assert "2 games are in" in run(3)
    assert out.read_text().splitlines()[-1] == lines[2]
    last = run(3)
    assert "3 games are in" in last
    assert "| hex7 | grave(ref=50, bias=1e-05) | uct(c=0.7) | 3 |" in last
