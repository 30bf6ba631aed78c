"""What a run is expected to come to, before it is begun.

Knows: how a plan and its price are worded. Does not know: how they are found.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mctsr.errors import short
from mctsr.lm.local.gguf import EMBEDDED
from mctsr.view.words import short_model

from .render import Column, Screen, number, one_line

if TYPE_CHECKING:
    from mctsr.batch import Estimate, Plan
    from mctsr.lm.options import RoleOptions


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
    judge = settings.judge or settings.policy
    servers = {"policy": server_of(settings.policy), "judge": server_of(judge, settings.policy)}
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
    for name, what in (("server", servers["policy"]), ("judge", servers["judge"])):
        screen.line(f"{name:<10}{one_line(what)}")
    screen.line(f"problems  {len(plan.problems)}")
    _expected(screen, cost)
    screen.line()
    columns = [Column("setting"), Column("value", least=20), Column("from", least=10)]
    screen.table(columns, [[name, one_line(_spelt(value)), where] for name, (value, where) in given.items()])
    return 0


def _expected(screen: Screen, cost: "Estimate") -> None:
    more = "more than " if cost.at_least else ""
    each = f"{number(cost.calls)} calls, {number(cost.prompt_tokens, 0)} prompt and "
    steps = f", for solutions of {cost.steps} steps" if cost.steps else ""
    tokens = f"{number(cost.completion_tokens, 0)} reply tokens a problem"
    screen.line(f"expected  {more}{each}{tokens}{steps}", wrap=True)
    totals = f"{number(cost.total_calls)} calls, {number(cost.total_tokens)} tokens in total"
    screen.line(f"          {more}{totals}", wrap=True)


def _spelt(value: object) -> str:
    """Write a setting's value in words."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
