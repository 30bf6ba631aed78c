"""The compiled games against the slow ones, counts written down, and games that OpenSpiel played."""

import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.games.slow import AtariGo, Breakthrough, Hex, Move, Position, cells, perft

HERE = Path(__file__).parent
SLOW: dict[str, Callable[[], Position]] = {
    "hex7": Hex,
    "breakthrough4": lambda: Breakthrough(4),
    "breakthrough6": Breakthrough,
    "breakthrough8": lambda: Breakthrough(8),
    "atarigo7": AtariGo,
}


MOVES = np.arange(384, dtype=np.int32)
"""Codes by which playouts record the moves themselves."""


@pytest.fixture(scope="module", autouse=True)
def _scripts() -> Iterator[None]:
    """Let `games` be imported as the scripts import it."""
    folder = str(HERE.parents[1] / "scripts")
    sys.path.insert(0, folder)
    yield
    sys.path.remove(folder)


def load(name: str) -> Any:
    """Return a compiled game."""
    module = import_module(f"games.{name[:-1]}")
    return module.game(int(name[-1])) if name.startswith("breakthrough") else module.game()


def spoken(name: str, move: int) -> Move:
    """Translate a move of the compiled game into cells."""
    row, column = move >> 3 & 7, move & 7
    if not name.startswith("breakthrough"):
        return ((row, column),)
    mover, direction, size = move // 192, move // 64 % 3, int(name[-1])
    row -= (8 - size) // 2
    start = (row - 1, column + (0, 1, -1)[direction])
    if mover:
        return ((size - 1 - start[0], start[1]), (size - 1 - row, column))
    return (start, (row, column))


def listed(game: Any, state: Any) -> list[int]:
    """Return the legal moves."""
    out = np.zeros(game.max_moves, dtype=np.int64)
    return [int(move) for move in out[: game.moves(state, out)]]


def count(game: Any, state: Any, depth: int) -> int:
    """Count the lines of `depth` moves."""
    if depth == 0:
        return 1
    if game.winner(state):
        return 0
    total = 0
    for move in listed(game, state):
        after = state.copy()
        game.play(after, move)
        total += count(game, after, depth - 1)
    return total


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("seed", range(8))
def test_random_games_have_the_slow_rules_moves_and_winner(name: str, seed: int) -> None:
    game, rng = load(name), np.random.default_rng(seed)
    state, position = game.start.copy(), SLOW[name]()
    while not game.winner(state):
        moves = {spoken(name, move): move for move in listed(game, state)}
        assert sorted(moves) == sorted(position.moves())
        assert position.winner() == 0
        chosen = sorted(moves)[rng.integers(len(moves))]
        game.play(state, moves[chosen])
        position = position.after(chosen)
    assert game.winner(state) == position.winner()
    assert position.moves() == []


@pytest.mark.parametrize(
    ("name", "depth", "lines"),
    [
        ("hex7", 2, 49 * 48),
        ("atarigo7", 2, 49 * 48),
        ("breakthrough4", 4, 2_216),
        ("breakthrough6", 3, 4_308),
        ("breakthrough8", 3, 11_132),
    ],
)
def test_numbers_of_lines_from_the_start(name: str, depth: int, lines: int) -> None:
    game = load(name)
    assert count(game, game.start.copy(), depth) == lines
    assert perft(SLOW[name](), depth) == lines


@pytest.mark.parametrize("name", SLOW)
def test_numbers_of_lines_late_in_a_random_game(name: str) -> None:
    game, rng = load(name), np.random.default_rng(11)
    states, positions = [game.start.copy()], [SLOW[name]()]
    while not game.winner(states[-1]):
        moves = listed(game, states[-1])
        move = moves[rng.integers(len(moves))]
        positions.append(positions[-1].after(spoken(name, move)))
        states.append(states[-1].copy())
        game.play(states[-1], move)
    for back in range(2, min(8, len(states))):
        assert count(game, states[-back], 2) == perft(positions[-back], 2)


@pytest.mark.parametrize("name", ["hex7", "breakthrough6", "atarigo7"])
def test_games_that_openspiel_played_have_its_counts_and_winners(name: str) -> None:
    game = load(name)
    for played in json.loads((HERE / "reference.json").read_text())[name]:
        state, counts = game.start.copy(), []
        for flat in played["moves"]:
            assert game.winner(state) == 0
            moves = {spoken(name, move): move for move in listed(game, state)}
            counts.append(len(moves))
            game.play(state, moves[tuple(zip(flat[::2], flat[1::2], strict=True))])
        assert counts == played["counts"][:-1]
        assert game.winner(state) == played["winner"]


