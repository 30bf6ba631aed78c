"""How far a run is: calls in flight, a rate that says something, a score that counts what is graded."""

from collections.abc import Callable

import pytest

from mctsr.errors import ServerError
from mctsr.lm.base import Completion, Message, Place, Request, Usage
from mctsr.lm.scripted import Reply, Scripted
from mctsr.runs.progress import CallEnded, CallEvent, CallSent, Overheard, Progress
from tests.support.sample_run import grade, result

REQUEST = Request((Message("user", "2+2?"),))


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def progress(clock: Clock) -> Progress:
    begun = Progress(clock)
    begun.begin(3)
    return begun


def call(progress: Progress, clock: Clock, seconds: float, tokens: int | None) -> None:
    """Let a call take its time."""
    progress.take(CallSent())
    clock.now += seconds
    progress.take(CallEnded(tokens))


def test_before_the_first_reply_there_is_no_rate_and_the_wait_counts_from_the_first_call(
    progress: Progress, clock: Clock
) -> None:
    clock.now += 30  # old answers are graded again, say
    progress.take(CallSent())
    clock.now += 5
    progress.take(CallSent())
    assert (progress.calls, progress.replies, progress.rate, progress.seconds) == (2, 0, 0.0, 5.0)


def test_the_rate_does_not_sink_while_a_long_call_works(progress: Progress, clock: Clock) -> None:
    call(progress, clock, 10, 500)
    progress.take(CallSent())
    for _ in range(5):
        assert progress.rate == 50.0
        clock.now += 100
    progress.take(CallEnded(5000))
    assert progress.rate == pytest.approx(10.0)


def test_the_rate_is_that_of_about_the_last_minute(progress: Progress, clock: Clock) -> None:
    for _ in range(100):
        call(progress, clock, 1, 10)
    for _ in range(61):
        call(progress, clock, 1, 70)
    assert progress.rate == pytest.approx(70.0)


def test_a_call_that_brings_nothing_is_no_reply(progress: Progress, clock: Clock) -> None:
    call(progress, clock, 10, None)
    assert (progress.calls, progress.replies, progress.rate) == (0, 0, 0.0)


def test_a_result_without_a_valid_grade_counts_for_no_score(progress: Progress) -> None:
    done = result("a", None, stopped="rollouts", status="ok")
    progress.count(done, None)
    assert (progress.done, progress.graded, progress.correct) == (1, 0, 0)
    progress.count(done, grade("a", "4", {}))
    assert (progress.done, progress.graded) == (2, 1)


class Sending(Scripted):
    """Models whose every request leaves, as over HTTP, unless it is held back."""

    held = False

    async def complete(
        self, place: Place, request: Request, *, sent: Callable[[], None] = lambda: None
    ) -> Completion:
        if not self.held:
            sent()
        return await super().complete(place, request)


async def test_every_call_that_leaves_is_told_when_it_leaves_and_when_it_ends() -> None:
    def reply(place: Place, request: Request) -> Reply:
        return ServerError("HTTP 500") if place.ask else Completion("4", usage=Usage(7, 2))

    told: list[CallEvent] = []
    left: list[int] = []
    models = Sending(reply)
    overheard = Overheard(models, told.append)
    assert overheard.offers == models.offers
    assert overheard.logical(Place("p", 0, "answer"), REQUEST) == models.logical(
        Place("p", 0, "answer"), REQUEST
    )
    completion = await overheard.complete(Place("p", 0, "answer"), REQUEST, sent=lambda: left.append(1))
    assert (completion.text, left) == ("4", [1])
    with pytest.raises(ServerError):
        await overheard.complete(Place("p", 1, "answer"), REQUEST)
    assert told == [CallSent(), CallEnded(9), CallSent(), CallEnded(None)]
    models.held = True
    await overheard.complete(Place("p", 0, "answer"), REQUEST)
    assert len(told) == 4
