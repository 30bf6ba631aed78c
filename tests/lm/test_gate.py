"""The gate: limit, order, cancellation, narrowing and widening."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mctsr.errors import UsageError
from mctsr.lm.gate import Gate


async def hold(gate: Gate, priority: tuple[int, ...], log: list[object], done: asyncio.Event) -> None:
    async with gate.slot(priority):
        log.append(priority)
        await done.wait()


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        Gate(limit)


async def test_no_more_than_the_limit_are_in_flight() -> None:
    gate, peak = Gate(3), 0

    async def work() -> None:
        nonlocal peak
        async with gate.slot():
            peak = max(peak, gate.in_flight)
            await asyncio.sleep(0)

    await asyncio.gather(*(work() for _ in range(50)))
    assert (peak, gate.in_flight) == (3, 0)


async def test_lower_priorities_go_first_and_equal_ones_in_order() -> None:
    gate, seen = Gate(1), []

    async def work(priority: tuple[int, ...], name: str) -> None:
        async with gate.slot(priority):
            seen.append(name)
            await asyncio.sleep(0)

    queued = [((2,), "new"), ((0,), "old a"), ((1,), "middle"), ((0,), "old b")]
    async with gate.slot():
        tasks = [asyncio.create_task(work(*entry)) for entry in queued]
        await settle()
    await asyncio.gather(*tasks)
    assert seen == ["old a", "old b", "middle", "new"]


async def test_a_waiter_that_is_cancelled_takes_no_slot() -> None:
    gate, done = Gate(1), asyncio.Event()
    log: list[object] = []
    tasks = [asyncio.create_task(hold(gate, (i,), log, done)) for i in range(3)]
    await settle()
    tasks[1].cancel()
    await settle()
    done.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert log == [(0,), (2,)]
    assert gate.in_flight == 0


async def test_a_waiter_cancelled_at_the_moment_of_its_turn_gives_the_slot_on() -> None:
    gate, done = Gate(1), asyncio.Event()
    log: list[object] = []
    async with gate.slot():
        first = asyncio.create_task(hold(gate, (1,), log, done))
        second = asyncio.create_task(hold(gate, (2,), log, done))
        await settle()
    assert gate.in_flight == 1  # the first has its turn and has not run yet
    first.cancel()
    await settle()
    assert log == [(2,)]
    done.set()
    await asyncio.gather(first, second, return_exceptions=True)
    assert gate.in_flight == 0


async def test_one_burst_of_overloads_halves_once_and_the_next_halves_again() -> None:
    gate = Gate(16)
    slots = [gate.slot() for _ in range(16)]
    for slot in slots:
        await slot.__aenter__()
    for slot in slots:
        slot.overloaded()
    assert gate.limit == 8
    for slot in slots:
        slot.overloaded()
    assert gate.limit == 4
    for slot in slots:
        await slot.__aexit__(None, None, None)
    assert gate.in_flight == 0


async def test_the_limit_never_falls_below_one() -> None:
    gate = Gate(4)
    for _ in range(10):
        async with gate.slot() as slot:
            slot.overloaded()
    assert gate.limit == 1


async def test_the_limit_grows_by_one_per_limit_successes_up_to_the_configured_one() -> None:
    gate, limits = Gate(4), []
    async with gate.slot() as slot:
        slot.overloaded()
    for _ in range(12):
        async with gate.slot() as slot:
            slot.succeeded()
        limits.append(gate.limit)
    assert limits == [2, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]


async def test_a_wider_limit_admits_who_waits() -> None:
    gate, done = Gate(2), asyncio.Event()
    log: list[object] = []
    async with gate.slot() as slot:
        slot.overloaded()
        task = asyncio.create_task(hold(gate, (1,), log, done))
        await settle()
        assert log == []
        slot.succeeded()
        await settle()
        assert log == [(1,)]
    done.set()
    await task


@given(
    limit=st.integers(1, 4),
    plan=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=25),
)
def test_slots_are_never_lost_whoever_is_cancelled(limit: int, plan: list[tuple[int, int, bool]]) -> None:
    async def run() -> tuple[int, int]:
        gate, peak = Gate(limit), 0

        async def work(priority: int, turns: int) -> None:
            nonlocal peak
            async with gate.slot((priority,)):
                peak = max(peak, gate.in_flight)
                for _ in range(turns):
                    await asyncio.sleep(0)

        tasks = []
        for priority, turns, cancelled in plan:
            tasks.append(asyncio.create_task(work(priority, turns)))
            await asyncio.sleep(0)
            if cancelled:
                tasks[len(tasks) // 2].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return peak, gate.in_flight

    peak, left = asyncio.run(run())
    assert peak <= limit
    assert left == 0
