"""The format "stepwise": one row a solution, its steps and their labels, as TRL's and Axolotl's trainers read it.

Stepwise supervision: `prompt`, `completions`, `labels` of equal length. The trainer puts its own separator behind
each step, so that the step's own white space at its end is left out.
"""

from collections.abc import Iterator

from .labels import Labels, Solution
from .rows import Row


def stepwise_rows(found: Iterator[Solution], labels: Labels) -> Iterator[Row]:
    """Yield a row for each labelled path, with the same keys and types in each.

    `labels` are booleans, or with soft labels numbers in [0, 1]; `scores` are these numbers in any case, `visits`
    how often each step was visited. `node_id` is the path's last node, `answer` "" where it is not finished.
    """
    for path in found:
        yield {
            "prompt": path.problem,
            "completions": [step.text.rstrip() for step in path.steps],
            "labels": [
                labels.good(step.score) if labels.kind == "hard" else step.score for step in path.steps
            ],
            "scores": [step.score for step in path.steps],
            "visits": [step.visits for step in path.steps],
            "problem_id": path.problem_id,
            "node_id": path.node,
            "answer": path.answer,
        }
