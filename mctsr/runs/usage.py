"""What calls have cost, as records: written from tallies, and added up.

Knows that a server which tells how many prompt tokens its prefix cache held may be silent where there were none.
"""

from collections.abc import Iterable

from mctsr.lm.base import Tally, Usage

from .records import RoleUsageRecord, UsageRecord


def usage_record(tally: Tally) -> UsageRecord:
    """Write down what calls have cost."""
    return {
        "calls": tally.calls,
        **role_record(tally.usage),
        "seconds": round(tally.seconds, 3),
        "roles": {role: role_record(tally.roles[role]) for role in tally.roles},
    }


def role_record(usage: Usage) -> RoleUsageRecord:
    """Write tokens down."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
    }


def total_usage(records: Iterable[UsageRecord]) -> Usage:
    """Add up the tokens of problems."""
    return sum(map(_usage, records), Usage())


def usage_by_role(records: Iterable[UsageRecord]) -> dict[str, Usage]:
    """Add up the tokens of problems by role; empty for runs whose calls do not say whose they are."""
    found: dict[str, Usage] = {}
    for role, record in (part for usage in records for part in usage.get("roles", {}).items()):
        found[role] = found.get(role, Usage()) + _usage(record)
    return dict(sorted(found.items(), key=lambda part: -part[1].prompt_tokens))


def _usage(record: UsageRecord | RoleUsageRecord) -> Usage:
    cached = record["cached_tokens"]
    # Older runs wrote zero for what was not told.
    told = cached if "roles" in record or "calls" not in record or cached else None
    return Usage(record["prompt_tokens"], record["completion_tokens"], told)
