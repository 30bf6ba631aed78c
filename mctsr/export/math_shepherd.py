"""The format "math-shepherd": question and steps in one text, every step ended by a tag.

Wang et al. 2024, arXiv:2312.08935, as in the published data: `input` has the tag behind each step, `label` is the
same text with a verdict in the place of each tag. Loaders find the verdicts by the places of the tags.
"""

import re
from collections.abc import Iterator

from .labels import Labels, Solution, Step
from .rows import Row

TAG = "ки"
"""Ends a step."""

_NUMBERED = re.compile(r"Step \d")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_SIGN = re.compile(r"[+-]")
_BARE = re.compile(r"(?:.*\s)?Step \d+:\s*", re.DOTALL)


def shepherd_rows(found: Iterator[Solution], labels: Labels, task: str) -> Iterator[Row]:
    """Yield a row for each labelled path, with the same keys and types in each.

    A verdict is "+" or "-", or with soft labels a number in [0, 1] of four decimals. Steps are numbered from 1,
    "Step 1: …", unless they number themselves; white space around a step is left out. `task` is the same in all
    rows. `scores`, `visits`, `problem_id` and `node_id` are as in stepwise.
    """
    for path in found:
        texts = [_numbered(number, step) for number, step in enumerate(path.steps, start=1)]
        yield {
            "input": _joined(path.problem, texts, [TAG] * len(texts)),
            "label": _joined(path.problem, texts, [_verdict(step, labels) for step in path.steps]),
            "task": task,
            "scores": [step.score for step in path.steps],
            "visits": [step.visits for step in path.steps],
            "problem_id": path.problem_id,
            "node_id": path.node,
        }


def _numbered(number: int, step: Step) -> str:
    text = step.text.strip()
    return text if _NUMBERED.match(text) else f"Step {number}: {text}"


def _verdict(step: Step, labels: Labels) -> str:
    if labels.kind == "soft":
        return f"{step.score:.4f}"
    return "+" if labels.good(step.score) else "-"


def _joined(problem: str, texts: list[str], ends: list[str]) -> str:
    steps = "\n".join(f"{text} {end}" for text, end in zip(texts, ends, strict=True))
    return f"{problem} {steps}"


def verdicts_of(text: str, label: str) -> list[str]:
    """Read the verdicts from `label` in the places in which `text` has its tags.

    A verdict is "+", "-" or a number of any size; whether it is one in [0, 1] is for the caller to see.

    Raises:
        ValueError: There is no tag, a step has no text, or the two texts differ elsewhere.
    """
    *steps, end = text.split(TAG)
    if not steps:
        raise ValueError(f"input has no step tag {TAG}")
    verdicts: list[str] = []
    place = 0
    for step, after in zip(steps, [*steps[1:], end], strict=True):
        if not step.strip() or _BARE.fullmatch(step):
            raise ValueError(
                f"step {len(verdicts) + 1} of input has no text; delete it and its tag and verdict"
            )
        found = _verdict_at(label, place + len(step), after)
        if not label.startswith(step, place) or found is None:
            raise ValueError(f"label has no verdict in the place of tag {len(verdicts) + 1} of input")
        verdicts.append(found[0])
        place = found.end()
    if label[place:] != end:
        raise ValueError("label goes on in another way than input behind the last tag")
    return verdicts


def _verdict_at(label: str, place: int, after: str) -> re.Match[str] | None:
    """Find a verdict; `after` settles whether a digit behind a sign belongs to it or to the next step."""
    found = [match for kind in (_NUMBER, _SIGN) if (match := kind.match(label, place))]
    fits = (match for match in found if label.startswith(after, match.end()))
    return next(fits, found[0] if found else None)