@pytest.mark.parametrize("name", SLOW)
def test_a_playout_is_a_legal_game_with_the_result_it_reports(name: str) -> None:
    game = load(name)
    rng = import_module("games.game").new_rng(5)
    trace = np.zeros(2 * game.max_length, dtype=np.int64)
    for _ in range(30):
        length, result = game.playout(game.start, rng, trace, 0, MOVES)
        assert length <= game.max_length
        state = game.start.copy()
        played = trace[:length].tolist()
        if name == "hex7":  # one player's cells after the other's: take turns, and stop when a side is joined
            played = [
                move for turn in zip_longest(played[:25], played[25:]) for move in turn if move is not None
            ]
        for move in played:
            if name == "hex7" and game.winner(state):
                break
            assert game.winner(state) == 0
            assert move in listed(game, state)
            game.play(state, move)
        assert game.winner(state) == result


@pytest.mark.parametrize("name", SLOW)
def test_playouts_repeat_with_their_seed_and_keep_the_state(name: str) -> None:
    game, new_rng = load(name), import_module("games.game").new_rng
    runs = []
    for seed in (3, 3, 4):
        rng, trace = new_rng(seed), np.zeros(2 * game.max_length, dtype=np.int64)
        state = game.start.copy()
        runs.append((game.playout(state, rng, trace, 0, MOVES), trace.tolist()))
        assert np.array_equal(state, game.start)
    assert runs[0] == runs[1] != runs[2]


def test_hex_playouts_give_every_cell_to_each_player_equally_often() -> None:
    game = load("hex7")
    rng = import_module("games.game").new_rng(1)
    trace = np.zeros(2 * game.max_length, dtype=np.int64)
    share = np.zeros(64)
    n = 4000
    for _ in range(n):
        length, _result = game.playout(game.start, rng, trace, 0, MOVES)
        mine = [m for m in trace[:length] if m < 64]
        assert (length, len(mine)) == (49, 25)
        share[mine] += 1 / n
    on_board = share[share > 0]
    assert len(on_board) == 49
    assert np.all(np.abs(on_board - 25 / 49) < 5 * 0.5 / np.sqrt(n))


def test_breakthrough_playouts_choose_every_move_equally_often() -> None:
    game = load("breakthrough6")
    rng = import_module("games.game").new_rng(1)
    trace = np.zeros(2 * game.max_length, dtype=np.int64)
    n = 8000
    first = np.zeros(384)
    for _ in range(n):
        game.playout(game.start, rng, trace, 0, MOVES)
        first[trace[0]] += 1 / n
    legal = listed(game, game.start.copy())
    assert sorted(np.flatnonzero(first)) == sorted(legal)
    assert np.all(np.abs(first[legal] - 1 / 16) < 5 * 0.25 / np.sqrt(n))


@pytest.mark.parametrize("name", SLOW)
def test_exact_codes_tell_all_moves_apart_and_abstract_ones_merge_some_of_one_mover(name: str) -> None:
    game = load(name)
    divisor = 192 if name.startswith("breakthrough") else 64
    for codes in (game.exact, game.abstract):
        named = [(int(code), move // divisor) for move, code in enumerate(codes.of) if code >= 0]
        assert {code for code, _ in named} == set(range(len(codes.signs)))
        assert all(codes.signs[code] == 1 - 2 * mover for code, mover in named)
    exact = game.exact.of[game.exact.of >= 0]
    assert len(set(exact.tolist())) == len(exact)
    assert len(game.abstract.signs) < len(game.exact.signs)


@pytest.mark.parametrize("name", SLOW)
def test_every_legal_move_has_both_codes(name: str) -> None:
    game, rng = load(name), np.random.default_rng(2)
    for _ in range(5):
        state = game.start.copy()
        while not game.winner(state):
            moves = listed(game, state)
            assert all(game.exact.of[move] >= 0 and game.abstract.of[move] >= 0 for move in moves)
            game.play(state, moves[rng.integers(len(moves))])


def test_a_player_without_a_legal_move_loses_at_atarigo() -> None:
    """The first player's stones cover the board but for two eyes: whatever the second does is suicide."""
    game = load("atarigo7")
    position = AtariGo(7, {cell: 0 for cell in cells(7) if cell not in {(0, 0), (6, 6)}})
    position.mover = 1
    state = game.start.copy()
    state[0] = sum(1 << (8 * row + column) for row, column in position.stones)
    state[2] = 1
    assert position.moves() == []
    assert listed(game, state) == []
    assert game.winner(state) == position.winner() == 1
