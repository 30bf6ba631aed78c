"""Word problems of a few arithmetic steps: made, read back, worked out right and worked out wrong.

Knows the small language they are written in. Does not know who solves them, or how they are judged.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import add, mul, sub
from re import compile as pattern
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from mctsr.parts import Problem

_NAMES = ("Ada", "Ben", "Chloe", "Dev", "Emma", "Farid", "Gita", "Hugo", "Ines", "Jun", "Kofi", "Lena")
_THINGS = ("marbles", "stamps", "shells", "coins", "cards", "beads", "apples", "books")
_SENTENCES = {
    "+": "Then {name} finds {number} more.",
    "-": "Then {name} gives {number} away.",
    "*": "After a trade {name} has {number} times as many.",
}
_DO: Mapping[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul}
_MISTAKEN = {"+": "-", "-": "+", "*": "+"}
_READ = pattern(
    r"\bhas (?P<times>\d+) times as many|\bfinds (?P<plus>\d+) more|\bgives (?P<minus>\d+) away|\bhas (?P<start>\d+)"
)
_SIGNS = {"times": "*", "plus": "+", "minus": "-"}
_WRONG_ANSWERS = 4


class Step(NamedTuple):
    """One operation: "+", "-" or "*", and its second operand."""

    sign: str
    number: int


class Working(NamedTuple):
    """A solution: one line a step, and what comes out."""

    lines: tuple[str, ...]
    result: int


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A number and what happens to it.

    Attributes:
        start: The first number.
        steps: What is done to it, in order.
    """

    start: int
    steps: tuple[Step, ...]

    @property
    def answer(self) -> int:
        """The right result."""
        return self.work().result

    def work(self, slip_at: int = -1, slip: Callable[[int, Step], int] | None = None) -> Working:
        """Work it out; the step `slip_at` (-1: none) comes out as `slip` says."""
        total, lines = self.start, []
        for i, step in enumerate(self.steps):
            result = _DO[step.sign](total, step.number)
            if slip is not None and i == slip_at:
                result = slip(total, step)
            lines.append(f"{total} {step.sign} {step.number} = {result}")
            total = result
        return Working(tuple(lines), total)


def make_puzzle(rng: Generator, *, shortest: int = 2, longest: int = 4) -> tuple[str, Puzzle]:
    """Make a puzzle of `shortest` to `longest` steps; return its text and what it says."""
    name, thing = _NAMES[rng.integers(len(_NAMES))], _THINGS[rng.integers(len(_THINGS))]
    start = total = int(rng.integers(3, 40))
    steps: list[Step] = []
    for _ in range(rng.integers(shortest, longest + 1)):
        sign = str(rng.choice(["+", "-", "*"] if total > 9 else ["+", "*"]))
        number = int(rng.integers(2, {"+": 30, "-": total - 2, "*": 5}[sign]))
        steps.append(Step(sign, number))
        total = _DO[sign](total, number)
    story = [_SENTENCES[step.sign].format(name=name, number=step.number) for step in steps]
    text = " ".join([f"{name} has {start} {thing}.", *story, f"How many {thing} are there in the end?"])
    return text, Puzzle(start, tuple(steps))


def make_problems(count: int, seed: int) -> Sequence[tuple[Problem, int]]:
    """Make `count` problems with their right answers; the same for the same seed."""
    made = []
    for i in range(count):
        text, puzzle = make_puzzle(np.random.default_rng([seed, i]))
        made.append((Problem(f"puzzle-{i:04}", text, "number"), puzzle.answer))
    return made


@lru_cache(maxsize=4096)
def read_puzzle(text: str) -> Puzzle | None:
    """Read a puzzle back from its text; None when there is none in it."""
    start: int | None = None
    steps: list[Step] = []
    for found in _READ.finditer(text):
        kind, number = str(found.lastgroup), int(found[str(found.lastgroup)])
        if kind == "start" and start is None:
            start = number
        elif kind in _SIGNS and start is not None:
            steps.append(Step(_SIGNS[kind], number))
    return None if start is None or not steps else Puzzle(start, tuple(steps))


@lru_cache(maxsize=4096)
def wrong_workings(puzzle: Puzzle) -> tuple[Working, ...]:
    """Return up to four plausible wrong solutions with different results, the likeliest first.

    Each has one slip: the wrong operation, or a result off by ten, one or two.
    """
    slips: list[Callable[[int, Step], int]] = [
        lambda total, step: _DO[_MISTAKEN[step.sign]](total, step.number),
        lambda total, step: _DO[step.sign](total, step.number) + 10,
        lambda total, step: _DO[step.sign](total, step.number) - 1,
        lambda total, step: _DO[step.sign](total, step.number) + 2,
    ]
    found: dict[int, Working] = {}
    for slip in slips:
        for at in reversed(range(len(puzzle.steps))):
            working = puzzle.work(at, slip)
            if working.result != puzzle.answer:
                found.setdefault(working.result, working)
    return tuple(found.values())[:_WRONG_ANSWERS]


if __name__ == "__main__":
    import json
    import sys

    for problem, answer in make_problems(int(sys.argv[1]) if len(sys.argv) > 1 else 20, seed=0):
        row = {"id": problem.id, "question": problem.text, "answer": str(answer)}
        sys.stdout.write(json.dumps(row) + "\n")
