"""Many problems at once: order, failures that stay alone, ends that leave work to go on with, and going on."""

import asyncio
import json
import resource
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mctsr.batch import (
    BatchEvent,
    Plan,
    ProblemFinished,
    ProblemStarted,
    estimate,
    plan,
    resume_plan,
    run_record,
    solve,
)
from mctsr.errors import ContextOverflow, Refused, RunError, ServerError, ServerGone, UsageError
from mctsr.lm.base import Place, Pooling, Request
from mctsr.lm.connect import Connected, Found, Keys, connect
from mctsr.lm.scripted import Reply, Scripted
from mctsr.report import report
from mctsr.rollout import Folded
from mctsr.runs.folder import Run
from mctsr.runs.settings import RoleOptions
from mctsr.runs.writer import RunWriter
from tests.runs.world import (
    NOW,
    by_place,
    by_seed,
    connected,
    everything,
    go_on,
    lines,
    planned,
    run,
    settings,
    steady,
    sums,
    write_jsonl,
)
from tests.support.fake_server import FakeServer


def failing(error: Callable[[], Exception], *problems: str) -> Callable[[Place, Request], Reply]:
    def reply(place: Place, request: Request) -> Reply:
        return error() if place.problem in problems else by_place(place, request)

    return reply


async def cancelled(folder: Path, planned_now: Plan, models: Scripted, *, folds: int) -> None:
    """Begin a run with two problems open, and cancel it after some folds."""
    seen: list[BatchEvent] = []

    def watch(event: BatchEvent) -> None:
        seen.append(event)
        if sum(isinstance(each, Folded) for each in seen) == folds:
            task.cancel()

    task = asyncio.create_task(run(folder, planned_now, models, 2, watch))
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_problems_open_in_order_and_no_more_than_fit(tmp_path: Path) -> None:
    open_now: list[str] = []
    seen: list[tuple[str, ...]] = []

    def watch(event: BatchEvent) -> None:
        if isinstance(event, ProblemStarted):
            open_now.append(event.id)
        if isinstance(event, ProblemFinished):
            open_now.remove(event.id)
        seen.append(tuple(open_now))

    models = Scripted(by_place, delay=lambda place: 0.001 * (place.seed(1) % 5))
    summary = await run(tmp_path / "run", planned(tmp_path, 7), models, 3, watch)
    assert max(map(len, seen)) == 3
    started = list(dict.fromkeys(id for ids in seen for id in ids))
    assert started == [f"sum-{i}" for i in range(7)]
    assert (summary.counts["ok"], summary.error) == (7, None)


async def test_results_do_not_depend_on_how_many_problems_are_open_or_who_answers_first(
    tmp_path: Path,
) -> None:
    def late(place: Place) -> float:
        return 0.0005 * (place.seed(3) % 7)

    await run(tmp_path / "one", planned(tmp_path, 4), concurrency=1)
    await run(tmp_path / "four", planned(tmp_path, 4), Scripted(by_place, delay=late))
    for name in ("trees", "results", "grades"):
        kept = [
            sorted(json.dumps(steady(line)) for line in lines(tmp_path / folder / f"{name}.jsonl"))
            for folder in ("one", "four")
        ]
        assert kept[0] == kept[1]


async def test_a_failing_problem_takes_no_other_along(tmp_path: Path) -> None:
    models = Scripted(failing(lambda: ServerError("HTTP 500"), "sum-1"))
    summary = await run(tmp_path / "run", planned(tmp_path, 4), models)
    found = Run.open(tmp_path / "run")
    assert (summary.counts["ok"], summary.counts["failed"], summary.error) == (3, 1, None)
    assert found.results()["sum-1"]["stopped"] == "no first answer: server error: HTTP 500"
    assert "sum-1" not in found.grades()
    assert [path.name for path in (found.path / "live").iterdir()] == ["sum-1.jsonl"]


async def test_a_problem_that_does_not_fit_is_a_failure_of_its_own(tmp_path: Path) -> None:
    models = Scripted(failing(lambda: ContextOverflow("900 > 512"), "sum-0"))
    summary = await run(tmp_path / "run", planned(tmp_path, 2), models)
    assert (summary.counts["ok"], summary.counts["failed"]) == (1, 1)


async def test_an_error_in_a_recipe_is_explained_in_the_log(tmp_path: Path) -> None:
    models = Scripted(failing(lambda: ZeroDivisionError("division by zero"), "sum-0"))
    await run(tmp_path / "run", planned(tmp_path, 2), models)
    assert "ZeroDivisionError" in Run.open(tmp_path / "run").results()["sum-0"]["stopped"]
    assert "Traceback" in (tmp_path / "run" / "run.log").read_text()


