"""How a report speaks of the prefix cache: known shares as shares, and silence as silence."""

import pytest

from mctsr.lm.base import Completion, Pooled, Tally, Usage
from mctsr.report.prefix import Hits, prefix_cache
from mctsr.runs.records import UsageRecord
from mctsr.runs.usage import total_usage, usage_record


def problem(**roles: Usage) -> UsageRecord:
    tally = Tally()
    for role, usage in roles.items():
        tally.count(Completion("4", usage=usage), role=role)  # type: ignore[arg-type]
    return usage_record(tally)


def test_shares_are_told_by_role_and_together() -> None:
    found = prefix_cache(
        [problem(policy=Usage(100, 9, 80), judge=Usage(300, 1, 60)), problem(policy=Usage(100, 9, 60))]
    )
    assert found.roles == {"judge": Hits(300, 60, 0.2), "policy": Hits(200, 140, 0.7)}
    assert found.told == Hits(500, 200, 0.4)
    assert found.words == "prefix cache 40 % of prompt tokens (judge 20 %, policy 70 %)"


def test_a_role_whose_server_is_silent_is_not_told_and_counts_in_no_share() -> None:
    found = prefix_cache([problem(policy=Usage(100, 9, 80), judge=Usage(90, 1))])
    assert found.roles["judge"] == Hits(90, None, None)
    assert found.words == "prefix cache 80 % of prompt tokens where told (policy 80 %, judge not told)"


def test_silence_about_some_calls_of_a_server_that_tells_of_others_means_none() -> None:
    """vLLM leaves the field out when nothing was found."""
    found = prefix_cache([problem(policy=Usage(100, 9)), problem(policy=Usage(100, 9, 60))])
    assert found.told == Hits(200, 60, 0.3)


def test_a_zero_that_was_told_is_a_zero() -> None:
    assert prefix_cache([problem(policy=Usage(100, 9, 0))]).told == Hits(100, 0, 0.0)


@pytest.mark.parametrize("records", [[], [problem(policy=Usage(100, 9))], [problem(policy=Usage())]])
def test_where_nothing_is_told_the_share_is_unknown_and_it_is_said_what_helps(
    records: list[UsageRecord],
) -> None:
    found = prefix_cache(records)
    assert found.told.rate is None
    assert found.words.startswith(
        "prefix cache: not told by the server (vLLM: --enable-prompt-tokens-details"
    )


def test_calls_that_do_not_say_whose_they_are_have_a_share_together() -> None:
    tally = Tally()
    tally.count(Pooled(((1.0,),), Usage(10, 0, 5)))
    found = prefix_cache([usage_record(tally)])
    assert (found.roles, found.words) == ({}, "prefix cache 50 % of prompt tokens")


def test_zero_in_a_run_from_before_silence_was_kept_is_silence() -> None:
    old: UsageRecord = {
        "calls": 1,
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "cached_tokens": 0,
        "seconds": 0.1,
    }
    assert total_usage([old]).cached_tokens is None
    assert total_usage([{**old, "cached_tokens": 4}, old]).cached_tokens == 4
