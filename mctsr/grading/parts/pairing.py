"""Pairing: which parts of two answers belong together, and what their verdicts add up to.

Knows order, partners and certainty; how two parts are compared is told by the caller.
"""

from collections.abc import Callable, Sequence

from mctsr.grading.exact import Outcome, normal_form
from mctsr.grading.numerals import read_numeral

Part = Callable[[str, str], Outcome]
"""Compares a gold part with an answer part, at whatever cost."""

Quick = Callable[[str, str], Outcome | None]
"""Compares them at no cost, or returns None."""

_CERTAINTY = ("exact", "choice", "numeric", "symbolic", "none")


def ordered(wanted: Sequence[str], given: Sequence[str], part: Part) -> Outcome:
    """Compare parts place by place; the first difference that is certain decides."""
    if len(wanted) != len(given):
        return _different_lengths(wanted, given)
    verdicts = []
    for pair in zip(wanted, given, strict=True):
        verdict = part(*pair)
        verdicts.append(verdict)
        if not verdict.equal and verdict.method != "none":
            return verdict._replace(reason=f"part {len(verdicts)}: {verdict.reason}")
    return total(verdicts)


def unordered(wanted: Sequence[str], given: Sequence[str], part: Part, quick: Quick) -> Outcome:
    """Find each gold part a partner of its own; a repeat that only the answer has counts once."""
    if len(wanted) != len(given):
        given = _distinct(given)
    if len(wanted) != len(given):
        return _different_lengths(wanted, given)
    free = list(range(len(given)))
    verdicts = []
    for gold in wanted:
        place, verdict = _partner(gold, given, free, part, quick)
        if place is None and verdict.method != "none":
            return Outcome(False, verdict.method, f"{gold:.60} is not among the parts")
        if place is not None:
            free.remove(place)
        verdicts.append(verdict)
    return total(verdicts)


def are_proportional(wanted: Sequence[str], given: Sequence[str]) -> bool:
    """Tell whether two ratios of numbers are the same ratio: 2:4 is 1:2."""
    gold, answer = [read_numeral(part) for part in wanted], [read_numeral(part) for part in given]
    left, right = ([number.value for number in row if number is not None] for row in (gold, answer))
    if len(left) != len(gold) or len(right) != len(answer) or len(left) != len(right):
        return False
    if not left[0] or not right[0]:
        return False
    return all(one * right[0] == other * left[0] for one, other in zip(left, right, strict=True))


def other_kinds(gold: str, answer: str) -> Outcome:
    """Tell apart two answers whose shapes (see `Shape.kind`) do not stand for one another."""
    kinds = ["tuple" if kind == "group" else kind for kind in (gold, answer)]
    return Outcome(False, "exact", f"a {kinds[0]} and a {kinds[1]}")


def total(verdicts: Sequence[Outcome]) -> Outcome:
    """Return the least certain of several verdicts; no parts at all are equal."""
    if not verdicts:
        return Outcome(True, "exact", "both are empty")
    return max(verdicts, key=lambda verdict: _rank(verdict.method))


def _partner(
    gold: str, given: Sequence[str], free: Sequence[int], part: Part, quick: Quick
) -> tuple[int | None, Outcome]:
    at_once = [(place, quick(gold, given[place])) for place in free]
    for place, outcome in at_once:
        if outcome is not None and outcome.equal:
            return place, outcome
    weakest = Outcome(False, "numeric", "different")
    for place in (place for place, outcome in at_once if outcome is None):
        outcome = part(gold, given[place])
        if outcome.equal:
            return place, outcome
        weakest = max(weakest, outcome, key=lambda verdict: _rank(verdict.method))
    return None, weakest


def _rank(method: str) -> int:
    return _CERTAINTY.index(method) if method in _CERTAINTY else len(_CERTAINTY)


def _distinct(parts: Sequence[str]) -> list[str]:
    return list({normal_form(part): part for part in reversed(parts)}.values())[::-1]


def _different_lengths(wanted: Sequence[str], given: Sequence[str]) -> Outcome:
    return Outcome(False, "exact", f"the gold answer has {len(wanted)} and the answer {len(given)} parts")
