"""Laws that every part keeps, as functions for tests of parts of one's own.

Each raises `LawBroken` with what was done and what came of it, and returns None otherwise. Everything random in
them comes from fixed seeds. The laws of expanders, judges and recipes are asynchronous: await them in an async
test. None has a gold answer to give, so no part can need one.
"""

from .model_laws import PROBLEM, check_expander, check_judge, check_recipe
from .resample_laws import check_resampler
from .tree_laws import LawBroken, check_backup, check_selector, check_shape

__all__ = [
    "PROBLEM",
    "LawBroken",
    "check_backup",
    "check_expander",
    "check_judge",
    "check_recipe",
    "check_resampler",
    "check_selector",
    "check_shape",
]
