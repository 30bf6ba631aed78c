"""The shapes of results.jsonl, grades.jsonl, and of their sum in summary.json."""

from typing import Literal, NotRequired, TypedDict


class AnswersRecord(TypedDict):
    """The answers of one problem. `distinct` holds every spelling in the tree once, in order of creation."""

    first: str | None
    selected: str | None
    majority: str | None
    distinct: list[str]


class CountsRecord(TypedDict):
    """How the search went, in numbers. `asked_again` counts calls after a reply in which no score could be read."""

    nodes: int
    rollouts: int
    unscored: int
    asked_again: int
    truncated: int
    empty: int
    duplicates: int
    retried: int
    failed_calls: int
    repeated: int
    replayed: int
    stale: int


class RoleUsageRecord(TypedDict):
    """Tokens of the calls of one role; `cached_tokens` as in the usage they are a part of."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None


class UsageRecord(TypedDict):
    """What it cost. `seconds` adds up the calls' wall times.

    `cached_tokens` are those of `prompt_tokens` that the server had in its prefix cache, null when it did not tell;
    `roles` are the parts of the policy, the judge and the reward model, as far as calls say whose they are.
    """

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None
    seconds: float
    roles: NotRequired[dict[str, RoleUsageRecord]]


class ResultRecord(TypedDict):
    """One line of results.jsonl; the line is the commit of its problem, the last line of an id wins.

    `offset` and `length` say which bytes of trees.jsonl are its tree; a failed problem has none, length 0.
    `wire` lists what had to be changed for the servers; `overshoot` by how much a limit was exceeded.
    """

    schema: int
    id: str
    status: Literal["ok", "failed"]
    stopped: str
    selected_by: str
    answers: AnswersRecord
    counts: CountsRecord
    usage: UsageRecord
    overshoot: dict[str, int]
    unscored_reasons: dict[str, int]
    wire: list[str]
    seconds: float
    finished: str
    offset: int
    length: int


class VerdictRecord(TypedDict):
    """One answer against the gold; `method` "none" means the grader can say neither equal nor different."""

    equal: bool
    method: str
    reason: str


class GradeRecord(TypedDict):
    """One line of grades.jsonl: every distinct answer of a problem graded."""

    schema: int
    id: str
    gold: str
    grader: str
    verdicts: dict[str, VerdictRecord]


class SummaryRecord(TypedDict):
    """summary.json: where the run stands, counted from the other files.

    `problems` are all of the run; `graded` counts problems with a grade, `correct` those whose selected answer is
    right. ``cached_tokens` and `roles` are as in the usage of a result.
    """

    schema: int
    problems: int
    ok: int
    failed: int
    unfinished: int
    graded: int
    correct: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None
    roles: dict[str, RoleUsageRecord]
    repeated: int
    replayed: int
    stale: int
