"""What a model is trained towards: values, labels and advantages from finished trees and episodes.

Plain arrays in, plain arrays out. Who was right comes from the caller; no gold answer is read here.
"""

import numpy as np
from numpy.typing import NDArray

from mctsr.errors import UsageError

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_NEVER = np.iinfo(np.int64).max


def rest_mcts_values(parents: Ids, right: Flags) -> Floats:
    """V = max(0, V_p + (1 - V_p) r / m), from the roots (0) down.

    On the way to a right leaf r = 1 and m counts the nodes from here to the nearest one, both ends included.
    Off it r = -1 and m is that of the closest ancestor on a right way; in a tree without a right leaf all
    values are 0.
    Source: ReST-MCTS*, arXiv:2406.03816, as released (THUDM/ReST-MCTS).

    Args:
        parents: int64, shape [n]; row of each node's parent, smaller than its own; -1 for a root.
        right: bool, shape [n]; whether the node ends a right solution.

    Returns:
        f8, shape [n], in [0, 1].
    """
    n = len(parents)
    away = np.where(right, 1, _NEVER)
    for node in range(n - 1, -1, -1):
        above = parents[node]
        if above >= 0 and away[node] != _NEVER:
            away[above] = min(away[above], away[node] + 1)
    values, m = np.zeros(n), away.copy()
    for node in range(n):
        above = parents[node]
        if above < 0:
            continue
        on_the_way = away[node] != _NEVER
        m[node] = away[node] if on_the_way else m[above]
        share = 0.0 if m[node] == _NEVER else (1.0 if on_the_way else -1.0) / m[node]
        values[node] = max(0.0, values[above] + (1.0 - values[above]) * share)
    return values


def agent_prm_code_labels(keys: Ids, lengths: Ids, scores: Floats, *, gamma: float = 0.95) -> Floats:
    """½ (1 + mean of gamma^t R over equal keys), R = 2 score - 1, t from the start.

    The first action is not discounted and the last one most: the later a failure, the better its label.
    Source: AgentPRM, arXiv:2502.10325, as released (sanjibanc/agent_prm, `compute_prm_target.py`).

    Args:
        keys: int64, shape [sum of lengths]; number of each (state, action), episode after episode.
        lengths: int64, shape [e]; actions of each episode.
        scores: f8, shape [e], in [0, 1]; final score of each episode.
        gamma: Discount.

    Returns:
        f8, shape [sum of lengths], in [0, 1].

    Raises:
        UsageError: The arrays do not fit together.
    """
    ages = [np.arange(length) for length in lengths]
    return _agent_prm(keys, lengths, scores, ages, gamma)


def agent_prm_labels(keys: Ids, lengths: Ids, scores: Floats, *, gamma: float = 0.95) -> Floats:
    """½ (1 + mean of gamma^(T - 1 - t) R over equal keys), R = 2 score - 1.

    The return-to-go: the last action is not discounted.
    Source: AgentPRM, arXiv:2502.10325 (Q targets). Arguments, result and errors as of `agent_prm_code_labels`.
    """
    ages = [np.arange(length)[::-1] for length in lengths]
    return _agent_prm(keys, lengths, scores, ages, gamma)


def _agent_prm(keys: Ids, lengths: Ids, scores: Floats, ages: list[Ids], gamma: float) -> Floats:
    if len(lengths) != len(scores) or len(keys) != lengths.sum():
        raise UsageError(
            f"{len(keys)} keys, {len(lengths)} episodes of {lengths.sum()} actions and {len(scores)} scores do not "
            "fit; give one score an episode and one key an action"
        )
    if not len(keys):
        return np.zeros(0)
    targets = gamma ** np.concatenate(ages) * np.repeat(2.0 * scores - 1.0, lengths)
    _, group = np.unique(keys, return_inverse=True)
    means = np.bincount(group, targets) / np.bincount(group)
    return 0.5 * (means[group] + 1.0)


