"""How the findings of `mctsr doctor` are shown: a table for each role, then the recipes.

Knows: words and colours. Does not know: what was asked, or what it takes to run.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mctsr.errors import named
from mctsr.lm.local.gguf import EMBEDDED

from .render import BAD, DOUBT, GOOD, QUIET, STRONG, Column, Line, Screen, Span, one_line

if TYPE_CHECKING:
    from mctsr.lm.base import Role
    from mctsr.lm.doctor.examine import Examined
    from mctsr.lm.doctor.finding import Finding
    from mctsr.recipes.needs import Needs

_STYLES = {"good": GOOD, "weak": DOUBT, "bad": BAD, "unknown": QUIET}
_SHOWN = 3

SCORES = frozenset({"pooling", "classify"})
"""What a reward model offers."""

PRM = frozenset({"prm"})
"""That there is one, and that it gives scores."""


def draw_findings(
    screen: Screen, found: Sequence["Examined"], recipes: Sequence["Needs"], given: Mapping[str, str]
) -> None:
    """Write a table for each role.

    Args:
        screen: Where to.
        found: The roles.
        recipes: What the known recipes need, so that a finding can name those that live by it.
        given: The address of each role as the user wrote it.
    """
    columns = [
        Column("probe"),
        Column("found", least=24, folds=True),
        Column("what it means", least=24, folds=True),
    ]
    for each in found:
        screen.line(*_head(each, given[each.role]), wrap=True)
        if each.server is not None:
            screen.table(columns, [_row(each.role, finding, recipes) for finding in each.findings])
        for finding in each.findings if each.server is None else ():
            screen.line(Span(one_line(finding.found), _STYLES[finding.state]), wrap=True)
        screen.line()


def _head(each: "Examined", given: str) -> Line:
    if each.server is None:
        return [Span(each.role, STRONG), "  ", one_line(given)]
    if each.server.base_url == EMBEDDED:
        return [Span(each.role, STRONG), "  ", one_line(f"{each.server.model}, started here")]
    place = each.server.base_url
    taken = f" (given as {given})" if given and given != place else ""
    return [Span(each.role, STRONG), "  ", one_line(f"{each.server.model} at {place}{taken}")]


def _row(role: "Role", finding: "Finding", recipes: Sequence["Needs"]) -> Line:
    without = users_of(role, finding.lacks, recipes)
    able = [name for name in users_of(role, finding.gives, recipes) if name not in without]
    means = [finding.means, _for("for", able), _for("not for", without)]
    said = one_line("; ".join(filter(None, means)))
    return [finding.probe, Span(one_line(finding.found), _STYLES[finding.state]), said]


def _for(word: str, names: list[str]) -> str:
    return f"{word} {named(names, _SHOWN)}" if names else ""


def draw_recipes(
    screen: Screen, recipes: Sequence["Needs"], offers: frozenset[str], *, runs: bool = True
) -> None:
    """Write which recipes can run with their default arguments, and in one line each what the others miss.

    Args:
        screen: Where to.
        recipes: What the known recipes need.
        offers: What was seen to hold.
        runs: Whether any search could run; without that, no recipe is named.
    """
    if not runs:
        screen.line(Span("can run: none", BAD))
        return
    missing: dict[str, list[str]] = {}
    for recipe in recipes:
        why = recipe.unknown or _without(recipe.words - offers)
        missing.setdefault(why, []).append(recipe.name)
    screen.line(
        Span("can run, with their defaults  ", STRONG),
        one_line(", ".join(missing.pop("", ["none"]))),
        wrap=True,
    )
    for why, names in missing.items():
        screen.line(Span("cannot run  ", STRONG), one_line(f"{', '.join(names)}: without {why}"), wrap=True)


def _without(missing: frozenset[str]) -> str:
    """Name what is missing; a reward model by its flag, and then not its scores, too."""
    if not missing & PRM:
        return ", ".join(sorted(missing))
    return ", ".join(["a reward model (--prm-base-url)", *sorted(missing - PRM - SCORES)])


def offered(found: Sequence["Examined"]) -> frozenset[str]:
    """Return what was seen to hold where recipes look for it."""
    return frozenset[str]().union(*(_sought(each.role, each.offers) for each in found))


def users_of(role: "Role", words: frozenset[str], recipes: Sequence["Needs"]) -> list[str]:
    """Return the names of the recipes that need any of the words of this role's server."""
    return [recipe.name for recipe in recipes if recipe.words & _sought(role, words - PRM)]


def _sought(role: "Role", words: frozenset[str]) -> frozenset[str]:
    """Keep the words that recipes look for at a role: scores at the reward model, all else at the policy."""
    sought = {"policy": words - SCORES - PRM, "prm": words & (SCORES | PRM)}
    return sought.get(role, frozenset())
