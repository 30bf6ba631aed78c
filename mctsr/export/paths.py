"""From trees of steps to labelled solutions: which paths, which labels, and what was left out.

Knows how a node's value becomes a label, and which steps get one. Does not know how rows are written,
and reads no gold answer.
"""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from mctsr.errors import RunError
from mctsr.judge.outcome import UNFINISHED
from mctsr.runs.records import NodeRecord, TreeRecord

from .labels import Counts, Labels, Solution, Step
from .meaning import counts_completions
from .rollouts import UNSEARCHED, rollout_paths
from .scale import OffScale, Scale, fitting_scale, judge_scale, score_of
from .steps import completions_of, final_answers, is_of_rollouts, is_of_steps, line_of

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

_EMPTY = "empty steps"
_WHOLE = "whole answers among the steps"
_UNVALUED = "steps without a value"
_FEW_VISITS = "steps with fewer than"
_NEVER = "steps with a value that were never visited"
_CUT = "steps that were cut off"
_TAGGED = "paths that hold the step tag"
_UNSEEN = "steps below which nothing has ended"
_REPORT = "mctsr report says why"
_HINTS = (
    (_EMPTY, "the model wrote nothing in them; run again with another model or prompt"),
    (_WHOLE, "export them with --format nodes or tree"),
    (_UNVALUED, f"no number was given for them; {_REPORT}"),
    (_UNSEEN, "give the search more to spend"),
    (_FEW_VISITS, "give a lower --min-visits"),
    (_NEVER, "give --min-visits 0 to label them by what the judge said at first"),
    (_CUT, "run again with longer ones, a higher --max-tokens or max_step_tokens"),
    (UNSEARCHED, "no completion was right, or none was searched; give easier problems, or more completions"),
    (_TAGGED, "the tag inside the text would split steps; write --format stepwise, which has no tag"),
)
"""Beginnings of the reasons that are no consequence of another one, and what to do about each."""


def solutions(run: "Run", labels: Labels, counts: Counts, *, tag: str = "") -> Iterator[Solution]:
    """Yield the labelled paths of every tree, in the order in which the problems were finished.

    A path ends before the first step without a value, with too few visits, or cut off in the middle; what goes on
    below it is left out. Of paths with equal texts the first created is taken. Where solutions were completed whole and
    searched for their first errors, `rollout_paths` says which paths there are.

    Args:
        run: A run of a recipe that searches over steps.
        labels: How values become labels.
        counts: Is filled on the way.
        tag: A text that must not stand in a path, because it marks the steps; "" for none.

    Raises:
        RunError: A tree is not one of steps, a value is off the judge's scale, nothing has a label, or a tree
            cannot be read.
    """
    completed = counts_completions(run)
    for tree in run.trees():
        if not is_of_steps(tree):
            raise RunError(
                f"the trees of {run.path} (recipe {tree['recipe']}) hold whole answers, not steps; export them "
                "with --format nodes or tree, or run a recipe that searches over steps"
            )
        scale = counts.scale = counts.scale or labels.scale or judge_scale(run)
        walk = rollout_paths if is_of_rollouts(tree) else partial(_paths, completed=completed)
        try:
            found = [path for path in walk(tree, scale, labels, counts) if not _tagged(path, tag, counts)]
        except OffScale as error:
            raise RunError(f"{error}; {fitting_scale(run, scale)}") from None
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
    return ", ".join(f"{n:,} {why}" for why, n in reasons) + "; " + next(causes, _REPORT)


def _paths(
    tree: TreeRecord, scale: Scale, labels: Labels, counts: Counts, *, completed: bool
) -> Iterator[Solution]:
    """Find the longest labelled paths of one tree; `completed` where visits are completions."""
    nodes, steps = tree["nodes"], _steps(tree, scale, labels, counts, completed=completed)
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


def _steps(
    tree: TreeRecord, scale: Scale, labels: Labels, counts: Counts, *, completed: bool
) -> dict[int, Step]:
    """Return the nodes that have a label, and whose ancestors all have one."""
    steps: dict[int, Step] = {}
    for node in tree["nodes"]:
        if node["parent"] is None:
            continue
        visits = completions_of(node) if completed else node["visits"]
        # The end of a solution is compared, not completed: one look at it is all there can be.
        least = min(labels.min_visits, 1) if completed and node["answer"] is not None else labels.min_visits
        if reason := _unfit(node, visits, least):
            counts.left_out[reason] += 1
            continue
        above = tree["nodes"][node["parent"]]
        if above["parent"] is not None and above["id"] not in steps:
            counts.left_out["steps below one without a label"] += 1
            continue
        steps[node["id"]] = Step(node["text"], score_of(node, tree, scale), visits)
    return steps


def _unfit(node: NodeRecord, visits: int, least: int) -> str:
    """Say why a step gets no label; "" when it gets one."""
    if not node["text"].strip():
        return _EMPTY
    if not node.get("step"):
        return _WHOLE
    if node["truncated"]:
        return _CUT
    if node["value"] is None:
        return _UNVALUED
    if _unseen(node):
        return _UNSEEN
    if visits < least:
        return _NEVER if least == 1 else f"{_FEW_VISITS} {least} visits"
    return ""


def _unseen(node: NodeRecord) -> bool:
    """Say whether a node has but the value that stands for one until a solution below it has ended."""
    samples = node["samples"]
    standing = bool(samples) and all(one["text"] == UNFINISHED for one in samples)
    return standing and node["visits"] <= len(samples) and node["value"] == samples[0]["value"]


def _tagged(path: Solution, tag: str, counts: Counts) -> bool:
    found = bool(tag) and any(tag in text for text in (path.problem, *(step.text for step in path.steps)))
    if found:
        counts.left_out[f"{_TAGGED} {tag} themselves"] += 1
    return found
