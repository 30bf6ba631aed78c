"""How much of what a run sent was in the server's prefix cache already, as far as it told.

A server that tells of some calls of a role and is silent about others found nothing for these; one that never tells
leaves the share unknown, which is not zero.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from mctsr.lm.base import Usage
from mctsr.runs.records import UsageRecord
from mctsr.runs.usage import total_usage, usage_by_role

_SILENT = "not told by the server (vLLM: --enable-prompt-tokens-details, SGLang: --enable-cache-report)"


@dataclass(frozen=True, slots=True)
class Hits:
    """Prompt tokens, those of them that came from the cache, and their share in [0, 1]; None where not told."""

    prompt_tokens: int
    cached_tokens: int | None
    rate: float | None

    def __str__(self) -> str:
        return "not told" if self.rate is None else f"{100 * self.rate:.0f} %"


@dataclass(frozen=True, slots=True)
class PrefixCache:
    """The hits of a run.

    Attributes:
        told: Of all roles whose server tells; of all calls when none does, or when calls do not say whose they are.
        roles: By role, the one that read most first.
    """

    told: Hits
    roles: dict[str, Hits]

    @property
    def words(self) -> str:
        """The shares in one line for people."""
        if self.told.rate is None:
            return f"prefix cache: {_SILENT}"
        roles = ", ".join(f"{role} {hits}" for role, hits in self.roles.items())
        where = " where told" if any(hits.rate is None for hits in self.roles.values()) else ""
        return f"prefix cache {self.told} of prompt tokens{where}{roles and f' ({roles})'}"


def prefix_cache(records: Iterable[UsageRecord]) -> PrefixCache:
    """Add up the hits of problems."""
    usages = list(records)
    roles = usage_by_role(usages)
    told = [usage for usage in roles.values() if usage.cached_tokens is not None]
    return PrefixCache(
        _hits(sum(told, Usage()) if told else total_usage(usages)),
        {role: _hits(usage) for role, usage in roles.items()},
    )


def _hits(usage: Usage) -> Hits:
    cached, prompt = usage.cached_tokens, usage.prompt_tokens
    return Hits(prompt, cached, cached / prompt if cached is not None and prompt else None)