def expectation(successes: Ids, completions: Ids) -> Floats:
    """V(p) = share of the completions below a prefix that succeed, 0 without any.

    Source: Tree-OPO, arXiv:2509.09284.
    """
    return successes / np.maximum(completions, 1)


def optimistic(successes: Ids, completions: Ids) -> Floats:
    """V(p) = 1 if any completion below a prefix succeeds.

    Source: Tree-OPO, arXiv:2509.09284.
    """
    return np.where(successes > 0, 1.0, 0.0)


def pessimistic(successes: Ids, completions: Ids) -> Floats:
    """V(p) = 1 if no completion below a prefix fails, 0 without any.

    Source: Tree-OPO, arXiv:2509.09284.
    """
    return np.where((successes == completions) & (completions > 0), 1.0, 0.0)


def tree_opo(rewards: Floats, values: Floats, *, alpha: float = 0.5) -> Floats:
    """a_i = r_i - alpha V(p_i), less the mean of the group; not divided by a deviation.

    Source: Tree-OPO, arXiv:2509.09284 (heuristic advantages).

    Args:
        rewards: f8, shape [n]; reward of each completion of the group.
        values: f8, shape [n]; value of the prefix that each one completes.
        alpha: Weight of the prefix.

    Returns:
        f8, shape [n]; its sum is 0.
    """
    raw = rewards - alpha * values
    centred: Floats = raw - raw.mean()
    return centred


def tree_opo_soft(
    rewards: Floats, pairs: Ids, *, delta: float = 0.0, rounds: int = 10_000, tolerance: float = 1e-10
) -> Floats:
    """Minimise ½ |a - r|²; sum a = 0, |a|² <= n, a_i + delta <= a_j for all pairs.

    Dykstra's alternating projections: onto each half-space in turn, then onto the ball. Centring once is enough,
    since neither kind of projection moves the sum away from 0.
    Source: Tree-OPO, arXiv:2509.09284 (staged advantage estimation, soft variant, where delta = 0); the projections:
    Boyle and Dykstra 1986; the test for their end: Birgin and Raydan 2005.

    Args:
        rewards: f8, shape [n].
        pairs: int64, shape [m, 2]; rows (i, j), i must lie below j.
        delta: By how much.
        rounds: Most rounds through all sets.
        tolerance: The end: no row's correction moved further in a round, and no pair is off by more.

    Returns:
        f8, shape [n].

    Raises:
        UsageError: No end in `rounds`: the pairs contradict each other, or delta is too large for the ball.
    """
    a: Floats = rewards - rewards.mean()
    n, lower, upper = len(a), pairs[:, 0], pairs[:, 1]
    push = np.zeros(len(pairs))
    pulled = np.zeros(n)
    for _ in range(rounds):
        moved = _order(a, lower, upper, push, delta)
        outside = a + pulled
        # The ball's centre lies on the hyperplane, so that shrinking keeps the sum at 0.
        a = outside * min(1.0, np.sqrt(n) / max(float(np.linalg.norm(outside)), 1e-300))
        moved = max(moved, float(np.abs(outside - a - pulled).max()))
        pulled = outside - a
        if moved <= tolerance and (a[lower] + delta - a[upper] <= tolerance).all():
            return a
    raise UsageError(
        f"the advantages of {n} rewards under {len(pairs)} pairs and delta {delta:g} did not settle in {rounds} "
        "rounds; pairs may not contradict each other and delta must leave room for all of them: check both"
    )


def _order(a: Floats, lower: Ids, upper: Ids, push: Floats, delta: float) -> float:
    """Project `a` onto each pair's half-space in turn, in place; returns the largest change of a correction."""
    moved = 0.0
    for k in range(len(push)):
        i, j = lower[k], upper[k]
        # A correction is a multiple of (1, -1) at (i, j): one number stands for the whole vector.
        need = max(0.0, 0.5 * (a[i] - a[j] + delta) + push[k])
        a[i] -= need - push[k]
        a[j] += need - push[k]
        moved = max(moved, abs(need - push[k]))
        push[k] = need
    return moved
