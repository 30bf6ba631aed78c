"""Rewards made of verdicts on the steps of a rollout and of its outcome. They know no tree."""

from collections.abc import Sequence


def grounded_prm_code(verdicts: Sequence[float], outcome: float) -> float:
    """Sum over i < n of v_i (n - i) / n^2, plus F / n; F alone when n = 0.

    Early steps weigh most, and the outcome less the longer the rollout.
    Source: GroundedPRM, arXiv:2510.14942, as released (JerryPlain/GroundedPRMCode, `pipeline/MCTS/mcts.py`).

    Args:
        verdicts: v, each in [-1, 1]; steps after the start, the last one left out (the outcome stands for it).
        outcome: F, in [-1, 1].
    """
    n = len(verdicts)
    if n == 0:
        return outcome
    return sum(v * (n - i) for i, v in enumerate(verdicts)) / n**2 + outcome / n


def grounded_prm(
    verdicts: Sequence[float], outcome: float, *, weights: Sequence[float], beta: float
) -> float:
    """Mean of d_j v_j over the steps that follow, plus beta F; beta F alone when none follows.

    Source: GroundedPRM, arXiv:2510.14942. No value of d or beta is known from the paper, so there is no default.

    Args:
        verdicts: v, each in [-1, 1]; all steps after the one to be rewarded.
        outcome: F, in [-1, 1].
        weights: d, one for each verdict.
        beta: Weight of the outcome.

    Raises:
        ValueError: There are not as many weights as verdicts.
    """
    later = sum(d * v for d, v in zip(weights, verdicts, strict=True))
    return later / max(len(verdicts), 1) + beta * outcome
