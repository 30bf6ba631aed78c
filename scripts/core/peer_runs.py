"""Runs inside the temporary environment of the peers: one peer, one JSON line.

The tree has the shape of the product's small one (3 to 16 children, depth at most 8), and rewards come from a hash
of the path, so that nothing is timed but the search itself. Knows nothing of mctsr, which is not installed there.

Usage: peer_runs.py NAME [ARGUMENT...]
"""

import json
import sys
import time

SIMS, DEEPEST, WORD = 1_000, 8, 2**64 - 1


def mixed(key: int) -> int:
    """Hash 64 bits."""
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    key = (key ^ (key >> 27)) * 0x94D049BB133111EB & WORD
    return key ^ (key >> 31)


def reward(key: int) -> float:
    """Make a number of [0, 1) of a hash."""
    return (key >> 11) * 2.0**-53


class State:
    """A place in the tree, as OpenSpiel's Python search asks for it."""

    __slots__ = ("depth", "key")

    def __init__(self, key: int = 7, depth: int = 0) -> None:
        self.key, self.depth = key, depth

    def clone(self) -> "State":
        return State(self.key, self.depth)

    def apply_action(self, action: int) -> None:
        self.key = mixed(self.key + (action + 1) * 0x9E3779B97F4A7C15 & WORD)
        self.depth += 1

    def is_terminal(self) -> bool:
        return self.depth >= DEEPEST

    def is_chance_node(self) -> bool:
        return False

    def current_player(self) -> int:
        return 0

    def returns(self) -> list[float]:
        return [reward(self.key)]

    def legal_actions(self, player: int = 0) -> list[int]:
        return list(range(3 + self.key % 14))


class Evaluator:
    """Answers at once."""

    def prior(self, state: State) -> list[tuple[int, float]]:
        actions = state.legal_actions()
        return [(action, 1.0 / len(actions)) for action in actions]

    def evaluate(self, state: State) -> list[float]:
        return state.returns()


def openspiel(rule: str) -> tuple[int, float]:
    """OpenSpiel's Python MCTS."""
    import pyspiel
    from open_spiel.python.algorithms import mcts

    game = pyspiel.load_game("tic_tac_toe")  # asked for its bounds alone
    choose = {"uct": mcts.SearchNode.uct_value, "puct": mcts.SearchNode.puct_value}[rule]
    bot = mcts.MCTSBot(game, 1.4, SIMS, Evaluator(), solve=False, child_selection_fn=choose)
    return SIMS, fastest(lambda: bot.mcts_search(State()))


def openspiel_cpp(name: str, sims: str) -> tuple[int, float]:
    """OpenSpiel's C++ MCTS with one random playout a leaf, from the opening of a game."""
    import pyspiel

    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(game, evaluator, 1.4, int(sims), 4_000, False, 1, False)
    return int(sims), fastest(lambda: bot.mcts_search(state))


def mctx(batch: str) -> tuple[int, float]:
    """mctx, compiled before it is timed; its arrays want one number of children, 10."""
    import jax
    import jax.numpy as jnp
    import mctx as library

    actions, size = 10, int(batch)

    def draw(key: jax.Array) -> jax.Array:
        key = (key ^ (key >> 16)) * jnp.uint32(0x7FEB352D)
        key = (key ^ (key >> 15)) * jnp.uint32(0x846CA68B)
        return key ^ (key >> 16)

    def unit(key: jax.Array) -> jax.Array:
        return (key >> 8).astype(jnp.float32) * 2.0**-24

    def logits(key: jax.Array) -> jax.Array:
        each = draw(key[:, None] + jnp.arange(1, actions + 1, dtype=jnp.uint32) * jnp.uint32(0x9E3779B9))
        return jnp.log(unit(each) + 0.01)

    def step(_: None, __: jax.Array, action: jax.Array, embedding: jax.Array) -> tuple[object, jax.Array]:
        key = draw(embedding + (action + 1).astype(jnp.uint32) * jnp.uint32(0x9E3779B9))
        flat = jnp.zeros(size)
        out = library.RecurrentFnOutput(
            reward=flat, discount=flat + 1.0, prior_logits=logits(key), value=unit(key)
        )
        return out, key

    @jax.jit
    def run(seed: jax.Array) -> jax.Array:
        key = draw(jnp.arange(size, dtype=jnp.uint32) + 7)
        root = library.RootFnOutput(prior_logits=logits(key), value=unit(key), embedding=key)
        return library.muzero_policy(None, seed, root, step, SIMS, max_depth=DEEPEST).action_weights

    seed = jax.random.PRNGKey(0)
    run(seed).block_until_ready()
    return SIMS * size, fastest(lambda: run(seed).block_until_ready(), times=3 if size == 1 else 1)


def treequest(algorithm: str, nodes: str) -> tuple[int, float]:
    """treequest, one node a step, without copying its state; a step of ours makes a node too."""
    import treequest as library

    def generate(parent: int | None) -> tuple[int, float]:
        count[0] += 1
        key = mixed((parent or 7) + count[0])
        return key, reward(key)

    count = [0]
    made = library.StandardMCTS(samples_per_action=9) if algorithm == "standard" else library.ABMCTSA()

    def run() -> None:
        state = made.init_tree()
        for _ in range(int(nodes)):
            state = made.step(state, {"any": generate}, inplace=True)

    return int(nodes), fastest(run, times=3 if algorithm == "standard" else 1)


def fastest(run: object, times: int = 3) -> float:
    """Return the least CPU seconds of several runs, or wall seconds where several threads make CPU time more."""
    spent = []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        spent.append(min(time.perf_counter() - wall, time.process_time() - cpu))
    return min(spent)


if __name__ == "__main__":
    peers = {f.__name__: f for f in (openspiel, openspiel_cpp, mctx, treequest)}
    sims, seconds = peers[sys.argv[1]](*sys.argv[2:])
    print(json.dumps({"sims": sims, "seconds": seconds}))
