"""What a run is expected to come to, before it is begun.

Knows: how a plan and its price are worded. Does not know: how they are found.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mctsr.errors import short
from mctsr.lm.local.gguf import EMBEDDED
from mctsr.view.words import counted, short_model

from .render import Column, Screen, number, one_line

if TYPE_CHECKING:
    from mctsr.batch import Estimate, Plan
    from mctsr.lm.options import RoleOptions, Settings


_LONGEST = "max_step_tokens"


def server_of(role: "RoleOptions", other: "RoleOptions | None" = None, *, word: str = "") -> str:
    """Say where a role's model is; a role without a place of its own shares that of the `other`."""
    if role.base_url:
        return f"{word}{role.base_url}"
    if role.starts_here or other is None:
        return (
            "embedded model"
            if role.model == EMBEDDED
            else f"embedded model {short(short_model(role.model or ''))}"
        )
    return server_of(other)


def step_notes(plan: "Plan") -> list[str]:
    """Say of a step that may be longer than a call that it goes on in further calls."""
    arguments, expander = plan.chosen.arguments, plan.recipe.expander
    own = getattr(getattr(expander, "steps", expander), _LONGEST, None)
    longest, most = arguments.get(_LONGEST, own), plan.settings.policy.max_tokens
    if not isinstance(longest, int) or longest <= most:
        return []
    what = f"--max-tokens {most} is for one call; a step of up to {longest:,} tokens goes on in further calls"
    return [f"{what}; give -s {_LONGEST}={most} to end it there" if _LONGEST in arguments else what]


def draw_plan(given: Mapping[str, tuple[object, str]], plan: "Plan", *, json: bool) -> int:
    """Write what would be done, and at what expected cost; nothing can fail any more.

    Args:
        given: Every setting with its value, and where that is from.
        plan: What would be done.
        json: Whether to write JSON.

    Returns:
        The exit code.
    """
    from mctsr.batch import estimate

    cost, settings, screen = estimate(plan), plan.settings, Screen()
    servers = _servers(settings, cost.roles)
    if json:
        totals = {"total_calls": cost.total_calls, "total_tokens": cost.total_tokens}
        screen.json(
            {
                "recipe": settings.recipe,
                "arguments": dict(plan.chosen.arguments),
                "problems": len(plan.problems),
                "servers": servers,
                "expected": {**cost._asdict(), **totals},
                "settings": dict(given),
            }
        )
        return 0
    arguments = ", ".join(f"{name}={value}" for name, value in plan.chosen.arguments.items())
    screen.line(one_line(f"recipe    {settings.recipe}({arguments})"), wrap=True)
    for role, what in servers.items():
        screen.line(f"{'server' if role == 'policy' else role:<10}{one_line(what)}")
    screen.line(f"problems  {len(plan.problems)}")
    _expected(screen, cost)
    screen.line()
    columns = [Column("setting"), Column("value", least=20), Column("from", least=10)]
    screen.table(columns, [[name, one_line(_spelt(value)), where] for name, (value, where) in given.items()])
    return 0


def _servers(settings: "Settings", asked: Sequence[str]) -> dict[str, str]:
    """Say who answers: the policy, and of the other roles those that the recipe asks."""
    policy, prm = settings.policy, settings.prm
    places = {
        "judge": server_of(settings.judge or policy, policy),
        "prm": server_of(prm, policy) if prm else "none is given; name one with --prm-base-url URL",
    }
    return {"policy": server_of(policy), **{role: places[role] for role in places if role in asked}}


def _expected(screen: Screen, cost: "Estimate") -> None:
    bound = "more than " if cost.at_least else "at most about " if cost.at_most else ""
    each = f"{number(cost.calls)} calls, {number(cost.prompt_tokens, 0)} prompt and "
    tokens = f"{number(cost.completion_tokens, 0)} reply tokens a problem"
    screen.line(f"expected  {bound}{each}{tokens}{_terms(cost)}", wrap=True)
    totals = f"{number(cost.total_calls)} calls, {number(cost.total_tokens)} tokens in total"
    screen.line(f"          {bound}{totals}", wrap=True)


def _terms(cost: "Estimate") -> str:
    """Say what the cost holds for: how long solutions were taken to be, and which limit ended them."""
    steps, limit = "", f"; the {cost.limit} ends it" if cost.limit else ""
    if cost.steps:
        steps = f", for solutions of {'up to ' if cost.at_most else ''}{counted(cost.steps, 'step')}"
    elif cost.at_most:
        steps = ", less where solutions are short or agree"
    return steps + limit


def _spelt(value: object) -> str:
    """Write a setting's value in words."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
