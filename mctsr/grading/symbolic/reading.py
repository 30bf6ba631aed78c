r"""Reading: LaTeX into expressions, in a worker.

Knows math-verify's parser and how it fails quietly: by stopping in the middle. Text reaches the LaTeX grammar alone, never
one that reads Python.
"""

import re
from typing import Any

from latex2sympy2_extended import NormalizationConfig  # type: ignore[import-untyped]
from math_verify import LatexExtractionConfig, parse
from sympy import Basic, Expr, Float, MatrixBase, Rational, Symbol

from .spelling import capitals_clash, split_capitals, to_latex

_CONFIG = [LatexExtractionConfig()]
_SENTINEL = "q_{90817}"
_SENTINELS = ("q_{90817}", "q_90817")


def read_pair(gold: str, answer: str) -> tuple[Any, Any]:
    """Read two cleaned answers into expressions with the same letters; None for one that cannot be read."""
    latex = [to_latex(gold), to_latex(answer)]
    if capitals_clash((latex[0], latex[1])):
        latex = [split_capitals(text) for text in latex]
    return read(latex[0]), read(latex[1])
