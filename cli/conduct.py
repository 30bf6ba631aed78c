"""Conducting a run from the first call to the exit code: display, what is said at the end.

Knows: when a run counts as failed, and where its result is printed. Does not know: where settings come from.
Loads the whole library, so commands import it when they need it.
"""

import asyncio
import errno
import os
import signal
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from mctsr.batch import Plan, Summary, run_record, solve
from mctsr.errors import MctsrError, RunError, UsageError, brief, shown, user_path
from mctsr.export.meaning import makes_labels
from mctsr.lm.connect import Connected, Found, Keys, connect
from mctsr.lm.local.gguf import EMBEDDED
from mctsr.report import report
from mctsr.runs.folder import Run, new_folder
from mctsr.runs.layout import RUN, ensure_free
from mctsr.runs.progress import Overheard
from mctsr.runs.records import ResultRecord
from mctsr.runs.writer import RunWriter
from mctsr.view.steps import solution
from mctsr.view.words import counted, short_model

from .report import draw_report
from .screen.live import Watch, telling
from .screen.render import Screen, one_line, talk
from .screen.stopping import SIGNALLED, interruptible

DONE, FAILED, USAGE = 0, 1, 2
_NAME_BYTES, _LONGEST_NAME = 160, 255

OWN_CODE = "error in the recipe: "
"""How the reason of a problem begins that an error in the recipe's own code has failed."""

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
    # Half as long as a name can be: recipe and data may have long names of their own.
    name = plan.name.encode()[:_NAME_BYTES].decode(errors="ignore")
    folder = user_path(output_dir) if output_dir else new_folder(Path("runs"), name, now)
    _check_folder(folder, overwrite=overwrite)

    def opening(connected: Connected) -> RunWriter:
        return RunWriter.create(folder, run_record(plan, connected, now), overwrite=overwrite)

    return conduct(plan, folder, keys, opening, way)


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    """Find out before any call what would stop the writer afterwards."""
    try:
        if any(len(os.fsencode(part)) > _LONGEST_NAME for part in folder.parts):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        ensure_free(folder, overwrite=overwrite)
        nearest = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise RunError(f"{shown(str(folder))} cannot be made: {why}; give another --output-dir") from None
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        why = "cannot be written" if nearest.is_dir() else "is no folder"
        raise RunError(f"{folder} cannot be made: {nearest} {why}; give another --output-dir")


def conduct(plan: Plan, folder: Path, keys: Keys, opening: Opening, way: Way) -> int:
    """Solve what is left of `plan`, print the result, and return the exit code.

    Raises:
        UsageError: Something does not fit the servers.
        ServerError: A server could not be reached at all; nothing was begun.
    """
    signals: list[int] = []
    try:
        with Watch(way.display) as watch:
            error = asyncio.run(_solve(plan, keys, opening, watch, signals))
    except asyncio.CancelledError:
        begun = (folder / RUN).exists()
        talk(f"interrupted; {f'go on with: mctsr resume {folder}' if begun else 'nothing was begun'}")
        return SIGNALLED + (signals[0] if signals else signal.SIGINT)
    return finish(plan, folder, way, error)


def finish(plan: Plan, folder: Path, way: Way, error: MctsrError | None = None) -> int:
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
        broke = not error and failed and all(result["stopped"].startswith(OWN_CODE) for result in failed)
        _say_next(run, again=bool(failed or error), mend=bool(broke))
    return USAGE if isinstance(error, UsageError) else FAILED if reason else DONE


