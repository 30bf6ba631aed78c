"""Write random games as OpenSpiel plays them to tests/games/reference.json.

Needs `pip install open_spiel==VERSION numpy` in an environment of its own; run as `python make_reference.py OUT`.
Each game is the moves, the number of legal moves before each and after the last (0 there), and the winner (+1
first player). Moves: Hex and AtariGo `[row, column]`, Breakthrough `[from row, from column, to row, to column]`
with row 0 the home row of the first player. AtariGo is OpenSpiel's Go without its pass move, cut at the first
move after which the opponent has fewer stones, or where only the pass is left.
"""

import json
import sys
from importlib.metadata import version

import numpy as np
import pyspiel


def hex_game(rng):
    """Play one random game of Hex 7x7."""
    state = pyspiel.load_game("hex(board_size=7)").new_initial_state()
    moves, counts = [], []
    while not state.is_terminal():
        legal = state.legal_actions()
        counts.append(len(legal))
        action = int(rng.choice(legal))
        moves.append([action // 7, action % 7])
        state.apply_action(action)
    return {"moves": moves, "counts": [*counts, 0], "winner": int(state.returns()[0])}


def breakthrough_game(rng):
    """Play one random game of Breakthrough 6x6."""
    state = pyspiel.load_game("breakthrough(rows=6,columns=6)").new_initial_state()
    moves, counts = [], []
    while not state.is_terminal():
        legal = state.legal_actions()
        counts.append(len(legal))
        action = int(rng.choice(legal))
        name = state.action_to_string(action)
        moves.append([6 - int(name[1]), ord(name[0]) - ord("a"), 6 - int(name[3]), ord(name[2]) - ord("a")])
        state.apply_action(action)
    return {"moves": moves, "counts": [*counts, 0], "winner": int(state.returns()[0])}


def stones(state):
    """Count the stones of both colours on a Go board."""
    board = str(state).split("\n\n", 1)[1]
    return board.count("X"), board.count("O")


def atarigo_game(rng):
    """Play one random game of AtariGo 7x7 by the rules of Go."""
    state = pyspiel.load_game("go(board_size=7)").new_initial_state()
    moves, counts, mover, winner = [], [], 0, 0
    while not winner:
        legal = [action for action in state.legal_actions() if action != 49]
        counts.append(len(legal))
        if not legal:
            winner = 2 * mover - 1
            break
        action = int(rng.choice(legal))
        moves.append([action // 7, action % 7])
        before = stones(state)[1 - mover]
        state.apply_action(action)
        if stones(state)[1 - mover] < before:
            winner = 1 - 2 * mover
            counts.append(0)
        mover = 1 - mover
    return {"moves": moves, "counts": counts, "winner": winner}


def main():
    """Write 30 games of each."""
    rng = np.random.default_rng(7)
    made = f"scripts/games/make_reference.py, open_spiel {version('open_spiel')}"
    players = {"hex7": hex_game, "breakthrough6": breakthrough_game, "atarigo7": atarigo_game}
    games = {name: [play(rng) for _ in range(30)] for name, play in players.items()}
    with open(sys.argv[1], "w") as out:
        json.dump({"made by": made, **games}, out, separators=(",", ":"))
        out.write("\n")


main()
