"""Runs side by side: the same problems only, each run against the first.

Knows which problems several runs share, and that equal ids must be equal questions. Reads results and grades, and
trees for the any-time curve alone; asks nothing of a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from mctsr.errors import RunError, UsageError, named, shown

from .curve import Curve, Tracks, budgets, curve, follow
from .limits import unequal_limits
from .paired import Paired, pair
from .rules import RULES, TOLD, is_counted, is_right, note_of
from .shares import wilson
from .totals import Cost, Score, cost_of, model_of

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

SEED = 20_260_101
"""Of the bootstrap: the same runs give the same intervals."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs, on the problems that are compared.

    Attributes:
        label: What tables and notes call it: "A" is the first run.
        name: Of the run's folder; `path` is the folder.
        recipe: What grew the trees, with its `arguments`; `model` answered.
        state: "finished", "interrupted", "running" or "failed".
        total: Problems of the whole run; `done` those of them with a result.
        scores: First, selected, majority, oracle; empty when nothing can be graded.
        failed: How many of the problems that the scores are over failed here; they count as not right.
        cost: Totals over the compared problems.
        curve: Accuracy against tokens; None when nothing can be graded or a tree cannot be read.
    """

    label: str
    name: str
    path: str
    recipe: str
    arguments: dict[str, object]
    model: str
    state: str
    total: int
    done: int
    scores: tuple[Score, ...]
    cost: Cost
    failed: int = 0
    curve: Curve | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs side by side.

    Attributes:
        runs: The runs, in the order they were given.
        shared: How many problems all of them have.
        compared: How many of these have a result in every run; costs are over them.
        graded: How many of these count in every run: graded, or failed with a gold answer. Scores, differences
            and curves are over them.
        paired: Each run but the first against the first: one entry for each rule of choosing answers. Problems
            that failed in either are left out: they tell of a server or a limit, not of the recipe.
        notes: What has to be known to read the numbers.
    """

    runs: tuple[Side, ...]
    shared: int
    compared: int
    graded: int
    paired: tuple[tuple[Paired, ...], ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON."""
        sides = [
            {
                **asdict(side),
                "scores": [{**asdict(score), "share": score.share} for score in side.scores],
                "cost_each": (each := side.cost.per(self.compared)) and asdict(each),
            }
            for side in self.runs
        ]
        return {**asdict(self), "runs": sides, "against": self.runs[0].path}


def compare(runs: Sequence["Run"]) -> Comparison:
    """Compare runs on the problems that all of them have.

    Raises:
        UsageError: There are fewer than two runs.
        RunError: No problem is in all of them, equal ids ask different questions, or a file cannot be read.
    """
    if len(runs) < 2:
        raise UsageError(f"{len(runs)} run given; a comparison needs at least two")
    shared, notes = _shared(runs)
    compared = [id for id in shared if all(id in run.results() for run in runs)]
    graded = _graded(runs, compared)
    notes += [*unequal_limits(runs, list(map(label, range(len(runs))))), *_remarks(runs, graded)]
    sides = [_side(label(number), run, compared, graded) for number, run in enumerate(runs)]
    if graded:
        sides = _with_curves(sides, runs, graded, notes)
    damage = [f"{label(number)}: {note}" for number, run in enumerate(runs) for note in run.notes]
    return Comparison(
        tuple(sides), len(shared), len(compared), len(graded), _paired(runs, graded), (*notes, *damage)
    )


def label(number: int) -> str:
    """Return what the run of a number, from 0, is called in tables."""
    return chr(ord("A") + number) if number < 26 else f"R{number + 1}"


def _shared(runs: Sequence["Run"]) -> tuple[list[str], list[str]]:
    """Return the ids of the problems that all runs have, in the first one's order, and what to say of them."""
    first, *others = map(_hashes, runs)
    shared = [id for id in first if all(id in other for other in others)]
    if not shared:
        raise RunError(
            f"{named(run.path for run in runs)} have no problem in common; compare runs over the same data"
        )
    notes = []
    for number, (run, hashes) in enumerate(zip(runs[1:], others, strict=True), start=1):
        unequal = [id for id in shared if hashes[id] != first[id]]
        other = [id for id in unequal if (text := _text(run, id)) is None or text != _text(runs[0], id)]
        if other:
            raise RunError(
                f"{runs[0].path} and {run.path} do not ask the same under {named(map(shown, other))}; "
                "compare runs over the same data"
            )
        if unequal:
            notes.append(
                f"{label(number)} reads the answers of {len(unequal)} problems as another kind than A"
            )
    return shared, notes


def _hashes(run: "Run") -> dict[str, str]:
    return dict(zip(run.record["problem_ids"], run.record["problem_hashes"], strict=True))


def _text(run: "Run", id: str) -> str | None:
    """Return what a problem asks, None where the run does not tell."""
    inline = next((problem["text"] for problem in run.record["problems"] or () if problem["id"] == id), None)
    if inline is not None:
        return inline
    result = run.results().get(id)
    return run.tree(id)["problem"] if result is not None and result["length"] else None


def _graded(runs: Sequence["Run"], ids: Sequence[str]) -> list[str]:
    """Return those of some finished problems that count in every run."""
    for run in runs:
        results, grades = run.results(), run.grades()
        with_gold = {*run.record["gold_ids"], *grades}
        ids = [id for id in ids if is_counted(results[id], grades, with_gold)]
    return list(ids)


def _remarks(runs: Sequence["Run"], graded: Sequence[str]) -> list[str]:
    """Say what the numbers leave out, and where the runs were not graded alike."""
    notes = [
        f"{label(number)} is {run.state}: {len(run.unfinished())} of its problems have no result yet"
        for number, run in enumerate(runs)
        if run.unfinished()
    ]
    notes += [f"{label(number)}: {TOLD}" for number, run in enumerate(runs) if run.uses_gold]
    grades = [run.grades() for run in runs]
    golds = [id for id in graded if len({found[id]["gold"] for found in grades if id in found}) > 1]
    if golds:
        notes.append(f"the runs were graded with different gold answers: {named(map(shown, golds))}")
    if len({found[id]["grader"] for id in graded for found in grades if id in found}) > 1:
        notes.append("the runs were graded by different graders or policies; mctsr grade makes them alike")
    return notes


def _side(name: str, run: "Run", compared: Sequence[str], graded: Sequence[str]) -> Side:
    results, grades = run.results(), run.grades()
    right = {rule: sum(is_right(rule, results[id], grades.get(id)) for id in graded) for rule in RULES}
    scores = [
        Score(rule, k, len(graded), *wilson(k, len(graded)), note_of(rule, told=run.uses_gold))
        for rule, k in right.items()
    ]
    return Side(
        label=name,
        name=run.path.resolve().name,
        path=str(run.path),
        recipe=run.record["recipe"],
        arguments=run.record["recipe_arguments"],
        model=model_of(run.record, "policy"),
        state=run.state,
        total=len(run.record["problem_ids"]),
        done=len(results),
        scores=tuple(scores) if graded else (),
        cost=cost_of([results[id] for id in compared]),
        failed=len(_failed(run, graded)),
    )


def _failed(run: "Run", ids: Sequence[str]) -> set[str]:
    """Return those of some finished problems that failed in a run."""
    results = run.results()
    return {id for id in ids if results[id]["status"] == "failed"}


def _paired(runs: Sequence["Run"], graded: Sequence[str]) -> tuple[tuple[Paired, ...], ...]:
    from numpy.random import default_rng

    def right(run: "Run", rule: str, ids: Sequence[str]) -> Mapping[str, bool]:
        results, grades = run.results(), run.grades()
        return {id: is_right(rule, results[id], grades.get(id)) for id in ids}

    def against(run: "Run", rule: str) -> Paired:
        failed = _failed(runs[0], graded) | _failed(run, graded)
        ids = [id for id in graded if id not in failed]
        sides = right(runs[0], rule, ids), right(run, rule, ids)
        return pair(rule, *sides, default_rng(SEED), left_out=len(failed))

    return tuple(tuple(against(run, rule) for rule in RULES) for run in runs[1:])


def _with_curves(
    sides: Sequence[Side], runs: Sequence["Run"], graded: Sequence[str], notes: list[str]
) -> list[Side]:
    """Add the any-time curves, all at the same limits; a run whose trees are damaged goes without, and is noted."""
    found: list[Tracks | None] = []
    for side, run in zip(sides, runs, strict=True):
        try:
            found.append(follow(run, graded))
        except RunError as error:
            found.append(None)
            notes.append(f"no any-time curve of {side.label}: {error}")
    limits = budgets([tracks for tracks in found if tracks is not None])
    if not limits:
        notes.append("no any-time curve: no tokens are recorded")
        return list(sides)
    return [
        replace(side, curve=None if tracks is None else curve(tracks, limits))
        for side, tracks in zip(sides, found, strict=True)
    ]