@pytest.mark.parametrize("error", [Refused, ServerGone])
async def test_a_server_that_serves_nobody_ends_the_run_and_leaves_problems_unfinished(
    tmp_path: Path, error: type[ServerError]
) -> None:
    models = Scripted(
        failing(lambda: error("no"), "sum-2"), delay=lambda place: 0.01 * (place.problem != "sum-0")
    )
    summary = await run(tmp_path / "run", planned(tmp_path, 6), models, 3)
    found = Run.open(tmp_path / "run")
    assert isinstance(summary.error, error)
    assert summary.counts["failed"] == 0
    assert found.state == "interrupted"
    assert "sum-2" in found.unfinished()
    assert "the run ends: no" in (found.path / "run.log").read_text()
    again = await go_on(tmp_path / "run")
    assert (again.counts["ok"], again.counts["unfinished"], again.error) == (6, 0, None)


async def test_cancelling_leaves_problems_unfinished_and_resuming_asks_nothing_twice(tmp_path: Path) -> None:
    plain = await run(tmp_path / "plain", planned(tmp_path, 5))
    models = Scripted(by_place, delay=lambda place: 0.004)
    await cancelled(tmp_path / "run", planned(tmp_path, 5), models, folds=4)
    assert Run.open(tmp_path / "run").state == "interrupted"
    more = Scripted(by_place)
    summary = await go_on(tmp_path / "run", more)
    asked = Counter(place for place, _ in [*models.calls, *more.calls])
    twice = sum(count - 1 for count in asked.values())
    assert summary.counts["repeated"] == twice <= 4
    assert summary.counts["calls"] == plain.counts["calls"] == len(asked)
    assert summary.counts["replayed"] > 0
    trees = [
        {t["problem_id"]: steady(t) for t in Run.open(tmp_path / name).trees()} for name in ("plain", "run")
    ]
    assert trees[0] == trees[1]


async def test_problems_that_were_begun_go_before_those_that_were_not(tmp_path: Path) -> None:
    def reply(place: Place, request: Request) -> Reply:
        return ServerGone("no") if place.problem == "sum-3" and place.ask else by_place(place, request)

    planned_now = planned(tmp_path, 5)
    models = Scripted(reply, delay=lambda place: 0.02 * (place.problem != "sum-3"))
    await run(tmp_path / "run", planned_now, models, 4)
    started: list[str] = []
    with RunWriter.reopen(tmp_path / "run") as writer:
        (tmp_path / "run" / "live" / "sum-1.jsonl").unlink()
        await solve(
            planned_now,
            writer,
            connected(Scripted(by_place), 1),
            lambda event: started.append(event.id) if isinstance(event, ProblemStarted) else None,
        )
    assert started == ["sum-0", "sum-2", "sum-3", "sum-1", "sum-4"]


async def test_resuming_tries_failed_problems_again_and_keeps_their_replies(tmp_path: Path) -> None:
    broken = Scripted(
        lambda place, request: (
            ServerError("HTTP 500")
            if (place.problem, place.part) == ("sum-1", "critique")
            else by_place(place, request)
        )
    )
    first = await run(tmp_path / "run", planned(tmp_path, 2, arguments={"rollouts": 4}), broken)
    assert first.counts["failed"] == 1
    models = Scripted(by_place)
    summary = await go_on(tmp_path / "run", models)
    assert (summary.counts["ok"], summary.counts["failed"]) == (2, 0)
    assert {place.problem for place, _ in models.calls} == {"sum-1"}
    assert not [call for call in models.calls if call in broken.calls and call[0].part != "critique"]
    assert [line["id"] for line in lines(tmp_path / "run" / "results.jsonl")].count("sum-1") == 2
    assert Run.open(tmp_path / "run").results()["sum-1"]["status"] == "ok"
    idle = Scripted([])
    assert (await go_on(tmp_path / "run", idle)).counts["ok"] == 2
    assert idle.calls == []


async def test_a_logged_reply_to_another_request_is_counted_and_not_used(tmp_path: Path) -> None:
    models = Scripted(by_place, delay=lambda place: 0.001)
    await cancelled(tmp_path / "run", planned(tmp_path, 1), models, folds=2)
    answered = sum(line["t"] == "reply" for line in lines(tmp_path / "run" / "live" / "sum-0.jsonl"))

    class Other(Scripted):
        def logical(self, place: Place, request: Request | Pooling) -> dict[str, object]:
            return {**super().logical(place, request), "model": "another"}

    summary = await go_on(tmp_path / "run", Other(by_place))
    assert summary.counts["stale"] == answered > 0
    assert summary.counts["replayed"] == 0