async def _solve(
    plan: Plan, keys: Keys, opening: Opening, watch: Watch, signals: list[int]
) -> MctsrError | None:
    """Solve, and return what ended the run before its last problem; before it is begun, that is raised."""
    with interruptible(watch, signals), telling(watch):
        settings = plan.settings
        roles = [role for role in (settings.policy, settings.judge, settings.prm) if role]
        watch.phase(
            "starting the model" if any(role.starts_here for role in roles) else "waiting for the server"
        )
        async with connect(settings, keys, needs=plan.recipe.needs, wishes=plan.recipe.wishes) as connected:
            for notice in connected.notices:
                watch.say(f"notice: {notice}")
            overheard = connected._replace(models=Overheard(connected.models, watch))
            with opening(connected) as writer:
                _begin(plan, writer, connected, watch)
                return await _ended(solve(plan, writer, overheard, watch))


async def _ended(solving: Awaitable[Summary]) -> MctsrError | None:
    """Wait for a run that is begun: what ends it from now on leaves something to go on with."""
    try:
        return (await solving).error
    except UsageError as error:
        return error


def _begin(plan: Plan, writer: RunWriter, connected: Connected, watch: Watch) -> None:
    before = Run.open(writer.folder)
    grades = before.grades()
    for id, result in before.results().items():
        if result["status"] == "ok":
            # What was graded by another gold answer is graded anew, and says nothing until then.
            valid = id in grades and plan.gold.get(id) in (None, grades[id]["gold"])
            watch.progress.count(result, grades[id] if valid else None)
    models = dict.fromkeys(
        f"{short_model(found.model)} ({found.kind}) {_where(found)}" for found in connected.servers
    )
    n, done = len(plan.problems), watch.progress.done
    left = f"{n - done} of {counted(n, 'problem')} left" if done else counted(n, "problem")
    watch.say(one_line(f"{left} · {', '.join(models)} · {writer.folder}"))
    watch.begin(n)


def _where(found: Found) -> str:
    return "on a server started here" if found.base_url == EMBEDDED else f"at {found.base_url}"


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
        text = _answer(run, result) if result and result["status"] == "ok" else None
        screen.json(result and {**result, "text": text})
    elif result:
        screen.text(_answer(run, result))


def _is_question(plan: Plan) -> bool:
    """Say whether a person asked one question, who wants its answer and no statistics."""
    return plan.data is None and len(plan.problems) == 1 and not plan.gold


def _answer(run: Run, result: ResultRecord) -> str:
    tree = run.tree(result["id"])
    node = tree["selected"]
    return (result["answers"]["selected"] or "") if node is None else solution(tree["nodes"], node)


def _reason(
    plan: Plan, results: list[ResultRecord], failed: list[ResultRecord], error: MctsrError | None
) -> str:
    """Say why the run counts as failed; "" when it does not."""
    if error is not None:
        left = len(plan.problems) - len(results)
        return (
            f"{brief(one_line(str(error)))} ({left} of {counted(len(plan.problems), 'problem')} not finished)"
        )
    n, allowed = len(failed), plan.settings.fail_on_error
    if n == len(plan.problems):
        why = dict.fromkeys(one_line(result["stopped"]) for result in failed)
        return f"{'all ' if n > 1 else ''}{counted(n, 'problem')} failed: {'; '.join(list(why)[:3])}"
    if allowed is not None and n > (allowed * len(plan.problems) if allowed < 1 else allowed):
        return f"{n} of {counted(len(plan.problems), 'problem')} failed, --fail-on-error allows {allowed:g}"
    return ""


def _say_next(run: Run, *, again: bool, mend: bool) -> None:
    """Name what can be done next; what failed by the recipe's own code fails again until that is mended.

    Args:
        run: The run.
        again: Whether something is left that could still be solved.
        mend: Whether all of that failed by the recipe's own code; a run goes on with the recipe it began with.
    """
    form = "stepwise" if makes_labels(run) else "tree"
    commands = [f"mctsr show {run.path}", f"mctsr export {run.path} --format {form}"]
    if mend:
        commands.insert(0, "mend the recipe and begin a new run with mctsr solve")
    elif again:
        commands.insert(0, f"mctsr resume {run.path}")
    talk(f"next: {' · '.join(commands)}", "dim")
