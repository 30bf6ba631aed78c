"""What runs were allowed to cost, where that is not the same.

Knows the settings of a run that limit its cost, under the names of their flags. Reads run.json alone.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

_LIMITS = ("max_calls", "token_limit", "time_limit", "max_tokens", "judge_max_tokens")


def unequal_limits(runs: Sequence["Run"], labels: Sequence[str]) -> list[str]:
    """Say in one line which limits differ, and what they are in each run; nothing where all are the same.

    Args:
        runs: The runs.
        labels: What each is called.
    """
    limits = [_limits(run.record["settings"]) for run in runs]
    unequal = [name for name in _LIMITS if len({each[name] for each in limits}) > 1]
    if not unequal:
        return []
    words = [f"--{name.replace('_', '-')} {', '.join(_each(name, labels, limits))}" for name in unequal]
    return [f"the runs had different limits: {'; '.join(words)}"]


def _limits(settings: Mapping[str, object]) -> dict[str, str]:
    policy = settings.get("policy")
    longest = policy.get("max_tokens") if isinstance(policy, Mapping) else None
    return {name: _spelt(longest if name == "max_tokens" else settings.get(name)) for name in _LIMITS}


def _spelt(limit: object) -> str:
    return f"{limit:,}" if isinstance(limit, int) else f"{limit:g}" if isinstance(limit, float) else "none"


def _each(name: str, labels: Sequence[str], limits: Sequence[Mapping[str, str]]) -> list[str]:
    return [f"{each[name]} in {label}" for label, each in zip(labels, limits, strict=True)]
