"""`mctsr solve`: problems in, a run folder out."""

from dataclasses import replace
from difflib import get_close_matches
from json import loads
from typing import TYPE_CHECKING

import typer

from mctsr.errors import UsageError, short, user_path
from mctsr.lm.address import read_address
from mctsr.lm.local.gguf import EMBEDDED
from mctsr.lm.options import check_body
from mctsr.runs.settings import RoleOptions, Settings

from . import options as o
from .config import origin, recipe_arguments, settings_given
from .data import AnswerField, AnswerKind, IdField, ProblemField, SkipBad
from .screen.plan import draw_plan, server_of, step_notes
from .screen.render import Screen, one_line, talk

if TYPE_CHECKING:
    from mctsr.batch import Plan

_STDIN = "-"
_OLD_VARIABLE = "OPENAI_API_BASE"


def solve(
    context: typer.Context,
    data: o.Source = None,
    question: o.Question = None,
    limit: o.Limit = None,
    ids: o.Ids = None,
    answer_kind: AnswerKind = None,
    problem_field: ProblemField = None,
    answer_field: AnswerField = None,
    id_field: IdField = None,
    skip_bad: SkipBad = False,
    recipe: o.Recipe = "mctsr",
    set: o.Set = None,
    prompts: o.Prompts = None,
    config: o.Config = None,
    seed: o.Seed = 0,
    width: o.Width = None,
    model: o.Model = None,
    base_url: o.BaseUrl = None,
    api_key: o.ApiKey = None,
    judge_model: o.JudgeModel = None,
    judge_base_url: o.JudgeBaseUrl = None,
    judge_api_key: o.JudgeApiKey = None,
    prm_model: o.PrmModel = None,
    prm_base_url: o.PrmBaseUrl = None,
    prm_api_key: o.PrmApiKey = None,
    max_concurrency: o.MaxConcurrency = None,
    timeout: o.Timeout = 600.0,
    max_retries: o.MaxRetries = 5,
    wait_for_server: o.WaitForServer = 0.0,
    temperature: o.Temperature = None,
    top_p: o.TopP = 0.95,
    max_tokens: o.MaxTokens = 1024,
    judge_max_tokens: o.JudgeMaxTokens = 512,
    extra_body: o.ExtraBody = None,
    max_calls: o.MaxCalls = None,
    token_limit: o.TokenLimit = None,
    time_limit: o.TimeLimit = None,
    output_dir: o.OutputDir = None,
    overwrite: o.Overwrite = False,
    fail_on_error: o.FailOnError = None,
    keep_calls: o.KeepCalls = False,
    dry_run: o.DryRun = False,
    display: o.Show = o.Display.AUTO,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> int:
    """Solve the problems of a file, or one question, by tree search on a language model.

    Standard input holds JSON Lines, or one question in plain text, however many lines it has.
    """
    name = _source_name(data, question, picked=any((limit, ids, problem_field, answer_field, id_field)))
    data = str(user_path(data)) if data and data != _STDIN else data
    settings = Settings(
        recipe=recipe,
        arguments=recipe_arguments(context, recipe, set or ()),
        policy=RoleOptions(model, base_url, temperature, top_p, max_tokens, loads(extra_body or "{}")),
        judge=RoleOptions(judge_model, judge_base_url) if judge_model or judge_base_url else None,
        judge_max_tokens=judge_max_tokens,
        prm=RoleOptions(prm_model, prm_base_url) if prm_model or prm_base_url else None,
        seed=seed,
        width=width,
        max_concurrency=max_concurrency,
        timeout=timeout,
        max_retries=max_retries,
        wait_for_server=wait_for_server,
        max_calls=max_calls,
        token_limit=token_limit,
        time_limit=time_limit,
        prompts=str(user_path(prompts)) if prompts else None,
        answer_kind=answer_kind,
        problem_field=problem_field,
        answer_field=answer_field,
        id_field=id_field,
        skip_bad=skip_bad,
        limit=limit,
        ids=_listed(ids),
        fail_on_error=fail_on_error,
        keep_calls=keep_calls,
    )
    settings, notices = seated(context, settings)
    keys = (api_key, judge_api_key, prm_api_key)
    check_body(settings.policy.extra_body, keys)
    talks = not (quiet or display is o.Display.NONE)
    if talks and not dry_run:
        _announce(settings, name, notices)
    planned = _planned(settings, data, question, talks=talks, drawn=dry_run and not json)
    if dry_run:
        return draw_plan(settings_given(context), planned, json=json)
    way = ("none" if quiet else display, quiet, json)
    return _begun(planned, output_dir, keys, way, overwrite=overwrite)


def _begun(
    planned: "Plan",
    output_dir: str | None,
    keys: tuple[str | None, str | None, str | None],
    way: tuple[str, bool, bool],
    *,
    overwrite: bool,
) -> int:
    from mctsr.lm.connect import Keys

    from .conduct import Way, begin

    return begin(planned, output_dir, Keys(*keys), Way(*way), overwrite=overwrite)


def _source_name(data: str | None, question: str | None, *, picked: bool) -> str:
    """Call the source of the problems by a name for people.

    Raises:
        UsageError: there is none, or more than one, or a question is to be picked from.
    """
    if (data is None) == (question is None):
        raise UsageError("give a file of problems, - for stdin, or a question with -q; one of them")
    if data is None and picked:
        raise UsageError("--limit, --ids and fields are for a file; leave them out with -q")
    return "a question" if data is None else "stdin" if data == _STDIN else short(data)


def _listed(given: list[str] | None) -> tuple[str, ...]:
    return tuple(id.strip() for text in given or () for id in text.split(",") if id.strip())


def seated(context: typer.Context, settings: Settings) -> tuple[Settings, list[str]]:
    """Settle which server each role talks to; returns the settings and what the user should know.

    Raises:
        UsageError: no server is named, or a server and a model that starts one.
    """
    policy, judge, prm, notices = settings.policy, settings.judge, settings.prm, []
    if origin(context, "base_url") == _OLD_VARIABLE:
        notices.append(f"{_OLD_VARIABLE} is taken for OPENAI_BASE_URL")
    alone = replace(policy, base_url=None)
    if alone.starts_here and policy.base_url and _weight(context, "base_url") < _weight(context, "model"):
        notices.append(
            f"{origin(context, 'base_url')} is left out: --model {short(str(policy.model))} starts a server here"
        )
        policy = alone
    if policy.model == EMBEDDED and policy.base_url:
        raise UsageError(
            "--model embedded starts a server of its own; leave out --base-url, or name another model"
        )
    if not policy.base_url and not policy.starts_here:
        given = f" for --model {short(policy.model)}; {_did_you_mean(policy.model)}" if policy.model else "; "
        raise UsageError(f"no server{given}give --base-url URL (or OPENAI_BASE_URL), or --model embedded")
    policy = _placed(policy)
    if judge is not None:
        judge = _beside(policy, judge, "judge")
        same = (judge.base_url or policy.base_url) == policy.base_url and not judge.starts_here
        body = policy.extra_body if same else {}
        judge = replace(judge, temperature=policy.temperature, top_p=policy.top_p, extra_body=body)
    prm = _beside(policy, prm, "prm") if prm else None
    return replace(settings, policy=policy, judge=judge, prm=prm), notices


def _beside(policy: RoleOptions, role: RoleOptions, name: str) -> RoleOptions:
    """Place a further role, on the policy's server where it has none of its own."""
    if not policy.base_url and not role.base_url and not role.starts_here:
        hint = _did_you_mean(role.model or "")
        raise UsageError(
            f"no server for --{name}-model {short(str(role.model))}; {hint}give --{name}-base-url URL"
        )
    return _placed(role)


def _did_you_mean(model: str) -> str:
    near = get_close_matches(model.lower(), [EMBEDDED], cutoff=0.75)
    return f"did you mean {EMBEDDED}? Otherwise " if near else ""


def _placed(role: RoleOptions) -> RoleOptions:
    """Write the address of a role's server, or the path of its file, in the form that is recorded."""
    if role.base_url:
        return replace(role, base_url=read_address(role.base_url).base)
    is_file = role.starts_here and role.model != EMBEDDED
    return replace(role, model=str(user_path(str(role.model)))) if is_file else role


def _weight(context: typer.Context, name: str) -> int:
    """Rank where a value was taken from; variables of other programs are the least deliberate."""
    where = origin(context, name)
    if where in ("flag", "default"):
        return 3 if where == "flag" else -1
    return 2 if where.startswith("MCTSR_") else 0 if where.startswith("OPENAI_") else 1


def _announce(settings: Settings, data: str, notices: list[str]) -> None:
    """Say what is going to happen, before anything heavy is loaded."""
    from importlib.metadata import version

    server = server_of(settings.policy, word="server ")
    talk(f"mctsr {version('mctsr')} · recipe {short(settings.recipe)} · {data} · {server}")
    for notice in notices:
        talk(f"notice: {notice}")


def _planned(
    settings: Settings, data: str | None, question: str | None, *, talks: bool, drawn: bool
) -> "Plan":
    """Read what is to be solved, and say what of it is not used or is taken otherwise than it may be meant."""
    from mctsr.batch import plan
    from mctsr.problems import chosen_notes, chosen_reading, stdin_text

    text = stdin_text(data) if data else None
    planned = plan(settings, data, question, text)
    notes = [*(chosen_notes(data, settings, text) if data else ()), *step_notes(planned)]
    for note in notes if talks else ():
        talk(one_line(f"notice: {note}"))
    for number, line in enumerate(chosen_reading(data, settings, text) if drawn and data else ()):
        Screen().line(f"{'' if number else 'data':<10}", one_line(line), wrap=True)
    return planned
