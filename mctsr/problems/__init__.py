"""Reading data sets: problems without gold answers, and gold answers without anything else.

Knows JSON Lines, JSON lists, objects in objects, CSV, TSV, Parquet, each also packed by gzip, and data sets of the
Hugging Face hub; under which names the common data sets keep problem, gold answer and id; and how each of them spells
an answer. No other column is ever read. How an answer is read is taken from names, from the problem's text or from
the user, never from gold values. Does not know what is done with problems.
"""

from .chosen import (
    chosen_gold,
    chosen_notes,
    chosen_problems,
    chosen_reading,
    chosen_skips,
    lasting_name,
)
from .describe import Description, Sample, describe
from .fields import Columns
from .hub import is_hub_name
from .notes import read_notes, reading
from .pairs import Pair, read_pairs
from .read import problem_hash, problems_sha256, question_problem, read_gold, read_problems
from .source import STDIN, stdin_text

__all__ = [
    "STDIN", "Columns", "Description", "Pair", "Sample", "chosen_gold", "chosen_notes", "chosen_problems",
    "chosen_reading", "chosen_skips", "describe", "is_hub_name", "lasting_name", "problem_hash",
    "problems_sha256", "question_problem", "read_gold", "read_notes", "read_pairs", "read_problems",
    "reading", "stdin_text",
]  # fmt: skip
