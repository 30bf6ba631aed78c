"""Conducting a run from the first call to the exit code: display, Ctrl-C, what is said at the end.

Knows: when a run counts as failed, and where its result is printed. Does not know: where settings come from.
Loads the whole library, so commands import it when they need it.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from mctsr.batch import Plan, Summary, run_record, solve
from mctsr.errors import RunError, ServerError
from mctsr.lm.connect import Connected, Keys, connect
from mctsr.report import report
from mctsr.runs.folder import Run, new_folder
from mctsr.runs.layout import RUN, ensure_free
from mctsr.runs.records import ResultRecord
from mctsr.runs.writer import RunWriter

from .live import Watch
from .render import Screen, one_line, talk
from .report import draw_report

DONE, FAILED, INTERRUPTED = 0, 1, 130

Opening = Callable[[Connected], RunWriter]
"""Begins a run, or goes on with one, once it is known who answers."""


class Way(NamedTuple):
    """How a run shows itself.

    Attributes:
        display: "auto", "rich", "plain" or "none".
        quiet: Whether next commands are left out, too.
        json: Whether the result is printed as JSON.
    """

    display: str
    quiet: bool
    json: bool


def begin(plan: Plan, output_dir: str | None, keys: Keys, way: Way, *, overwrite: bool) -> int:
    """Begin a run in a new folder and conduct it.

    Raises:
        RunError: The folder holds a run, or cannot be written.
    """
    now = datetime.now()
    folder = Path(output_dir).expanduser() if output_dir else new_folder(Path("runs"), plan.name, now)
    _check_folder(folder, overwrite=overwrite)

    def opening(connected: Connected) -> RunWriter:
        return RunWriter.create(folder, run_record(plan, connected, now), overwrite=overwrite)

    return conduct(plan, folder, keys, opening, way)


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    """Find out before any call what would stop the writer afterwards."""
    if not overwrite:
        ensure_free(folder)
    nearest = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise RunError(f"{folder} cannot be made: {nearest} cannot be written; give another --output-dir")


def conduct(plan: Plan, folder: Path, keys: Keys, opening: Opening, way: Way) -> int:
    """Solve what is left of `plan`, print the result, and return the exit code.

    Raises:
        UsageError: Something does not fit the servers.
        ServerError: A server could not be reached at all; nothing was begun.
    """
    try:
        with Watch(way.display) as watch:
            summary = asyncio.run(_solve(plan, keys, opening, watch))
    except asyncio.CancelledError:
        begun = (folder / RUN).exists()
        talk(f"interrupted; {f'go on with: mctsr resume {folder}' if begun else 'nothing was begun'}")
        return INTERRUPTED
    return finish(plan, folder, way, summary.error)


def finish(plan: Plan, folder: Path, way: Way, error: ServerError | None = None) -> int:
    """Print what a run came to, say what can be done next, and return the exit code.

    Args:
        plan: What was to be done.
        folder: The run.
        way: How it is shown.
        error: What ended it before its last problem.
    """
    run = Run.open(folder)
    results = list(run.results().values())
    failed = [result for result in results if result["status"] == "failed"]
    if way.json or len(failed) < len(results):
        _print_result(plan, run, way)
    reason = _reason(plan, results, failed, error)
    if reason:
        talk(f"error: {reason}")
    if not way.quiet:
        _say_next(run, again=bool(failed or error))
    return FAILED if reason else DONE


async def _solve(plan: Plan, keys: Keys, opening: Opening, watch: Watch) -> Summary:
    with _interruptible(watch), _telling(watch):
        roles = [role for role in (plan.settings.policy, plan.settings.judge) if role]
        watch.phase(
            "starting the model" if any(role.starts_here for role in roles) else "waiting for the server"
        )
        async with connect(plan.settings, keys) as connected:
            for notice in connected.notices:
                watch.say(f"notice: {notice}")
            with opening(connected) as writer:
                _begin(plan, writer, connected, watch)
                return await solve(plan, writer, connected, watch)


def _begin(plan: Plan, writer: RunWriter, connected: Connected, watch: Watch) -> None:
    before = Run.open(writer.folder)
    for result in before.results().values():
        if result["status"] == "ok":
            watch.progress.count(result, before.grades().get(result["id"]))
    models = dict.fromkeys(f"{found.model} ({found.kind}) at {found.base_url}" for found in connected.servers)
    n, done = len(plan.problems), watch.progress.done
    left = f"{n - done} of {n} problems left" if done else f"{n} problem{'' if n == 1 else 's'}"
    watch.say(one_line(f"{left} · {', '.join(models)} · {writer.folder}"))
    watch.begin(n)


@contextmanager
def _interruptible(watch: Watch) -> Iterator[None]:
    """Let the first Ctrl-C cancel the current task, and the second one end the process at once."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    asked: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if asked:
            watch.abandon()
            os._exit(INTERRUPTED)
        asked.append(number)
        assert task is not None
        loop.call_soon_threadsafe(task.cancel)
        loop.call_soon_threadsafe(watch.say, "stopping; press Ctrl-C again to end at once")

    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Notices(logging.Handler):
    """Shows the library's warnings where the display wants them."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(logging.WARNING)
        self._watch = watch

    def emit(self, record: logging.LogRecord) -> None:
        """Show one."""
        self._watch.say(one_line(f"notice: {record.getMessage()}"))


@contextmanager
def _telling(watch: Watch) -> Iterator[None]:
    handler, logger = _Notices(watch), logging.getLogger("mctsr")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _print_result(plan: Plan, run: Run, way: Way) -> None:
    screen = Screen()
    if not _is_question(plan):
        found = report(run)
        if way.json:
            screen.json(found.as_dict())
        else:
            draw_report(screen, found)
        return
    result = next(iter(run.results().values()), None)
    if way.json:
        screen.json(result)
    elif result:
        screen.text(_answer(run, result))


def _is_question(plan: Plan) -> bool:
    """Say whether a person asked one question, who wants its answer and no statistics."""
    return plan.data is None and len(plan.problems) == 1 and not plan.gold


def _answer(run: Run, result: ResultRecord) -> str:
    tree = run.tree(result["id"])
    if tree["selected"] is not None:
        return tree["nodes"][tree["selected"]]["text"]
    return result["answers"]["selected"] or ""


def _reason(
    plan: Plan, results: list[ResultRecord], failed: list[ResultRecord], error: ServerError | None
) -> str:
    """Say why the run counts as failed; "" when it does not."""
    if error is not None:
        left = len(plan.problems) - len(results)
        return f"{error} ({left} of {len(plan.problems)} problems not finished)"
    n, allowed = len(failed), plan.settings.fail_on_error
    if n == len(plan.problems):
        why = dict.fromkeys(one_line(result["stopped"]) for result in failed)
        return (
            f"{'all ' if n > 1 else ''}{n} problem{'s' if n > 1 else ''} failed: {'; '.join(list(why)[:3])}"
        )
    if allowed is not None and n > (allowed * len(plan.problems) if allowed < 1 else allowed):
        return f"{n} of {len(plan.problems)} problems failed, --fail-on-error allows {allowed:g}"
    return ""


def _say_next(run: Run, *, again: bool) -> None:
    commands = [f"mctsr show {run.path}", f"mctsr export {run.path} --format tree"]
    if again:
        commands.insert(0, f"mctsr resume {run.path}")
    talk(f"next: {' · '.join(commands)}", "dim")
