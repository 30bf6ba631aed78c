"""Reading data sets: problems without gold answers, and gold answers without anything else.

Knows the rows of JSON Lines and of JSON lists: a text in `problem` or `question`, an answer in `answer`
(GSM8K's holds a solution that ends in `#### N`), an id in `id` or `unique_id`. No other column is ever read.
Does not know what is done with problems. How an answer is read is taken from the file's name or the user,
never from gold values.
"""

from .read import (
    problem_hash,
    problems_sha256,
    question_problem,
    read_gold,
    read_notes,
    read_problems,
)
from .rows import STDIN, stdin_text

__all__ = [
    "STDIN", "problem_hash", "problems_sha256", "question_problem", "read_gold", "read_notes", "read_problems",
    "stdin_text",
]  # fmt: skip