async def test_missing_grades_are_completed_when_the_run_goes_on(tmp_path: Path) -> None:
    await run(tmp_path / "run", planned(tmp_path))
    grades = tmp_path / "run" / "grades.jsonl"
    whole = lines(grades)
    grades.write_bytes(grades.read_bytes()[:-30])
    summary = await go_on(tmp_path / "run", Scripted([]))
    assert summary.counts["graded"] == 3
    assert sorted(lines(grades), key=lambda line: line["id"]) == sorted(whole, key=lambda line: line["id"])


async def test_grades_by_gold_answers_that_changed_are_made_anew_and_this_is_noted(tmp_path: Path) -> None:
    await run(tmp_path / "run", planned(tmp_path))
    before = Run.open(tmp_path / "run")
    answers = {id: str(before.results()[id]["answers"]["selected"]) for id in ("sum-0", "sum-1")}
    write_jsonl(tmp_path / "sums.jsonl", sums(3, [*answers.values(), 4].__getitem__))
    summary = await go_on(tmp_path / "run", Scripted([]))
    after = Run.open(tmp_path / "run")
    assert (summary.counts["graded"], summary.counts["calls"]) == (3, 33)
    assert {id: grade["gold"] for id, grade in after.grades().items()} == {**answers, "sum-2": "4"}
    assert all(after.grades()[id]["verdicts"][answer]["equal"] for id, answer in answers.items())
    assert after.grades()["sum-2"] == before.grades()["sum-2"]
    assert after.record["gold_sha256"] not in (before.record["gold_sha256"], None)
    assert [notice for notice in after.record["notices"] if "the gold answers changed" in notice]
    grades = (tmp_path / "run" / "grades.jsonl").read_bytes()
    await go_on(tmp_path / "run", Scripted([]))
    assert (tmp_path / "run" / "grades.jsonl").read_bytes() == grades
    assert Run.open(tmp_path / "run").record == after.record


async def test_gold_answers_that_are_gone_leave_the_grades_they_gave(tmp_path: Path) -> None:
    await run(tmp_path / "run", planned(tmp_path))
    before = Run.open(tmp_path / "run")
    write_jsonl(tmp_path / "sums.jsonl", sums(3, lambda i: None))
    await go_on(tmp_path / "run", Scripted([]))
    after = Run.open(tmp_path / "run")
    assert (after.record, after.grades()) == (before.record, before.grades())


async def test_a_run_knows_which_of_its_problems_have_gold_answers(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "sums.jsonl", sums(4, lambda i: 3 if i < 2 else None))
    models = Scripted(failing(lambda: ServerError("HTTP 500"), "sum-1", "sum-3"))
    summary = await run(tmp_path / "run", plan(settings(limit="2-4"), source), models)
    assert (summary.counts["graded"], summary.counts["failed"]) == (0, 2)
    assert Run.open(tmp_path / "run").record["gold_ids"] == ["sum-1"]
    found = report(Run.open(tmp_path / "run"))
    assert ([score.n for score in found.scores], found.pending) == ([1, 1, 1, 1], 0)


async def test_data_without_answers_is_solved_and_not_graded(tmp_path: Path) -> None:
    source = write_jsonl(tmp_path / "sums.jsonl", sums(2, lambda i: None))
    finished: list[ProblemFinished] = []
    summary = await run(
        tmp_path / "run",
        plan(settings(), source),
        watch=lambda event: finished.append(event) if isinstance(event, ProblemFinished) else None,
    )
    assert (summary.counts["ok"], summary.counts["graded"]) == (2, 0)
    assert [event.grade for event in finished] == [None, None]
    assert Run.open(tmp_path / "run").record["gold_sha256"] is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: [*rows, {"id": "new", "question": "?"}], r"1 new \(such as 'new'\)"),
        (lambda rows: rows[1:], r"1 gone \(such as 'sum-0'\)"),
        (lambda rows: [{**rows[0], "question": "What?"}, *rows[1:]], r"1 changed \(such as 'sum-0'\)"),
        (lambda rows: rows[::-1], "their order changed"),
    ],
)
async def test_a_data_file_whose_problems_changed_is_refused(
    tmp_path: Path, change: Callable[[list[dict[str, object]]], list[dict[str, object]]], said: str
) -> None:
    await run(tmp_path / "run", planned(tmp_path))
    write_jsonl(tmp_path / "sums.jsonl", change(sums(3)))
    with pytest.raises(RunError, match=said):
        resume_plan(Run.open(tmp_path / "run"))


