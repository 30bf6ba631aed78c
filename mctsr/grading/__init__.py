"""Grading: from a reply to its answer, and from an answer and a gold answer to a verdict.

Needs the standard library alone, takes microseconds, and evaluates nothing that a model wrote.
"""

from .exact import normal_form
from .extract import extract_answer
from .gold import clean_gold
from .grader import Grade, Grader

__all__ = ["Grade", "Grader", "clean_gold", "extract_answer", "normal_form"]
