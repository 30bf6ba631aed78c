r"""Reading: LaTeX into an expression, in a worker.

Knows math-verify's LaTeX grammar, which rejects what it cannot read to the end. Nothing a model wrote ever reaches a
parser of Python.
"""

import re
from typing import TypeAlias

from latex2sympy2_extended import NormalizationConfig, latex2sympy
from latex2sympy2_extended.latex2sympy2 import ConversionConfig
from sympy import Basic, I, MatrixBase, Symbol

from .spelling import to_latex

_NORMAL = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=False, boxed="none"
)
_CONVERSION = ConversionConfig(lowercase_symbols=False)  # r and R are two radii
_COMPLEX = re.compile(r"(?<![A-Za-z\\])i(?![A-Za-z])|\\(?:imath|Re|Im|arg)(?![A-Za-z])")
_MISREAD = re.compile(r"[0-9]\s*_|\\(?:overline|bar|dot|underline)\s*\{?[0-9]")

Formula: TypeAlias = Basic | MatrixBase


def read(cleaned: str) -> Formula | None:
    """Read a cleaned answer, or return None when the grammar does not know it."""
    latex = to_latex(cleaned)
    if _MISREAD.search(latex):
        return None  # the grammar drops the base of `52_8` and takes `.1\overline{6}` for a product
    is_complex = bool(_COMPLEX.search(latex))
    try:
        found = latex2sympy(
            latex,
            is_real=not is_complex,
            convert_degrees=False,
            normalization_config=_NORMAL,
            conversion_config=_CONVERSION,
        )
    except (MemoryError, RecursionError):
        raise
    except Exception:  # the parser raises whatever its parts raise
        return None
    if isinstance(found, MatrixBase):
        return found
    return _with_constants(found, is_complex=is_complex) if isinstance(found, Basic) else None


def _with_constants(found: Basic, *, is_complex: bool) -> Basic:
    """Make the letter `i` the imaginary unit where nothing counts with it."""
    letters = [symbol for symbol in found.free_symbols if isinstance(symbol, Symbol) and symbol.name == "i"]
    if not is_complex or not letters:
        return found
    replaced = found.xreplace(dict.fromkeys(letters, I))
    return replaced if isinstance(replaced, Basic) else found
