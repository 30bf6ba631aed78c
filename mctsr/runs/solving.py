"""Many problems at once, in one run folder.

Knows in which order problems are opened, what ends a problem and what ends the run, and that grading comes after
the commit. Gold answers come in as an argument and go to the grader alone; recipes that label are told by it whether
an answer is right.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from mctsr.caller import Referee
from mctsr.errors import Refused, ServerError, ServerGone
from mctsr.grading import Grader
from mctsr.lm.connect import Connected, Found
from mctsr.parts import Problem
from mctsr.rollout import Event

from .attempt import Terms, attempt
from .build import summary_record
from .folder import Run
from .grades import grade_result, with_gold
from .records import GradeRecord, ResultRecord, RunRecord, ServerRecord, SummaryRecord
from .writer import RunWriter


class ProblemStarted(NamedTuple):
    """A problem was opened."""

    id: str


class ProblemFinished(NamedTuple):
    """A problem is committed, and graded where there is a gold answer."""

    id: str
    result: ResultRecord
    grade: GradeRecord | None


BatchEvent: TypeAlias = ProblemStarted | Event | ProblemFinished


class Summary(NamedTuple):
    """Where a run stands at the end of `solve`.

    Attributes:
        counts: As in summary.json.
        error: What ended the run before its last problem; None when nothing did.
    """

    counts: SummaryRecord
    error: ServerError | None


async def solve_all(
    problems: Sequence[Problem],
    terms: Terms,
    gold: Mapping[str, str],
    writer: RunWriter,
    connected: Connected,
    watch: Callable[[BatchEvent], None],
) -> Summary:
    """Solve the problems that the writer's folder holds no result of; `batch.solve` says more."""
    with Grader() as grader:
        return await _Batch(problems, terms, gold, writer, connected, watch, grader).solve()


def server_records(connected: Connected) -> list[ServerRecord]:
    """Write down who answers."""
    return [_server_record(found) for found in connected.servers]


def _server_record(found: Found) -> ServerRecord:
    record: ServerRecord = {
        "role": found.role,
        "kind": found.kind,
        "model": found.model,
        "base_url": found.base_url,
        "version": found.version,
        "context": found.context,
    }
    if found.way:
        record["way"] = found.way
    return record


@dataclass(slots=True)
class _Batch:
    """A run in progress."""

    problems: Sequence[Problem]
    terms: Terms
    gold: Mapping[str, str]
    writer: RunWriter
    connected: Connected
    watch: Callable[[BatchEvent], None]
    grader: Grader
    todo: deque[Problem] = field(default_factory=deque)
    results: dict[str, ResultRecord] = field(default_factory=dict)
    grades: dict[str, GradeRecord] = field(default_factory=dict)

    def begin(self) -> None:
        """Look up what is done already; problems that were begun go before those that were not.

        A grade by another gold answer than today's is none.
        """
        run, writer = Run.open(self.writer.folder), self.writer
        self.results |= run.results()
        grades = run.grades()
        self.grades |= {id: grades[id] for id in grades if self.gold.get(id) in (None, grades[id]["gold"])}
        todo = [problem for problem in self.problems if problem.id not in writer.ok]
        begun = {problem.id: writer.live_path(problem.id).exists() for problem in todo}
        self.todo.extend(sorted(todo, key=lambda problem: not begun[problem.id]))
        now = self.today(run.record)
        if now != run.record:
            writer.record(now)

    def today(self, record: RunRecord) -> RunRecord:
        """Return run.json as it is now: who answers, which gold answers there are, and a notice of each change.

        Where the data has lost all gold answers, what is graded stays so.
        """
        notices, now = [*record["notices"]], record
        servers = server_records(self.connected)
        if servers != record["servers"]:
            notices += ["the servers changed when the run went on", *self.connected.notices]
        if self.gold:
            now = with_gold(record, self.gold)
        if now != record:
            notices.append("the gold answers changed when the run went on; what they concern was graded anew")
        return {**now, "servers": servers, "notices": list(dict.fromkeys(notices))}

    async def solve(self) -> Summary:
        """Work until nothing is left, or the run has to end."""
        error = None
        self.begin()
        try:
            for result in list(self.results.values()):
                if result["id"] not in self.grades:
                    await self.grade(result)
            await self.work()
        except (Refused, ServerGone) as fatal:
            error = fatal
            self.writer.log(f"the run ends: {fatal}")
        except BaseException:
            # On a full disk this fails, too; what is told is what failed first.
            with suppress(OSError):
                self.sum_up()
            raise
        return Summary(self.sum_up(), error)

    def sum_up(self) -> SummaryRecord:
        """Write down where the run stands."""
        ids = [problem.id for problem in self.problems]
        counts = summary_record(ids, self.results, self.grades)
        self.writer.summary(counts)
        if said := self.grader.notice:
            record = Run.open(self.writer.folder).record
            self.writer.record({**record, "notices": list(dict.fromkeys([*record["notices"], said]))})
        return counts

    async def work(self) -> None:
        """Keep as many problems open as calls may be in flight; the first one opened is the first one served."""
        running: set[asyncio.Task[None]] = set()
        try:
            while self.todo or running:
                while self.todo and len(running) < self.connected.concurrency:
                    running.add(asyncio.create_task(self.one(self.todo.popleft())))
                done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for error in [error for task in done if (error := task.exception())]:
                    raise error
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def one(self, problem: Problem) -> None:
        """Solve, commit and grade one problem."""
        self.watch(ProblemStarted(problem.id))
        failed_before = problem.id in self.results
        done = await attempt(
            problem,
            self.terms,
            self.connected.models,
            self.writer.live_path(problem.id),
            retry_failed=failed_before,
            watch=self.watch,
            referee=self.referee(problem),
        )
        if done.trace:
            self.writer.log(f"{problem.id}: {done.trace}")
        result = self.results[problem.id] = self.writer.commit(done.tree, done.result)
        self.watch(ProblemFinished(problem.id, result, await self.grade(result)))

    def referee(self, problem: Problem) -> Referee | None:
        """Return what compares answers with the known one, for recipes that label; no other search gets it."""
        gold = self.gold.get(problem.id)
        if gold is None or not self.terms.recipe.uses_gold:
            return None

        async def right(answer: str) -> bool | None:
            grade = await asyncio.to_thread(self.grader.grade, gold, answer)
            return None if grade.ungradable else grade.equal

        return right

    async def grade(self, result: ResultRecord) -> GradeRecord | None:
        """Grade a committed problem, off this thread; a failed one, or one without gold, gets no grade."""
        gold = self.gold.get(result["id"])
        if gold is None or result["status"] == "failed":
            return None
        grade = await asyncio.to_thread(grade_result, self.grader, gold, result)
        self.writer.grade(grade)
        self.grades[result["id"]] = grade
        return grade
