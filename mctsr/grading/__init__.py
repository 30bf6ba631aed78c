"""Grading: from a reply to its answer, and from an answer and a gold answer to a verdict.

The exact layer needs the standard library alone and takes microseconds. Formulas that it leaves open are compared by
math-verify in worker processes, which are started when the first such pair comes. Nothing that a model wrote is
evaluated as program text anywhere.
"""

from .exact import normal_form
from .extract import extract_answer
from .gold import clean_gold
from .grader import Grade, Grader
from .policy import Policy
from .typed import Gold, gold_of

__all__ = ["Gold", "Grade", "Grader", "Policy", "clean_gold", "extract_answer", "gold_of", "normal_form"]