async def test_a_data_file_whose_answers_changed_is_not(tmp_path: Path) -> None:
    await run(tmp_path / "run", planned(tmp_path))
    write_jsonl(tmp_path / "sums.jsonl", sums(3, lambda i: 77))
    assert resume_plan(Run.open(tmp_path / "run")).gold == {f"sum-{i}": "77" for i in range(3)}


OWN = '''
from mctsr import Answer, Frontier, OwnValue, Recipe, first, never

def mine(*, n: int = 2) -> Recipe:
    """Answer n times, keep the first."""
    return Recipe(Answer(), None, Frontier(n), OwnValue(), never(), first)
'''


async def test_a_recipe_file_or_a_prompt_that_changed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "prompts").mkdir()
    prompt = tmp_path / "prompts" / "answer.md"
    text = '+++\ninputs = ["problem"]\noutput = "text"\nsource = "own"\n+++\n{{role "user"}}\n{{problem}}\n'
    prompt.write_text(text)
    mine = planned(tmp_path, recipe="own.py:mine", arguments={"n": "3"}, prompts="prompts")
    await run(tmp_path / "run", mine)
    monkeypatch.chdir("/")
    assert resume_plan(Run.open(tmp_path / "run")).terms.name == "own.py:mine"
    assert Run.open(tmp_path / "run").record["recipe_arguments"] == {"n": 3}
    (tmp_path / "own.py").write_text(OWN + "\n")
    prompt.write_text(text + "!")
    with pytest.raises(
        RunError, match=r"the source of recipe 'own.py:mine' changed; the prompts answer changed"
    ):
        resume_plan(Run.open(tmp_path / "run"))
    (tmp_path / "own.py").write_text(OWN.replace("= 2", "= 2, m: int = 1"))
    with pytest.raises(RunError, match=r"were \{'n': 3\} and are \{'n': 3, 'm': 1\}"):
        resume_plan(Run.open(tmp_path / "run"))


