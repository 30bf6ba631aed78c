"""From trees of steps to labelled solutions: which paths, which labels, and what was left out.

Knows how a node's value becomes a label, and which steps get one. Does not know how rows are written,
and reads no gold answer.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mctsr.errors import RunError
from mctsr.runs.records import NodeRecord, TreeRecord

from .labels import Counts, Labels, Solution, Step
from .rollouts import UNSEARCHED, rollout_paths
from .scale import Scale, judge_scale, score_of
from .steps import final_answers, is_of_rollouts, is_of_steps, line_of

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

_EMPTY = "empty steps"
_WHOLE = "whole answers among the steps"
_UNVALUED = "steps without a value"
_FEW_VISITS = "steps with fewer than"
_TAGGED = "paths that hold the step tag"
_HINTS = (
    (_EMPTY, "the model wrote nothing in them; run again with another model or prompt"),
    (_WHOLE, "export them with --format nodes or tree"),
    (
        _UNVALUED,
        "their judge gave no number, mctsr report says why; run again with a judge that scores steps",
    ),
    (_FEW_VISITS, "give a lower --min-visits"),
    (UNSEARCHED, "no completion was right, or none was searched; give easier problems, or more completions"),
    (_TAGGED, "the tag inside the text would split steps; write --format stepwise, which has no tag"),
)
"""Beginnings of the reasons that are no consequence of another one, and what to do about each."""


def solutions(run: "Run", labels: Labels, counts: Counts, *, tag: str = "") -> Iterator[Solution]:
    """Yield the labelled paths of every tree, in the order in which the problems were finished.

    A path ends before the first step without a value or with too few visits; what goes on below it is left out.
    Of paths with equal texts the first created is taken. Where solutions were completed whole and searched for their
    first errors, `rollout_paths` says which paths there are.

    Args:
        run: A run of a recipe that searches over steps.
        labels: How values become labels.
        counts: Is filled on the way.
        tag: A text that must not stand in a path, because it marks the steps; "" for none.

    Raises:
        RunError: A tree is not one of steps, a value is off the judge's scale, nothing has a label, or a tree
            cannot be read.
    """
    for tree in run.trees():
        if not is_of_steps(tree):
            raise RunError(
                f"the trees of {run.path} (recipe {tree['recipe']}) hold whole answers, not steps; export them "
                "with --format nodes or tree, or run a recipe that searches over steps"
            )
        scale = counts.scale = counts.scale or labels.scale or judge_scale(run)
        walk = rollout_paths if is_of_rollouts(tree) else _paths
        found = [path for path in walk(tree, scale, labels, counts) if not _tagged(path, tag, counts)]
        counts.problems += 1
        counts.with_rows += bool(found)
        counts.with_good_path += sum([counts.add(path, labels) for path in found]) > 0
        yield from found
    if not counts.paths:
        raise RunError(f"no step of {run.path} gets a label: {_why_none(counts)}")


def _why_none(counts: Counts) -> str:
    """Say why nothing has a label, and what to do about the reason that holds of most."""
    reasons = [(why, n) for why, n in counts.left_out.most_common() if n]
    if not counts.problems:
        return "no problem has a tree, all failed or are not finished; go on with mctsr resume"
    if not reasons:
        return "there are no steps at all, no tree has grown; see mctsr report, and give the search more to spend"
    causes = (hint for why, _ in reasons for begin, hint in _HINTS if why.startswith(begin))
    return ", ".join(f"{n:,} {why}" for why, n in reasons) + "; " + next(causes)


def _paths(tree: TreeRecord, scale: Scale, labels: Labels, counts: Counts) -> Iterator[Solution]:
    """Find the longest labelled paths of one tree."""
    nodes, steps = tree["nodes"], _steps(tree, scale, labels, counts)
    inner, answers = {nodes[node]["parent"] for node in steps}, final_answers(nodes)
    seen: set[tuple[str, ...]] = set()
    for leaf in steps:
        if leaf in inner:
            continue
        line = tuple(steps[node] for node in line_of(nodes, leaf))
        texts = tuple(step.text for step in line)
        if texts in seen:
            counts.left_out["paths equal to another"] += 1
            continue
        seen.add(texts)
        yield Solution(tree["problem_id"], tree["problem"], leaf, answers.get(leaf, ""), line)


def _steps(tree: TreeRecord, scale: Scale, labels: Labels, counts: Counts) -> dict[int, Step]:
    """Return the nodes that have a label, and whose ancestors all have one."""
    steps: dict[int, Step] = {}
    for node in tree["nodes"]:
        if node["parent"] is None:
            continue
        if reason := _unfit(node, labels):
            counts.left_out[reason] += 1
            continue
        above = tree["nodes"][node["parent"]]
        if above["parent"] is not None and above["id"] not in steps:
            counts.left_out["steps below one without a label"] += 1
            continue
        steps[node["id"]] = Step(node["text"], score_of(node, tree, scale), node["visits"])
    return steps


def _unfit(node: NodeRecord, labels: Labels) -> str:
    """Say why a step gets no label; "" when it gets one."""
    if not node["text"].strip():
        return _EMPTY
    if not node.get("step"):
        return _WHOLE
    if node["value"] is None:
        return _UNVALUED
    if node["visits"] < labels.min_visits:
        return f"{_FEW_VISITS} {labels.min_visits} visits"
    return ""


def _tagged(path: Solution, tag: str, counts: Counts) -> bool:
    found = bool(tag) and any(tag in text for text in (path.problem, *(step.text for step in path.steps)))
    if found:
        counts.left_out[f"{_TAGGED} {tag} themselves"] += 1
    return found
