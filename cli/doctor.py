"""`mctsr doctor`: what the servers are found to do, and which recipes can run on them.

Knows: how findings are shown, and what follows for the known recipes. Does not know: what a probe asks.
"""

import asyncio
from collections.abc import Sequence
from json import loads
from typing import TYPE_CHECKING

import typer

from mctsr.lm.options import check_body
from mctsr.runs.settings import RoleOptions, Settings

from . import options as o
from .screen.findings import PRM, SCORES, draw_findings, draw_recipes, offered, users_of
from .screen.render import Screen, talk
from .solve import seated

if TYPE_CHECKING:
    from mctsr.caller import Caller
    from mctsr.lm.connect import Keys
    from mctsr.lm.doctor.examine import Examined
    from mctsr.lm.doctor.finding import Bench, Finding
    from mctsr.recipes.needs import Needs


def doctor(
    context: typer.Context,
    model: o.Model = None,
    base_url: o.BaseUrl = None,
    api_key: o.ApiKey = None,
    judge_model: o.JudgeModel = None,
    judge_base_url: o.JudgeBaseUrl = None,
    judge_api_key: o.JudgeApiKey = None,
    prm_model: o.PrmModel = None,
    prm_base_url: o.PrmBaseUrl = None,
    prm_api_key: o.PrmApiKey = None,
    timeout: o.Timeout = 30.0,
    wait_for_server: o.WaitForServer = 0.0,
    extra_body: o.ExtraBody = None,
    json: o.Json = False,
) -> int:
    """Ask the servers some 20 tiny things and show what they do, and which recipes that is enough for.

    What counts is what comes back, not what a server says it takes. Exit code 1 means that solve could not run.
    """
    from mctsr.lm.connect import Keys

    given = {"policy": base_url or "", "judge": judge_base_url or "", "prm": prm_base_url or ""}
    settings = Settings(
        policy=RoleOptions(model, base_url, extra_body=loads(extra_body or "{}")),
        judge=RoleOptions(judge_model, judge_base_url) if judge_model or judge_base_url else None,
        prm=RoleOptions(prm_model, prm_base_url) if prm_model or prm_base_url else None,
        timeout=timeout,
        max_retries=1,
        wait_for_server=wait_for_server,
    )
    settings, notices = seated(context, settings)
    keys = Keys(api_key, judge_api_key, prm_api_key)
    check_body(settings.policy.extra_body, keys)
    for notice in notices:
        talk(f"notice: {notice}")
    found, recipes = asyncio.run(_examined(settings, keys)), _needs()
    if json:
        Screen().json(_record(found, recipes, given))
    else:
        screen = Screen()
        draw_findings(screen, found, recipes, given)
        draw_recipes(screen, recipes, offered(found), runs=found[0].runs)
    return 0 if all(each.runs for each in found) else 1


def _needs() -> list["Needs"]:
    from mctsr.recipes.needs import needs_of_all

    return needs_of_all()


async def _examined(settings: Settings, keys: "Keys") -> list["Examined"]:
    from mctsr.lm.doctor.examine import JUDGING, TEXT, examine

    found = [await examine("policy", settings, keys, TEXT)]
    if settings.judge is not None:
        found.append(await examine("judge", settings, keys, JUDGING))
    if settings.prm is not None:
        found.append(await examine("prm", settings, keys, [("scores", _scores)]))
    return found


async def _scores(bench: "Bench") -> list["Finding"]:
    """Have three steps scored by every protocol that fits what answers."""
    from mctsr.caller import Caller
    from mctsr.judge.trial import PROTOCOLS
    from mctsr.lm.doctor.examine import LABELS
    from mctsr.lm.doctor.finding import PROBLEM, Finding, tried
    from mctsr.prompting import Prompts

    llm, findings, seen = Caller(bench.lm, Prompts(), PROBLEM, 0), list[Finding](), SCORES | PRM
    for name in [name for name, protocol in PROTOCOLS.items() if protocol.endpoint in SCORES]:
        findings.append(await _score(name, llm, seen))
    if all(finding.state == "unknown" for finding in findings):
        # Nothing gives scores by an endpoint of its own: perhaps a model that writes labels.
        for probe_name, probe in LABELS:
            findings += await tried(probe_name, probe, bench)
        seen = PRM.union(*(finding.gives for finding in findings))
        for name in [name for name, protocol in PROTOCOLS.items() if protocol.endpoint not in SCORES]:
            findings.append(await _score(name, llm, seen))
    if not any(finding.probe in PROTOCOLS and finding.state == "good" for finding in findings):
        means = "no recipe can use it; vLLM serves a reward model with --runner pooling"
        findings.append(Finding("scores", "none, by any protocol", "bad", means))
    return findings


async def _score(name: str, llm: "Caller", seen: frozenset[str]) -> "Finding":
    """Have three steps scored by one protocol, when what it needs was seen."""
    from mctsr.judge.trial import PROTOCOLS, try_protocol
    from mctsr.lm.doctor.finding import Finding, State

    protocol = PROTOCOLS[name]
    # A chat shows nothing of a model that reads plain text; it may not even have a template.
    missing = frozenset() if protocol.endpoint == "completions" else protocol.needs - seen
    if missing:
        return Finding(name, f"not tried: without {', '.join(sorted(missing))}", "unknown")
    trial, gives = await try_protocol(name, llm), frozenset({protocol.endpoint}) & SCORES
    if trial.fault:
        state: State = "weak" if trial.answered else "unknown"
        # What to serve instead is said once, below them all.
        return Finding(
            name, trial.fault if trial.answered else trial.fault.split("; ")[0], state, lacks=gives
        )
    scores = ", ".join(f"{score:.3g}" for score in trial.scores)
    what = "the solution" if protocol.scores == 1 else f"{protocol.scores} steps"
    return Finding(name, f"{len(trial.scores)} scores for {what}: {scores}", gives=gives | PRM)


def _record(
    found: Sequence["Examined"], recipes: Sequence["Needs"], given: dict[str, str]
) -> dict[str, object]:
    offers = offered(found)
    return {
        "ok": all(each.runs for each in found),
        "roles": [_role_record(each, recipes, given[each.role]) for each in found],
        "offers": sorted(offers),
        "recipes": [
            {
                "name": recipe.name,
                "needs": sorted(recipe.words),
                "missing": sorted(recipe.words - offers),
                "unknown": recipe.unknown,
                "can_run": found[0].runs and not recipe.unknown and recipe.words <= offers,
            }
            for recipe in recipes
        ],
    }


def _role_record(each: "Examined", recipes: Sequence["Needs"], given: str) -> dict[str, object]:
    server = each.server
    return {
        "role": each.role,
        "given": given or None,
        "base_url": server and server.base_url,
        "kind": server and server.kind,
        "version": server and server.version,
        "model": server and server.model,
        "context": server and server.context,
        "findings": [
            {
                "probe": finding.probe,
                "found": finding.found,
                "state": finding.state,
                "means": finding.means,
                "gives": sorted(finding.gives),
                "lacks": sorted(finding.lacks),
                "recipes": users_of(each.role, finding.gives | finding.lacks, recipes),
            }
            for finding in each.findings
        ],
    }
