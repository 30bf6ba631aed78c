"""What calls cost: completions, failures and sums."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import ContextOverflow, PromptError, ServerError
from mctsr.lm.base import Completion, Tally, Usage


@pytest.mark.parametrize("kind", [ServerError, ContextOverflow])
def test_a_call_that_fails_for_good_is_a_call_with_its_retries(kind: type[ServerError]) -> None:
    tally = Tally()
    tally.fail(kind("no", status=500, retries=4))
    assert tally == Tally(calls=1, failed=1, retried=4)


def test_what_never_left_is_a_failure_and_no_call() -> None:
    tally = Tally()
    tally.fail(PromptError("no such prompt"))
    assert tally == Tally(failed=1)


@pytest.mark.parametrize("end", [asyncio.CancelledError, KeyboardInterrupt])
def test_what_was_cancelled_has_not_failed(end: type[BaseException]) -> None:
    tally = Tally()
    tally.fail(end())
    assert tally == Tally()


outcomes = st.one_of(
    st.builds(
        Completion,
        st.sampled_from(["", "  ", "4"]),
        st.sampled_from(["stop", "length"]),
        usage=st.builds(Usage, st.integers(0, 9), st.integers(0, 9), st.none() | st.integers(0, 9)),
        retries=st.integers(0, 3),
        wire=st.lists(st.sampled_from(["dropped seed", "dropped top_k"]), unique=True).map(tuple),
    ),
    st.builds(ServerError, st.just("no"), retries=st.integers(0, 3)),
)


@given(st.lists(st.tuples(st.booleans(), outcomes)))
def test_two_tallies_together_are_the_tally_of_all(
    calls: list[tuple[bool, Completion | ServerError]],
) -> None:
    parts, whole = (Tally(), Tally()), Tally()
    for first, outcome in calls:
        for tally in (parts[first], whole):
            if isinstance(outcome, Completion):
                tally.count(outcome, role="policy" if first else "judge")
            else:
                tally.fail(outcome)
    parts[0].add(parts[1])
    assert parts[0] == whole
    assert sum(whole.roles.values(), Usage()) == whole.usage
    assert whole.calls == len(calls)
    assert whole.wire == {note for _, o in calls if isinstance(o, Completion) for note in o.wire}
