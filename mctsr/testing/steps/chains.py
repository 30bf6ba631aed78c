"""Puzzles of several steps, their solutions as text, and what is right in a solution that is not finished.

Knows how a step is worded and read back. Does not know who writes it, how often it goes wrong, or what a judge says.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import add, mul, sub
from typing import NamedTuple

import numpy as np

from mctsr.parts import Problem
from mctsr.testing.puzzles import Puzzle, Step, make_puzzle

_DO = {"+": add, "-": sub, "*": mul}
_MISTAKEN = {"+": "-", "-": "+", "*": "+"}
_EQUATION = re.compile(r"(-?\d+) ([-+*]) (\d+) = (-?\d+)")
_SHORTEST, _LONGEST = 4, 6


class Equation(NamedTuple):
    """What one step says: `left sign right = result`."""

    left: int
    sign: str
    right: int
    result: int

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right} = {self.result}"


class Standing(NamedTuple):
    """How far a solution has come.

    Attributes:
        equations: What its steps say, in order.
        wrong: The first of them that is wrong, counted from 0; None while all are right.
    """

    equations: tuple[Equation, ...]
    wrong: int | None


def make_chains(count: int, seed: int) -> Sequence[tuple[Problem, int]]:
    """Make `count` problems of four to six steps with their right answers; the same for the same seed."""
    made = []
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        text, puzzle = make_puzzle(rng, shortest=_SHORTEST, longest=_LONGEST)
        made.append((Problem(f"chain-{i:04}", text, "number"), puzzle.answer))
    return made


@lru_cache(maxsize=65536)
def equations_of(text: str) -> tuple[Equation, ...]:
    """Read the equations of a text, in order."""
    return tuple(
        Equation(int(left), sign, int(right), int(result))
        for left, sign, right, result in _EQUATION.findall(text)
    )


def standing(puzzle: Puzzle, text: str) -> Standing:
    """Read a begun solution and find its first wrong step: each must do what the puzzle says next, and do it right."""
    said, total = equations_of(text), puzzle.start
    for i, equation in enumerate(said):
        if i >= len(puzzle.steps) or equation != right_step(total, puzzle.steps[i]):
            return Standing(said, i)
        total = equation.result
    return Standing(said, None)


def right_step(total: int, step: Step) -> Equation:
    """Return what a right step says when `total` is what came out before."""
    return Equation(total, step.sign, step.number, _DO[step.sign](total, step.number))


def wrong_steps(total: int, step: Step) -> tuple[Equation, ...]:
    """Return the wrong steps that are made here, the likeliest first; they differ in their results."""
    right = right_step(total, step)
    results = (
        _DO[_MISTAKEN[step.sign]](total, step.number),
        right.result + 10,
        right.result - 1,
        right.result + 2,
    )
    return tuple(right._replace(result=result) for result in dict.fromkeys(results) if result != right.result)


def deviates(*key: object) -> tuple[float, float]:
    """Return two independent numbers, uniform in (0, 1), that are the same for the same key for ever."""
    said = "\x1f".join(map(str, key)).encode("utf-8", "surrogatepass")
    digest = blake2b(said, digest_size=16).digest()
    first, second = (int.from_bytes(half, "big") >> 11 for half in (digest[:8], digest[8:]))
    return (first + 0.5) / 2**53, (second + 0.5) / 2**53


def normal(*key: object) -> float:
    """Return a standard normal number that is the same for the same key for ever."""
    first, second = deviates(*key)
    return math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second)
