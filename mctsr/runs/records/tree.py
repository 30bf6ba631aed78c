"""The shapes of trees.jsonl."""

from typing import Literal, NotRequired, TypedDict


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
