"""Policies: what graders disagree about, and which side to take.

Knows three answers to the same list of questions and nothing about texts. `STANDARD` is for reports; the other two
show how much of a result hangs on conventions.
"""

from enum import StrEnum


class Policy(StrEnum):
    """How disputed conventions are settled.

    `STRICT` accepts only what is equal by mathematics or by spelling. `STANDARD` also accepts a decimal within the
    rounding that the gold answer's digits allow, a unit or none, bare comma lists in any order, an inequality for an
    interval, and square for round brackets where no interval can be meant. `LENIENT` further accepts 75 for 0.75, a
    decimal within a thousandth, and a tuple, set, list or column for one another.
    """

    STRICT = "strict"
    STANDARD = "standard"
    LENIENT = "lenient"