async def test_a_prompt_that_came_later_is_no_change_and_one_that_is_gone_is(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    text = '+++\ninputs = ["problem"]\noutput = "text"\nsource = "own"\n+++\n{{role "user"}}\n{{problem}}\n'
    (tmp_path / "prompts" / "mine.md").write_text(text)
    await run(tmp_path / "run", planned(tmp_path, prompts=str(tmp_path / "prompts")))
    (tmp_path / "prompts" / "later.md").write_text(text)
    assert resume_plan(Run.open(tmp_path / "run")).name == "mctsr-sums"
    (tmp_path / "prompts" / "mine.md").unlink()
    with pytest.raises(RunError, match="the prompts mine changed"):
        resume_plan(Run.open(tmp_path / "run"))


async def test_a_question_and_standard_input_are_kept_in_the_run_with_their_answers(tmp_path: Path) -> None:
    await run(tmp_path / "question", plan(settings(), question=" How many? "))
    found = Run.open(tmp_path / "question").record
    assert (found["data"], found["gold"], found["name"]) == (None, None, "mctsr-question")
    assert [p["text"] for p in found["problems"] or ()] == ["How many?"]
    text = json.dumps({"id": "x", "problem": "a", "answer": 5})
    piped = plan(settings(), "-", stdin_text=text)
    await run(tmp_path / "stdin", piped)
    again = resume_plan(Run.open(tmp_path / "stdin"))
    assert (again.problems, again.gold) == (piped.problems, {"x": "5"})


@pytest.mark.parametrize("given", [{}, {"source": "x", "question": "y"}])
def test_a_run_has_one_source_of_problems(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="either a data file"):
        plan(settings(), **given)


def test_the_width_of_the_settings_wins_over_the_recipes(tmp_path: Path) -> None:
    assert planned(tmp_path).recipe.width == 1
    assert planned(tmp_path, width=3).recipe.width == 3
    with pytest.raises(UsageError, match="width is 0"):
        planned(tmp_path, width=0)


@pytest.mark.parametrize(("rollouts", "calls"), [(0, 3), (1, 7), (8, 35)])
def test_an_estimate_counts_the_calls_of_the_recipe(tmp_path: Path, rollouts: int, calls: int) -> None:
    found = estimate(planned(tmp_path, 30, arguments={"rollouts": rollouts}))
    assert (found.problems, found.tried, found.calls, found.total_calls) == (30, 20, calls, 30 * calls)
    assert found.completion_tokens < calls * 300
    assert found.total_tokens == round(30 * (found.prompt_tokens + found.completion_tokens))


def test_an_estimate_knows_limits_and_short_replies(tmp_path: Path) -> None:
    brief = RoleOptions("fake", "http://h/v1", max_tokens=10)
    assert estimate(planned(tmp_path, max_calls=5)).calls == 7
    assert estimate(planned(tmp_path, policy=brief, judge_max_tokens=5)).completion_tokens <= 11 * 10


async def test_the_record_says_who_answered_and_resuming_holds_on_to_it(tmp_path: Path) -> None:
    async with FakeServer(by_seed, models=("first", "second"), extra={"max_model_len": 512}) as server:
        chosen = settings(policy=RoleOptions(None, server.url, max_tokens=600), judge=RoleOptions("second"))
        planned_now = plan(chosen, write_jsonl(tmp_path / "sums.jsonl", sums(2)))
        async with connect(chosen, Keys("sk-secret-1", "sk-secret-2")) as there:
            with RunWriter.create(tmp_path / "run", run_record(planned_now, there, NOW)) as writer:
                summary = await solve(planned_now, writer, there)
        assert summary.counts["ok"] == 2
        assert {(body["model"], "response_format" in body) for body in server.bodies} == {
            ("first", False),
            ("second", True),
        }
        assert {body["max_tokens"] for body in server.bodies} == {600, 512}
        assert {headers["Authorization"] for headers in server.headers} == {
            "Bearer sk-secret-1",
            "Bearer sk-secret-2",
        }
    record = Run.open(tmp_path / "run").record
    assert [(s["role"], s["model"], s["context"]) for s in record["servers"]] == [
        ("policy", "first", 512),
        ("judge", "second", 512),
    ]
    assert record["notices"] == [
        f"{role}: replies of up to {longest} tokens leave no room in a context of 512"
        for role, longest in (("policy", 600), ("judge", 512))
    ]
    assert b"sk-secret" not in everything(tmp_path / "run")
    assert resume_plan(Run.open(tmp_path / "run")).settings.policy.model == "first"


async def test_another_server_is_noted_when_a_run_goes_on(tmp_path: Path) -> None:
    planned_now = planned(tmp_path)
    await run(tmp_path / "run", planned_now)
    there = Connected(Scripted([]), [Found("policy", "vllm", "fake", "http://h/v1", "0.11", 9)], ["slow"], 4)
    with RunWriter.reopen(tmp_path / "run") as writer:
        await solve(planned_now, writer, there)
    record = Run.open(tmp_path / "run").record
    assert record["servers"][0]["version"] == "0.11"
    assert record["notices"] == ["the servers changed when the run went on", "slow"]


async def test_no_server_is_an_error_that_names_both_ways() -> None:
    with pytest.raises(UsageError, match=r"--base-url URL .*--model embedded"):
        async with connect(settings(policy=RoleOptions("some-model"))):
            pass


async def test_a_recipe_that_needs_more_than_the_server_offers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "needy.py").write_text(OWN.replace("Answer()", "Answer(needs=frozenset({'prefill'}))"))
    with pytest.raises(UsageError, match="needs \\['prefill'\\]"):
        await run(tmp_path / "run", planned(tmp_path, recipe=f"{tmp_path}/needy.py:mine", arguments={}))


@pytest.mark.parametrize(
    ("soft", "hard", "wanted", "limit", "raised"),
    [
        (1024, 4096, 100, 100, None),
        (256, 4096, 100, 100, 328),
        (256, 1128, 900, 500, 1128),
        (64, 64, 9, 1, 64),
    ],
)
async def test_calls_in_flight_are_limited_by_the_files_that_can_be_open(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, wanted: int, limit: int, raised: int | None
) -> None:
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: set_to.append(limits))
    async with FakeServer() as server:
        chosen = settings(policy=RoleOptions("fake", server.url), max_concurrency=wanted)
        async with connect(chosen) as there:
            assert there.concurrency == limit
    assert set_to == ([] if raised is None else [(raised, hard)])
    lowered = f"max_concurrency {wanted} is lowered to {limit}: more files cannot be open (ulimit -n)"
    assert there.notices == ([] if limit == wanted else [lowered])
