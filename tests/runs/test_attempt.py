"""One problem on its call log: what it cost is known however it ends."""

from pathlib import Path

import pytest

from mctsr.errors import ServerError, ServerGone
from mctsr.lm.base import Completion, Place, Request, Usage
from mctsr.lm.scripted import Reply, Scripted
from mctsr.parts import Problem
from mctsr.prompting import Prompts
from mctsr.recipes.registry import choose
from mctsr.runs.attempt import Attempt, Terms, attempt
from mctsr.stop import Limits

from .world import by_place

PROBLEM = Problem("p", "What is 1 and 2?")


async def tried(models: Scripted, log: Path, *, retry_failed: bool = False) -> Attempt:
    recipe = choose("mctsr", {"rollouts": 2}).build()
    terms = Terms("mctsr", recipe, Prompts(), 0, Limits())
    return await attempt(PROBLEM, terms, models, log, retry_failed=retry_failed)


def reply(place: Place, request: Request) -> Reply:
    said = by_place(place, request)
    notes = (f"dropped {request.role}",)
    return Completion(str(said), usage=Usage(10, 3), seconds=0.5, retries=1, wire=notes)


async def test_a_finished_problem_says_what_it_cost_and_what_was_changed_for_the_server(
    tmp_path: Path,
) -> None:
    models = Scripted(reply)
    done = await tried(models, tmp_path / "p.jsonl")
    result, calls = done.result, len(models.calls)
    assert (done.trace, result["status"], result["usage"]["calls"]) == ("", "ok", calls)
    assert (result["usage"]["prompt_tokens"], result["counts"]["retried"]) == (10 * calls, calls)
    assert result["wire"] == ["dropped judge", "dropped policy"]


async def test_a_problem_that_is_replayed_costs_the_same_and_repeats_nothing(tmp_path: Path) -> None:
    first = (await tried(Scripted(reply), tmp_path / "p.jsonl")).result
    again = (await tried(Scripted([]), tmp_path / "p.jsonl")).result
    assert (again["usage"], again["wire"]) == (first["usage"], first["wire"])
    assert again["answers"] == first["answers"]
    assert (again["counts"]["replayed"], again["counts"]["repeated"]) == (first["usage"]["calls"], 0)


async def test_calls_that_failed_for_good_are_calls_also_on_replay(tmp_path: Path) -> None:
    def faulty(place: Place, request: Request) -> Reply:
        lost = (place.ask, place.part) == (1, "critique")
        return ServerError("HTTP 500", status=500, retries=5) if lost else reply(place, request)

    models = Scripted(faulty)
    first = (await tried(models, tmp_path / "p.jsonl")).result
    again = (await tried(Scripted([]), tmp_path / "p.jsonl")).result
    calls = len(models.calls)
    for result in (first, again):
        assert (result["usage"]["calls"], result["counts"]["failed_calls"]) == (calls, 1)
        assert result["counts"]["retried"] == calls - 1 + 5


async def test_a_problem_whose_recipe_breaks_keeps_the_cost_of_what_was_folded(tmp_path: Path) -> None:
    def breaking(place: Place, request: Request) -> Reply:
        return ZeroDivisionError("division by zero") if place.ask == 2 else reply(place, request)

    done = await tried(Scripted(breaking), tmp_path / "p.jsonl")
    result = done.result
    assert (done.tree, result["status"], result["answers"]["selected"]) == (None, "failed", None)
    assert result["stopped"].startswith("error in the recipe: ZeroDivisionError: division by zero (")
    assert result["stopped"].endswith("); the traceback is in run.log")
    assert "Traceback" in done.trace
    # The opening takes an answer and two scores, a rollout a critique, a rewrite and two scores.
    assert (result["usage"]["calls"], result["counts"]["rollouts"]) == (3 + 4, 1)
    assert result["usage"]["prompt_tokens"] == 7 * 10
    assert result["wire"] == ["dropped judge", "dropped policy"]


async def test_judgements_asked_again_are_counted_also_on_replay(tmp_path: Path) -> None:
    def muttering(place: Place, request: Request) -> Reply:
        unread = request.role == "judge" and place.ask == 1 and place.attempt < 2
        return "no number" if unread else reply(place, request)

    models = Scripted(muttering)
    first = (await tried(models, tmp_path / "p.jsonl")).result
    again = (await tried(Scripted([]), tmp_path / "p.jsonl")).result
    asked_again = sum(place.attempt > 0 for place, _ in models.calls)
    # The rollout judges the asked node once more, and its child.
    assert asked_again == 2 * 2
    for result in (first, again):
        assert result["counts"]["asked_again"] == asked_again
        assert result["usage"]["calls"] == 3 + 4 * 2 + asked_again


async def test_calls_sent_again_are_counted_over_all_attempts(tmp_path: Path) -> None:
    log, opening = tmp_path / "p.jsonl", []
    for _ in range(3):
        models = Scripted(lambda *_: ServerGone("killed"))
        with pytest.raises(ServerGone):
            await tried(models, log)
        opening += models.calls
    assert len(opening) == 3
    result = (await tried(Scripted(reply), log)).result
    assert (result["counts"]["repeated"], result["counts"]["replayed"]) == (3, 0)
