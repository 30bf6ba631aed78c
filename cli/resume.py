"""`mctsr resume`: go on with a run that was interrupted, or try its failed problems again."""

from . import options as o
from .runs import RUNS, RunName, RunsDir, open_run
from .screen.render import one_line, talk


def resume(
    run: RunName,
    base: RunsDir = RUNS,
    api_key: o.ApiKey = None,
    judge_api_key: o.JudgeApiKey = None,
    prm_api_key: o.PrmApiKey = None,
    display: o.Show = o.Display.AUTO,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> int:
    """Go on with a run under its recorded settings; what was answered is not asked again."""
    from mctsr.batch import resume_plan
    from mctsr.lm.connect import Keys
    from mctsr.runs.writer import RunWriter

    from .conduct import Way, conduct, finish

    found = open_run(run, base)
    way = Way("none" if quiet else display, quiet, json)
    plan = resume_plan(found)
    if all(
        id in found.results() and found.results()[id]["status"] == "ok" for id in found.record["problem_ids"]
    ):
        talk(one_line(f"nothing is left to do in {found.path}"))
        return finish(plan, found.path, way)
    if way.display != "none":
        talk(one_line(f"mctsr resumes {found.path} · recipe {plan.settings.recipe}"))

    keys = Keys(api_key, judge_api_key, prm_api_key)
    return conduct(plan, found.path, keys, lambda _: RunWriter.reopen(found.path), way)
