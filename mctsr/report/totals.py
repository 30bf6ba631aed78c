"""What a run came to: right answers with their uncertainty, what they cost, and everything that went wrong.

Reads results and grades of a run, never its trees, and asks nothing of a model. Answers whose verdict is unknown
count as not right, and apart; failed problems stay in the denominator.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from mctsr.runs.records import GradeRecord, ResultRecord, RunRecord
from mctsr.runs.usage import total_usage
from mctsr.runs.verdict import word_of

from .prefix import PrefixCache, prefix_cache
from .rules import RULES, TOLD, is_counted, is_right, note_of
from .shares import wilson

if TYPE_CHECKING:
    from mctsr.runs.folder import Run


@dataclass(frozen=True, slots=True)
class Score:
    """How often one rule of choosing answers was right.

    Attributes:
        name: "first", "selected", "majority" or "oracle".
        correct: Problems whose answer is right.
        n: Problems with a gold answer that are done, the failed ones included.
        low: Lower bound of the share's 95 % Wilson interval; `high` the upper one.
        note: What must be known to read it; "" when the name says all.
    """

    name: str
    correct: int
    n: int
    low: float
    high: float
    note: str = ""

    @property
    def no_test(self) -> bool:
        """Whether it says nothing of the recipe, as the search was told the right answers."""
        return self.note == TOLD

    @property
    def share(self) -> float | None:
        """Share of right answers in [0, 1]; None without any problem."""
        return self.correct / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Cost:
    """What was spent; tokens as the server counted them, `cached_tokens` a part of `prompt_tokens`, None if not told.

    `call_seconds` adds up the wall time of calls, which overlap; `seconds` that of problems, opening to answer.
    """

    calls: float
    prompt_tokens: float
    cached_tokens: float | None
    completion_tokens: float
    call_seconds: float
    seconds: float

    def per(self, n: int) -> "Cost | None":
        """Return the mean over `n`; None over nothing."""
        return Cost(*(value and value / n for value in asdict(self).values())) if n else None


@dataclass(frozen=True, slots=True)
class Report:
    """A run in numbers.

    Attributes:
        name: Of the run's folder; `path` is the folder, `created` when it began, `recipe` what grew the trees.
        state: "finished", "interrupted", "running" or "failed".
        model: What answered; `judge` what scored, "" when it was the same model or none.
        total: Problems of the run; `done` those with a result, failed ones included.
        scores: First, selected, majority, oracle; empty for a run without gold answers.
        pending: Results that have gold answers but no grade yet.
        cost: Totals over the results.
        prefix_cache: How much of the prompts the servers had in their prefix caches.
        counts: How often what happened, by name.
        unscored_reasons: Why evaluations gave no number.
        stopped: Why searches ended.
        overshoot: By how much a limit was passed by work in flight, one number a problem in which it was.
        wire: Changes that the server made necessary, each once.
        failures: Why a problem failed, by id.
        notes: What was noted while the run went on, and damage seen in its folder.
    """

    name: str
    path: str
    state: str
    created: str
    recipe: str
    model: str
    judge: str
    total: int
    done: int
    scores: tuple[Score, ...]
    pending: int
    cost: Cost
    prefix_cache: PrefixCache
    counts: dict[str, int]
    unscored_reasons: dict[str, int]
    stopped: dict[str, int]
    overshoot: dict[str, list[int]]
    wire: tuple[str, ...]
    failures: dict[str, str]
    notes: tuple[str, ...]

    @property
    def selected(self) -> Score | None:
        """How often the recipe's own answer was right; None for a run without gold answers."""
        return next((score for score in self.scores if score.name == "selected"), None)

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain values for JSON, with the cost of each problem and of each right answer."""
        right = self.cost.per(self.selected.correct) if self.selected else None
        each = self.cost.per(self.done)
        return {
            **asdict(self),
            "graded": bool(self.scores),
            "scores": [{**asdict(score), "share": score.share} for score in self.scores],
            "cost_each": each and asdict(each),
            "cost_right": right and asdict(right),
        }


def report(run: "Run") -> Report:
    """Add up a run from its results and grades.

    Raises:
        RunError: A file of the run cannot be read.
    """
    record, results, grades = run.record, list(run.results().values()), run.grades()
    with_gold = {*record["gold_ids"], *grades}
    return Report(
        name=run.path.resolve().name,
        path=str(run.path),
        state=run.state,
        created=record["created"],
        recipe=record["recipe"],
        model=model_of(record, "policy"),
        judge=model_of(record, "judge"),
        total=len(record["problem_ids"]),
        done=len(results),
        scores=_scores(run, with_gold) if with_gold else (),
        pending=sum(r["status"] == "ok" and r["id"] in with_gold - grades.keys() for r in results),
        cost=cost_of(results),
        prefix_cache=prefix_cache(result["usage"] for result in results),
        counts=_counts(results, grades),
        unscored_reasons=dict(
            sum((Counter(r["unscored_reasons"]) for r in results), Counter()).most_common()
        ),
        stopped=dict(Counter(r["stopped"] for r in results if r["status"] == "ok").most_common()),
        overshoot=_overshoot(results),
        wire=tuple(dict.fromkeys(change for result in results for change in result["wire"])),
        failures={r["id"]: r["stopped"] for r in results if r["status"] == "failed"},
        notes=(*record["notices"], *run.notes),
    )


def _scores(run: "Run", with_gold: Collection[str]) -> tuple[Score, ...]:
    """Score the four rules over the problems that count."""
    grades = run.grades()
    counted = [result for result in run.results().values() if is_counted(result, grades, with_gold)]
    right = {
        name: sum(is_right(name, result, grades.get(result["id"])) for result in counted) for name in RULES
    }
    return tuple(
        Score(
            name,
            correct,
            len(counted),
            *wilson(correct, len(counted)),
            note_of(name, told=run.uses_gold),
        )
        for name, correct in right.items()
    )


def cost_of(results: Iterable[ResultRecord]) -> Cost:
    """Add up what problems cost."""
    done = list(results)
    usages = [result["usage"] for result in done]
    tokens = total_usage(usages)
    return Cost(
        calls=sum(usage["calls"] for usage in usages),
        prompt_tokens=tokens.prompt_tokens,
        cached_tokens=tokens.cached_tokens,
        completion_tokens=tokens.completion_tokens,
        call_seconds=sum(usage["seconds"] for usage in usages),
        seconds=sum(result["seconds"] for result in done),
    )


def _counts(results: Iterable[ResultRecord], grades: Mapping[str, GradeRecord]) -> dict[str, int]:
    """Count what happened; "ungradable" counts selected answers, "ungradable_answers" all different ones."""
    counts: Counter[str] = Counter(failed=0, ungradable=0)
    for result in results:
        selected, grade = result["answers"]["selected"], grades.get(result["id"])
        words = [word_of(answer, grade) for answer in (grade["verdicts"] if grade else ())]
        counts["failed"] += result["status"] == "failed"
        counts["ungradable"] += word_of(selected, grade) == "ungradable"
        counts["ungradable_answers"] += words.count("ungradable")
        counts["no_answer"] += result["status"] == "ok" and selected is None
        counts.update(result["counts"])
    return dict(counts)


def _overshoot(results: Iterable[ResultRecord]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for limit, by in (item for result in results for item in result["overshoot"].items() if item[1] > 0):
        found.setdefault(limit, []).append(by)
    return found


def model_of(record: RunRecord, role: str) -> str:
    """Return what a role talks to: as the server named it, else as the settings do."""
    served = next((server["model"] for server in record["servers"] if server["role"] == role), "")
    settings = record["settings"].get(role)
    asked = settings.get("model") if isinstance(settings, Mapping) else None
    return served or str(asked or "")
