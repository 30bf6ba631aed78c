"""The any-time curve: how often a run would have been right, had every search stopped at so many tokens.

Reads trees and grades. A problem counts as wrong until its first fold, a failed one always; tokens are those of
folded asks, prompt and reply, as the server counted them.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mctsr.grading import normal_form
from mctsr.runs.records import GradeRecord, ResultRecord
from mctsr.runs.verdict import word_of

from .replay import MAJORITY, Moment, replay, way_of
from .shares import wilson

if TYPE_CHECKING:
    from mctsr.runs.folder import Run

_SERIES = 1, 2, 5


@dataclass(frozen=True, slots=True)
class Point:
    """How things stand when no search has spent more than `tokens`.

    Attributes:
        tokens: The limit, for one problem.
        correct: Problems whose answer so far is right.
        n: Problems that count.
        share: Share of right answers in [0, 1].
        low: Lower bound of its 95 % Wilson interval; `high` the upper one.
        spent: Tokens a problem, on average, that were really spent by then.
    """

    tokens: int
    correct: int
    n: int
    share: float
    low: float
    high: float
    spent: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Accuracy of the selected answer against tokens.

    Attributes:
        ways: How the answers were replayed, each with the number of problems.
        agreed: Problems whose replay ends in the answer that the run selected; `replayed` those with a tree.
        replayed: Problems whose events were replayed.
        points: The curve at round numbers of tokens.
        steps: All of it: after how many tokens of each problem how many problems are right.
    """

    ways: dict[str, int]
    agreed: int
    replayed: int
    points: tuple[Point, ...]
    steps: tuple[tuple[int, int], ...]


class Tracks(NamedTuple):
    """The replayed searches of a run.

    Attributes:
        tracks: Tokens and whether the answer is right, after each fold; empty for a failed problem.
        ways: How many problems were replayed in which way.
        agreed: In how many the replay ends in the recorded answer.
        answered: After how many tokens there was a first answer, for each problem that has one.
    """

    tracks: list[list[tuple[int, bool]]]
    ways: dict[str, int]
    agreed: int
    answered: list[int]


def follow(run: "Run", ids: Sequence[str]) -> Tracks:
    """Replay the searches of some problems that have a result.

    Raises:
        RunError: A tree cannot be read.
    """
    results, grades = run.results(), run.grades()
    tracks: list[list[tuple[int, bool]]] = []
    ways: Counter[str] = Counter()
    agreed, answered = 0, list[int]()
    for id in ids:
        result = results[id]
        if not result["length"]:
            tracks.append([])
            continue
        way = way_of(result["selected_by"])
        moments = replay(run.tree(id), way)
        ways[_told(way, result["selected_by"])] += 1
        answered += [moment.tokens for moment in moments if moment.answer is not None][:1]
        agreed += _agree(moments, result)
        tracks.append(_graded(moments, grades.get(id)))
    return Tracks(tracks, dict(ways.most_common()), agreed, answered)


def _told(way: str, rule: str) -> str:
    """Name the way of a replay, and the rule that it stands in for."""
    stands_in = way == MAJORITY and rule.partition(" ")[0] != "majority"
    return f"{way} (for {rule}, which is not replayed)" if stands_in else way


def curve(found: Tracks, budgets: Sequence[int]) -> Curve:
    """Add replayed searches up, at the token limits `budgets` and wherever anything changes."""
    points = tuple(_point(found.tracks, tokens) for tokens in budgets)
    return Curve(found.ways, found.agreed, sum(found.ways.values()), points, _steps(found.tracks))


def budgets(all_tracks: Sequence[Tracks]) -> tuple[int, ...]:
    """Return round numbers from where the first search has an answer to where the last has ended."""
    most = max((track[-1][0] for found in all_tracks for track in found.tracks if track), default=0)
    # Before the first answer nothing can be right; where there never is one, the end alone is told.
    least = max(min((tokens for found in all_tracks for tokens in found.answered), default=most), 1)
    limits: list[int] = []
    for power in range(len(str(most)) + 1):
        for step in _SERIES:
            tokens = step * 10**power
            if tokens >= least and (not limits or limits[-1] < most) and most:
                limits.append(tokens)
    return tuple(limits)


def _agree(moments: Sequence[Moment], result: ResultRecord) -> bool:
    said, kept = moments[-1].answer if moments else None, result["answers"]["selected"]
    if said is None or kept is None:
        return said is kept
    return normal_form(said) == normal_form(kept)


def _graded(moments: Sequence[Moment], grade: GradeRecord | None) -> list[tuple[int, bool]]:
    return [(moment.tokens, word_of(moment.answer, grade) == "right") for moment in moments]


def _point(tracks: Sequence[Sequence[tuple[int, bool]]], tokens: int) -> Point:
    folds = [bisect_right(track, tokens, key=lambda fold: fold[0]) for track in tracks]
    reached = [track[count - 1] for track, count in zip(tracks, folds, strict=True) if count]
    correct, n = sum(right for _, right in reached), len(tracks)
    low, high = wilson(correct, n)
    share, spent = (correct / n, sum(fold[0] for fold in reached) / n) if n else (0.0, 0.0)
    return Point(tokens, correct, n, share, low, high, spent)


def _steps(tracks: Sequence[Sequence[tuple[int, bool]]]) -> tuple[tuple[int, int], ...]:
    changes: Counter[int] = Counter()
    for track in tracks:
        before = False
        for tokens, right in track:
            changes[tokens] += right - before
            before = right
    steps, correct = [], 0
    for tokens, change in sorted(changes.items()):
        if change:
            correct += change
            steps.append((tokens, correct))
    return tuple(steps)
