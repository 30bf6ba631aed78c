"""The shapes of everything in a run folder; JSON Schemas are generated from here.

A key is always present, null when nothing is known, but for those marked `NotRequired`. Floats are finite. Node ids
count from 0 in order of creation.
"""

from typing import Literal, NotRequired, TypedDict

SCHEMA = 1

#: Fields that two runs of the same replies may differ in, wherever they occur.
_TIMES, _PLACES = {"seconds", "created", "finished"}, {"repeated", "replayed", "offset", "length"}
VOLATILE = frozenset(_TIMES | _PLACES | {"cached_tokens"})


class SampleRecord(TypedDict):
    """One sampled evaluation: what counts, what the judge said, its whole reply."""

    value: float
    raw: float
    text: str


class NodeRecord(TypedDict):
    """One node. `work` holds what led to it, e.g. the critique; `value` is what selection reads at the end.

    `step` says that the text continues the steps above it; then the solution is the texts from the root, joined.
    `ids` are the text's token ids, `tokens` their number, `logprob` the sum of their log-probabilities in nats.
    """

    id: int
    parent: int | None
    depth: int
    ask: int
    text: str
    answer: str | None
    work: dict[str, str]
    samples: list[SampleRecord]
    visits: int
    value: float | None
    prior: float
    unscored: list[str]
    planted: bool
    truncated: bool
    twin: int | None
    ended: str
    step: NotRequired[bool]
    ids: NotRequired[list[int]]
    logprob: NotRequired[float]
    tokens: NotRequired[int]


#: A node's numbers after a fold: id, visits, and value, which is null while nothing was scored.
#: A tuple here, a list of three in JSON.
RowRecord = tuple[int, int, float | None]


class AskedRecord(TypedDict):
    """A selector handed out work; the opening is ask 0 of node null."""

    event: Literal["asked"]
    ask: int
    node: int | None
    n: int
    again: bool


class FoldedRecord(TypedDict):
    """An ask's results are in the tree.

    `judged` names a node once for each sample that it got, `unscored` once for each reason: the k-th mention of a
    node in all events belongs to its k-th sample or reason. `ended` names those that can grow no more from here
    on, `changed` holds [id, visits, value] of every node whose numbers differ from before.
    """

    event: Literal["folded"]
    ask: int
    born: list[int]
    judged: list[int]
    unscored: list[int]
    ended: list[int]
    changed: list[RowRecord]
    front: list[int]
    faults: list[str]
    tokens: int


class StoppedRecord(TypedDict):
    """The search is over."""

    event: Literal["stopped"]
    reason: str


EventRecord = AskedRecord | FoldedRecord | StoppedRecord


class TreeRecord(TypedDict):
    """One line of trees.jsonl: a whole tree with every intermediate state of its numbers."""

    schema: int
    problem_id: str
    problem: str
    recipe: str
    selected: int | None
    front: list[int]
    nodes: list[NodeRecord]
    events: list[EventRecord]


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


class UsageRecord(TypedDict):
    """What it cost. `seconds` adds up the calls' wall times."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    seconds: float


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


class ServerRecord(TypedDict):
    """What one role talks to; `context` in tokens, None if not told; `way` of continuing begun turns, if tried."""

    role: str
    kind: str
    model: str
    base_url: str
    version: str
    context: int | None
    way: NotRequired[str]


class RunRecord(TypedDict):
    """run.json: everything needed to say what was run and to go on with it; never a secret.

    `data` is the path of the data file; a question and problems from standard input are in `problems`, with the gold
    answers that came along in `gold`. `problem_hashes` goes with `problem_ids`; `gold_ids` are those that have a gold
    answer, `gold_sha256` is a hash of these. `scale` is the judge's lower and upper bound.
    """

    schema: int
    name: str
    created: str
    versions: dict[str, str]
    settings: dict[str, object]
    recipe: str
    recipe_arguments: dict[str, object]
    recipe_source_sha256: str
    scale: NotRequired[list[float] | None]
    prompts: dict[str, str]
    data: str | None
    problems: list[dict[str, str | None]] | None
    problem_ids: list[str]
    problem_hashes: list[str]
    problems_sha256: str
    gold: dict[str, str] | None
    gold_ids: list[str]
    gold_sha256: str | None
    servers: list[ServerRecord]
    notices: list[str]


class SummaryRecord(TypedDict):
    """summary.json: where the run stands, counted from the other files.

    `problems` are all of the run; `graded` counts problems with a grade, `correct` those whose selected answer is
    right.
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
    repeated: int
    replayed: int
    stale: int
