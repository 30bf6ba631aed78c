"""The simulated prefix cache: what it finds, what it forgets, and that no order beats the distinct tokens."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import UsageError
from mctsr.testing.prefix_cache import Call, PrefixCache, computed, distinct

TEN = list(range(10))


def send(cache: PrefixCache, prompt: list[int], reply: list[int] | None = None) -> int:
    held = cache.begin(prompt)
    cache.end(held, reply or [])
    return held.cached


def test_whole_blocks_are_found_again_and_the_last_token_never() -> None:
    cache = PrefixCache(block=4)
    assert [send(cache, TEN), send(cache, TEN)] == [0, 8]
    assert send(cache, TEN[:8]) == 4, "of two whole blocks the second holds the last token"
    assert send(cache, [*TEN[:5], 99, 99, 99, 99]) == 4
    assert send(cache, [99, *TEN]) == 0


def test_what_was_written_is_found_by_whoever_goes_on() -> None:
    cache = PrefixCache(block=4)
    send(cache, TEN, [10, 11, 12])
    assert send(cache, [*TEN, 10, 11, 12, 13]) == 12


def test_siblings_in_flight_share_their_prompt() -> None:
    cache = PrefixCache(block=4)
    held = [cache.begin(TEN) for _ in range(3)]
    assert [one.cached for one in held] == [0, 8, 8]
    assert len(cache) == 2


def test_who_was_used_longest_ago_is_forgotten_and_the_end_before_the_beginning() -> None:
    cache = PrefixCache(8, block=2)
    send(cache, [1, 2, 3, 4, 5])
    send(cache, [6, 7, 8, 9, 0])
    send(cache, [1, 2, 3, 4, 5])
    send(cache, [11, 12])
    assert cache.evicted == 1
    assert send(cache, [6, 7, 8, 9, 0]) == 2, "its end is gone, its beginning is not"


def test_nobody_is_forgotten_in_flight_and_the_cache_shrinks_afterwards() -> None:
    cache = PrefixCache(4, block=2)
    held = [cache.begin([n, n, n, n]) for n in range(3)]
    assert (len(cache), cache.most, cache.evicted) == (6, 6, 0)
    for one in held:
        cache.end(one, [])
    assert (len(cache), cache.evicted) == (2, 4)


@pytest.mark.parametrize(("capacity", "block"), [(None, 0), (15, 16), (0, 1)])
def test_a_cache_that_holds_no_block_is_refused(capacity: int | None, block: int) -> None:
    with pytest.raises(UsageError, match="block"):
        PrefixCache(capacity, block)


def test_distinct_tokens_are_counted_by_hand() -> None:
    calls = [
        Call([1, 2, 3], [4, 5]),
        Call([1, 2, 3, 4, 5, 6], []),  # 4 5 were written: only 6 is new
        Call([1, 2, 9], []),
        Call([2, 3], []),  # nothing stands before them here
    ]
    assert distinct(calls) == 3 + 1 + 1 + 2


calls_of = st.lists(
    st.builds(
        Call, st.lists(st.integers(0, 2), min_size=1, max_size=12), st.lists(st.integers(0, 2), max_size=6)
    ),
    max_size=25,
)


@given(calls_of, st.integers(1, 4), st.one_of(st.none(), st.integers(4, 24)), st.integers(1, 5))
def test_no_cache_and_no_order_beats_the_distinct_tokens(
    calls: list[Call], block: int, capacity: int | None, flying: int
) -> None:
    cache = PrefixCache(capacity, block)
    found = computed(calls, cache, flying)
    assert distinct(calls) <= found <= sum(len(call.prompt) for call in calls)
    assert capacity is None or len(cache) * block <= capacity


@given(calls_of)
def test_a_cache_of_single_tokens_that_forgets_nothing_computes_each_once_and_every_last_one(
    calls: list[Call],
) -> None:
    silent = [Call(call.prompt, ()) for call in calls]
    found = computed(silent, PrefixCache(block=1))
    assert distinct(silent) <= found <= distinct(silent) + len(silent)


@given(calls_of, st.integers(1, 4), st.integers(4, 24))
def test_a_block_outlives_no_block_before_it(calls: list[Call], block: int, capacity: int) -> None:
    cache = PrefixCache(capacity, block)
    for call in calls:
        send(cache, [*call.prompt], [*call.reply])
        whole = [*call.prompt, *call.reply, 7]
        # What is found of a prompt is found of its beginnings, too.
        found = [deepcopy(cache).begin(whole[:end]).cached for end in range(1, len(whole) + 1)]
        assert found == sorted(found)
