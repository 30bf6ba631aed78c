"""Every backup once more as plain Python over plain objects, and random histories of judging to compare on."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from mctsr.tree import Sample, State, Tree

Rewards = list[float]


@dataclass(frozen=True)
class Event:
    """A new child of `at` (-1: a new root), or another judgement of `at`; no rewards means unscored."""

    at: int
    born: bool
    rewards: Rewards
    done: bool = False


@dataclass(eq=False)
class Thing:
    """One node of the reference."""

    above: "Thing | None"
    done: bool
    below: list["Thing"] = field(default_factory=list)
    rewards: Rewards = field(default_factory=list)
    value: float = math.nan
    total: float = 0.0
    n: int = 0

    @property
    def path(self) -> list["Thing"]:
        """From this node up to its root."""
        return [self, *(self.above.path if self.above else [])]

    @property
    def depth(self) -> int:
        return len(self.path) - 1

    @property
    def under(self) -> list["Thing"]:
        """This node and everything below it."""
        return [self] + [thing for child in self.below for thing in child.under]

    @property
    def own(self) -> float:
        return sum(self.rewards) / len(self.rewards) if self.rewards else math.nan

    @property
    def half(self) -> float:
        return 0.5 * (min(self.rewards) + self.own)

    @property
    def best(self) -> float:
        return max((c.value for c in self.below if not math.isnan(c.value)), default=math.nan)

    @property
    def weighed(self) -> float:
        n = sum(child.n for child in self.below)
        return sum(c.value * c.n for c in self.below if c.n) / n if n else math.nan


Rule = Callable[[Thing, Rewards], None]
"""Called with a judged node, its rewards complete, and the new ones among them."""


@st.composite
def histories(draw: st.DrawFn, max_size: int = 14) -> list[Event]:
    """Draw births and judgements in order; small integers as rewards, so that ties are common."""
    reward = st.integers(-3, 3).map(lambda tenths: tenths / 4)
    events: list[Event] = []
    size = 0
    for _ in range(draw(st.integers(1, max_size))):
        at = draw(st.integers(-1, size - 1))
        born = at < 0 or draw(st.booleans())
        rewards = draw(st.lists(reward, min_size=0 if born else 1, max_size=3))
        events.append(Event(at, born, rewards, draw(st.booleans())))
        size += born
    return events


def follow(tree: Tree, things: list[Thing], event: Event) -> int:
    """Put `event` into both, short of any backup; returns the node."""
    if event.born:
        above = things[event.at] if event.at >= 0 else None
        node = tree.add(event.at, State(f"text {len(things)}"))
        things.append(Thing(above, event.done))
        if above is not None:
            above.below.append(things[-1])
        if event.done:
            tree.end(node, "finished")
    else:
        node = event.at
    if event.rewards:
        tree.judged(node, tuple(Sample(r, r) for r in event.rewards))
        things[node].rewards += event.rewards
    elif event.born:
        tree.unscored(node, "no score in the reply")
    return node


def mean(flip: float, births_count: bool = True) -> Rule:
    def rule(at: Thing, new: Rewards) -> None:
        birth = len(at.rewards) == len(new)
        if birth and not births_count and at.n == 0:
            at.value = at.own
        for r in new if births_count or not birth else []:
            for thing in at.path:
                thing.total += r * flip ** (at.depth - thing.depth)
                thing.n += 1
                thing.value = thing.total / thing.n

    return rule


def mean_of_ends(steps_count: bool) -> Rule:
    def rule(at: Thing, new: Rewards) -> None:
        if at.done:
            mean(1)(at, new)
        elif steps_count:
            at.total, at.n = at.total + sum(new), at.n + len(new)
            at.value = at.total / at.n
        elif at.n == 0:
            at.value = at.own

    return rule


def highest(at: Thing, new: Rewards) -> None:
    for thing in at.path:
        thing.n += len(new)
        thing.value = thing.own if math.isnan(thing.best) else thing.best


def mc_nest(at: Thing, new: Rewards) -> None:
    first = len(at.rewards) == len(new)
    at.value, at.n = at.half, at.n + len(new)
    for thing in at.path[1:] if first else []:
        thing.n += 1
        thing.value = 0.5 * (thing.value + thing.best) if thing.rewards else thing.best


def llama_berry(g: float) -> Rule:
    def rule(at: Thing, new: Rewards) -> None:
        at.value = at.own
        at.n += len(new)
        for child, thing in zip(at.path, at.path[1:], strict=False):
            thing.n += len(new)
            thing.value = (1 - g) * thing.value + g * child.value if thing.rewards else child.value

    return rule


def visit_weighted(births_count: bool) -> Rule:
    def rule(at: Thing, new: Rewards) -> None:
        counts = births_count or len(at.rewards) > len(new)
        for thing in at.path:
            thing.n += len(new) if counts else 0
            thing.value = thing.own if math.isnan(thing.weighed) else thing.weighed

    return rule


def med_s3_comp(at: Thing, new: Rewards) -> None:
    at.value = at.own
    for thing in at.path:
        thing.n += len(new)
        if not thing.rewards:
            thing.value = thing.weighed
        elif not math.isnan(thing.weighed):
            thing.value = 0.5 * (thing.value + thing.weighed)


def decayed(decay: float) -> Rule:
    def rule(at: Thing, new: Rewards) -> None:
        for r in new:
            for thing in at.path:
                thing.total += decay ** (at.depth - thing.depth) * r
                thing.value = thing.total
                thing.n += thing is not at

    return rule


def deep_search(shift: int, floor: float) -> Rule:
    def one(at: Thing, r: float) -> None:
        for thing in at.path if r or at.done else [at]:
            last = at.depth + shift
            g = 1 if thing is at else max((thing.depth + shift) / last, floor)
            if thing.total * r >= 0:
                thing.total += g * r
            elif r > 0:
                thing.total = g * r
            thing.n += 1
            thing.value = thing.total / thing.n

    def rule(at: Thing, new: Rewards) -> None:
        for r in new:
            one(at, r)

    return rule


def steps(combine: Callable[[Rewards], float]) -> Rule:
    def rule(at: Thing, new: Rewards) -> None:
        at.n = len(at.rewards)
        for thing in at.under:
            known = [step.own for step in thing.path if step.rewards]
            thing.value = combine(known) if thing.rewards else math.nan

    return rule


def half_own_half_best(at: Thing, new: Rewards) -> None:
    at.n = len(at.rewards)
    for thing in at.path:
        best = max((child.value for child in thing.below if child.rewards), default=math.nan)
        if not thing.rewards:
            thing.value = best
        else:
            thing.value = thing.half if math.isnan(best) else 0.5 * (thing.half + best)


def own(at: Thing, new: Rewards) -> None:
    at.n, at.value = len(at.rewards), at.own
